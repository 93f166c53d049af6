"""How long the programs are: what follows the imports, without docstrings and blank lines."""

import ast
from collections.abc import Mapping
from typing import Final

from comparison.applications.served import INSIDE
from live.tables import table

BEGINS: Final = "# --- begins"
PROGRAMS: Final = {"clew": "clew", "Pydantic AI": "pydantic_ai", "LangGraph": "langgraph"}
APPLICATIONS: Final[Mapping[str, str]] = {
    "support": "support agent behind FastAPI",
    "research": "research script",
    "tested": "its tests and evaluation",
}
"""How the files of each application begin, and what it is."""
DOCUMENTED: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def lines_of(text: str) -> int:
    """Lines of code behind the line that begins them, counted as they are formatted."""
    skipped: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node) is not None:
            first = node.body[0]
            skipped.update(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    lines = text.splitlines()
    begins = lines.index(BEGINS) + 1
    return sum(
        bool(line.strip()) and not line.strip().startswith("#") and number not in skipped
        for number, line in enumerate(lines[begins:], begins + 1)
    )


def counted() -> str:
    """A table of the lines of each program."""
    rows = [
        [what, *(str(lines_of(_text(one, name))) for name in PROGRAMS)]
        for one, what in APPLICATIONS.items()
    ]
    return table(("lines of code", *PROGRAMS), rows)


def _text(application: str, name: str) -> str:
    return (INSIDE / f"{application}_{PROGRAMS[name]}.py").read_text("utf-8")


if __name__ == "__main__":
    print(counted())
