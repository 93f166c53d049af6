"""The tools that ship, and what makes tools of programs and of functions in a process of their own.

`clew.toolbox.docs` searches documents, `clew.toolbox.web` the web.
"""

from clew.toolbox.calc import calc, calculate
from clew.toolbox.person import ASK_PERSON, HoldQuestions, answered, ask_person
from clew.toolbox.planner import planner
from clew.toolbox.program import program
from clew.tools.process import process_tool

__all__ = [
    "ASK_PERSON",
    "HoldQuestions",
    "answered",
    "ask_person",
    "calc",
    "calculate",
    "planner",
    "process_tool",
    "program",
]
