"""A record cut after each of its entries and gone on with, as after a crash at that place."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from msgspec.structs import replace

import clew
from clew.core.contents import Observation
from clew.core.events import Attempt, Note
from clew.core.stores import Append, Line, Store
from recordings.native_drive import RUN, Driven, go_on

ASIDE = (b'{"event":"attempt"', b'{"event":"charged"')
"""What a record that was cut has more of: calls made again, and thoughts that may be lost."""


@dataclass
class Cuts:
    """How many cuts were made, how many of them ended the same, and what did not."""

    made: int = 0
    same: int = 0
    replayed: int = 0
    doubts: int = 0
    never_again: int = 0
    misses: list[str] = field(default_factory=list[str])

    def missed(self, driven: Driven, index: int, what: str) -> None:
        """Say where."""
        self.misses.append(f"{driven.talk.name}, cut after entry {index}: {what}")


async def cut(driven: Driven, indexes: Iterable[int], cuts: Cuts, *, replays: int) -> None:
    """Cut after each of these entries: the record must come out as it was, but for what cuts add.

    No call whose observation is recorded may be made again. Every so-manieth that ended the same
    is replayed too (`replays`).
    """
    wanted, spoken = _bodies(driven.lines), _spoken(driven)
    for offset in indexes:
        known = {
            entry.event.call
            for entry in driven.trajectory.entries[:offset]
            if isinstance(entry.event, Observation)
        }
        store = await _resumed(driven, offset, spoken[offset - 1])
        cuts.made += 1
        if again := known & driven.world.made.keys():
            cuts.missed(driven, offset, f"made again: {', '.join(sorted(again))}")
        elif _bodies(await store.read(RUN)) != wanted:
            cuts.missed(driven, offset, "it ended otherwise")
        else:
            cuts.same += 1
            if cuts.same % replays == 0:
                await clew.replay(driven.agent, RUN, store=store)
                cuts.replayed += 1


async def cut_in_effects(driven: Driven, every: int, cuts: Cuts) -> None:
    """Cut after every so-manieth attempt of an unsafe call, whose end then nobody saw.

    It must not be made again, and the model must be told; all else stays as it was.
    """
    entries, spoken = driven.trajectory.entries, _spoken(driven)
    # What a call under an earlier one's id is told hangs on what became of that one.
    again_ = {
        call.key
        for call in driven.trajectory.calls
        if call.observation and call.observation.code == "same_call"
    }
    attempts = [entry.seq for entry in entries if isinstance(entry.event, Attempt)]
    for offset in attempts[::every]:
        begun = entries[:offset]
        open_ = {e.event.call for e in begun if isinstance(e.event, Attempt)}
        open_ -= {e.event.call for e in begun if isinstance(e.event, Observation)}
        store = await _resumed(driven, offset, spoken[offset - 1])
        trajectory = await clew.read(RUN, store=store)
        cuts.doubts += 1
        told = {
            call.key
            for call in trajectory.calls
            if call.observation and call.observation.code == "unknown"
        }
        if (again := open_ & driven.world.made.keys()) or told != open_:
            cuts.missed(driven, offset, f"begun: {open_}, made again: {again or '-'}, told: {told}")
        elif _seen(trajectory, open_ | again_) != _seen(driven.trajectory, open_ | again_):
            cuts.missed(driven, offset, "something else changed")
        elif _unknown(trajectory) != open_:
            cuts.missed(driven, offset, f"unknown at its stop: {_unknown(trajectory)}")
        else:
            cuts.never_again += 1


def _seen(trajectory: clew.Trajectory, doubted: set[str]) -> list[object]:
    """All observations but those of the calls in doubt, and the end but for what is unknown."""
    others = [call for call in trajectory.calls if call.key not in doubted]
    stop = trajectory.stop and replace(trajectory.stop, unknown=())
    return [*((call.key, call.observation) for call in others), stop]


def _unknown(trajectory: clew.Trajectory) -> set[str]:
    """The calls whose outcome nobody knew when it stopped."""
    stop = trajectory.stop
    return set() if stop is None else {it.id.removeprefix(f"{RUN}:") for it in stop.unknown}


def _spoken(driven: Driven) -> list[int]:
    """After each entry: how often a person had spoken by then."""
    return [*accumulate(isinstance(entry.event, Note) for entry in driven.trajectory.entries)]


def _bodies(lines: Sequence[Line]) -> list[bytes]:
    """What a record says, but for what cuts add: calls of one step may end in another order."""
    return sorted(line.body for line in lines if not line.body.startswith(ASIDE))


async def _resumed(driven: Driven, index: int, spoken: int) -> Store:
    """A store with the first entries of the record, gone on with to the end of the talk."""
    name, store, lines = RUN, clew.MemoryStore(), driven.lines[:index]
    blobs = {
        entry.event.blob: await driven.store.blob(entry.event.blob)
        for entry in driven.trajectory.entries[:index]
        if isinstance(entry.event, Observation) and entry.event.blob
    }
    epoch = await store.create(name)
    while epoch < lines[-1].epoch:
        epoch = await store.open(name)
    await store.append(Append(name, epoch, tuple(lines), blobs=blobs))
    driven.world.made.clear()
    await clew.resume(driven.agent, name, store=store)
    await go_on(driven.agent, name, driven.talk.words[spoken:], store)
    return store
