"""Tools: functions as tools, and tools as others publish them.

Those that ship are in `clew.toolbox`; which of many a model is shown, `clew.tools.retrieval` finds.
"""

from clew.concurrency.threads import threads_at_work
from clew.tools.definitions import Published, published
from clew.tools.function import tool
from clew.tools.signature import Key

__all__ = ["Key", "Published", "published", "threads_at_work", "tool"]
