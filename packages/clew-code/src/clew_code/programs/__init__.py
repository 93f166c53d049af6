"""Code as action: programs that a model wrote, whose functions are tools.

`run_code` is the tool, in Monty; `code_tool` makes one of another executor.
"""

from clew import Tool
from clew_code.programs.interface import (
    CodeLimits,
    Executor,
    Finished,
    PendingCall,
    ProgramFailed,
    ProgramState,
    Raised,
    Returned,
    Session,
)
from clew_code.programs.monty import Monty
from clew_code.programs.tool import code_tool

__all__ = [
    "CodeLimits",
    "Executor",
    "Finished",
    "Monty",
    "PendingCall",
    "ProgramFailed",
    "ProgramState",
    "Raised",
    "Returned",
    "Session",
    "code_tool",
    "run_code",
]


def run_code(limits: CodeLimits | None = None) -> Tool:
    """The tool that runs programs in Monty, a Python interpreter in a process of its own."""
    return code_tool(Monty(), limits)
