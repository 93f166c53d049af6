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
from clew.core.contents import Observation
from clew.core.events import Attempt, Charged, Compacted, Rewound
from clew.core.stores import Append, Store
from clew.core.values import encode
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
        path = Path(orders.folder)
        store: Any = Mortal(open_store(path / "runs.sqlite"), orders)
        await long_run.carry(path, store)
        (path / "writes").write_text(str(store.writes), encoding="utf-8")
        await store.close()

    asyncio_run(work)


@dataclass
class EntryTally:
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
    text: str
    cuts: tuple[int, int]
    replays: str


def killed(sample: int) -> Part:
    """At every nth write."""
    tally = EntryTally()
    with folder("entries", memory=True) as root, Nursery("durability.entries") as nursery:
        calm = _ended(_carried(nursery, root / "calm", [], tally))
        writes = int((root / "calm" / "writes").read_text(encoding="utf-8"))
        rounds = [
            (f"{when} write {at}", [Orders("", at, when == "before")])
            for at in range(1, writes + 1, sample)
            for when in ("before", "after")
        ]
        rounds += [(f"after every {at} writes", [Orders("", at)] * writes) for at in AGAIN]
        for number, (what, deaths) in enumerate(rounds):
            where = _carried(nursery, root / str(number), deaths, tally)
            _compare(tally, what, calm, _ended(where))
            if number % 50 == 49:
                tell(f"entries: {number + 1} of {len(rounds)} killed")
    return Part(
        "Killed at every entry of a long run",
        TEXT,
        [*_figures(tally, calm)],
        [*tally.twice, *tally.misses],
    )


def _carried(nursery: Nursery, path: Path, deaths: Sequence[Orders], tally: EntryTally) -> Path:
    """Let processes carry the run to its end, one after the other; each but the last is killed."""
    path.mkdir()
    for orders in [*deaths, Orders("")]:
        told = msgspec.structs.replace(orders, folder=str(path))
        code = nursery.wait(nursery.start(told, entry=ENTRY))
        tally.kills += code == -signal.SIGKILL
        if code != -signal.SIGKILL:
            break
    return path


def _ended(path: Path) -> End:
    return asyncio_run(_read, path)  # type: ignore[no-any-return]  # of what it is given


async def _read(path: Path) -> End:
    store = open_store(path / "runs.sqlite")
    try:
        record = await clew.read(long_run.RUN, store=store)
        replays = ""
        try:
            await clew.replay(long_run.agent(path), long_run.RUN, store=store)
        except clew.ClewError as error:
            replays = str(error)
    finally:
        await store.close()
    kept = [entry.event for entry in record.entries]
    effects = Counter(world.Ledger(path).lines())
    for line in effects:
        if line.startswith("put "):  # its receiver knows a key again
            effects[line] = 1
    return End(
        sorted(encode(one) for one in kept if not isinstance(one, (Attempt, Charged))),
        frozenset((path / "sent").read_text(encoding="utf-8").splitlines()),
        effects,
        [memory.text for memory in long_run.memories(path).list()],
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


def _compare(tally: EntryTally, what: str, calm: End, end: End) -> None:
    """Hold an end against that of the run that nothing happened to."""
    tally.runs += 1
    tally.replayed += not end.replays
    if end.replays:
        tally.misses.append(f"killed {what}: it does not replay: {end.replays}")
    doubted = {key: end.effects[key] for key in end.doubted}
    twice = [key for key, times in end.effects.items() if times > 1]
    if twice or len(end.memories) > len(set(end.memories)) or end.cuts[1] > calm.cuts[1]:
        tally.twice.append(f"killed {what}: done twice: {twice or end.memories}")
    effects = Counter({key: times for key, times in end.effects.items() if key not in doubted})
    known = Counter({key: times for key, times in calm.effects.items() if key not in doubted})
    same = effects == known and end.memories == calm.memories and end.text == calm.text
    if doubted and same:
        tally.doubted += 1
    elif same and end.record == calm.record and end.prompts == calm.prompts:
        tally.same += 1
    else:
        tally.misses.append(f"killed {what}: it ended otherwise: {end.text}, {dict(end.effects)}")


def _figures(tally: EntryTally, calm: End) -> Iterator[Figure]:
    cuts, rewinds = calm.cuts
    yield Figure(f"processes killed, in a run of {cuts} compactions and {rewinds} rewinds",
                 f"{tally.kills:,}", f"{tally.runs:,} runs")  # fmt: skip
    sure = tally.runs - tally.doubted
    yield count("runs with record, prompts, effects and memories of the one that was not killed",
                tally.same, sure, exactly=sure)  # fmt: skip
    yield Figure("runs with a message in doubt: not sent again, the model told, the same answer",
                 f"{tally.doubted:,}", f"{tally.runs:,}")  # fmt: skip
    yield count("runs in which something was done twice", len(tally.twice), tally.runs, exactly=0)
    yield count("runs that replay", tally.replayed, tally.runs, exactly=tally.runs)
