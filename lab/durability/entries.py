"""A long run killed at each of its writes: compactions, rewinds and memories are made once."""

import os
import signal
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import msgspec

import clew
from clew import Trajectory, open_store
from clew.core.events import Attempt, Charged, Compacted, Observation, Rewound, encode
from clew.core.interfaces import Append, Store
from durability import long_run, world
from durability.nursery import Nursery
from durability.progress import tell
from durability.storm import asyncio_run, folder
from recordings.part import Figure, Part, count

ENTRY: Final = "durability.entries:serve"
AGAIN: Final = (3, 4, 5, 7)
"""After so many writes each process is killed, until one comes to the end."""

TEXT: Final = """\
One run is compacted with a summary, is told what was remembered, remembers, goes back by
`backtrack`, and after its answer by a person's rewind. Its process is killed (`kill -9`) at each
write of its record and its inbox, once before it is committed and once after, and another goes on
with an SQLite file. In further rounds each process is killed, again and again. The record, its
prompts to the byte, the effects outside and the memories must be those of the run that nothing
happened to. Where a message was on its way when the process died, the model is told that nobody
knows, and it is not sent again.
"""


class Orders(msgspec.Struct, frozen=True):
    """Where a process works, and at which of its writes it dies: before or after the commit."""

    folder: str
    kill_at: int = 0
    before: bool = False


class Mortal:
    """A store that ends its process at a write."""

    def __init__(self, store: Store, orders: Orders) -> None:
        self._store, self._orders, self.writes = store, orders, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def append(self, append: Append) -> bool:
        self._dies(before=True)
        quiet = await self._store.append(append)
        self._dies(before=False)
        return quiet

    async def post(self, run_id: str, body: bytes) -> None:
        self._dies(before=True)
        await self._store.post(run_id, body)
        self._dies(before=False)

    def _dies(self, *, before: bool) -> None:
        self.writes += before
        if self.writes == self._orders.kill_at and self._orders.before is before:
            os.kill(os.getpid(), signal.SIGKILL)


def serve(orders: Orders) -> None:
    """A process: begin the run or go on with it."""

    async def work() -> None:
        place = Path(orders.folder)
        store: Any = Mortal(open_store(place / "runs.sqlite"), orders)
        await long_run.carry(place, store)
        (place / "writes").write_text(str(store.writes), encoding="utf-8")
        await store.close()

    asyncio_run(work)


@dataclass
class Found:
    """What came of it."""

    kills: int = 0
    runs: int = 0
    same: int = 0
    doubted: int = 0
    replayed: int = 0
    twice: list[str] = field(default_factory=list[str])
    misses: list[str] = field(default_factory=list[str])


@dataclass(frozen=True)
class End:
    """What is left of a run: its record but for what a death adds, its prompts, what was done."""

    record: Sequence[bytes]
    prompts: frozenset[str]
    effects: Counter[str]
    memories: Sequence[str]
    doubted: Sequence[str]
    said: str
    cuts: tuple[int, int]
    replays: str


def killed(sample: int) -> Part:
    """At every nth write."""
    found = Found()
    with folder("entries", memory=True) as place, Nursery("durability.entries") as nursery:
        calm = _ended(_carried(nursery, place / "calm", [], found))
        writes = int((place / "calm" / "writes").read_text(encoding="utf-8"))
        rounds = [
            (f"{when} write {at}", [Orders("", at, when == "before")])
            for at in range(1, writes + 1, sample)
            for when in ("before", "after")
        ]
        rounds += [(f"after every {at} writes", [Orders("", at)] * writes) for at in AGAIN]
        for number, (what, deaths) in enumerate(rounds):
            where = _carried(nursery, place / str(number), deaths, found)
            _compare(found, what, calm, _ended(where))
            if number % 50 == 49:
                tell(f"entries: {number + 1} of {len(rounds)} killed")
    return Part(
        "Killed at every entry of a long run",
        TEXT,
        [*_figures(found, calm)],
        [*found.twice, *found.misses],
    )


