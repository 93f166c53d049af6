"""Records for the tests of retention: runs, forks and sub-runs as the journal writes them."""

from collections.abc import Awaitable, Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from clew import SqliteStore
from clew.concurrency.portal import wait_for
from clew.core.actions import Action
from clew.core.codes import Status
from clew.core.contents import Image, Observation, Reply, Spending, text_parts
from clew.core.events import AnyEvent, Attempt, Fingerprints, Forked, Note, Started, Stop, Thought
from clew.core.journal import Journal, load
from clew.core.specs import AgentSpec
from clew.core.stores import Base, Line, Store
from clew.core.values import encode
from clew.stores.memory import MemoryStore
from clew.support.errors import StoreError

DAY = 86_400_000  # milliseconds, as entries have them
NOW = 1_800_000_000_000
LONG = "thread " * 3_000

Maker = Callable[[Path], Store]


def sqlite(place: Path) -> Store:
    return SqliteStore(place / "runs.sqlite")


def memory(_: Path) -> Store:
    return MemoryStore()


MAKERS: list[Maker] = [memory, sqlite]


def started(goal: str = "What?", parent: str = "") -> Started:
    return Started(
        text_parts(goal),
        AgentSpec("f", "m", "c", "p", prompt_spec={"made of": "it"}),
        parent=parent,
    )


def thought(*tools: str) -> Thought:
    return Thought(
        Reply(), Fingerprints("h", "t", "p", "s"), actions=tuple(Action(t) for t in tools)
    )


async def run(
    store: Store,
    run_id: str,
    *more: AnyEvent,
    days: float = 0,
    status: Status | None = "answered",
    parent: str = "",
) -> Journal:
    """A run that was last written to so many days ago: a look at something long, and its end."""
    journal = await Journal.create(
        store, started(run_id, parent), run_id, clock=lambda: NOW - round(days * DAY)
    )
    await journal.record(
        thought("look"), Observation("1.1", f"{run_id}: {LONG}", evidence=()), *more
    )
    if status is not None:
        await journal.record(Stop(status, answer="done"))
    return journal


async def fork(store: Store, run_id: str, base: Base, *, days: float = 0) -> None:
    """A fork of a run, after so many of its entries."""
    entries = (await load(store, base.run_id)).entries[: base.seq]
    journal = await Journal.fork(
        store, base, entries,
        [Forked(base.run_id, 1, AgentSpec("f", "m", "c", "p", prompt_spec={"made of": "it"}))],
        run_id,
        clock=lambda: NOW - round(days * DAY),
    )  # fmt: skip
    await journal.record(Note(text_parts("elsewhere")), Stop("answered"))


async def family(store: Store, run_id: str = "root", *, days: float = 0) -> None:
    """A root whose call was made in a sub-run, whose call was made in another."""
    calls = (
        (f"{run_id}-2.1", f"{run_id}:2.1", f"{run_id}-2.1-2.1"),
        (f"{run_id}-2.1-2.1", f"{run_id}-2.1:2.1", ""),
        (run_id, "", f"{run_id}-2.1"),
    )
    for name, parent, child in calls:
        made = (
            thought("delegate"),
            Attempt("2.1", "delegate", "h", 0.0, child=child),
            Observation("2.1", "dug", spent=Spending(steps=1)),
        )
        await run(store, name, *(made if child else ()), days=days, parent=parent)


async def everything(store: Store) -> None:
    """One run of each kind: taken up twice, with a picture, forks of forks, a family, a message."""
    journal = await run(store, "plain", status=None)
    picture = Image("image/png", b"\x89PNG" * 100)
    await journal.record(thought("look"), Observation("2.1", "seen", attachments=(picture,)))
    again = await Journal.open(store, "plain", clock=lambda: NOW)
    await again.record(Note(text_parts("And now?")), Stop("answered", answer="Ünïcode 🧶"))
    await fork(store, "fork", Base("plain", 3))
    await fork(store, "fork-of-the-fork", Base("fork", 4))
    await family(store)
    await run(store, "open", status=None)
    await store.post("open", encode(Note(text_parts("a word that waits"))))


async def contents(store: Store) -> dict[str, tuple[list[Line], list[bytes], Base | None]]:
    """All that can be read of each run."""
    found: dict[str, tuple[list[Line], list[bytes], Base | None]] = {}
    for info in await store.runs():
        inbox = [body for _, body in await store.inbox(info.run_id)]
        found[info.run_id] = (await store.read(info.run_id), inbox, info.base)
        try:
            await load(store, info.run_id)
        except StoreError as error:
            assert "blob" in str(error), "a run may have lost its payloads, and no more"  # noqa: PT017 - most raise nothing
    return found


def without_messages(found: Mapping[str, tuple[Any, Any, Any]]) -> dict[str, Any]:
    """The same as an import brings it: what waits in an inbox stays behind."""
    return {run_id: (lines, [], base) for run_id, (lines, _, base) in found.items()}


@cache
def file_with(fill: Callable[[SqliteStore], Awaitable[None]]) -> tuple[bytes, dict[str, Any]]:
    """A real file with everything and what `fill` adds, and all that is in it."""

    async def made() -> dict[str, Any]:
        store = SqliteStore(place)
        await everything(store)
        await fill(store)
        found = await contents(store)
        await store.close()
        return found

    place = Path("made.sqlite")
    found = wait_for(made)
    data = place.read_bytes()
    place.unlink()
    return data, found
