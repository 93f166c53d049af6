"""Text into passages: pieces of about 500 to 1,000 characters that begin and end where it does."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

MIN_PASSAGE_CHARS: Final = 500
"""A passage ends at the first blank line after so many characters …"""

MAX_PASSAGE_CHARS: Final = 1_000
"""… and is cut at a paragraph, sentence, line or word before so many."""

Line: TypeAlias = tuple[str, int]
"""A line of text with its line break, or a piece of one, and the level of the heading it is, or 0.

All lines joined are the extracted text that offsets count in.
"""

_TITLE: Final = 200
_PIECE: Final = 1 << 13
_MARKUP: Final = re.compile(r"^#{1,6}\s+")
_SENTENCE: Final = re.compile(r"[.!?…][\"'”’)\]]*\s|[。！？]")


@dataclass(frozen=True, slots=True)
class Passage:
    """`text` is exactly what stands at `offset` (in characters) of the extracted text.

    `title` is the document's title and the headings above the passage, joined by ` › `.
    """

    title: str
    offset: int
    text: str


def split(lines: Iterable[Line], title: str) -> Iterator[Passage]:
    """Cut lines into passages, holding no more than one of them. A heading begins a new one."""
    headings = {0: title}
    held, offset, body = "", 0, False
    for line, level in _in_pieces(lines):
        if level and body:
            yield from _passage(headings, offset, held)
            offset += len(held)
            held, body = "", False
        if level:
            headings = _under(headings, level, _plain(line))
        held += line
        body = body or (not level and bool(line.strip()))
        while len(held) > MAX_PASSAGE_CHARS:
            end = _best_break(held)
            yield from _passage(headings, offset, held[:end])
            held, offset = held[end:], offset + end
        if body and len(held) >= MIN_PASSAGE_CHARS and not line.strip():
            yield from _passage(headings, offset, held)
            offset += len(held)
            held, body = "", False
    yield from _passage(headings, offset, held)


def _in_pieces(lines: Iterable[Line]) -> Iterator[Line]:
    """Very long lines in pieces, of which only the first is a heading."""
    for line, level in lines:
        yield line[:_PIECE], level
        for begin in range(_PIECE, len(line), _PIECE):
            yield line[begin : begin + _PIECE], 0


def _under(headings: dict[int, str], level: int, heading: str) -> dict[int, str]:
    above = {other: text for other, text in headings.items() if other < level}
    # The first heading of a document tends to be its title again.
    if level == 1 or above.get(0) == heading:
        above.pop(0, None)
    return {**above, level: heading}


def _plain(line: str) -> str:
    """A heading without its markup, at most as long as a title."""
    bare = _MARKUP.sub("", line.strip())
    inner = bare.rstrip("#")
    return (bare if inner[-1:].strip() else inner).strip()[:_TITLE]


def _passage(headings: dict[int, str], offset: int, text: str) -> Iterator[Passage]:
    if stripped := text.strip():
        title = " › ".join(filter(None, headings.values()))
        begins = len(text) - len(text.lstrip())
        yield Passage(title[:_TITLE], offset + begins, stripped)


def _best_break(text: str) -> int:
    """Where a passage that grew too long had best end."""
    window = text[:MAX_PASSAGE_CHARS]
    if (paragraph := window.rfind("\n\n", MIN_PASSAGE_CHARS // 2)) > 0:
        return paragraph + 2
    sentences = [match.end() for match in _SENTENCE.finditer(window, MIN_PASSAGE_CHARS)]
    if sentences:
        return sentences[-1]
    for gap in ("\n", " "):
        if (position := window.rfind(gap, MIN_PASSAGE_CHARS)) > 0:
            return position + 1
    return MAX_PASSAGE_CHARS
