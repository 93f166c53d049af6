"""The pages of a browser: runs, a run as a thread of steps, and what happens as it happens."""

import hashlib
from collections.abc import AsyncIterator
from importlib.resources import files

import anyio
import pytest

from clew import Call, Evidence, Image, Observation, Trajectory, Verdict, tool
from clew.guards import Origin
from clew.stores import store_at
from clew.testing import act, finish
from clew_serve.pages.assets import SOURCES
from clew_serve.pages.safe_html import LONG, SHORT, html, short
from tests.server.parsed_page import Page, parsed
from tests.server.site import ADA, ROOT, Letters, Site, agent, greeter, site, writer
from tests.server.written_runs import started, thought, write

PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    """What uvicorn runs on."""
    return "asyncio"


@tool(effect="read")
async def search(query: str) -> Observation:
    """Search."""
    return Observation(
        content=f"two pages on {query}",
        evidence=(Evidence("wiki_1", "It is 330 m high.", 0.9, "wikipedia"),),
        attachments=(Image("image/png", PNG, "a tower"), Image("image/svg+xml", b"<svg/>")),
    )


ANSWER = "330 m [wiki_1], some say [wiki_9]."


async def page_of(here: Site, path: str) -> Page:
    response = await here.ask("GET", path)
    assert response.status_code == 200, response.text
    assert "script-src 'self';" in response.headers["content-security-policy"]
    assert response.headers["referrer-policy"] == "same-origin"  # else its forms have no origin
    return parsed(response.text)


async def test_runs_are_listed_with_titles_and_status_and_by_filters_in_pages() -> None:
    async with site(agents={"greeter": greeter(), "writer": writer(Letters())}) as here:
        ada = here.by(ADA)
        runs = [
            await ada.begin("greeter", f"Number {number}?", labels={"odd": str(number % 2)})
            for number in range(3)
        ]
        runs.append(await ada.begin("writer", "A letter, please."))
        for each in runs:
            await ada.until_stop(each)
        every = await page_of(ada, "/")
        held = await page_of(ada, "/?status=held&text=&label=")
        odd = await page_of(ada, "/?label=odd%3D1&text=NUMBER")
        pages = [await page_of(ada, "/?limit=3")]
        (following,) = pages[0].having("next")
        pages.append(await page_of(ada, following.attributes["href"]))
        wrong = await ada.ask("GET", "/?label=odd")
    assert {each.attributes["href"] for each in every.having("item")} == {
        f"/runs/{run}" for run in runs
    }
    assert [each.text for each in held.having("item")] == ["A letter, please."]
    assert [each.text for each in held.having("badge")] == ["held"]
    assert [each.text for each in odd.having("item")] == ["Number 1?"]
    assert [len(page.having("item")) for page in pages] == [3, 1]
    assert pages[1].having("next") == []
    assert wrong.status_code == 422


async def test_a_run_is_a_thread_of_steps_with_effects_trust_evidence_and_citations() -> None:
    script = [act("search", query="towers"), finish(ANSWER)]
    async with site(agents={"research": agent(script, [search])}) as here:
        run = await here.by(ADA).begin("research", "How high?")
        await here.by(ADA).until_stop(run)
        page = await page_of(here.by(ADA), f"/runs/{run}")
        picture = await here.by(ADA).ask("GET", page.tags("img")[0].attributes["src"])
        drawing = await here.by(ADA).ask("GET", f"/runs/{run}/picture?entry=3&number=1")
    assert [each.classes[1] for each in page.having("entry")] == [
        "started", "thought", "observation", "thought", "observation", "stop",
    ]  # fmt: skip
    assert page.by_id("title-2").text == "Step 1"
    assert page.by_id("title-4").text == "Step 2"
    assert "search" in page.by_id("call-1.1").text
    assert {each.text for each in page.having("effect-read")} == {"read"}
    assert [each.text for each in page.having("trust-untrusted")] == ["untrusted"]
    cites = {each.text: each for each in page.having("cite")}
    (evidence,) = [each for each in page.tags("li") if each.attributes.get("id", "")[:2] == "e-"]
    assert cites["wiki_1"].attributes["href"] == f"#{evidence.attributes['id']}"
    assert "330 m high" in evidence.text
    assert "known" in cites["wiki_1"].classes
    assert "known" not in cites["wiki_9"].classes
    assert [each.attributes["alt"] for each in page.tags("img")] == ["a tower"]
    assert picture.content == PNG
    assert "sandbox" in picture.headers["content-security-policy"]
    assert (drawing.status_code, drawing.json()["error"]) == (404, "no_such_picture")


async def test_a_held_call_is_on_its_page_with_where_its_doubtful_value_comes_from() -> None:
    letters = Letters()

    async def doubt(call: Call, trajectory: Trajectory) -> Verdict | None:
        """A letter whose words a page gave."""
        origin = Origin("result", call="1.1", tool="inbox", doubtful=True)
        held = call.action.name == "send"
        return Verdict("hold", "look at it", origins={"text": (origin,)}) if held else None

    script = [act("send", text="Dear Ada"), finish("Sent.")]
    async with site(agents={"post": agent(script, [letters.tool], guards=[doubt])}) as here:
        run = await here.by(ADA).begin("post", "Answer the post.")
        await here.by(ADA).until_stop(run)
        page = await page_of(here.by(ADA), f"/runs/{run}")
    assert letters.sent == []
    assert [each.text for each in page.having("verdict-hold")] == ["hold"]
    assert [each.text for each in page.having("doubtful")] == ["doubtful"]
    assert "inbox (1.1)" in page.having("origins")[0].text


