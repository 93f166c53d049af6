"""Files into lines of text. The one place that knows file formats and their optional libraries."""

import importlib
import importlib.util
import logging
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

from clew.toolbox.docs.passages import Line
from clew.toolbox.docs.survey import Survey

MOST_HTML: Final = 10_000_000
MOST_PDF: Final = 50_000_000
"""Bytes over which a file that must be held in memory whole is not read. Text has no limit."""

_LIBRARIES: Final = {".pdf": "pypdf", ".html": "bs4", ".htm": "bs4", ".xhtml": "bs4"}
_PIECE: Final = 1 << 16
_FENCE: Final = re.compile(r"\s{0,3}(`{3,}|~{3,})")
_HEADING: Final = re.compile(r"\s{0,3}(#{1,6})\s+\S")
_UNDERLINE: Final = re.compile(r"\s{0,3}(=+|-{2,})\s*$")
_DECLARATION: Final = re.compile(r"^\s*<\?xml[^>]*\?>")
_CONTROLS: Final = re.compile(r"[\x00-\x08]")
_UNSEEN: Final = ("script", "style", "template", "noscript", "svg", "head", "nav")
"""What a reader of the page does not see, or does not read: navigation names every other page."""
_BLOCKS: Final = (
    *("address", "article", "aside", "blockquote", "caption", "dd", "div", "dl", "dt"),
    *("fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6"),
    *("header", "hr", "main", "nav", "ol", "p", "pre", "section", "table", "ul"),
)
_MARK: Final = "\x01"

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

    Nothing may be `lacking`. All line breaks are read as line feeds. Raises `OSError` and, also on
    the way through the lines, `Unreadable`.
    """
    kind = path.suffix.lower()
    if _LIBRARIES.get(kind) == "pypdf":
        return Extracted(path.stem, _pdf(path))
    if not seen.encoding:
        raise Unreadable("not text, HTML or PDF")
    if _LIBRARIES.get(kind) == "bs4":
        return _html(path, seen)
    lines = _decoded(path, seen.encoding)
    marked = markdown(lines) if kind in {".md", ".markdown"} else ((line, 0) for line in lines)
    return Extracted(path.stem, marked, seen.note)


def lacking(path: Path) -> str:
    """What to install before files of this kind can be read; empty when nothing is missing."""
    library = _LIBRARIES.get(path.suffix.lower())
    if library is None or importlib.util.find_spec(library) is not None:
        return ""
    return "install clew[documents] to read it"


def _optional(library: str) -> Any:
    return importlib.import_module(library)


def _decoded(path: Path, encoding: str) -> Iterator[str]:
    try:
        with path.open(encoding=encoding) as file:
            while line := file.readline(_PIECE):
                yield line
    except UnicodeError:
        raise Unreadable(f"not valid {encoding.upper()}, though it begins like it") from None


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


def _pdf(path: Path) -> Iterator[Line]:
    """The pages, each under a heading that numbers it."""
    pypdf = _optional("pypdf")
    # What it warns of is reported, if it matters, as the reason why a file was skipped.
    logging.getLogger("pypdf").addHandler(logging.NullHandler())
    pages = _read_in_memory(path, MOST_PDF, lambda: _pages(pypdf, path))
    if not any(page.strip() for page in pages):
        raise Unreadable("no text in it: if it is a scan, run it through text recognition")
    return _numbered(pages)


def _pages(pypdf: Any, path: Path) -> list[str]:
    reader = pypdf.PdfReader(path)
    if reader.is_encrypted and not reader.decrypt(""):
        raise Unreadable("encrypted: save it without a password")
    return [_encodable(page.extract_text()) for page in reader.pages]


def _numbered(pages: list[str]) -> Iterator[Line]:
    for number, page in enumerate(pages, start=1):
        yield f"page {number}\n", 2
        for line in page.splitlines():
            yield f"{line}\n", 0
        yield "\n", 0


def _html(path: Path, seen: Survey) -> Extracted:
    bs4 = _optional("bs4")
    return _read_in_memory(path, MOST_HTML, lambda: _marked_up(bs4, path, seen))


def _marked_up(bs4: Any, path: Path, seen: Survey) -> Extracted:
    content, note = path.read_bytes().decode(seen.encoding, "replace"), ""
    if seen.note:
        # Only here the document's own word on its encoding (a meta tag) is needed.
        guess = bs4.UnicodeDammit(path.read_bytes(), is_html=True)
        content = guess.unicode_markup or content
        note = f"not UTF-8: read as {guess.original_encoding or seen.encoding}"
    content = _DECLARATION.sub("", content)
    if "<" not in content:
        return Extracted(path.stem, ((line, 0) for line in content.splitlines(True)), note)
    soup = bs4.BeautifulSoup(content, "html.parser")
    title = " ".join(soup.title.get_text().split()) if soup.title else ""
    for tag in [*soup.find_all(_UNSEEN), *soup.find_all(attrs={"role": "navigation"})]:
        tag.decompose()
    for text in soup.find_all(string=True):
        if type(text) is bs4.NavigableString:
            plain = _CONTROLS.sub("", text)
            text.replace_with(plain if text.find_parent("pre") else re.sub(r"\s+", " ", plain))
    _break_lines(soup)
    shown = re.sub(r" ?\n ?", "\n", soup.get_text().replace("\r", ""))
    lines = re.sub(r"\n{3,}", "\n\n", shown).splitlines(keepends=True)
    return Extracted(title or path.stem, (_unmarked(_encodable(line)) for line in lines), note)


def _break_lines(soup: Any) -> None:
    """Write into the tree what separates its pieces as text, and mark headings."""
    for tag in soup.find_all("br"):
        tag.replace_with("\n")
    for tag in soup.find_all(["li", "tr"]):
        tag.insert_before("\n")
    for tag in soup.find_all(["td", "th"]):
        tag.append(" ")
    for tag in soup.find_all(_BLOCKS):
        if re.fullmatch(r"h[1-6]", tag.name):
            tag.insert(0, _MARK * int(tag.name[1]))
        tag.insert_before("\n\n")
        tag.insert_after("\n\n")


def _unmarked(line: str) -> Line:
    text = line.lstrip(_MARK)
    return text, len(line) - len(text) if text.strip() else 0


def _read_in_memory(path: Path, most: int, read: Callable[[], T]) -> T:
    """Let a library read a file that it holds in memory; whatever fails in it is a reason."""
    if (size := path.stat().st_size) > most:
        raise Unreadable(f"{size:,} bytes, at most {most:,} are read: split it")
    try:
        return read()
    except (Unreadable, OSError, MemoryError):
        raise
    # Parsers of broken files fail in any way.
    except Exception as error:
        what = " ".join(str(error).split())[:200] or type(error).__name__
        raise Unreadable(f"broken: {what}") from error


def _encodable(text: str) -> str:
    """Replace lone surrogates, which some fonts of PDF files and entities of HTML yield."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
