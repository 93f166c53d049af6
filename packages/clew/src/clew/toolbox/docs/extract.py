"""Files into lines of text. The one place that knows file formats and their optional libraries."""

import importlib
import importlib.util
import io
import logging
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

from clew.support.error_text import message_of
from clew.support.text_encoding import decoded
from clew.toolbox.docs.html import read_html
from clew.toolbox.docs.passages import Line
from clew.toolbox.docs.survey import Survey

MAX_HTML_BYTES: Final = 10_000_000
MAX_PDF_BYTES: Final = 50_000_000
MAX_TEXT_BYTES: Final = 100_000_000
"""Bytes over which a file is not read. PDF and HTML are held in memory whole."""

MAX_PAGES: Final = 5_000
MAX_PDF_TEXT: Final = 20_000_000
"""Pages, and characters of text, that are read of a PDF; its note says what was left out."""

_HTML: Final = frozenset({".html", ".htm", ".xhtml"})
_SPANS: Final = 20
_PIECE: Final = 1 << 16
_FENCE: Final = re.compile(r"\s{0,3}(`{3,}|~{3,})")
_HEADING: Final = re.compile(r"\s{0,3}(#{1,6})\s+\S")
_UNDERLINE: Final = re.compile(r"\s{0,3}(=+|-{2,})\s*$")
T = TypeVar("T")


class Unreadable(Exception):  # noqa: N818 – it is a finding to report, not an error
    """Why a file as it is cannot be searched."""


@dataclass(frozen=True, slots=True)
class Extracted:
    """A file's title (its name, where it has none of its own) and its text, line by line.

    `note` says what had to be guessed to read it.
    """

    title: str
    lines: Iterator[Line]
    note: str = ""


def extract(path: Path, seen: Survey) -> Extracted:
    """Read a file by its kind: .pdf, .html/.htm/.xhtml, .md/.markdown, anything else as text.

    Nothing may be `lacking`, and it may not be `too_large`. All line breaks are read as line feeds.
    Raises `OSError` and, also on the way through the lines, `Unreadable`.
    """
    kind = path.suffix.lower()
    if kind == ".pdf":
        return Extracted(path.stem, *_pdf(path))
    if not seen.encoding:
        raise Unreadable("not text, HTML or PDF")
    if kind in _HTML:
        return _html(path, seen)
    lines = _decoded(path, seen)
    marked = markdown(lines) if kind in {".md", ".markdown"} else ((line, 0) for line in lines)
    return Extracted(path.stem, marked, seen.note)


def too_large(path: Path, size: int) -> str:
    """Why a file of so many bytes is not read; empty if it is."""
    kind = path.suffix.lower()
    max_bytes = (
        MAX_PDF_BYTES if kind == ".pdf" else MAX_HTML_BYTES if kind in _HTML else MAX_TEXT_BYTES
    )
    return f"{size:,} bytes, at most {max_bytes:,} are read: split it" if size > max_bytes else ""


def lacking(path: Path) -> str:
    """What to install before files of this kind can be read; empty when nothing is missing."""
    if path.suffix.lower() != ".pdf" or _reads_pdf():
        return ""
    return "install clew[documents] to read it"


def _decoded(path: Path, seen: Survey) -> Iterator[str]:
    try:
        with path.open(encoding=seen.encoding, errors=seen.errors) as file:
            while line := file.readline(_PIECE):
                yield line
    except UnicodeError:
        what = seen.encoding.upper()
        raise Unreadable(f"not valid {what}, though it begins like it") from None


def markdown(lines: Iterator[str]) -> Iterator[Line]:
    """Find headings, `# such` and underlined ones, outside of fenced code."""
    fence = held = ""
    for line in lines:
        underline = _UNDERLINE.match(line)
        if held:
            yield held, (1 if underline[1][0] == "=" else 2) if underline else 0
        held = ""
        mark = _FENCE.match(line)
        if mark and (not fence or mark[1].startswith(fence)):
            fence = "" if fence else mark[1]
            yield line, 0
        elif not fence and (heading := _HEADING.match(line)):
            yield line, len(heading[1])
        elif fence or underline or not line.strip():
            yield line, 0
        else:
            held = line
    if held:
        yield held, 0


