"""Formats in which a model writes programs and commands.

`Code` is a thought and one block of Python in which tools are functions: an agent has it as
`codec="code"`, with the tool `run_code` of `clew_code.programs`. `clew_code.codec.commands` takes a
form for the call of each tool.
"""

from clew_code.codec.code import Code

__all__ = ["Code"]
