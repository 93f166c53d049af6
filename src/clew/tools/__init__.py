"""Tools: functions as tools, one validator for all, and those that ship.

Each further kind is imported from its own module, so that `import clew` stays quick: `calc`,
`planner`, `docs`, `person`, `program` and `process`.
"""

from clew.tools.definitions import Published, published
from clew.tools.finish import answer_schema, decode_answer, finish_tool
from clew.tools.function import Options, tool
from clew.tools.schema import (
    checked,
    compile_schema,
    example,
    nearest,
    problems,
    schema_hash,
    shown_problems,
)
from clew.tools.schema_repair import usable
from clew.tools.signature import Key

__all__ = [
    "Key",
    "Options",
    "Published",
    "answer_schema",
    "checked",
    "compile_schema",
    "decode_answer",
    "example",
    "finish_tool",
    "nearest",
    "problems",
    "published",
    "schema_hash",
    "shown_problems",
    "tool",
    "usable",
]