async def pieces_of(here: Site, path: str, last: str = "") -> AsyncIterator[tuple[str, str, str]]:
    """The id, the kind and the data of each event."""
    headers = {**here.headers, **({"last-event-id": last} if last else {})}
    async with here.http.stream("GET", here.url + path, headers=headers) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        fields: dict[str, str] = {}
        async for line in response.aiter_lines():
            name, _, value = line.partition(": ")
            if name == "data":
                fields["data"] = f"{fields['data']}\n{value}" if "data" in fields else value
            elif line:
                fields[name] = value
            elif "data" in fields:
                yield fields.get("id", ""), fields.get("event", ""), fields["data"]
                fields = {}


async def test_what_happens_comes_to_the_page_and_a_connection_that_breaks_loses_nothing() -> None:
    begun, end = anyio.Event(), anyio.Event()

    @tool(effect="read")
    async def wait() -> str:
        """Wait."""
        begun.set()
        await end.wait()
        return "here"

    async with site(agents={"waiting": agent([act("wait"), finish("Done.")], [wait])}) as here:
        run = await here.by(ADA).begin("waiting")
        await begun.wait()
        page = await page_of(here.by(ADA), f"/runs/{run}")
        (live,) = page.having("follows")
        path = live.attributes["hx-sse:connect"]
        end.set()
        await here.by(ADA).until_stop(run)
        events = [each async for each in pieces_of(here.by(ADA), path)]
        again = [each async for each in pieces_of(here.by(ADA), path, last=events[0][0])]
        after = await page_of(here.by(ADA), f"/runs/{run}")
    first = [each.attributes["id"] for each in page.having("entry")]
    drawn = [parsed(data) for number, _, data in events if number]
    added = [each.attributes["id"] for piece in drawn for each in piece.having("entry")]
    assert [*first, *added] == [each.attributes["id"] for each in after.having("entry")]
    assert [each.text for piece in drawn for each in piece.tags("h2")][1] == "Step 2"
    assert [each.text for each in drawn[-1].having("status-answered")][-1] == "answered"
    assert [each for each in again if each[0]] == [each for each in events if each[0]][1:]
    assert events[-1][1] == "end"
    assert after.having("follows") == []


async def test_a_long_run_comes_in_screens_whose_steps_are_numbered_through() -> None:
    thoughts = [thought(f"no. {number}") for number in range(150)]
    async with store_at("runs.sqlite") as store:
        await write(store, "long", [started("A long one?"), *thoughts])
    async with site() as here:
        root = here.by(ROOT)
        page = await page_of(root, "/runs/long")
        titles = [each.text for each in page.tags("h2") if each.text.startswith("Step")]
        while links := page.having("next"):
            page = await page_of(root, links[0].attributes["hx-get"])
            titles += [each.text for each in page.tags("h2")]
    assert titles == [f"Step {number}" for number in range(1, 151)]


def test_the_scripts_of_others_are_as_their_package_has_them() -> None:
    for name, (source, digest) in SOURCES.items():
        content = (files("clew_serve") / "static" / name).read_bytes()
        assert hashlib.sha256(content).hexdigest() == digest, source


async def test_a_page_loads_nothing_of_others_and_has_no_script_or_style_in_it() -> None:
    async with site(agents={"greeter": greeter()}) as here:
        run = await here.by(ADA).begin("greeter")
        await here.by(ADA).until_stop(run)
        for path in ("/", f"/runs/{run}", "/api/docs"):
            page = await page_of(here.by(ADA), path)
            assert all(it.startswith(("/", "#", "data:,")) for it in page.addresses), path
            assert [it.text for it in page.tags("script")] == ["", "", ""]
            assert page.tags("style") == []
            assert not [it for it in page.elements if "style" in it.attributes]
            for address in page.addresses:
                if address.startswith("/static/"):
                    loaded = await here.by(ADA).ask("GET", address)
                    assert loaded.status_code == 200
            assert len(page.tags("main")) == len(page.tags("h1")) == 1
            assert [it for it in page.tags("html") if it.attributes["lang"] == "en"]


@pytest.mark.parametrize(
    ("text", "drawn"),
    [
        ("a < b & 'c' \\n", "a &lt; b &amp; &#39;c&#39; \\n"),
        ("evil\u202etxt", "evil<i class=sign>U+202E</i>txt"),
        ("p\u0430ypal", "p<i class=sign>U+0430</i>ypal"),
        ("\u043f\u0440\u0438\u0432\u0435\u0442 gr\u00fc\u00df", None),
        ("\u4f60\u597d \u0645\u0631\u062d\u0628\u0627", None),
        ("\U0001f469\u200d\U0001f4bb \u2764\ufe0f", None),
        ("a\u200db", "a<i class=sign>U+200D</i>b"),
        ("e\u0301\u0302\u0303\u0304", "e\u0301\u0302\u0303<i class=sign>U+0304</i>"),
    ],
)
def test_text_is_what_it_was_but_for_what_hides_in_it(text: str, drawn: str | None) -> None:
    assert html(text) == (text if drawn is None else drawn)


def test_what_is_left_out_of_a_text_is_counted_however_it_is_padded() -> None:
    assert "7 more" in str(html("x" * (LONG + 7)))
    assert "7 more" in str(short("x" * (SHORT + 7)))
    assert "more characters" in str(short(" " * 5_000 + "x"))
