"""How long the programs are: what follows the imports, without blank lines and comments."""

import ast
from collections.abc import Iterable
from typing import Final

from comparison.applications.served import INSIDE
from live.tables import table

BEGINS: Final = "# --- begins"
PROGRAMS: Final = {"clew": "clew", "Pydantic AI": "pydantic_ai", "LangGraph": "langgraph"}


def lines_of(text: str) -> int:
    """Lines of code behind the imports; docstrings count, since models read those of tools."""
    _, _, rest = text.partition(BEGINS)
    ast.parse(text)  # a program that does not parse has no length
    return sum(
        bool(line.strip()) and not line.strip().startswith("#") for line in rest.splitlines()
    )


def counted(others: Iterable[str]) -> str:
    """A table of the lines of each program."""
    names = ["clew", *others]
    rows = [
        [
            "support agent behind FastAPI",
            *(
                str(lines_of((INSIDE / f"support_{PROGRAMS[name]}.py").read_text("utf-8")))
                for name in names
            ),
        ]
    ]
    return table(("lines of code", *names), rows)
