"""How files and the output of commands are shown to a model, so that little room says most."""

import re
from collections.abc import Sequence
from typing import Final

LONG: Final = 400
"""Characters of a line that are shown."""
_MINIFIED: Final = 5_000
"""Characters a line has that nobody wrote by hand, ..."""
_DENSE: Final = 0.75
"""... where lines of at least that length make up this share of the file."""

_CONTROL: Final = re.compile(
    "\x1b\\[[0-?]*[ -/]*[@-~]|\x1b\\][^\x07\x1b]*(?:\x07|\x1b\\\\)|\x1b[@-Z\\\\-_]"
    "|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]"
)
"""Escapes of terminals, and control characters; tabs and ends of lines are left."""


def plain(text: str) -> str:
    """Text without escapes of terminals; of a line that was written over, its last state."""
    lines = (line.rstrip("\r").rpartition("\r")[2] for line in text.split("\n"))
    return _CONTROL.sub("", "\n".join(lines))


def cut_line(line: str, around: int = 0) -> str:
    """A line that can be shown: of a long one the part around a place, and how much is missing."""
    line = _CONTROL.sub("", line)
    if len(line) <= LONG:
        return line
    start = max(0, min(around - LONG // 3, len(line) - LONG))
    before = f"[… {start:,} characters …] " if start else ""
    after = len(line) - start - LONG
    behind = f" [… {after:,} more characters]" if after else ""
    return f"{before}{line[start : start + LONG]}{behind}"


def minified(lines: Sequence[str]) -> bool:
    """Whether a file is code that a program made small: nearly all of it stands in huge lines."""
    huge = sum(len(line) for line in lines if len(line) >= _MINIFIED)
    return huge > 0 and huge >= _DENSE * sum(map(len, lines))


def numbered(lines: Sequence[str], first: int) -> str:
    """Lines with their numbers."""
    width = len(str(first + len(lines) - 1))
    return "\n".join(
        f"{number:>{width}}  {cut_line(line)}" for number, line in enumerate(lines, first)
    )


def head_and_tail(text: str, most: int) -> str:
    """The beginning and the end of a text of more than `most` characters, in whole lines."""
    text = "\n".join(cut_line(line) for line in plain(text).split("\n"))
    if len(text) <= most:
        return text
    half = most // 2
    head = text[:half].rpartition("\n")[0] or text[:half]
    tail = text[-half:].partition("\n")[2] or text[-half:]
    gone = text[len(head) : len(text) - len(tail)].strip("\n")
    return f"{head}\n[… {gone.count(chr(10)) + 1:,} lines left out …]\n{tail}"


def size(count: int) -> str:
    """A number of bytes for people."""
    if count < 10_000:
        return f"{count:,} bytes"
    return f"{count / 1000:,.0f} kB" if count < 10_000_000 else f"{count / 1e6:,.0f} MB"
