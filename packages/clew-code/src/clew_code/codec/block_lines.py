"""A reply with a block of Python, taken apart by lines, and what of it a stream may show.

The parser and the stream's filter take the same lines, so that what a person saw arrive is what
counted. The filter looks at a bounded start of each line.
"""

import re
from collections.abc import Callable
from typing import Final

import msgspec

from clew.codecs.text_codec import INVENTED, StreamEnd
from clew_code.codec.functions import is_program

OBSERVATION: Final = re.compile(r"[\s*_#>]{0,12}observation[\s*_\d]{0,8}:", re.IGNORECASE)
ANSWER: Final = re.compile(r"[\s*_#>]{0,12}(?:final )?answer[*_]{0,3}:[*_]{0,3}", re.IGNORECASE)
THOUGHT: Final = re.compile(r"\s{0,8}[*_]{0,3}thought[*_]{0,3}:[*_]{0,3}", re.IGNORECASE)
FENCE: Final = re.compile(r"[ \t]{0,3}(`{3,20})[ \t]{0,3}([\w+-]{0,20})[ \t]{0,8}\r?")
_NEXT_LABELS: Final = ("Thought:", "Answer:", "Final Answer:", "Observation:")
"""What begins a line that is no Python any more: small models forget to close the fence."""
_TRIES: Final = 3
_HELD: Final = "observation"
_LEADING: Final = re.compile(r"^[\s*_#>]+")
_MARKS: Final = 12
"""Behind more marks than these no label stands."""
_AFTER: Final = "text behind the block dropped"
_START: Final = 64
"""What begins a line that is not shown ends within so many characters."""


class Pieces(msgspec.Struct):
    """A reply taken apart by lines: prose, then one block of code or an answer."""

    prose: list[str] = []
    code: list[str] = []
    coded: bool = False
    """Whether there is a block."""
    answer: list[str] | None = None
    fence: str = ""
    """The open fence, or ""."""
    language: str = ""
    """What stands behind the fence that began the block."""
    over: bool = False
    """Whether what counts has ended: what follows is dropped."""
    dropped: str = ""
    tries: int = 0

    def take(self, line: str) -> None:
        """The next line."""
        if self.over:
            self.dropped = self.dropped or (_AFTER if line.strip() else "")
        elif self.fence and self.answer is None:
            self._code(line)
        elif not self.fence and OBSERVATION.match(line):
            self.over, self.dropped = True, INVENTED
        elif self.answer is not None:
            fence = FENCE.fullmatch(line)
            if fence is not None:  # an answer may show code: labels within that are none
                self.fence = "" if self.fence else fence[1]
            self.answer.append(line)
        elif (fence := FENCE.fullmatch(line)) is not None:
            self.fence, self.language, self.coded = fence[1], fence[2], True
        elif (fence := ANSWER.match(line)) is not None:
            self.answer = [line[fence.end() :]]
        else:
            self.prose.append(line)

    def _code(self, line: str) -> None:
        fence = FENCE.fullmatch(line)
        if fence is not None and not fence[2] and len(fence[1]) >= len(self.fence):
            self.fence, self.over = "", True
        elif line.startswith(_NEXT_LABELS) and self._is_complete():
            self.over, self.dropped = True, _AFTER
            self.code = ["\n".join(self.code).rstrip()]
        else:
            self.code.append(line)

    def _is_complete(self) -> bool:
        """Whether the code so far is a program, which is looked at a few times only."""
        self.tries += 1
        return self.tries <= _TRIES and is_program("\n".join(self.code))


def may_show(pieces: Pieces, line: str) -> bool:
    """Whether the beginning of a line can be shown: it begins no observation, nor ends a block."""
    if not line:
        return True
    if pieces.fence:
        return not (
            line.startswith(_NEXT_LABELS) or any(word.startswith(line) for word in _NEXT_LABELS)
        )
    word = _LEADING.sub("", line, count=1)
    if len(line) - len(word) > _MARKS:
        return True
    word = word.casefold()
    begun = _HELD.startswith(word) or re.fullmatch(r"observation[\s*_\d]{0,8}", word)
    return not (begun or OBSERVATION.match(line))


class BlockFilter:
    """Shows a reply as it arrives, each line once it begins no observation and ends no block.

    What it shows depends on the text alone, not on how it came in pieces.
    """

    def __init__(self, show: Callable[[str], None]) -> None:
        self._show = show
        self._pieces, self._end = Pieces(), StreamEnd()
        self._line: list[str] = []
        self._start = ""
        self._held: list[str] = []
        self._shows = False

    def take(self, text: str) -> bool:
        """Take the next piece; whether nothing more is wanted."""
        for piece in text.splitlines(keepends=True):
            if self._pieces.over:
                self._end.passed(len(piece))
            else:
                self._take(piece)
        return self._end.ended

    def _take(self, piece: str) -> None:
        """Take more of a line that may count."""
        self._line.append(piece)
        self._held.append(piece)
        if len(self._start) < _START:
            self._start = (self._start + piece)[:_START]
            self._shows = may_show(self._pieces, self._start)
        if piece.endswith("\n"):
            self._end_line()
        if self._shows:
            self._show("".join(self._held))
            self._held = []

    def _end_line(self) -> None:
        """A line is complete; once all that counts has come, say so to the stream's end.

        Prose is what begins the reply and no label announces.
        """
        pieces = self._pieces
        pieces.take("".join(self._line).rstrip("\r\n"))
        self._line, self._start, self._shows = [], "", not pieces.dropped
        if pieces.over:
            text = "\n".join(pieces.prose).strip()
            self._end.prose = bool(text) and THOUGHT.match(text) is None
        if pieces.dropped == INVENTED:
            self._end.invented()
