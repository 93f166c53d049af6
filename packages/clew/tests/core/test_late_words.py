"""What comes after a run's stop and changes nothing leaves it as it was: stopped, and listed so."""

from collections.abc import Callable
from pathlib import Path

import pytest

from clew import Agent, SqliteStore, read, replay, resume, run
from clew.core.contents import text_parts
from clew.core.events import Cancel, Note, Ruling, Stop
from clew.core.stores import Store
from clew.core.values import encode
from clew.retention import gc
from clew.stores.listing import status_of
from clew.stores.memory import MemoryStore
from clew.testing import ScriptedModel, act, finish
from clew.tools import tool

STORES: dict[str, Callable[[Path], Store]] = {
    "memory": lambda folder: MemoryStore(),
    "SQLite": lambda folder: SqliteStore(folder / "runs.sqlite"),
}
LATE = {
    "a cancel": Cancel("too late"),
    "a ruling on no call": Ruling("7.1", allow=True),
    "two": (Cancel("too late"), Cancel("again")),
}


@tool(effect="read")
def look() -> str:
    """Look."""
    return "seen"


def agent() -> Agent:
    return Agent(model=ScriptedModel([act("look"), finish("done"), finish("more")]), tools=[look])


@pytest.mark.parametrize("late", LATE.values(), ids=[*LATE])
@pytest.mark.parametrize("make", STORES.values(), ids=[*STORES])
async def test_a_run_that_has_ended_is_listed_as_it_ended(
    make: Callable[[Path], Store], late: object, tmp_path: Path
) -> None:
    store, made = make(tmp_path), agent()
    await run(made, "?", run_id="r", store=store)
    for event in late if isinstance(late, tuple) else (late,):
        await store.post("r", encode(event))
    assert (await resume(made, "r", store=store)).status == "answered"
    (info,) = await store.runs(status="answered")
    assert status_of(info.last.body) == "answered"
    record = await read("r", store=store)
    assert isinstance(record.entries[-1].event, Stop)
    assert len((await replay(made, "r", store=store)).trajectory) == len(record)
    before = len(record)
    await resume(made, "r", store=store)
    assert len(await read("r", store=store)) == before, "nothing is said a third time"
    assert (await gc(store=store, older=0)).removed == ("r",)


async def test_a_persons_words_go_on_all_the_same() -> None:
    store, made = MemoryStore(), agent()
    await run(made, "?", run_id="r", store=store)
    await store.post("r", encode(Cancel("too late")))
    await store.post("r", encode(Note(text_parts("And now?"), source="person")))
    done = await resume(made, "r", store=store)
    assert done.status in {"answered", "interrupted"}
    assert isinstance((await read("r", store=store)).entries[-1].event, Stop)
