"""Live events over connections that break: nothing is lost, and nothing comes twice."""

from contextlib import suppress

import anyio
import httpx2
import pytest

from clew import Limits, tool
from clew.stores import Deletes, store_at
from clew.testing import act, finish
from tests.server.site import ADA, Event, Site, agent, site

STEPS = 20
READERS = 5


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    """What uvicorn runs on."""
    return "asyncio"


@tool(effect="read")
async def look(number: int) -> str:
    """Look."""
    return f"{number} is here"


async def one(here: Site, run: str, after: str) -> Event | None:
    """The first event behind one that was seen, over a connection of its own, which then breaks."""
    async for event in here.by(ADA).events(run, after):
        if event.id:
            return event
    return None


async def in_pieces(here: Site, run: str, seen: list[Event]) -> None:
    """All events, each over a connection of its own."""
    after = ""
    while (event := await one(here, run, after)) is not None:
        seen.append(event)
        after = event.id


async def test_five_readers_who_reconnect_for_each_event_miss_none_and_get_none_twice() -> None:
    looking = agent(
        [*(act("look", number=it) for it in range(STEPS)), finish("Seen.")],
        [look],
        limits=Limits(steps=50),
    )
    async with site(agents={"looking": looking}) as here:
        run = await here.by(ADA).begin("looking")
        seen: list[list[Event]] = [[] for _ in range(READERS)]
        async with anyio.create_task_group() as group:
            for mine in seen:
                group.start_soon(in_pieces, here, run, mine)
        page = await here.by(ADA).get(f"/api/runs/{run}/entries?limit=1000")
    entries = [entry["seq"] for entry in page["entries"]]
    assert len(entries) > STEPS * 2
    for mine in seen:
        assert [it.data["seq"] for it in mine if it.kind == "Entry"] == entries
        assert len(mine) >= len(entries)


async def test_a_reader_takes_a_run_up_where_the_server_before_left_it() -> None:
    begun, end = anyio.Event(), anyio.Event()

    @tool(effect="read")
    async def wait() -> str:
        """Wait."""
        begun.set()
        await end.wait()
        return "here"

    waiting = agent([act("wait"), act("wait"), finish("Done.")], [wait])
    before: list[Event] = []
    async with site(agents={"waiting": waiting}) as here:
        run = await here.by(ADA).begin("waiting")

        async def look_on() -> None:
            with suppress(httpx2.HTTPError):  # the server goes in the middle of it
                async for event in here.by(ADA).events(run):
                    before.append(event)  # noqa: PERF401 - what came before it went counts

        async with anyio.create_task_group() as group:
            group.start_soon(look_on)
            await begun.wait()
            here.leaving.set()
            end.set()
    last = before[-1].id if before else ""
    async with site(agents={"waiting": waiting}) as here:
        rest = [event async for event in here.by(ADA).events(run, last)]
        page = await here.by(ADA).get(f"/api/runs/{run}/entries?limit=1000")
    numbers = [it.data["seq"] for it in [*before, *rest] if it.kind == "Entry"]
    assert numbers == [entry["seq"] for entry in page["entries"]]


async def test_a_run_that_is_deleted_while_it_is_watched_ends_its_streams_in_a_line() -> None:
    here_now = anyio.Event()
    waiting = agent([finish("Never.")])
    async with site(agents={"waiting": waiting}, work=False) as here:  # nobody takes it up
        run = await here.by(ADA).begin("waiting")
        seen: list[Event] = []

        async def look_on() -> None:
            async for event in here.by(ADA).events(run):
                seen.append(event)
                here_now.set()

        async with anyio.create_task_group() as group:
            group.start_soon(look_on)
            await here_now.wait()
            async with store_at("runs.sqlite") as store:
                assert isinstance(store, Deletes)
                await store.forget(run)
        assert (await here.by(ADA).ask("GET", f"/api/runs/{run}")).status_code == 404
    assert (seen[-1].kind, seen[-1].id) == ("Error", "")
    assert run in seen[-1].data["error"]


async def test_a_reader_of_a_run_that_is_over_is_told_not_to_come_back() -> None:
    async with site(agents={"greeter": agent([finish("Hello.")])}) as here:
        run = await here.by(ADA).begin("greeter")
        events = [event async for event in here.by(ADA).events(run)]
        path = f"/api/runs/{run}/events"
        over = await here.by(ADA).ask("GET", path, **{"last-event-id": events[-1].id})
        beyond = await here.by(ADA).ask("GET", path, **{"last-event-id": "99"})
        wrong = await here.by(ADA).ask("GET", path, **{"last-event-id": "no number"})
    assert over.status_code == 204
    assert beyond.status_code in {204, 422}
    assert wrong.status_code == 422
