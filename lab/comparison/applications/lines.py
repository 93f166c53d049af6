"""How long the programs are: what follows the imports, without docstrings and blank lines."""

import ast
from collections.abc import Iterable
from typing import Final

from comparison.applications.served import INSIDE
from live.tables import table

BEGINS: Final = "# --- begins"
PROGRAMS: Final = {"clew": "clew", "Pydantic AI": "pydantic_ai", "LangGraph": "langgraph"}
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


def counted(others: Iterable[str]) -> str:
    """A table of the lines of each program."""
    names = ["clew", *others]
    texts = [(INSIDE / f"support_{PROGRAMS[name]}.py").read_text("utf-8") for name in names]
    row = ["support agent behind FastAPI", *(str(lines_of(text)) for text in texts)]
    return table(("lines of code", *names), [row])
