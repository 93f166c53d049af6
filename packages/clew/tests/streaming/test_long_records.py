"""A long record is followed page by page, and whoever comes back reads what follows, not all."""

from typing import Final

from clew import Limits, MemoryStore, Nested, delegate, follow, read, run, start, tool
from clew.agent.streaming.branches import PAGE
from clew.core.stores import Line
from clew.testing import act, say
from tests.streaming.runs import Gate, agent, numbered

STEPS: Final = PAGE + 10
"""So many steps are more than two pages of entries."""


@tool(effect="read")
async def look(number: int) -> str:
    """Look."""
    return f"{number} is there"


class Counting(MemoryStore):
    """A store that counts the lines that it gives."""

    def __init__(self) -> None:
        super().__init__()
        self.lines = 0

    async def read(self, run_id: str, after: int = 0) -> list[Line]:
        return self._counted(await super().read(run_id, after))

    async def read_page(self, run_id: str, after: int, limit: int) -> list[Line]:
        return self._counted((await super().read(run_id, after))[: max(limit, 0)])

    def _counted(self, lines: list[Line]) -> list[Line]:
        self.lines += len(lines)
        return lines


async def long_run(store: MemoryStore) -> int:
    """Write a long run `r`; how many entries it has."""
    looks = [act("look", number=number) for number in range(STEPS)]
    limits = Limits(steps=STEPS + 5, tool_calls=STEPS + 5)
    await run(
        agent(*looks, say("It is found."), tools=[look], limits=limits),
        "Where?", store=store, run_id="r",
    )  # fmt: skip
    length = len(await read("r", store=store))
    assert length > 2 * PAGE
    return length


async def test_a_long_record_is_read_in_pages_from_wherever_it_is_followed() -> None:
    store = Counting()
    length = await long_run(store)
    for after in (0, 1, PAGE - 1, PAGE, PAGE + 1, length - PAGE, length - 1, length):
        for position in (after, str(after)):
            items = [item async for item in follow("r", after=position, store=store)]
            assert numbered(items) == [((), seq) for seq in range(after + 1, length + 1)]


async def test_who_comes_back_with_a_position_reads_what_follows_and_not_the_record() -> None:
    store = Counting()
    length = await long_run(store)
    store.lines = 0
    events = follow("r", after=str(length - 3), store=store)
    assert len([item async for item in events]) == 3
    assert store.lines <= 3 + 2  # those, the first one and the one that it was at
    store.lines = 0
    await anext(follow("r", store=store))
    assert store.lines == PAGE


async def test_the_number_of_an_entry_leads_into_a_run_below_that_was_under_way() -> None:
    """A position names the runs below; a number says nothing of them, so they are looked for."""
    gate = Gate()
    below = agent(act("pay"), say("It is paid."), tools=[gate.tool])
    ask = delegate(below, name="ask", description="Ask.")
    above = agent(act("ask", task="Pay."), say("Done."), tools=[ask])
    store = MemoryStore()
    events = await start(above, "Pay.", store=store, run_id="r")
    await gate.begun.wait()
    started_at = len(await read("r", store=store))
    by_number, by_position = (follow("r", after=after, store=store) for after in (started_at, "2"))
    gate.go.set()
    nested = [item async for item in by_number if isinstance(item, Nested)]
    length = len(await read("r-1.1", store=store))
    assert [seq for _, seq in numbered(nested)] == [*range(1, length + 1)]
    await events.wait()
    everything = [item async for item in by_position]
    assert len([path for path, _ in numbered(everything) if path]) == length
