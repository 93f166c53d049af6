"""Many who watch one run: it is followed once for all of them, and nobody waits for a slow one."""

from collections.abc import AsyncIterator
from typing import Any

import anyio
import pytest

from clew import MemoryStore, delegate, tool
from clew.interfaces import Store
from clew.testing import act, finish
from tests.server.counting_store import Counting
from tests.server.site import ADA, ROOT, Event, Site, agent, site
from tests.server.written_runs import go_on, started, stopped, thought, write

VIEWERS = 20
ENTRIES = 10
LONG = 12_000
"""Characters of a thought: some hundreds of them fill all buffers on the way to who reads none."""


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    """What uvicorn runs on."""
    return "asyncio"


def numbers(events: list[Event]) -> list[int]:
    """The run's own entries among these events."""
    return [event.data["seq"] for event in events if event.kind == "Entry"]


class Watching:
    """Those who watch a run, each to its end."""

    def __init__(self, here: Site, run: str) -> None:
        self.here, self.run = here, run
        self.seen: list[list[Event]] = []
        self._news = anyio.Event()

    async def look_on(self, after: str = "") -> None:
        mine = list[Event]()
        self.seen.append(mine)
        async for event in self.here.events(self.run, after):
            mine.append(event)
            self._wake()

    async def until(self, seq: int, viewers: int) -> None:
        """Wait until so many have seen an entry."""
        while sum(seq in numbers(mine) for mine in self.seen) < viewers:
            await self._news.wait()

    def _wake(self) -> None:
        news, self._news = self._news, anyio.Event()
        news.set()


async def test_a_new_entry_is_read_once_however_many_watch() -> None:
    kept = MemoryStore()
    store: Any = Counting(kept)
    await write(kept, "live", [started()])
    read, seen = 0, list[list[Event]]()
    async with site(store=store, work=False) as here, anyio.create_task_group() as group:
        watching = Watching(here.by(ROOT), "live")
        seen = watching.seen
        for _ in range(VIEWERS):
            group.start_soon(watching.look_on)
        await watching.until(1, VIEWERS)
        await go_on(kept, "live", [thought("now all are there")])
        await watching.until(2, VIEWERS)
        before = store.asked["lines"]
        await go_on(kept, "live", [*(thought(str(it)) for it in range(ENTRIES)), stopped()])
        await watching.until(ENTRIES + 3, VIEWERS)
        read = store.asked["lines"] - before
    assert all(numbers(mine) == [*range(1, ENTRIES + 4)] for mine in seen)
    assert read < 2 * ENTRIES  # the looks that nothing follows on read the last line


async def fill(store: Store, run: str, watching: Watching) -> int:
    """Write more than is kept for a viewer, as fast as others take it; the last number."""
    last = 1
    for _ in range(40):
        await go_on(store, run, [thought("t" * LONG) for _ in range(20)])
        last += 20
        await watching.until(last, 2)
    return last


@pytest.mark.slow
async def test_who_reads_nothing_holds_up_nobody_and_gets_all_of_it_later() -> None:
    store = MemoryStore()
    await write(store, "live", [started()])
    last, text = 0, list[str]()
    async with site(store=store, work=False) as here, anyio.create_task_group() as group:
        watching = Watching(here.by(ROOT), "live")
        url = f"{here.url}/api/runs/live/events"
        async with here.http.stream("GET", url, headers=here.by(ROOT).headers) as slow:
            group.start_soon(watching.look_on)
            group.start_soon(watching.look_on)
            await watching.until(1, 2)
            last = await fill(store, "live", watching)
            await go_on(store, "live", [stopped()])
            text = [line async for line in slow.aiter_lines()]
    ids = [line.removeprefix("id: ") for line in text if line.startswith("id: ")]
    assert "event: Dropped" in text  # it came too late for the words, not for the entries
    assert [*dict.fromkeys(ids)] == [str(number) for number in range(1, last + 2)]
    assert text.count("event: Entry") == last + 1


async def test_readers_of_a_run_with_runs_below_miss_none_and_get_none_twice() -> None:
    @tool(effect="read")
    async def look(number: int) -> str:
        """Look."""
        return f"{number} is here"

    below = agent([*(act("look", number=it) for it in range(5)), finish("Seen.")], [look])
    ask = delegate(below, name="ask", description="Ask.")
    asking = agent([act("ask", task="1"), act("look", number=9), act("ask", task="2"),
                    finish("Done.")], [ask, look])  # fmt: skip
    seen: list[list[Event]] = [[] for _ in range(4)]
    async with site(agents={"asking": asking}) as here:
        run = await here.by(ADA).begin("asking")

        async def look_on(mine: list[Event], at_once: int) -> None:
            """Look on over connections that break after so many events."""
            after, over = "", False
            while not over:
                over = True
                async for event in here.by(ADA).events(run, after):
                    mine.append(event)
                    after = event.id or after
                    if len(mine) % at_once == 0:
                        over = False
                        break

        async with anyio.create_task_group() as group:
            for mine, many in zip(seen, (1, 3, 7, 1_000), strict=True):
                group.start_soon(look_on, mine, many)

    def entries(events: list[Event]) -> list[tuple[str, int]]:
        own = [("", it.data["seq"]) for it in events if it.kind == "Entry"]
        nested = [it.data for it in events if it.kind == "Nested"]
        return own + [(it["path"][-1], it["item"]["seq"]) for it in nested if "seq" in it["item"]]

    expected = sorted(entries(seen[-1]))
    assert len({run for run, _ in expected}) == 3
    for mine in seen:
        assert sorted(entries(mine)) == expected


async def pieces(here: Site, path: str) -> AsyncIterator[tuple[str, str]]:
    """The pieces of a page, each with its id, until it ends."""
    number, data = "", list[str]()
    async with here.http.stream("GET", here.url + path, headers=here.headers) as response:
        async for line in response.aiter_lines():
            name, _, value = line.partition(": ")
            if name == "id":
                number = value
            elif name == "data":
                data.append(value)
            elif not line and data:
                yield number, "\n".join(data)
                number, data = "", []


async def test_no_page_says_what_the_address_of_another_one_claimed() -> None:
    """The step in the address of a page is its reader's word; those who share it see the record."""
    store = MemoryStore()
    await write(store, "live", [started(), thought("one"), thought("two")])
    seen: list[list[tuple[str, str]]] = [[], []]
    ready = anyio.Semaphore(0)
    async with site(store=store, work=False) as here, anyio.create_task_group() as group:

        async def look_on(mine: list[tuple[str, str]], step: int) -> None:
            async for piece in pieces(here.by(ROOT), f"/runs/live/live?after=3&step={step}"):
                mine.append(piece)
                if piece[0].startswith("4-"):
                    ready.release()

        group.start_soon(look_on, seen[0], 700)
        group.start_soon(look_on, seen[1], 2)
        await here.by(ROOT).get("/api/runs/live")
        await go_on(store, "live", [thought("three")])
        await ready.acquire()
        await ready.acquire()
        await go_on(store, "live", [stopped()])
    for mine in seen:
        assert [number for number, _ in mine if number] == ["4-3", "5-3"]
    assert seen[0] == seen[1]
