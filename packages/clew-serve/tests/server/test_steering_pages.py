"""The forms by which a person steers runs, and the pages of what is refused, in a browser."""

from collections.abc import AsyncIterator

import httpx2
import pytest

from clew import read, rule, tool
from clew.stores import store_at
from clew.testing import act, finish
from tests.server.parsed_page import Element, Page, parsed
from tests.server.site import ADA, EVE, ROOT, Letters, Site, agent, greeter, site, writer
from tests.server.written_runs import started, write


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    """What uvicorn runs on."""
    return "asyncio"


@tool(effect="read")
def look(at: str) -> str:
    """Look."""
    return f"a {at},\nof stone"


async def page_of(here: Site, path: str) -> Page:
    response = await here.ask("GET", path)
    assert response.status_code == 200, response.text
    return parsed(response.text)


def form_at(page: Page, action: str) -> tuple[Element, list[tuple[str, str]]]:
    """The form that sends to a path, and what a browser sends of it as it is."""
    (form,) = [
        it for it in page.tags("form")
        if it.attributes.get("action") == action and it.attributes.get("method") == "post"
    ]  # fmt: skip
    fields: list[tuple[str, str]] = []
    for each in page.elements[page.elements.index(form) + 1 :]:
        if "form" not in each.within:
            break
        if each.tag == "textarea":
            text = each.text.removeprefix("\n").replace("\n", "\r\n")
            fields.append((each.attributes["name"], text))
        elif each.tag == "input":
            value = each.attributes.get("value", "").replace("\n", "\r\n")
            fields.append((each.attributes["name"], value))
        elif each.tag == "select":
            fields.append((each.attributes["name"], ""))
    return form, fields


async def send(here: Site, page: Page, action: str, **changes: str) -> httpx2.Response:
    """Send a form with some fields filled in."""
    _, fields = form_at(page, action)
    assert {*changes} <= {name for name, _ in fields}
    names = [name for name, _ in fields]
    data = {
        name: [changes.get(name, value) for other, value in fields if other == name]
        for name in names
    }
    url = here.url + action
    return await here.http.post(url, data=data, headers=here.headers, follow_redirects=False)


def led_to(response: httpx2.Response) -> str:
    assert response.status_code == 303, response.text
    location: str = response.headers["location"]
    return location.partition("#")[0]


async def test_a_run_is_begun_once_by_its_form_however_often_that_is_sent_and_goes_on() -> None:
    async with site(agents={"greeter": agent([finish("One."), finish("Two.")])}) as here:
        ada = here.by(ADA)
        page = await page_of(ada, "/start")
        sent = [await send(ada, page, "/start", agent="greeter", question="Hi?") for _ in range(2)]
        path = led_to(sent[0])
        run = path.removeprefix("/runs/")
        await ada.until_stop(run)
        spoke = await send(ada, await page_of(ada, path), f"{path}/words", say="And <now>?")
        assert led_to(spoke) == path
        await ada.until_stop(run)
        empty = await send(ada, page, "/start", agent="greeter", question=" ")
        listed = await ada.get("/api/runs")
    assert led_to(sent[1]) == path
    assert [it["run_id"] for it in listed["runs"]] == [run]
    record = await read(run, store="runs.sqlite")
    assert [it.answer for it in (record.stop,) if it is not None] == ["Two."]
    assert "And <now>?" in str(record.entries)
    assert empty.status_code == 422


async def test_words_that_wait_for_a_worker_elsewhere_are_followed_on_the_page_of_the_run() -> None:
    agents = {"greeter": agent([finish("One."), finish("Two.")])}
    async with site(agents=agents) as here:
        run = await here.by(ADA).begin("greeter")
        await here.by(ADA).until_stop(run)
        before = await page_of(here.by(ADA), f"/runs/{run}")
    async with site(agents=agents, work=False) as here:
        spoke = await send(here.by(ADA), before, f"/runs/{run}/words", say="And now?")
        after = await page_of(here.by(ADA), led_to(spoke))
    assert [len(it.having("follows")) for it in (before, after)] == [0, 1]


async def test_a_fork_is_begun_by_its_form_with_the_result_that_was_changed_and_no_other() -> None:
    script = [act("look", at="tower"), act("look", at="roof"), finish("So.")]
    async with site(agents={"looker": agent(script, [look])}) as here:
        ada = here.by(ADA)
        run = await ada.begin("looker")
        await ada.until_stop(run)
        thread = await page_of(ada, f"/runs/{run}")
        page = await page_of(ada, f"/runs/{run}/fork?at=1")
        action = f"/runs/{run}/fork"
        same = led_to(await send(ada, page, action)).removeprefix("/runs/")
        other = led_to(await send(ada, page, action, value="a hut,\r\nof wood", say="And this?"))
        other = other.removeprefix("/runs/")
        for each in (same, other):
            assert (await ada.until_stop(each))["status"] == "answered"
    assert f"/runs/{run}/fork?at=1" in thread.addresses
    kept, changed = [await read(each, store="runs.sqlite") for each in (same, other)]
    assert [it.forks[-1].parent for it in (kept, changed)] == [run, run]
    results = [it.call("1.1").observation for it in (kept, changed)]
    assert [it.content for it in results if it is not None] == [
        "a tower,\nof stone",
        "a hut,\nof wood",
    ]
    assert kept.forks[-1].what == ()


