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

from clew.support.short_text import one_line
from clew.support.text_encoding import decoded
from clew.toolbox.docs.extract import Unreadable, extract, lacking, markdown, too_large
from clew.toolbox.docs.html import read_html
from clew.toolbox.docs.passages import Line, Passage, split
from clew.toolbox.docs.survey import survey
from clew_web.errors import WebToolError
from clew_web.request import Answer

KINDS: Final = ("text/", "application/xhtml+xml", "application/json", "application/pdf")
"""Beginnings of the content types that can be read."""

_DEEPEST: Final = 200
"""The reader of main text finds nothing in what is nested deeper (it stops at 256)."""

_HTML: Final = frozenset({"text/html", "application/xhtml+xml"})
_CHARSET: Final = re.compile(r"charset\s*=\s*[\"']?([\w.:-]+)", re.IGNORECASE)


# What it says of a page that is none is told by us.
logging.getLogger("trafilatura").addHandler(logging.NullHandler())


@dataclass(frozen=True, slots=True)
class PageText:
    """A page in passages; their offsets count in its text.

    `note` says what had to be guessed, and what was left out.
    """

    title: str
    passages: tuple[Passage, ...]
    note: str = ""


def readable(answer: Answer) -> PageText:
    """The text of a page. Takes time: run it in a thread. Raises `WebToolError`."""
    name = urlsplit(answer.url).path.rstrip("/").rpartition("/")[2] or answer.url
    if answer.type == "application/pdf":
        return _pdf(name, answer.body)
    charset = _CHARSET.search(answer.headers.get("content-type", ""))
    is_html = answer.type in _HTML
    text = decoded(answer.body, charset=charset[1] if charset else "", html=is_html)
    note = "" if text.sure else text.note
    if is_html:
        return _html(name, text.text, note)
    marked = answer.type == "text/markdown" or name.endswith(".md")
    lines = text.text.splitlines(keepends=True)
    return _in_passages(name, markdown(iter(lines)) if marked else _plain(lines), note)


def _plain(lines: Iterable[str]) -> Iterator[Line]:
    return ((line, 0) for line in lines)


def _in_passages(title: str, lines: Iterable[Line], note: str = "") -> PageText:
    return PageText(title, tuple(split(lines, title)), note)


def _html(name: str, text: str, note: str) -> PageText:
    """The main text of a page; all of its text where it is nested too deep to tell."""
    page = read_html(text)
    if page.depth > _DEEPEST:
        deep = f"nested {page.depth:,} deep: the whole page is read, with what stands around"
        return _in_passages(page.title or name, page.lines, "; ".join(filter(None, (note, deep))))
    tree: Any = trafilatura.load_html(text)
    if tree is None or not (main := _main_text(tree)):
        why = "no text is found on this page, which may be made by scripts: try another page"
        raise WebToolError("not_readable", why)
    title = one_line(tree.findtext(".//title") or "")
    return _in_passages(title or name, markdown(iter(main.splitlines(keepends=True))), note)


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


def _pdf(name: str, body: bytes) -> PageText:
    """The pages of a PDF, read as those of one's own documents are."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "page.pdf"
        if missing := lacking(path):
            text = f"a PDF cannot be read here (a person can {missing}): try another page"
            raise WebToolError("not_readable", text)
        path.write_bytes(body)
        try:
            if reason := too_large(path, len(body)):
                raise Unreadable(reason)
            extracted = extract(path, survey(path))
            return _in_passages(name, extracted.lines, extracted.note)
        except Unreadable as error:
            text = f"this PDF cannot be read ({error}): try another page"
            raise WebToolError("not_readable", text) from error
