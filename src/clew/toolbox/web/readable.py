"""What people read of a page, without what stands around it, line by line."""

import logging
import re
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import trafilatura

from clew.toolbox.docs.extract import Unreadable, extract, lacking, markdown
from clew.toolbox.docs.passages import Line, Passage, split
from clew.toolbox.docs.survey import survey
from clew.toolbox.web.asking import Answer
from clew.toolbox.web.trouble import Trouble

KINDS: Final = ("text/", "application/xhtml+xml", "application/json", "application/pdf")
"""Beginnings of the content types that can be read."""

_PIECE: Final = 1 << 16
_HTML: Final = frozenset({"text/html", "application/xhtml+xml"})
_CHARSET: Final = re.compile(r"charset\s*=\s*[\"']?([\w.:-]+)", re.IGNORECASE)


# What it says of a page that is none is told by us.
logging.getLogger("trafilatura").addHandler(logging.NullHandler())


@dataclass(frozen=True, slots=True)
class Readable:
    """A page in passages; their offsets count in its text."""

    title: str
    passages: tuple[Passage, ...]


def readable(answer: Answer) -> Readable:
    """The text of a page. Takes time: run it in a thread. Raises `Trouble`."""
    name = urlsplit(answer.url).path.rstrip("/").rpartition("/")[2] or answer.url
    if answer.type == "application/pdf":
        return _pdf(name, answer.body)
    text = _decoded(answer)
    if answer.type in _HTML:
        return _html(name, text)
    marked = answer.type == "text/markdown" or name.endswith(".md")
    lines = _lines(str(text))
    return _in_passages(name, markdown(lines) if marked else ((line, 0) for line in lines))


def _in_passages(title: str, lines: Iterable[Line]) -> Readable:
    return Readable(title, tuple(split(lines, title)))


def _lines(text: str) -> Iterator[str]:
    """The lines, very long ones in pieces."""
    for line in text.splitlines(keepends=True):
        yield from (line[begin : begin + _PIECE] for begin in range(0, len(line), _PIECE))


def _decoded(answer: Answer) -> str | bytes:
    """Text, by what the server says or as UTF-8; a page of HTML may yet say it itself."""
    said = _CHARSET.search(answer.headers.get("content-type", ""))
    for encoding in (*([said[1]] if said else []), "utf-8-sig"):
        try:
            return answer.body.decode(encoding)
        except (LookupError, UnicodeDecodeError):
            continue
    return answer.body if answer.type in _HTML else answer.body.decode("cp1252", "replace")


def _html(name: str, page: str | bytes) -> Readable:
    tree: Any = trafilatura.load_html(page)
    if tree is None or not (text := _main_text(tree)):
        why = "no text is found on this page, which may be made by scripts: try another page"
        raise Trouble("not_readable", why)
    title = " ".join((tree.findtext(".//title") or "").split())
    return _in_passages(title or name, markdown(_lines(text)))


def _main_text(tree: Any) -> str:
    """The main text as Markdown, headings and lists as such, without links."""
    text = trafilatura.extract(
        tree,
        output_format="markdown",
        include_formatting=True,
        include_comments=False,
        favor_recall=True,
    )
    return text or ""


def _pdf(name: str, body: bytes) -> Readable:
    """The pages of a PDF, read as those of one's own documents are."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "page.pdf"
        if missing := lacking(path):
            text = f"a PDF cannot be read here (a person can {missing}): try another page"
            raise Trouble("not_readable", text)
        path.write_bytes(body)
        try:
            return _in_passages(name, extract(path, survey(path)).lines)
        except Unreadable as error:
            text = f"this PDF cannot be read ({error}): try another page"
            raise Trouble("not_readable", text) from error
