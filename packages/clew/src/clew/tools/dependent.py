"""A tool that depends on the agent's other tools."""

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, field

from clew.core.tools import AnyTool, Tool

__all__ = ["DependentTool"]


@dataclass(frozen=True, repr=False)
class DependentTool(Tool):
    """A tool that depends on the agent's other tools: `among(tools)` returns the one to use.

    It is asked whenever an agent is made with the tool, and must return a tool of the same name.
    """

    _: KW_ONLY
    among: Callable[[Sequence[AnyTool]], Tool] = field(compare=False)
