import importlib.util
import sys
from typing import Any

import pytest

from clew.core.contents import Observation
from clew_web import Answer, Kind, Reach, WebToolError, fetch_page
from clew_web.extract_text import readable
from tests.tools.test_docs import pdf
from tests.web.site import Site, SiteAnswer, moved, page

ARTICLE = """<!DOCTYPE html><html><head><title>Skerryvore | Lights</title></head><body>
<nav><ul><li><a href="/">Home</a></li><li><a href="/about">About us</a></li></ul></nav>
<main><article><h1>Skerryvore</h1>
<p>Skerryvore is a remote island off the west coast of Scotland, twelve miles from Tiree.</p>
<h2>The tower</h2>
<p>The lighthouse was built between 1838 and 1844 by Alan Stevenson. It is 48 metres tall.</p>
<script>document.write("never shown")</script>
</article></main><footer>All rights reserved. Cookie settings.</footer></body></html>"""


def near(site: Site, **settings: Any) -> Reach:
    return Reach(allow=(site.host,), **settings)


async def read(reach: Reach, url: str, **more: Any) -> Observation:
    seen = await fetch_page(reach).call({"url": url, **more}, "run:1.1")
    assert isinstance(seen, Observation)
    assert (seen.effect, seen.trust) == ("read", "untrusted")
    for result, piece in zip(seen.content["results"], seen.evidence, strict=True):
        assert (piece.doc_id, piece.text, piece.offset, piece.score, piece.source) == (
            result["doc_id"],
            result["snippet"],
            result["offset"],
            1.0,
            seen.content["url"],
        )
    return seen


async def refuses(reach: Reach, url: str, kind: Kind, says: str = "", **more: Any) -> None:
    with pytest.raises(WebToolError) as caught:
        await fetch_page(reach).call({"url": url, **more}, "")
    assert caught.value.kind == kind
    assert says in str(caught.value)


# ---------------------------------------------------------------- reading


async def test_a_page_is_read_without_what_stands_around_its_text() -> None:
    with Site({"/a": page(ARTICLE)}) as site:
        seen = await read(near(site), f"{site.url}/a")
    assert (seen.content["title"], seen.content["url"]) == ("Skerryvore | Lights", f"{site.url}/a")
    first, second = seen.content["results"]
    assert second["title"] == "Skerryvore › The tower"
    assert second["snippet"].endswith("It is 48 metres tall.")
    assert first["doc_id"].rpartition("_")[0] == second["doc_id"].rpartition("_")[0]
    text = " ".join(result["snippet"] for result in seen.content["results"])
    assert not any(word in text for word in ("About us", "Cookie", "never shown"))
    assert "next" not in seen.content


async def test_a_long_page_is_read_on_from_an_offset() -> None:
    paragraphs = [f"Paragraph {number}. " + "word " * 120 for number in range(20)]
    with Site({"/a": SiteAnswer("\n\n".join(paragraphs).encode(), "text/plain")}) as site:
        offset, texts, ids = 0, list[str](), list[str]()
        while True:
            seen = await read(near(site), f"{site.url}/a", offset=offset)
            texts += [result["snippet"] for result in seen.content["results"]]
            ids += [result["doc_id"] for result in seen.content["results"]]
            if (after := seen.content.get("next")) is None:
                break
            assert after > offset
            offset = after
        again = await read(near(site), f"{site.url}/a")
        await refuses(near(site), f"{site.url}/a", "bad_query", "the page ends at", offset=10**6)
    assert " ".join(texts).split() == " ".join(paragraphs).split()
    assert len(set(ids)) == len(ids) == 20
    assert [result["doc_id"] for result in again.content["results"]] == ids[:6]


async def test_where_it_was_led_is_where_it_is_from() -> None:
    with Site({"/a": moved("/b/"), "/b": page(ARTICLE)}) as site:
        seen = await read(near(site), f"{site.url}/a")
    assert seen.content["url"] == f"{site.url}/b/"


async def test_a_pdf_is_read_page_by_page(monkeypatch: pytest.MonkeyPatch) -> None:
    body = pdf("The tower is 48 metres tall.", "It has 151 steps.")
    routes: dict[str, Any] = {
        "/a.pdf": SiteAnswer(body, "application/pdf"),
        "/b.pdf": SiteAnswer(b"%PDF-1.4 broken", "application/pdf"),
    }
    with Site(routes) as site:
        seen = await read(near(site), f"{site.url}/a.pdf")
        assert [result["title"] for result in seen.content["results"]] == [
            "a.pdf › page 1",
            "a.pdf › page 2",
        ]
        await refuses(near(site), f"{site.url}/b.pdf", "not_readable", "cannot be read (broken")
        monkeypatch.setitem(sys.modules, "pypdf", None)
        monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
        await refuses(near(site), f"{site.url}/a.pdf", "not_readable", "clew[documents]")


