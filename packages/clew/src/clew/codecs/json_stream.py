"""Where the JSON object of a reply begins and ends, told as it arrives, and the thought in it.

An object counts only where a line begins with it (behind a code fence or a bracket at most): what
stands in the middle of prose is talk about a call. The parser and the stream's filter decide by
the same lines, so that what a person saw arrive is what counted.
"""

import re
from collections.abc import Callable
from typing import Final

import msgspec

from clew.codecs.stop_filter import WIDTH, Labels, LineLabel, Undecided
from clew.codecs.stream_end import StreamEnd
from clew.core.models import OnText

LABELS: Final = Labels((("question", "question"), ("observation", "observation")))
"""What the person and the tools are announced by: the model itself writes none."""

_OPENING: Final = re.compile(r"[ \t]*+(?:`{3,}+[\w+-]{0,20}+[ \t]*+)?+\[?+[ \t]*+\{")
_HALF: Final = re.compile(r"[ \t]*+(?:`++(?:[\w+-]{0,20}+[ \t]*+)?+)?+\[?+[ \t]*+")
FENCE: Final = re.compile(r"[ \t]*`{3,}[\w+-]{0,20}[ \t]*\r?")


def decided(line: str) -> int | Undecided | LineLabel | None:
    """What the start of a line says: where in it an object begins, a label, nothing, or too little.

    Only the first `WIDTH` characters of the line matter.
    """
    line = line[:WIDTH]
    if (opening := _OPENING.match(line)) is not None:
        return opening.end() - 1
    mark = LABELS.at(line)
    if mark is None and len(line) < WIDTH and _HALF.fullmatch(line):
        return Undecided.MAYBE
    return mark if not isinstance(mark, LineLabel) or mark.role == "observation" else None


def find_object(text: str) -> tuple[int | None, int]:
    """Where the object of a reply begins (None: nowhere), and where its line does.

    Without an object the second number is where an invented observation begins, or the end.
    """
    at = 0
    while at < len(text):
        newline = text.find("\n", at)
        end = len(text) if newline < 0 else newline
        decision = decided(text[at : min(end, at + WIDTH)])
        if isinstance(decision, LineLabel):
            return None, at
        if isinstance(decision, int):
            return at + decision, at
        at = end + 1
    return None, len(text)


def stream_filter(show: Callable[[str], None]) -> OnText:
    """A filter for a reply's stream: shows prose and thought, says True where no more is wanted.

    What it shows depends on the text alone, not on how it came in pieces. At the very end, the
    start of a line that might have become an object or a label stays unshown.
    """
    reading = _ReplyReader()

    def take(piece: str) -> bool:
        if text := reading.feed(piece):
            show(text)
        return reading.end.ended

    return take


class _ReplyReader(msgspec.Struct):
    """A reply being read: prose, line by line, and then its object."""

    end: StreamEnd = msgspec.field(default_factory=StreamEnd)
    _object: "_Object | None" = None
    _invented: bool = False
    _held: str = ""
    _fresh: bool = True

    def feed(self, piece: str) -> str:
        """Take the next piece; return what of the reply can be shown now."""
        if self._invented:
            return ""
        if self._object is None:
            return self._prose(self._held + piece)
        visible = self._object.feed(piece)
        if self._object.ended:
            self.end.passed(self._object.behind)
        return visible

    def _prose(self, text: str) -> str:
        self._held = ""
        visible: list[str] = []
        at = 0
        while at < len(text):
            newline = text.find("\n", at)
            end = len(text) if newline < 0 else newline + 1
            decision = (
                decided(text[at : min(end - (newline >= 0), at + WIDTH)]) if self._fresh else None
            )
            if decision is Undecided.MAYBE and newline < 0:
                self._held = text[at:]
                break
            if isinstance(decision, LineLabel):
                self._invented = True
                self.end.invented()
                break
            if isinstance(decision, int):
                self._object = _Object()
                visible.append(self.feed(text[at + decision :]))
                break
            if decision is None or not FENCE.fullmatch(text[at : end - 1]):
                visible.append(text[at:end])
                self.end.prose = self.end.prose or not text[at:end].isspace()
            self._fresh = newline >= 0
            at = end
        return "".join(visible)


