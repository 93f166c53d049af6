"""Each strategy killed at every write of its records: it comes to the same end, and acts once."""

import signal
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import msgspec

from clew import open_store
from clew.core.actions import Done
from clew.core.contents import Observation
from clew.core.events import Attempt, Charged, Forked, Note, Started, Thought
from clew.core.journal import load
from clew.core.values import Event, encode
from durability import strategy_runs, world
from durability.nursery import Nursery
from durability.progress import tell
from durability.storm import asyncio_run, folder
from durability.strategy_runs import NAMES, RUN, Orders
from recordings.part import Figure, Part, count

MODULE: Final = "durability.strategy_runs"
ENTRY: Final = f"{MODULE}:serve"
LIMIT: Final = 100
TEXT: Final = f"""\
{", ".join(f"`{name}`" for name in NAMES[:5])},
{", ".join(f"`{name}`" for name in NAMES[5:])}: a run by each. The process is killed
(`kill -9`) at each write of its record or of one of the runs in it, once before it is committed and
once after, and another goes on with an SQLite file. The agents' tools look, send (`unsafe`), put
(`idempotent`) and post (with a probe); those of a vote and a tree search only look. Models are
scripted, and say what hangs on their prompts alone. All records but for what a death adds, all
prompts to the byte, and the effects outside must be those of the run that nothing happened to.
Where a message was on its way when the process died, the model is told that nobody knows, and goes
on from there: then nothing may have been sent twice. Where workers at once are about to do the same
(`orchestrator`), the first does it and the other asks: after a death the first may be the other
one, and the same has been done, each once.
"""


@dataclass
class StrategyTally:
    """What came of it."""

    kills: int = 0
    runs: int = 0
    same: int = 0
    overtaken: int = 0
    doubted: int = 0
    calls: int = 0
    twice: list[str] = field(default_factory=list[str])
    open: list[str] = field(default_factory=list[str])
    broken: list[str] = field(default_factory=list[str])
    misses: list[str] = field(default_factory=list[str])


@dataclass(frozen=True)
class End:
    """What is left of a run: all its records but for what a death adds, prompts, effects."""

    records: frozenset[tuple[str, tuple[bytes, ...]]]
    prompts: frozenset[str]
    effects: Counter[str]
    doubted: Sequence[str]
    told: frozenset[tuple[str, str, str]]
    """What workers at once were told of, that another did: its call, the tool and what it said."""
    before: frozenset[tuple[str, tuple[bytes, ...]]]
    """The records, of those workers and of who asked them only until they were about to do that."""
    text: str
    replays: str


def killed(sample: int) -> Part:
    """Each strategy, at every nth write."""
    tally = StrategyTally()
    with folder("strategies", memory=True) as root, Nursery(MODULE) as nursery:
        for name in NAMES:
            _killed(nursery, root / name, name, sample, tally)
            tell(f"strategies: {name}: killed {tally.kills} times in all")
    return Part(
        "Killed in strategies",
        TEXT,
        [*_figures(tally, sample)],
        [*tally.open, *tally.twice, *tally.broken, *tally.misses],
    )


def _killed(nursery: Nursery, path: Path, name: str, sample: int, tally: StrategyTally) -> None:
    calm = _ended(name, _carried(nursery, path / "calm", Orders("", name), tally))
    writes = int((path / "calm" / "writes").read_text(encoding="utf-8"))
    for at in range(1, writes + 1, sample):
        for before in (True, False):
            what = f"{name}, killed {'before' if before else 'after'} write {at}"
            where = path / f"{at}-{before}"
            end = _ended(name, _carried(nursery, where, Orders("", name, at, before), tally))
            compare(tally, what, calm, end)


def _carried(nursery: Nursery, path: Path, orders: Orders, tally: StrategyTally) -> Path:
    """Let a process carry the run, until it is killed, and another to the end."""
    path.mkdir(parents=True)
    for one in (orders, msgspec.structs.replace(orders, kill_at=0)):
        told = msgspec.structs.replace(one, folder=str(path))
        code = nursery.wait(nursery.start(told, entry=ENTRY))
        tally.kills += code == -signal.SIGKILL
        if code != -signal.SIGKILL:
            break
    return path


def _ended(name: str, path: Path) -> End:
    return asyncio_run(_read, name, path)  # type: ignore[no-any-return]  # of what it is given


async def _read(name: str, path: Path) -> End:
    store = open_store(path / "runs.sqlite")
    try:
        names = await store.ids(RUN, LIMIT)
        records = {run_id: await load(store, run_id) for run_id in sorted(names)}
        replays = await strategy_runs.replays(name, path, records, store)
    finally:
        await store.close()
    kept: dict[str, list[Event]] = {
        run_id: [
            _plain(entry.event)
            for entry in record.entries
            if not isinstance(entry.event, Attempt | Charged)
        ]
        for run_id, record in records.items()
    }
    others = [done for events in kept.values() for event in events for done in _of_others(event)]
    effects = Counter(world.Ledger(path).lines())
    for line in effects:
        if not line.startswith("send "):  # its receiver knows a key again; or it only looks
            effects[line] = 1
    stop = records[RUN].stop
    return End(
        _sorted(kept),
        frozenset((path / "sent").read_text(encoding="utf-8").splitlines()),
        effects,
        [
            f"{run_id}:{event.call}"
            for run_id, events in kept.items()
            for event in events
            if isinstance(event, Observation) and event.outcome == "unknown"
        ],
        frozenset((done.key, done.tool, done.text) for done in others),
        _sorted(_before(kept)),
        "" if stop is None else f"{stop.status}: {stop.answer}",
        replays,
    )


