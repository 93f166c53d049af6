"""Baidu has no public API, so its result page is read.

Baidu asks programs for captchas at will. Nothing here tries to get round that.
"""

from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import urlsplit

import trafilatura

from clew_web.errors import WebToolError
from clew_web.request import Answer, WebRequest
from clew_web.results import Hit, plain
from clew_web.source import Query, Source

BAIDU: Final = "https://www.baidu.com/s"

_RESULT: Final = (
    "//div[contains(concat(' ', normalize-space(@class), ' '), ' c-container ')]"
    "[.//h3][not(@data-tuiguang)]"
)
_ABSTRACT: Final = (
    ".//*[contains(@class, 'c-abstract') or contains(@class, 'content-right') "
    "or contains(@class, 'summary-text') or @data-module='abstract']"
)
_GUARDS: Final = frozenset({"wappass.baidu.com", "passport.baidu.com"})
_CAPTCHA: Final = ("百度安全验证", "wappass.baidu.com/static/captcha", "请输入验证码")
_NONE: Final = ("没有找到", "content_none")
_NO_ADDRESS: Final = "nourl.ubs.baidu.com"


def baidu(url: str = BAIDU) -> Source:
    """Baidu's page of results."""

    def request(query: Query, key: str) -> WebRequest:
        params = {"wd": query.text, "rn": str(max(10, query.limit)), "ie": "utf-8"}
        return WebRequest(url, params, types=("text/html",))

    return Source(
        "baidu",
        "the web with Baidu",
        request,
        _hits,
        trouble=_captcha,
        about=", best for questions in Chinese",
    )


def _captcha(answer: Answer) -> WebToolError | None:
    text = answer.body.decode("utf-8", "replace")
    asked = urlsplit(answer.url).hostname in _GUARDS or any(mark in text for mark in _CAPTCHA)
    if not asked:
        return None
    why = "Baidu wants to see a person (a captcha): use another source, and Baidu later"
    return WebToolError("captcha", why)


def _hits(answer: Answer) -> Iterator[Hit]:
    text = answer.body.decode("utf-8", "replace")
    tree: Any = trafilatura.load_html(text)
    nodes: list[Any] = [] if tree is None else tree.xpath(_RESULT)
    hits = [hit for hit in map(_hit, nodes) if hit is not None]
    if not hits and (nodes or not any(mark in text for mark in _NONE)):
        why = (
            "Baidu answers with a page in which no results are found: its layout may have changed, "
            "which a person has to look into; use another source"
        )
        raise WebToolError("layout_changed", why)
    yield from hits


def _hit(result: Any) -> Hit | None:
    """A result; its own address stands in `mu`, or else a link that leads on by way of Baidu."""
    heading = result.xpath(".//h3")[0]
    title = plain(heading.text_content())
    address = str(result.get("mu") or "")
    if not address or urlsplit(address).hostname == _NO_ADDRESS:
        address = next(iter(heading.xpath(".//a/@href")), "")
    if not title or not address:
        return None
    abstracts = [plain(one.text_content()) for one in result.xpath(_ABSTRACT)]
    snippet = next(filter(None, abstracts), "")
    return Hit(
        title, address, snippet or plain(result.text_content()).replace(title, "", 1).strip()
    )
