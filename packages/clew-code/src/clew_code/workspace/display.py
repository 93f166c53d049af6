"""Format file content and command output for a model, compactly."""

import re
from collections.abc import Sequence
from typing import Final

LONG: Final = 400
"""The most characters shown of a line."""
_MINIFIED: Final = 5_000
"""The length of a line that nobody wrote by hand, ..."""
_DENSE: Final = 0.75
"""... where lines of at least that length make up this share of the file."""

_CONTROL: Final = re.compile(
    "\x1b\\[[0-?]*[ -/]*[@-~]|\x1b\\][^\x07\x1b]*(?:\x07|\x1b\\\\)|\x1b[@-Z\\\\-_]"
    "|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]"
)
"""Terminal escapes and control characters, except tabs and line ends."""


def strip_escapes(text: str) -> str:
    """Text without terminal escapes; of an overwritten line, its last state."""
    lines = (line.rstrip("\r").rpartition("\r")[2] for line in text.split("\n"))
    return _CONTROL.sub("", "\n".join(lines))


def truncate_line(line: str, around: int = 0) -> str:
    """A line to show; of a long one, the part around an index, and how much is missing."""
    line = _CONTROL.sub("", line)
    if not line.isascii():  # a byte that is no character of its file is shown by its number
        line = line.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    if len(line) <= LONG:
        return line
    start = max(0, min(around - LONG // 3, len(line) - LONG))
    before = f"[… {start:,} characters …] " if start else ""
    after = len(line) - start - LONG
    behind = f" [… {after:,} more characters]" if after else ""
    return f"{before}{line[start : start + LONG]}{behind}"


def is_minified(lines: Sequence[str]) -> bool:
    """Whether a file is minified code: most of it is in very long lines."""
    huge = sum(len(line) for line in lines if len(line) >= _MINIFIED)
    return huge > 0 and huge >= _DENSE * sum(map(len, lines))


def number_lines(lines: Sequence[str], first: int) -> str:
    """Prefix lines with their numbers."""
    width = len(str(first + len(lines) - 1))
    return "\n".join(
        f"{number:>{width}}  {truncate_line(line)}" for number, line in enumerate(lines, first)
    )


def head_and_tail(text: str, max_chars: int) -> str:
    """The text, or the beginning and end of one of over `max_chars` characters, in whole lines."""
    text = "\n".join(truncate_line(line) for line in strip_escapes(text).split("\n"))
    if len(text) <= max_chars:
        return text
    half = max_chars // 2
    head = text[:half].rpartition("\n")[0] or text[:half]
    tail = text[-half:].partition("\n")[2] or text[-half:]
    gone = text[len(head) : len(text) - len(tail)].strip("\n")
    return f"{head}\n[… {gone.count(chr(10)) + 1:,} lines left out …]\n{tail}"


def size(count: int) -> str:
    """A number of bytes in readable form."""
    if count < 10_000:
        return f"{count:,} bytes"
    return f"{count / 1000:,.0f} kB" if count < 10_000_000 else f"{count / 1e6:,.0f} MB"
