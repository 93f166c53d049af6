"""Where in a TOML file a key or a value stands, since parsers do not say."""

import re
from collections.abc import Sequence
from typing import Final, TypeAlias

Path: TypeAlias = tuple[str | int, ...]
"""Keys and places in arrays, from the outside in: `("programs", 0, "argv")`."""

_TABLE: Final = re.compile(r"\s*\[(\[?)\s*([^\[\]]+?)\s*\]")
_KEY: Final = re.compile(r"""\s*((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*[\w"'-]+)*)\s*=""")
_PIECE: Final = re.compile(r"""[\w-]+|"[^"]*"|'[^']*'""")
_LONG: Final = re.compile(r'"""|\'\'\'')


def line_of(text: str, path: Sequence[str | int]) -> int:
    """The line (from 1) of the longest known beginning of `path`; 1 where nothing of it is known.

    The last piece may be a value of an array: then it is the line where it is written.
    """
    known = _lines_by_path(text)
    for length in range(len(path), 0, -1):
        if (line := known.get(tuple(path[:length]))) is not None:
            rest = path[length:]
            return _further(text, line, str(rest[-1])) if rest else line
    return 1


def _lines_by_path(text: str) -> dict[Path, int]:
    """The lines of all tables and keys; what stands in a text of several lines is none."""
    lines: dict[Path, int] = {}
    counts: dict[Path, int] = {}
    table: Path = ()
    inside = False
    for number, line in enumerate(text.splitlines(), start=1):
        odd = len(_LONG.findall(line)) % 2 == 1
        if inside:
            inside = not odd
            continue
        inside = odd
        if heading := _TABLE.match(line):
            name = _pieces(heading[2])
            if heading[1]:
                index = counts[name] = counts.get(name, -1) + 1
                table = (*name, index)
            else:
                table = _inside(name, counts)
            for length in range(1, len(table) + 1):
                lines.setdefault(table[:length], number)
        elif key := _KEY.match(line):
            pieces = _pieces(key[1])
            for length in range(1, len(pieces) + 1):
                lines.setdefault((*table, *pieces[:length]), number)
    return lines


def _pieces(name: str) -> Path:
    return tuple(piece.strip("\"'") for piece in _PIECE.findall(name))


def _inside(name: Path, counts: dict[Path, int]) -> Path:
    """A table under an array of tables belongs to its last one."""
    for length in range(len(name), 0, -1):
        if (index := counts.get(name[:length])) is not None:
            return (*name[:length], index, *name[length:])
    return name


def _further(text: str, line: int, value: str) -> int:
    """The line at or below this one on which the value is written; this one if it is nowhere."""
    lines = text.splitlines()[line - 1 :]
    return next((line + below for below, one in enumerate(lines) if value in one), line)
