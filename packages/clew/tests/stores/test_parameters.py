"""No numbered parameters of SQLite: Python 3.12.0 to 3.12.3 warns of each with a sequence."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import clew

SOURCES = Path(clew.__file__).parent


def statements(text: str) -> Iterator[tuple[int, str]]:
    """The statements of SQL in a module, each with its line; what an f-string puts in is "…"."""
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Constant(value=str(said), lineno=line):
                yield line, said
            case ast.JoinedStr(values=parts, lineno=line):
                yield line, "".join(str(getattr(part, "value", "")) for part in parts)


def numbered(text: str) -> list[int]:
    """The lines whose statement has a numbered parameter."""
    return [
        line
        for line, said in statements(text)
        if re.search(r"\b(SELECT|INSERT|UPDATE|DELETE)\b", said) and re.search(r"\?[0-9]", said)
    ]


WITH_SQL = sorted(
    str(path.relative_to(SOURCES))
    for path in SOURCES.rglob("*.py")
    if re.search(r"\b(SELECT|INSERT|UPDATE|DELETE)\b", path.read_text(encoding="utf-8"))
)


@pytest.mark.parametrize("name", WITH_SQL)
def test_no_statement_has_numbered_parameters(name: str) -> None:
    assert numbered((SOURCES / name).read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ('x = "SELECT a FROM b WHERE c = ?1"', [1]),
        ('a = 1\nx = f"UPDATE {a} SET b = ?2"', [2, 2]),
        ('x = """\nDELETE FROM a WHERE b = ?1"""', [1]),
        ('x = "SELECT a FROM b WHERE c = ? AND d = :e"', []),
        ('x = "which one?1"', []),
    ],
)
def test_a_numbered_parameter_is_seen(text: str, lines: list[int]) -> None:
    assert set(numbered(text)) == set(lines)