def _carried(nursery: Nursery, place: Path, deaths: Sequence[Orders], found: Found) -> Path:
    """Let processes carry the run to its end, one after the other; each but the last is killed."""
    place.mkdir()
    for orders in [*deaths, Orders("")]:
        told = msgspec.structs.replace(orders, folder=str(place))
        code = nursery.wait(nursery.start(told, entry=ENTRY))
        found.kills += code == -signal.SIGKILL
        if code != -signal.SIGKILL:
            break
    return place


def _ended(place: Path) -> End:
    return asyncio_run(_read, place)  # type: ignore[no-any-return]  # of what it is given


async def _read(place: Path) -> End:
    store = open_store(place / "runs.sqlite")
    try:
        record = await clew.read(long_run.RUN, store=store)
        replays = ""
        try:
            await clew.replay(long_run.agent(place), long_run.RUN, store=store)
        except clew.ClewError as error:
            replays = str(error)
    finally:
        await store.close()
    kept = [entry.event for entry in record.entries]
    effects = Counter(world.Ledger(place).lines())
    for line in effects:
        if line.startswith("put "):  # its receiver knows a key again
            effects[line] = 1
    return End(
        sorted(encode(one) for one in kept if not isinstance(one, (Attempt, Charged))),
        frozenset((place / "sent").read_text(encoding="utf-8").splitlines()),
        effects,
        [memory.text for memory in long_run.memories(place).list()],
        _doubted(record),
        "" if record.stop is None else f"{record.stop.status}: {record.stop.answer}",
        (sum(isinstance(one, Compacted) for one in kept),
         sum(isinstance(one, Rewound) for one in kept)),
        replays,
    )  # fmt: skip


def _doubted(record: Trajectory) -> list[str]:
    """The calls of which nobody knows whether they happened."""
    seen = [entry.event for entry in record.entries if isinstance(entry.event, Observation)]
    return [f"send {long_run.RUN}:{one.call}" for one in seen if one.code == "unknown"]


def _compare(found: Found, what: str, calm: End, end: End) -> None:
    """Hold an end against that of the run that nothing happened to."""
    found.runs += 1
    found.replayed += not end.replays
    if end.replays:
        found.misses.append(f"killed {what}: it does not replay: {end.replays}")
    doubted = {key: end.effects[key] for key in end.doubted}
    twice = [key for key, times in end.effects.items() if times > 1]
    if twice or len(end.memories) > len(set(end.memories)) or end.cuts[1] > calm.cuts[1]:
        found.twice.append(f"killed {what}: done twice: {twice or end.memories}")
    effects = Counter({key: times for key, times in end.effects.items() if key not in doubted})
    known = Counter({key: times for key, times in calm.effects.items() if key not in doubted})
    same = effects == known and end.memories == calm.memories and end.said == calm.said
    if doubted and same:
        found.doubted += 1
    elif same and end.record == calm.record and end.prompts == calm.prompts:
        found.same += 1
    else:
        found.misses.append(f"killed {what}: it ended otherwise: {end.said}, {dict(end.effects)}")


def _figures(found: Found, calm: End) -> Iterator[Figure]:
    cuts, rewinds = calm.cuts
    yield Figure(f"processes killed, in a run of {cuts} compactions and {rewinds} rewinds",
                 f"{found.kills:,}", f"{found.runs:,} runs")  # fmt: skip
    sure = found.runs - found.doubted
    yield count("runs with record, prompts, effects and memories of the one that was not killed",
                found.same, sure, exactly=sure)  # fmt: skip
    yield Figure("runs with a message in doubt: not sent again, the model told, the same answer",
                 f"{found.doubted:,}", f"{found.runs:,}")  # fmt: skip
    yield count("runs in which something was done twice", len(found.twice), found.runs, exactly=0)
    yield count("runs that replay", found.replayed, found.runs, exactly=found.runs)