@pytest.mark.parametrize(
    ("answer", "kind", "says"),
    [
        (SiteAnswer(b"x", "image/png"), "not_readable", "image/png"),
        (
            SiteAnswer(b"<html><body><script>x()</script></body></html>"),
            "not_readable",
            "by scripts",
        ),
        (SiteAnswer(b""), "not_readable", "no text"),
        (SiteAnswer(b" \n ", "text/plain"), "not_readable", "no readable text"),
        (SiteAnswer(b"", status=404), "not_found", ""),
        (SiteAnswer(b"", status=403), "refused", ""),
        (SiteAnswer(b"x" * 100_000, "text/plain"), "too_large", ""),
    ],
)
async def test_what_cannot_be_read_is_told(answer: SiteAnswer, kind: Kind, says: str) -> None:
    with Site({"/a": answer}) as site:
        await refuses(near(site, max_bytes=50_000), f"{site.url}/a", kind, says)


@pytest.mark.parametrize(
    ("body", "kind", "text"),
    [
        ("käse".encode(), "text/plain; charset=utf-8", "käse"),
        ("käse".encode("latin-1"), 'text/plain; charset="ISO-8859-1"', "käse"),
        ("käse".encode("latin-1"), "text/plain", "käse"),
        ("käse".encode("latin-1"), "text/plain; charset=klingon", "käse"),
        (b'{"a": 1}', "application/json", '{"a": 1}'),
    ],
)
def test_text_is_decoded_as_its_server_says_or_as_it_looks(
    body: bytes, kind: str, text: str
) -> None:
    found = readable(Answer("https://a.example/", body, headers={"content-type": kind}))
    assert (found.passages[0].text, found.title) == (text, "https://a.example/")


def test_a_page_may_say_its_encoding_itself() -> None:
    body = (
        "<html><head><meta charset='gb2312'><title>灯塔</title></head><body>"
        f"<p>{'灯塔建于一八四四年。' * 20}</p></body></html>"
    ).encode("gb2312")
    text = readable(Answer("https://a.example/x", body, headers={"content-type": "text/html"}))
    assert text.title == "灯塔"
    assert "灯塔建于一八四四年" in text.passages[0].text


@pytest.mark.parametrize(("name", "kind"), [("a.md", "text/plain"), ("a", "text/markdown")])
def test_headings_of_markdown_are_known(name: str, kind: str) -> None:
    answer = Answer(
        f"https://a.example/{name}", b"# One\n\nText.\n", headers={"content-type": kind}
    )
    assert readable(answer).passages[0].title == "One"
    assert readable(answer).title == name


# ---------------------------------------------------------------- robots.txt and private addresses


async def test_robots_are_respected() -> None:
    robots = SiteAnswer(
        b"User-agent: clew\nDisallow: /private/\nAllow: /private/*.html$\n", "text/plain"
    )
    routes = {"/robots.txt": robots, "/private/a": page(ARTICLE), "/private/b.html": page(ARTICLE)}
    with Site(routes) as site:
        await refuses(near(site), f"{site.url}/private/a", "robots", "asks programs not to")
        assert [was.path for was in site.asked] == ["/robots.txt"]
        await read(near(site), f"{site.url}/private/b.html")


async def test_rules_for_others_are_not_ours() -> None:
    robots = SiteAnswer(b"User-agent: other\nDisallow: /\n", "text/plain")
    with Site({"/robots.txt": robots, "/a": page(ARTICLE)}) as site:
        await read(near(site), f"{site.url}/a")


async def test_every_site_on_the_way_is_asked_for_its_rules_once() -> None:
    closed = SiteAnswer(b"User-agent: *\nDisallow: /\n", "text/plain")
    with Site({"/robots.txt": closed, "/c": page(ARTICLE)}) as other:
        with Site({"/a": moved("/b"), "/b": moved(f"{other.url}/c")}) as site:
            reach = Reach(allow=(site.host, other.host))
            await refuses(reach, f"{site.url}/a", "robots", other.host)
    assert [was.path for was in site.asked] == ["/robots.txt", "/a", "/b"]
    assert [was.path for was in other.asked] == ["/robots.txt"]


@pytest.mark.parametrize("status", [429, 503])
async def test_nothing_is_read_while_the_rules_cannot_be(status: int) -> None:
    with Site({"/robots.txt": SiteAnswer(status=status, headers={"retry-after": "99"})}) as site:
        await refuses(near(site), f"{site.url}/a", "robots", "cannot say now")


@pytest.mark.parametrize("status", [403, 404])
async def test_who_has_no_rules_may_be_read(status: int) -> None:
    with Site({"/robots.txt": SiteAnswer(b"no", status=status), "/a": page(ARTICLE)}) as site:
        await read(near(site), f"{site.url}/a")


@pytest.mark.parametrize("url", ["http://127.0.0.1:1/", "http://localhost/", "file:///etc/hosts"])
async def test_private_pages_are_not_fetched(url: str) -> None:
    await refuses(Reach(), url, "not_allowed")


async def test_a_page_cannot_lead_to_a_private_one() -> None:
    with Site({"/a": moved("http://169.254.169.254/latest/meta-data/")}) as site:
        await refuses(near(site), f"{site.url}/a", "not_allowed")


async def test_a_key_in_the_environment_does_not_reach_pages(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SERPER_API_KEY", "serper-secret")
    with Site({"/a": page(ARTICLE)}) as site:
        await read(near(site), f"{site.url}/a")
    assert not any("serper-secret" in str(was) for was in site.asked)
