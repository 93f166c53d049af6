"""Tools: functions as tools; `clew.tools.definitions` has published definitions as tools.

`clew.toolbox` has the tools that ship; `clew.tools.retrieval` finds those to show among many.
"""

from clew.concurrency.threads import threads_at_work
from clew.core.tools import Attempts, External
from clew.support.resources import close_resource, hold_open, resources
from clew.tools.dependent import DependentTool
from clew.tools.external import external
from clew.tools.function import FunctionTool, tool
from clew.tools.later import later

__all__ = [
    "Attempts",
    "DependentTool",
    "External",
    "FunctionTool",
    "close_resource",
    "external",
    "hold_open",
    "later",
    "resources",
    "threads_at_work",
    "tool",
]
