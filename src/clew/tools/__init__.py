"""Tools: functions as tools, and tools as others publish them.

Those that ship are in `clew.toolbox`; which of many a model is shown, `clew.tools.retrieval` finds.
"""

from clew.tools.definitions import Published, published
from clew.tools.function import tool
from clew.tools.signature import Key

__all__ = ["Key", "Published", "published", "tool"]
