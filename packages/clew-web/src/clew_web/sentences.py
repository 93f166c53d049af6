"""A text's sentences, with the places where they begin."""

import re
from collections.abc import Iterator
from typing import Final

_END: Final = re.compile(
    r"(?<![.!?…])[.!?…]+[\"'”’)\]]*\s+(?=[\"'“‘(\[]?[^\W_a-z])|[。！？]+[”’」』）]*\s*"
)
_ABBREVIATION: Final = re.compile(
    r"(?:\b(?:[A-Z]|[A-Z]\.[A-Z]|e\.g|i\.e|approx|c|ca|cf|Co|Corp|Dr|ed|eds|et al|etc|fl|Gen|Gov|"
    r"Inc|Jr|Lt|Ltd|Mr|Mrs|Ms|Mt|No|no|Nos|pp|p|Prof|Rev|Sen|Sr|St|Univ|vol|vs|[Jj]an|[Ff]eb|Mar|"
    r"Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\.)$"
)
_LONGEST: Final = 12
"""Characters before a full stop that can be an abbreviation, with what stands before it."""

_HEADING: Final = re.compile(r"=+.*=+")


def sentences(text: str) -> Iterator[tuple[int, str]]:
    """Each sentence with its offset in characters: no line's end is within one, nor a heading."""
    begin = 0
    for line in text.splitlines(keepends=True):
        if not _HEADING.fullmatch(line.strip()):
            yield from ((begin + offset, sentence) for offset, sentence in _of_line(line))
        begin += len(line)


def _of_line(line: str) -> Iterator[tuple[int, str]]:
    begin = 0
    for end in (*(match.end() for match in _END.finditer(line)), len(line)):
        tail = line[max(begin, end - 2 * _LONGEST) : end].rstrip()
        if end < len(line) and _ABBREVIATION.search(tail[-_LONGEST:]):
            continue
        piece = line[begin:end]
        if sentence := piece.strip():
            yield begin + len(piece) - len(piece.lstrip()), sentence
        begin = end
