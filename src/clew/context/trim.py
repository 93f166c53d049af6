"""Trimming: what a model is shown of one long observation, and with which handle it reads on.

The record has all of it; `read_more(handle, offset)` gives the rest.
"""

from typing import Final

LINE_CHARS: Final = 400
"""A longer line is shown in part if it is no prose: minified code, encoded or binary data."""

_BEGINNING: Final = 200
_PROSE: Final = 1 / 12
"""Prose and code have at least this share of spaces; minified code has some 3 in a hundred."""

_JSON: Final = ("{}", "[]")
"""How a line of JSON begins and ends."""

_TAIL: Final = 5
"""The last fifth of what is shown of a long text is its end."""


def trimmed(text: str, most: int, handle: str, *, data: bool = False) -> str:
    """The text, its long lines that are no prose and a middle beyond `most` characters left out.

    Of `data` (JSON that a tool gave as such) no line is too long, nor is one that is JSON.
    """
    if len(text) <= LINE_CHARS:
        return text
    if not data and any(len(line) > LINE_CHARS and not _prose(line) for line in text.split("\n")):
        text = _without_long_lines(text, handle)
    if len(text) <= most:
        return text
    tail = most // _TAIL
    head = most - tail
    left, size = f"{len(text) - most:,}", f"{len(text):,}"
    how = f'read_more("{handle}", offset={head})'
    said = f"[… {left} of {size} characters are left out here: {how} …]"
    return f"{text[:head]}\n{said}\n{text[-tail:]}"


def _without_long_lines(text: str, handle: str) -> str:
    shown: list[str] = []
    place = 0
    for line in text.split("\n"):
        if len(line) > LINE_CHARS and not _prose(line):
            left, at = len(line) - _BEGINNING, place + _BEGINNING
            said = f'[… {left:,} characters of this line: read_more("{handle}", offset={at}) …]'
            shown.append(f"{line[:_BEGINNING]} {said}")
        else:
            shown.append(line)
        place += len(line) + 1
    return "\n".join(shown)


def _prose(line: str) -> bool:
    """Whether a line is to be read: prose, in a script with spaces or without, or JSON."""
    spaces, ends = line.count(" "), f"{line[:1]}{line[-1:]}"
    if ends in _JSON:
        return True
    return spaces >= _PROSE * len(line) or sum(map(_wide, line)) > len(line) // 2


def _wide(char: str) -> bool:
    return char > "\u2e7f" and char.isalnum()
