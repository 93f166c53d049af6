"""HTML into lines of text, in one pass: each character is looked at a bounded number of times.

No tree is made, and nothing recurses: a page that nests 100,000 elements, or never closes one,
takes as long as a plain one of its size.
"""

import html
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from clew.support.short_text import one_line
from clew.toolbox.docs.passages import Line

_UNSEEN: Final = frozenset(
    {"script", "style", "template", "noscript", "svg", "head", "nav", "rt", "rp", "title"}
)
"""What a reader of the page does not see, or does not read: navigation names every other page."""

_HEADINGS: Final = {f"h{level}": level for level in range(1, 7)}
_BLOCKS: Final = frozenset(
    (
        *("address", "article", "aside", "blockquote", "caption", "dd", "div", "dl", "dt"),
        *("fieldset", "figcaption", "figure", "footer", "form", *_HEADINGS),
        *("header", "hr", "main", "nav", "ol", "p", "pre", "section", "table", "ul"),
    )
)
_VOID: Final = frozenset(
    ("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "wbr")
)
_IN_HEAD: Final = frozenset(
    ("head", "title", "meta", "link", "base", "script", "style", "template", "noscript")
)
_SELF_CLOSING: Final = frozenset({"p", "li", "td", "th", "tr", "dt", "dd", "option"})
"""Elements that end where the next of their kind begins."""

_AS_IT_IS: Final = frozenset({"script", "style", "title", "textarea"})
"""Elements whose content holds no tags."""

# Possessive quantifiers: what was read is not read again in another way.
_TAG: Final = re.compile(r"<(/?)([A-Za-z][^\s/>]*+)((?:[^>=]++|=\s*+(?:\"[^\"]*+\"|'[^']*+')?)*+)>")
_NAVIGATION: Final = re.compile(r"\brole\s*=\s*[\"']?navigation\b", re.IGNORECASE)
_CONTROLS: Final = re.compile(r"[\x00-\x08]")
_SPACE: Final = re.compile(r"\s+")
_MARK: Final = "\x01"


@dataclass
class _Page:
    """What is open at one place of a page, and the text so far."""

    text: list[str] = field(default_factory=list[str])
    title: str | None = None
    open: list[tuple[str, bool]] = field(default_factory=list[tuple[str, bool]])
    """Names of elements, and whether each hides what is in it."""
    count: Counter[str] = field(default_factory=Counter[str])
    hidden: int = 0
    depth: int = 0

    def begin(self, name: str, rest: str) -> None:
        if self.open and self.open[-1][0] == "head" and name not in _IN_HEAD:
            self.end("head")
        if self.open and (
            (self.open[-1][0] == name and name in _SELF_CLOSING)
            or (self.open[-1][0] == "p" and name in _BLOCKS)
        ):
            self.end(self.open[-1][0])
        if name in {"br", "li", "tr"}:
            self.break_line("\n")
        elif name in _BLOCKS:
            self.break_line("\n\n" + _MARK * _HEADINGS.get(name, 0))
        if name in _VOID:
            return
        hides = name in _UNSEEN or bool(rest and _NAVIGATION.search(rest))
        self.open.append((name, hides))
        self.count[name] += 1
        self.hidden += hides
        self.depth = max(self.depth, len(self.open))
        if rest.endswith("/"):
            self.end(name)

    def end(self, name: str) -> None:
        """Close the innermost element of the name, and all that is open in it."""
        if not self.count[name]:
            return
        closed = ""
        while closed != name:
            closed, hides = self.open.pop()
            self.count[closed] -= 1
            self.hidden -= hides
            if closed in _BLOCKS:
                self.break_line("\n\n")
            elif closed in {"td", "th"}:
                self.break_line(" ")

    def break_line(self, gap: str) -> None:
        if not self.hidden:
            self.text.append(gap)

    def add(self, raw: str) -> None:
        """Text between tags."""
        if self.hidden or not raw:
            return
        plain = _CONTROLS.sub("", html.unescape(raw))
        self.text.append(plain if self.count["pre"] else _SPACE.sub(" ", plain))


@dataclass(frozen=True, slots=True)
class Html:
    """The title of a page ("" without one), its text line by line, and how deep it is nested."""

    title: str
    lines: Iterator[Line]
    depth: int


def read_html(page: str) -> Html:
    """The text of a page as browsers show it, navigation left out."""
    parser = _Page()
    missing: set[str] = set()
    position = 0
    while (sign := page.find("<", position)) >= 0:
        parser.add(page[position:sign])
        position = _after(page, sign, parser, missing)
    parser.add(page[position:])
    text = re.sub(r" ?\n ?", "\n", "".join(parser.text).replace("\r", ""))
    lines = re.sub(r"\n{3,}", "\n\n", text).splitlines(keepends=True)
    return Html(parser.title or "", (_unmarked(line) for line in lines), parser.depth)


def _after(page: str, sign: int, page_text: _Page, missing: set[str]) -> int:
    """Read what begins with a `<`; gives the place behind it. What never ends is text, or gone."""
    if tag := None if "tag" in missing else _TAG.match(page, sign):
        name = tag[2].lower()
        if tag[1]:
            page_text.end(name)
            return tag.end()
        page_text.begin(name, tag[3])
        if name in _AS_IT_IS and not tag[3].endswith("/"):
            return _raw(page, tag.end(), name, page_text, missing)
        return tag.end()
    if page.startswith("<!--", sign):
        end = page.find("-->", sign + 2)
        return len(page) if end < 0 else end + 3
    if page.startswith("<![CDATA[", sign):
        end = page.find("]]>", sign)
        page_text.add(html.escape(page[sign + 9 : end if end >= 0 else len(page)]))
        return len(page) if end < 0 else end + 3
    if page[sign + 1 : sign + 2] in {"!", "?", "/"} and "tag" not in missing:
        end = page.find(">", sign)
        if end >= 0:
            return end + 1
        missing.add("tag")
    elif page[sign + 1 : sign + 2].isalpha():
        # No tag ends from here on: it is looked for once.
        missing.add("tag")
    page_text.add("<")
    return sign + 1


def _raw(page: str, begin: int, name: str, page_text: _Page, missing: set[str]) -> int:
    """The content of an element that holds no tags, up to its end tag if there is one."""
    tag = re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE)
    if name in missing or (end := tag.search(page, begin)) is None:
        missing.add(name)
        if name in {"title", "textarea"}:
            page_text.end(name)
        return begin
    if name == "title" and page_text.title is None and not page_text.count["svg"]:
        page_text.title = one_line(html.unescape(page[begin : end.start()]))
    page_text.add(page[begin : end.start()])
    return end.start()


def _unmarked(line: str) -> Line:
    text = line.lstrip(_MARK)
    return text, len(line) - len(text) if text.strip() else 0