def _plain(event: Event) -> Event:
    """The event without what a run was granted and took: a death takes time and tokens."""
    if isinstance(event, Started | Forked):
        return msgspec.structs.replace(event, grant=None)
    return msgspec.structs.replace(event, spent=None) if isinstance(event, Observation) else event


def _of_others(event: Event) -> Sequence[Done]:
    """What a note tells of runs at work beside this one."""
    return event.done if isinstance(event, Note) and event.source == "late" else ()


def _sorted(
    kept: Mapping[str, Sequence[Event]],
) -> frozenset[tuple[str, tuple[bytes, ...]]]:
    """The events of each run; at once, their order says nothing."""
    return frozenset((name, tuple(sorted(map(encode, events)))) for name, events in kept.items())


def _before(kept: Mapping[str, Sequence[Event]]) -> dict[str, Sequence[Event]]:
    """The records until the thoughts that led workers at once to do the same."""
    last = dict[str, int]()
    for run_id, events in kept.items():
        for index, event in enumerate(events):
            for done in _of_others(event):
                by, _, call = done.key.partition(":")
                steps = {run_id: len(_thoughts(events[:index])), by: int(call.partition(".")[0])}
                last |= {name: min(step, last.get(name, step)) for name, step in steps.items()}
    for name in tuple(last):  # a run that another asked for is named by the call
        asked_by, _, call = name.rpartition("-")
        last[asked_by] = int(call.partition(".")[0])
    return {name: _until(events, last.get(name)) for name, events in kept.items()}


def _until(events: Sequence[Event], step: int | None) -> Sequence[Event]:
    return events if step is None else events[: _thoughts(events)[step - 1] + 1]


def _thoughts(events: Sequence[Event]) -> list[int]:
    return [index for index, event in enumerate(events) if isinstance(event, Thought)]


def compare(tally: StrategyTally, what: str, calm: End, end: End) -> None:
    """Hold an end against that of the run that nothing happened to."""
    tally.runs += 1
    tally.calls += sum(line.startswith("send ") for line in end.effects)
    tally.twice += [f"{what}: {line}: {n} times" for line, n in end.effects.items() if n > 1]
    if end.replays:
        tally.broken.append(f"{what}: {end.replays}")
    if end.text != calm.text:
        tally.open.append(f"{what}: {end.text or 'open'} instead of {calm.text}")
    elif end.doubted:
        tally.doubted += 1
    elif (end.records, end.prompts, end.effects) == (calm.records, calm.prompts, calm.effects):
        tally.same += 1
    elif _overtaken(calm, end):
        tally.overtaken += 1
    else:
        parts = ("records", "prompts", "effects")
        other = [part for part in parts if getattr(end, part) != getattr(calm, part)]
        tally.misses.append(f"{what}: other {' and '.join(other)}")


def _overtaken(calm: End, end: End) -> bool:
    """Whether all that differs is which of some workers at once did what each was about to do.

    Until then the records are the same, and so are the prompts, whose fingerprints are in them. The
    others were told of the same, and whoever they were told of did it.
    """
    (was, same), (now, here) = _contested(calm), _contested(end)
    return calm.told != end.told and (calm.before, was, same) == (end.before, now, here)


def _contested(end: End) -> tuple[frozenset[tuple[str, str]], Counter[str]]:
    """What others were told of, and how often each effect was had, whoever had those."""
    had = {f"{tool} {key}": tool for key, tool, _ in end.told}
    effects = Counter[str]()
    for line, times in end.effects.items():
        effects[had.get(line, line)] += times
    return frozenset((tool, text) for _, tool, text in end.told), effects


def _figures(tally: StrategyTally, sample: int) -> Iterator[Figure]:
    number = 400 // sample
    yield Figure("processes killed", f"{tally.kills:,}", f"{tally.runs:,} runs", f"≥ {number}",
                 tally.kills >= number)  # fmt: skip
    yield count("runs that did not come to the same end", len(tally.open), tally.runs, exactly=0)
    sure = tally.runs - tally.doubted - tally.overtaken
    yield count("runs with the records, prompts and effects of the one that was not killed",
                tally.same, sure, exactly=sure)  # fmt: skip
    yield Figure("runs where another of the workers at once came first: the same was done",
                 f"{tally.overtaken:,}", f"{tally.runs:,}")  # fmt: skip
    yield Figure("runs with a message in doubt: the model is told, and the end is the same",
                 f"{tally.doubted:,}", f"{tally.runs:,}")  # fmt: skip
    yield count("messages sent twice", len(tally.twice), tally.calls, exactly=0)
    yield count("runs of which a record does not replay, or only with a call", len(tally.broken),
                tally.runs, exactly=0)  # fmt: skip
