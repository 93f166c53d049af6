"""Tools: functions, programs and processes as tools, one validator for all, and those that ship."""

from clew.tools.calc import calc
from clew.tools.finish import answer_schema, decode_answer, finish_tool
from clew.tools.function import Options, tool
from clew.tools.person import HoldQuestions, answered, ask_person
from clew.tools.planner import planner
from clew.tools.process import process_tool
from clew.tools.program import program
from clew.tools.schema import (
    checked,
    compile_schema,
    example,
    nearest,
    problems,
    schema_hash,
    shown_problems,
    usable,
)
from clew.tools.signature import Key

__all__ = [
    "HoldQuestions",
    "Key",
    "Options",
    "answer_schema",
    "answered",
    "ask_person",
    "calc",
    "checked",
    "compile_schema",
    "decode_answer",
    "example",
    "finish_tool",
    "nearest",
    "planner",
    "problems",
    "process_tool",
    "program",
    "schema_hash",
    "shown_problems",
    "tool",
    "usable",
]