async def test_a_run_is_cancelled_and_rewound_by_forms_that_say_why() -> None:
    script = [act("look", at="tower"), act("look", at="roof"), finish("So.")]
    async with site(agents={"looker": agent(script, [look]), "writer": writer(Letters())}) as here:
        ada = here.by(ADA)
        run, held = await ada.begin("looker"), await ada.begin("writer")
        for each in (run, held):
            await ada.until_stop(each)
        page = await page_of(ada, f"/runs/{run}")
        led_to(await send(ada, page, f"/runs/{run}/rewind", to="1", lesson="No roof."))
        page = await page_of(ada, f"/runs/{held}")
        led_to(await send(ada, page, f"/runs/{held}/cancel", why="not today"))
        state = await ada.until_stop(held)
    assert state["status"] in {"interrupted", "held"}
    cancelled = await read(held, store="runs.sqlite")
    assert "not today" in str(cancelled.entries)
    record = await read(run, store="runs.sqlite")
    assert [(it.to, it.lesson, it.by) for it in record.omitted.rewinds] == [(1, "No roof.", "ada")]


async def test_who_may_not_steer_has_no_forms_and_a_server_that_shows_has_none() -> None:
    async with store_at("runs.sqlite") as store:
        await write(store, "new", [started()])
    async with site(agents={"greeter": greeter()}, read_only=True) as here:
        thread = await page_of(here.by(ROOT), "/runs/new")
        start = await page_of(here.by(ROOT), "/start")
    async with site(agents={"greeter": greeter()}) as here:
        listed = await page_of(here.by(EVE), "/")
    for page in (thread, start):
        assert [it for it in page.tags("form") if it.attributes["method"] == "post"] == []
    assert "only shows runs" in start.tags("main")[0].text
    assert "/start" not in listed.addresses


async def test_a_record_is_verified_on_its_page() -> None:
    async with store_at("runs.sqlite") as store:
        await write(store, "good", [started(), started()])
    async with site() as here:
        page = await page_of(here.by(ROOT), "/runs/good/verify")
        record = await here.by(ROOT).get("/api/runs/good/entries")
    badge = [it.text for it in page.having("badge")]
    assert badge == ["intact"]
    assert record["entries"][-1]["chain"] in page.tags("main")[0].text


async def lines_of(here: Site, path: str) -> AsyncIterator[str]:
    async with here.http.stream("GET", here.url + path, headers=here.headers) as response:
        async for line in response.aiter_lines():
            yield line


async def test_the_page_of_a_held_run_follows_when_somebody_rules_elsewhere() -> None:
    letters = Letters()
    async with site(agents={"writer": writer(letters)}) as here:
        ada = here.by(ADA)
        run = await ada.begin("writer")
        state = await ada.until_stop(run)
        page = await page_of(ada, f"/runs/{run}")
        (follows,) = page.having("follows")
        data, ruled = "", False
        async for line in lines_of(ada, follows.attributes["hx-sse:connect"]):
            data += line.removeprefix("data: ")
            if not ruled:  # the stream is open, and nothing more would come of itself
                ruled = True
                await rule(state["pending"][0]["id"], allow=True, store="runs.sqlite", by="ada")
            if line == "event: end":
                break
    assert letters.sent == ["Dear Ada"]
    assert data.index("status-open") < data.index("status-answered")


@pytest.mark.parametrize(
    ("path", "signed", "status", "words"),
    [
        ("/runs/nothing", True, 404, "belong to somebody else"),
        ("/nowhere", True, 404, "Go on from the list"),
        ("/start", True, 403, "for that role"),
        ("/", False, 401, "Enter your token"),
        ("/?limit=x", True, 422, "Go back"),
    ],
)
async def test_a_browser_is_told_in_words_what_is_wrong_and_what_to_do(
    path: str, signed: bool, status: int, words: str
) -> None:
    async with site(agents={"greeter": greeter()}) as here:
        asks = here.by(EVE) if signed else here
        answer = await asks.ask("GET", path, accept="text/html,*/*;q=0.8")
        plain = await asks.ask("GET", path)
    assert (answer.status_code, plain.status_code) == (status, status)
    page = parsed(answer.text)
    assert words in page.tags("main")[0].text
    assert "script-src" in answer.headers["content-security-policy"]
    assert plain.json()["message"] in page.tags("main")[0].text


async def test_what_only_shows_offers_no_form_and_says_why() -> None:
    """Started with `--read-only`, with `--no-work`, or without agents."""
    agents = {"greeter": greeter()}
    async with site(agents=agents) as here:
        run = await here.by(ADA).begin("greeter")
        await here.by(ADA).until_stop(run)
    for settings, why in (
        ({"agents": agents, "read_only": True}, "--read-only"),
        ({"agents": agents, "work": False}, "--no-work"),
        ({}, "without agents"),
    ):
        shows = "read_only" in settings
        async with site(**settings) as here:
            forking = await page_of(here.by(ADA), f"/runs/{run}/fork")
            starting = await page_of(here.by(ADA), "/start")
            fork = await here.by(ADA).ask("POST", f"/api/runs/{run}/forks", {"at": 0})
        assert why in forking.tags("main")[0].text
        assert forking.having("decide") == []
        assert ("/start" in forking.addresses) is not shows
        assert ("read only" in forking.having("user")[0].text) is shows
        if shows:
            assert why in starting.tags("main")[0].text
        elif why == "--no-work":
            assert why in fork.json()["message"]
