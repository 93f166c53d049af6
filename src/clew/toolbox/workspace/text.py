"""Decode a file to text and encode it back, preserving encoding and line ends."""

from dataclasses import dataclass
from typing import Final

from clew.core.errors import ToolError

_MARKS: Final = (
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)
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
class Text:
    """A file's text with LF line ends, and its original encoding and line ends.

    `returns` are the indices in `body` of line ends that were CRLF.
    """

    body: str
    encoding: str = "utf-8"
    mark: bytes = b""
    returns: frozenset[int] = frozenset()

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
        found = [] if self.encoding == "utf-8" else [self.encoding.replace("latin-1", "not UTF-8")]
        return ", ".join([*found, *(["CRLF lines"] if self.line_end == "\r\n" else [])])

    def line_of(self, place: int) -> int:
        """The number of the line at an index of `body`, from 1."""
        return self.body.count("\n", 0, place) + 1

    def change(self, spans: list[tuple[int, int, str]]) -> "Text":
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
            keep(at, start)
            new = new.replace("\r\n", "\n")  # noqa: PLW2901 - written as the file has its lines
            if self._ends_with_return(start):
                returns.update(long + place for place, one in enumerate(new) if one == "\n")
            pieces.append(new)
            long, at = long + len(new), end
        keep(at, len(self.body))
        return Text("".join(pieces), self.encoding, self.mark, frozenset(returns))

    def _ends_with_return(self, place: int) -> bool:
        """Whether the line at an index ends with CRLF; if it has no end, whether most lines do."""
        end = self.body.find("\n", place)
        return end in self.returns if end >= 0 else self.line_end == "\r\n"

    def encode(self) -> bytes:
        """The bytes of the file. Raises `ToolError` for characters that its encoding lacks."""
        if self.returns:
            pieces, at = list[str](), 0
            for place in sorted(self.returns):
                pieces += [self.body[at:place], "\r"]
                at = place
            whole = "".join([*pieces, self.body[at:]])
        else:
            whole = self.body
        try:
            return self.mark + whole.encode(self.encoding)
        except UnicodeEncodeError as error:
            lacking = error.object[error.start]
            raise ToolError(
                f"the file is not UTF-8, and its encoding has no {lacking!r}: leave it out"
            ) from error


def decode_text(data: bytes, path: str) -> Text:
    """The text of a file. Raises `ToolError` if it is binary."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            try:
                return _text(data[len(mark) :].decode(encoding), encoding, mark)
            except UnicodeDecodeError:
                break
    if b"\0" in data[:_HEAD]:
        kind = next((name for magic, name in _MAGIC if data.startswith(magic)), "binary")
        raise ToolError(f"{path} is {kind} ({len(data):,} bytes), and no text")
    try:
        return _text(data.decode("utf-8"), "utf-8", b"")
    except UnicodeDecodeError:
        return _text(data.decode("latin-1"), "latin-1", b"")


def _text(whole: str, encoding: str, mark: bytes) -> Text:
    if "\r\n" not in whole:
        return Text(whole, encoding, mark)
    pieces = whole.split("\r\n")
    returns, at = set[int](), 0
    for piece in pieces[:-1]:
        at += len(piece)
        returns.add(at)
        at += 1
    return Text("\n".join(pieces), encoding, mark, frozenset(returns))
