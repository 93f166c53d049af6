"""Decode a file to text and encode it back, preserving encoding and line ends."""

from dataclasses import dataclass
from typing import Final

from clew.support.errors import ToolError
from clew.support.text_encoding import MIXED, detect, is_same_in_all

UNKNOWN: Final = "latin-1"
"""How a text of unknown encoding is held: each character stands for a byte."""

_HEAD: Final = 8_192
_MAGIC: Final = (
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"%PDF", "a PDF"),
    (b"PK\x03\x04", "a ZIP archive"),
    (b"\x1f\x8b", "gzip data"),
    (b"\x7fELF", "a program"),
    (b"SQLite format 3", "an SQLite database"),
)


@dataclass(frozen=True, slots=True)
class FileText:
    """A file's text with LF line ends, and its original encoding and line ends.

    `returns` are the indices in `body` of line ends that were CRLF. In a text that is not `sure`
    of its encoding, bytes beyond ASCII are kept and none are added.
    """

    body: str
    encoding: str = "utf-8"
    mark: bytes = b""
    returns: frozenset[int] = frozenset()
    sure: bool = True

    @property
    def lines(self) -> list[str]:
        """The lines, without their ends."""
        return self.body.removesuffix("\n").split("\n") if self.body else []

    @property
    def line_end(self) -> str:
        """The most frequent line end."""
        return "\r\n" if 2 * len(self.returns) > self.body.count("\n") else "\n"

    @property
    def description(self) -> str:
        """The encoding and line ends, if unusual, or ""."""
        traits = [] if self.encoding == "utf-8" else [self.encoding]
        if not self.sure:
            mixed = self.encoding == "utf-8"
            traits = ["UTF-8 with invalid bytes" if mixed else "not UTF-8, the encoding is unknown"]
        return ", ".join([*traits, *(["CRLF lines"] if self.line_end == "\r\n" else [])])

    def line_of(self, offset: int) -> int:
        """The number of the line at an index of `body`, from 1."""
        return self.body.count("\n", 0, offset) + 1

    def change(self, spans: list[tuple[int, int, str]]) -> "FileText":
        """The text with each span replaced; spans must not overlap.

        New line ends are like that of the line in which the span begins, else like most.
        """
        pieces, returns, at, long = list[str](), set[int](), 0, 0

        def keep(start: int, end: int) -> None:
            nonlocal long
            returns.update(one - start + long for one in self.returns if start <= one < end)
            pieces.append(self.body[start:end])
            long += end - start

        for start, end, new in sorted(spans):
            self._check_bytes(start, end, new)
            keep(at, start)
            new = new.replace("\r\n", "\n")  # noqa: PLW2901 - written as the file has its lines
            if self._ends_with_return(start):
                returns.update(long + offset for offset, one in enumerate(new) if one == "\n")
            pieces.append(new)
            long, at = long + len(new), end
        keep(at, len(self.body))
        return FileText("".join(pieces), self.encoding, self.mark, frozenset(returns), self.sure)

    def _check_bytes(self, start: int, end: int, new: str) -> None:
        """Refuse what would write bytes of another encoding, or cut a character in two."""
        if self.encoding.startswith("utf-"):
            return
        if self.sure:
            lacking = [one for one in new if not is_same_in_all(one, self.encoding)]
            if lacking:
                raise ToolError(
                    f"nothing was changed: the file is not UTF-8 ({self.encoding}), and its "
                    f"encoding has no {lacking[0]!r}: leave it out, or convert the file first"
                )
            return
        if not new.isascii():
            first = next(one for one in new if not one.isascii())
            raise ToolError(
                "nothing was changed: the file is not UTF-8, and its encoding has no "
                f"{first!r} for certain: write ASCII, or convert the file first"
            )
        for at in (start, end):
            if 0 < at < len(self.body) and self.body[at - 1] > "\x7f" and self.body[at] != "\n":
                raise ToolError(
                    "nothing was changed: the file is not UTF-8 and its encoding is not certain, "
                    "so that the text may begin or end inside of a character: take whole lines"
                )

    def _ends_with_return(self, offset: int) -> bool:
        """Whether the line at an index ends with CRLF; if it has no end, whether most lines do."""
        end = self.body.find("\n", offset)
        return end in self.returns if end >= 0 else self.line_end == "\r\n"

    def encode(self) -> bytes:
        """The bytes of the file. Raises `ToolError` for characters that its encoding lacks."""
        if self.returns:
            pieces, at = list[str](), 0
            for offset in sorted(self.returns):
                pieces += [self.body[at:offset], "\r"]
                at = offset
            with_returns = "".join([*pieces, self.body[at:]])
        else:
            with_returns = self.body
        try:
            return self.mark + with_returns.encode(self.encoding, self._errors)
        except UnicodeEncodeError as error:
            lacking = error.object[error.start]
            raise ToolError(
                f"nothing was changed: the file is in {self.encoding}, which has no {lacking!r}: "
                "leave it out, or convert the file first"
            ) from error

    @property
    def _errors(self) -> str:
        """Invalid bytes of a file that is UTF-8 for the most part stay as they are."""
        return "surrogateescape" if self.encoding == "utf-8" and not self.sure else "strict"


def decode_text(data: bytes, path: str) -> FileText:
    """The text of a file. Raises `ToolError` if it is binary."""
    detected = detect(data)
    if detected.mark:
        return _text(data[len(detected.mark) :].decode(detected.name), detected.name, detected.mark)
    if b"\0" in data[:_HEAD]:
        kind = next((name for magic, name in _MAGIC if data.startswith(magic)), "binary")
        raise ToolError(f"{path} is {kind} ({len(data):,} bytes), and no text")
    if detected.name == MIXED:
        return _text(data.decode("utf-8", "surrogateescape"), "utf-8", b"", sure=False)
    if detected.sure:
        decoded = data.decode(detected.name)
        if detected.name == "utf-8" or decoded.encode(detected.name, "replace") == data:
            return _text(decoded, detected.name, b"")
    return _text(data.decode(UNKNOWN), UNKNOWN, b"", sure=False)


def _text(decoded: str, encoding: str, mark: bytes, *, sure: bool = True) -> FileText:
    if "\r\n" not in decoded:
        return FileText(decoded, encoding, mark, sure=sure)
    pieces = decoded.split("\r\n")
    returns, at = set[int](), 0
    for piece in pieces[:-1]:
        at += len(piece)
        returns.add(at)
        at += 1
    return FileText("\n".join(pieces), encoding, mark, frozenset(returns), sure)
