"""JSON as it arrives: the texts in it by their place, and the value as far as it can be read.

The reader is strict. Where a model writes what is no JSON, it gives up: the record will tell how
the reply was read.
"""

import re
from typing import Final, TypeAlias

import msgspec

from clew.core.values import Json

Path: TypeAlias = tuple[str, ...]

_SPACE: Final = re.compile(r"[ \t\r\n]+")
_PLAIN: Final = re.compile(r'[^"\\]+')
_LITERAL: Final = re.compile(r"[-+.\w]+")
_CLOSING: Final = {"{": "}", "[": "]"}
_DEEPEST: Final = 100


class JsonPrefix:
    """A value of which more and more arrives.

    `closed` says that all of it has, `broken` that it is no JSON. `path` is where the reader is.
    """

    def __init__(self) -> None:
        self.closed = False
        self.broken = False
        self.length = 0
        self._pieces: list[str] = []
        self._open: list[str] = []
        self._path: list[str | int] = []
        self._in_string = False
        self._is_key = False
        self._escape = ""
        self._key = ""
        self._half = ""
        self._safe = 0, ""

    @property
    def path(self) -> Path:
        """The keys and numbers that lead to what is being read."""
        return tuple(map(str, self._path))

    @property
    def in_text(self) -> bool:
        """Whether a text, which is no key, is being read."""
        return self._in_string and not self._is_key

    def feed(self, piece: str) -> list[tuple[Path, str]]:
        """Take the next piece; the texts that came with it, each with its path."""
        texts: list[tuple[Path, str]] = []
        at, start = 0, self.length
        while at < len(piece) and not (self.closed or self.broken):
            if self._in_string:
                at, text = self._string(piece, at, start)
                if text:
                    texts.append((self.path, text))
            else:
                at = self._between(piece, at, start)
        self._pieces.append(piece[:at])
        self.length += at
        return texts

    @property
    def text(self) -> str:
        """All of it that was read."""
        self._pieces = ["".join(self._pieces)]
        return self._pieces[0]

    def value(self, *, open_text: bool = True) -> Json:
        """What can be read so far, None if nothing; with a text that is not yet closed, or not."""
        if self.broken:
            return None
        if self.in_text and open_text:
            text = self.text[: self.length - len(self._escape)]
            text = self._without_half(text) + '"' + self._closers()
        else:
            text = self.text[: self._safe[0]] + self._safe[1]
        try:
            return msgspec.json.decode(text) if text else None
        except (msgspec.DecodeError, RecursionError):
            return None

    def _without_half(self, text: str) -> str:
        return text[: -len(self._half)] if self._half and text.endswith(self._half) else text

    def _closers(self) -> str:
        return "".join(_CLOSING[each] for each in reversed(self._open))

    def _ended(self, end: int) -> None:
        """A value ends here."""
        self._safe = end, self._closers()
        if not self._open:
            self.closed = True

    def _between(self, piece: str, at: int, start: int) -> int:
        if (space := _SPACE.match(piece, at)) is not None:
            return space.end()
        mark = piece[at]
        match mark:
            case '"':
                self._in_string, self._key = True, ""
                self._is_key = bool(self._open) and self._open[-1] == "{" and self._awaits_key()
            case "{" | "[":
                self._open.append(mark)
                self._path.append("" if mark == "{" else 0)
                self._safe = start + at + 1, self._closers()
                self.broken = len(self._open) > _DEEPEST
            case "}" | "]":
                if not self._open or _CLOSING[self._open.pop()] != mark:
                    self.broken = True
                    return at
                self._path.pop()
                self._ended(start + at + 1)
            case ",":
                self._next()
            case ":":
                pass
            case _:
                return self._literal(piece, at, start)
        return at + 1

    def _awaits_key(self) -> bool:
        return self._path[-1] == ""

    def _next(self) -> None:
        if not self._open:
            self.broken = True
        elif self._open[-1] == "{":
            self._path[-1] = ""
        else:
            self._path[-1] = int(self._path[-1]) + 1

    def _literal(self, piece: str, at: int, start: int) -> int:
        literal = _LITERAL.match(piece, at)
        if literal is None:
            self.broken = True
            return at
        if literal.end() < len(piece) and self._open:  # else more of it may come
            self._ended(start + literal.end())
        return literal.end()

    def _string(self, piece: str, at: int, start: int) -> tuple[int, str]:
        """Read on in a string; how far, and what of it is to be told."""
        if self._escape:
            return at + 1, self._tell(self._escaped(piece[at]))
        if (plain := _PLAIN.match(piece, at)) is not None:
            self._half = ""
            return plain.end(), self._tell(plain[0])
        if piece[at] == "\\":
            self._escape = "\\"
            return at + 1, ""
        self._in_string, self._half = False, ""
        if self._is_key:
            self._path[-1] = self._key or " "
        else:
            self._ended(start + at + 1)
        return at + 1, ""

    def _escaped(self, char: str) -> str:
        """Take a character of an escape; the text once that is complete."""
        self._escape += char
        if self._escape[1] == "u" and len(self._escape) < 6:
            return ""
        escape, self._escape = self._half + self._escape, ""
        if re.search(r"\\u[dD][89abAB]\w\w$", escape):
            self._half = escape  # of a pair: the other half may follow
            return ""
        self._half = ""
        try:
            return str(msgspec.json.decode(f'"{escape}"'))
        except msgspec.DecodeError:
            self.broken = True
            return ""

    def _tell(self, text: str) -> str:
        if self._is_key:
            self._key += text
            return ""
        return text
