"""WebShop's web site as an environment: pages as text, `search[…]` and `click[…]` as moves.

It does what a browser would: it follows the links and sends the forms of the page it is on.
"""

import re
import urllib.error
import urllib.parse
import urllib.request
import uuid
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Final

from clew import ConfigError
from clew.support.short_text import one_line

_MAX_PAGE_CHARS: Final = 5_000_000
_UNSEEN: Final = frozenset({"head", "script", "style", "title"})
_VOID: Final = frozenset({"br", "hr", "img", "input", "link", "meta"})
_COMMAND: Final = re.compile(r"(search|click)\[(.+)\]", re.DOTALL | re.IGNORECASE)
_SCORE: Final = "Your score (min 0.0, max 1.0)"


@dataclass
class Page:
    """What is on a page: its text, and where what can be clicked leads.

    `search` is where words are sent to. Of what can be clicked, `buttons` send a form and `options`
    are choices; the rest are links.
    """

    lines: list[str] = field(default_factory=list[str])
    targets: dict[str, str] = field(default_factory=dict[str, str])
    buttons: set[str] = field(default_factory=set[str])
    options: set[str] = field(default_factory=set[str])
    search: str = ""
    instruction: str = ""
    score: float | None = None


class Shop:
    """A session at a WebShop server, about the goal of that number. Its calls block."""

    def __init__(self, address: str, goal: int, seconds: float) -> None:
        # a server takes the goal from what follows the last `_` of a session with `fixed` in it
        self._url = f"{address}/clew_{uuid.uuid4().hex}_fixed_{goal}"
        self._seconds = seconds
        self._page = Page()
        self._done = False

    def reset(self) -> str:
        """Open the first page, with the instruction."""
        self._page = self._open(self._url)
        if not self._page.search:
            message = f"{self._url}: this page has no search form: is it a WebShop server?"
            raise ConfigError(message)
        return "\n".join([self._page.instruction, *self._page.lines])

    def step(self, command: str) -> tuple[str, float, bool, dict[str, object]]:
        """Search or click; what cannot be done is said, and changes nothing."""
        command_match = _COMMAND.fullmatch(command.strip())
        if command_match is None or self._done:
            return self._no("there is only search[words] and click[button]")
        what, text = command_match[1].lower(), command_match[2].strip()
        if what == "search":
            if not self._page.search:
                return self._no("there is no search form on this page; click[Back to Search]")
            return self._show(self._open(self._page.search, {"search_query": text}))
        named = {name.casefold(): name for name in self._page.targets}
        if (button := named.get(text.casefold())) is None:
            return self._no(f"there is no {text!r} on this page")
        now = self._page
        page = self._open(now.targets[button], {} if button in now.buttons else None)
        return self._show(page, f"You have clicked {button}." if button in now.options else "")

    def _show(self, page: Page, instead: str = "") -> tuple[str, float, bool, dict[str, object]]:
        self._page = page
        if page.score is not None:
            self._done = True
            return f"{_SCORE}: {page.score}", page.score, True, {}
        return instead or "\n".join(page.lines), 0.0, False, {}

    def _no(self, why: str) -> tuple[str, float, bool, dict[str, object]]:
        return f"Invalid action! {why}", 0.0, self._done, {}

    def _open(self, url: str, form: dict[str, str] | None = None) -> Page:
        """Fetch and read a page; a form is sent, after which a server may lead on."""
        body = None if form is None else urllib.parse.urlencode(form).encode()
        asked = urllib.request.Request(_ascii(url), body)  # noqa: S310 - the address is the user's own
        try:
            with urllib.request.urlopen(asked, timeout=self._seconds) as answer:  # noqa: S310 - the same
                text = answer.read(_MAX_PAGE_CHARS).decode("utf-8", "replace")
                return read_page(text, answer.url)
        except urllib.error.HTTPError as error:
            message = f"the shop answers {error.code} to {urllib.parse.urlsplit(url).path}"
            raise OSError(message) from error


class _ShopPage(HTMLParser):
    """Reads a page in one go: every visible text, and what stands around it."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self.page = Page()
        self._url = url
        self._open: list[tuple[str, dict[str, str]]] = []
        self._radio: dict[str, str] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        if tag == "input" and attributes.get("type") == "radio":
            self._radio[attributes.get("id", "")] = attributes.get("data-url", "")
        if tag == "input" and attributes.get("name") == "search_query":
            self.page.search = self._target(self._around("form").get("action", ""))
        if tag not in _VOID:
            self._open.append((tag, attributes))

    def handle_endtag(self, tag: str) -> None:
        for index in range(len(self._open) - 1, -1, -1):
            if self._open[index][0] == tag or _headings(self._open[index][0], tag):
                del self._open[index:]
                return

    def handle_data(self, data: str) -> None:
        text = one_line(data)
        if not text or any(tag in _UNSEEN or _hidden(attributes) for tag, attributes in self._open):
            return
        tag, attributes = self._open[-1] if self._open else ("", {})
        if self._within("instruction-text"):
            self.page.instruction = f"{self.page.instruction} {text}".strip()
        elif self._within("reward"):
            if tag == "pre":
                self.page.score = float(text)
        elif tag == "button":
            self.page.buttons.add(text)
            self._clickable(text, self._around("form").get("action", ""))
        elif tag == "a" and "product-link" in attributes.get("class", "").split():
            self._clickable(text, attributes.get("href", ""))
        elif tag == "label":
            self.page.options.add(text)
            self._clickable(text, self._radio.get(attributes.get("for", ""), ""))
        else:
            self.page.lines.append(text)

    def _clickable(self, text: str, target: str) -> None:
        self.page.lines.append(f"[{text}]")
        if self.page.search and self._target(target) == self.page.search and text == "Search":
            return  # words are sent by search[words]
        self.page.targets[text] = self._target(target)

    def _around(self, wanted: str) -> dict[str, str]:
        around = [attributes for tag, attributes in self._open if tag == wanted]
        return around[-1] if around else {}

    def _within(self, name: str) -> bool:
        return any(attributes.get("id") == name for _, attributes in self._open)

    def _target(self, target: str) -> str:
        return urllib.parse.urljoin(self._url, target)


def read_page(text: str, url: str) -> Page:
    """Read a page of the shop."""
    reader = _ShopPage(url)
    reader.feed(text)
    reader.close()
    return reader.page


def _hidden(attributes: dict[str, str]) -> bool:
    return "hidden" in attributes or "display:none" in attributes.get("style", "").replace(" ", "")


def _headings(opened: str, closed: str) -> bool:
    """Whether one heading closes another: the shop's pages open h4 and close h5."""
    return all(re.fullmatch(r"h[1-6]", one) is not None for one in (opened, closed))


def _ascii(url: str) -> str:
    """The address with what may not stand in one encoded; what is encoded stays."""
    return urllib.parse.quote(url, safe=":/?&=%+,;@#!$'()*[]~-._")
