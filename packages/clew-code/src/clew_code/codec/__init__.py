"""The reply format `code`: a thought, and one block of Python in which tools are functions.

An agent has it as `codec="code"`, with the tool `run_code` of `clew_code.programs`.
"""

from clew_code.codec.code import Code

__all__ = ["Code"]
