"""No numbered parameters of SQLite: Python 3.12.0 to 3.12.3 warns of each with a sequence."""

import ast
import re
from pathlib import Path

import clew

SOURCES = Path(clew.__file__).parent


def test_no_statement_has_numbered_parameters() -> None:
    found = [
        f"{path.relative_to(SOURCES)}:{node.lineno}"
        for path in SOURCES.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and re.search(r"\b(SELECT|INSERT|UPDATE|DELETE)\b", node.value)
        and re.search(r"\?[0-9]", node.value)
    ]
    assert found == []