def pdf_text(data: bytes, max_chars: int) -> str:
    """So much of what a PDF says; "" where it says nothing, is broken, or nothing here reads it."""
    if not _reads_pdf():
        return ""
    try:
        lines, _ = _pdf(io.BytesIO(data))
    except (OSError, Unreadable):
        return ""
    return "".join(line for line, _ in lines)[:max_chars]


def _reads_pdf() -> bool:
    return importlib.util.find_spec("pypdf") is not None


def _pdf(file: Path | io.BytesIO) -> tuple[Iterator[Line], str]:
    """The pages, each under a heading that numbers it; and a note."""
    pypdf = importlib.import_module("pypdf")
    # What it warns of is reported, if it matters, as the reason why a file was skipped.
    logging.getLogger("pypdf").addHandler(logging.NullHandler())
    pages, note = _whatever_fails(lambda: _pages(pypdf, file))
    if not any(page.strip() for page in pages):
        raise Unreadable("no text in it: if it is a scan, run it through text recognition")
    return _numbered(pages), note


def _pages(pypdf: Any, file: Path | io.BytesIO) -> tuple[list[str], str]:
    """The text of the pages, and a note on those that have none or were not read."""
    reader = pypdf.PdfReader(file)
    if reader.is_encrypted and not reader.decrypt(""):
        raise Unreadable("encrypted: save it without a password")
    pages: list[str] = []
    bare: list[int] = []
    broken: list[int] = []
    rest = False
    room = MAX_PDF_TEXT
    # Not by their declared count, and not all at once: either may be absurd.
    for number, page in enumerate(reader.pages, start=1):
        if number > MAX_PAGES or room <= 0:
            rest = True
            break
        try:
            text = _encodable(page.extract_text())
        except (OSError, MemoryError):
            raise
        # One page that cannot be read does not lose the others.
        except Exception:  # noqa: BLE001 – pypdf fails in any way, and the note says so
            text = ""
            broken.append(number)
        else:
            if not text.strip() and _draws(page):
                bare.append(number)
        pages.append(text[:room])
        room -= len(text)
    if broken and len(broken) == len(pages):
        raise Unreadable("broken: none of its pages can be read")
    return pages, _left_out(len(pages), bare, broken, rest=rest)


def _draws(page: Any) -> bool:
    """Whether a page without text shows anything: a scan does, a blank page does not."""
    try:
        contents = page.get_contents()
        return contents is not None and bool(contents.get_data().strip())
    # A stream that cannot be decoded is there all the same.
    except Exception:  # noqa: BLE001 – pypdf fails in any way
        return True


def _left_out(read: int, bare: list[int], broken: list[int], *, rest: bool) -> str:
    parts: list[str] = []
    if bare:
        scans = "if they are scans, run them through text recognition"
        parts.append(f"no text on {len(bare)} of {read} pages ({_ranges(bare)}): {scans}")
    if broken:
        parts.append(f"{len(broken)} of {read} pages cannot be read ({_ranges(broken)})")
    if rest:
        parts.append(f"what comes after page {read:,} is left out: split it")
    return "; ".join(parts)


def _ranges(numbers: list[int]) -> str:
    """Such as "2, 4-7"."""
    spans: list[list[int]] = []
    for number in numbers:
        if spans and spans[-1][1] == number - 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    ranges = [f"{first}" if first == last else f"{first}-{last}" for first, last in spans]
    return ", ".join(ranges[:_SPANS]) + (", …" if len(ranges) > _SPANS else "")


def _numbered(pages: list[str]) -> Iterator[Line]:
    for number, page in enumerate(pages, start=1):
        yield f"page {number}\n", 2
        for line in page.splitlines():
            yield f"{line}\n", 0
        yield "\n", 0


def _html(path: Path, seen: Survey) -> Extracted:
    text = decoded(path.read_bytes(), html=True)
    if "<" not in text.text:
        lines = ((line, 0) for line in text.text.splitlines(keepends=True))
        return Extracted(path.stem, lines, text.note)
    page = read_html(text.text)
    return Extracted(page.title or path.stem, page.lines, text.note)


def _whatever_fails(read: Callable[[], T]) -> T:
    """Let a library read a file; whatever fails in it is a reason."""
    try:
        return read()
    except (Unreadable, OSError, MemoryError):
        raise
    # Parsers of broken files fail in any way.
    except Exception as error:
        raise Unreadable(f"broken: {message_of(error)[:200]}") from error


def _encodable(text: str) -> str:
    """Replace lone surrogates, which some fonts of PDF files and entities of HTML yield."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
