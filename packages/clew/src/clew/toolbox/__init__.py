"""The tools that ship, and a function that makes tools of functions in processes.

`clew.toolbox.docs` searches documents, `clew_web` the web.
"""

from clew.toolbox.attachments import attach
from clew.toolbox.backtrack import backtrack
from clew.toolbox.calc import calc, calculate
from clew.toolbox.person import ASK_PERSON, HoldQuestions, answered, ask_person
from clew.toolbox.planner import planner
from clew.tools.process import process_tool

__all__ = [
    "ASK_PERSON",
    "HoldQuestions",
    "answered",
    "ask_person",
    "attach",
    "backtrack",
    "calc",
    "calculate",
    "planner",
    "process_tool",
]
