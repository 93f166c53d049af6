"""Tools: functions as tools, and published definitions as tools.

`clew.toolbox` has the tools that ship; `clew.tools.retrieval` finds those to show among many.
"""

from clew.concurrency.threads import threads_at_work
from clew.tools.definitions import Published, published
from clew.tools.fallback import with_fallback
from clew.tools.function import tool
from clew.tools.signature import Key

__all__ = ["Key", "Published", "published", "threads_at_work", "tool", "with_fallback"]