_BETWEEN: Final = re.compile(r"[^\"'{}\[\]:,/#]++")
_INSIDE: Final = {'"': re.compile(r'[^"\\]++'), "'": re.compile(r"[^'\\]++")}
_ESCAPED: Final = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"} | {c: c for c in "\"'\\/"}
_HEX: Final = frozenset("0123456789abcdefABCDEF")
_KEY: Final = 16


class _Object(msgspec.Struct):
    """An object being read, by the tokens of `mend`: how deep it is open, and what to show of it.

    `behind` is how much of the last piece stands behind its end, once it has `ended`. `_mode` is ""
    between tokens, else what has been opened: a quote, "/", "//" or "/*".
    """

    ended: bool = False
    behind: int = 0
    _depth: int = 0
    _mode: str = ""
    _key: str = ""
    _word: str = ""
    _star: bool = False
    _backslash: bool = False
    _hex: str | None = None
    _high: int = 0
    _visible: list[str] = msgspec.field(default_factory=list[str])

    def feed(self, piece: str) -> str:
        """Take the next piece; return what of the thought it brought."""
        self._visible.clear()
        at = 0
        while at < len(piece) and not self.ended:
            if self._mode in _INSIDE:
                at = self._string(piece, at)
            elif self._mode:
                at = self._comment(piece, at)
            else:
                at = self._between(piece, at)
        self.behind = len(piece) - at
        return "".join(self._visible)

    def _between(self, piece: str, at: int) -> int:
        if (run := _BETWEEN.match(piece, at)) is not None:
            if self._depth == 1:  # a bare key, perhaps
                self._word = (self._word + run[0].strip())[:_KEY]
            return run.end()
        match mark := piece[at]:
            case '"' | "'" | "/":
                self._mode = mark
            case "#":
                self._mode = "//"
            case "{" | "[":
                self._depth += 1
            case "}" | "]":
                self._depth -= 1
                self.ended = not self._depth
            case _ if self._depth == 1:
                self._key, self._word = self._word if mark == ":" else "", ""
            case _:
                pass
        return at + 1

    def _comment(self, piece: str, at: int) -> int:
        if self._mode == "/":
            self._mode = f"/{piece[at]}"
            return at + 1
        if self._mode == "//":
            end = piece.find("\n", at) + 1
            self._mode = "" if end else "//"
            return end or len(piece)
        if self._mode != "/*":
            return len(piece)  # a lone slash is no JSON: nothing behind it counts
        if self._star and piece[at] == "/":
            self._mode, self._star = "", False
            return at + 1
        self._star = piece[at] == "*"
        end = piece.find("*", at)
        return at + 1 if self._star else end if end >= 0 else len(piece)

    def _string(self, piece: str, at: int) -> int:
        char = piece[at]
        if self._backslash:
            self._backslash = False
            self._hex = "" if char == "u" else None
            self._say(_ESCAPED.get(char, ""))
        elif self._hex is not None and char in _HEX:
            self._hex += char
            if len(self._hex) == 4:
                self._code(int(self._hex, 16))
                self._hex = None
        elif (run := _INSIDE[self._mode].match(piece, at)) is not None:
            self._hex = None
            self._say(run[0])
            return run.end()
        else:
            self._hex = None
            self._backslash = char == "\\"
            self._mode = self._mode if self._backslash else ""
        return at + 1

    def _code(self, code: int) -> None:
        """A character by its UTF-16 code: half of a pair waits for the other."""
        if 0xD800 <= code < 0xDC00:
            self._high = code
        elif 0xDC00 <= code < 0xE000:
            pair = 0x10000 + (self._high - 0xD800) * 0x400 + code - 0xDC00
            self._say(chr(pair) if self._high else "")
        else:
            self._say(chr(code))

    def _say(self, text: str) -> None:
        if not text or self._depth != 1:
            return
        self._high = 0
        if self._key == "thought":
            self._visible.append(text)
        elif not self._key:
            self._word = (self._word + text)[:_KEY]
