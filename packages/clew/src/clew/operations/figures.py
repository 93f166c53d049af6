"""The figures of a queue and of a process: the one source of `/metrics` and of OpenTelemetry."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from clew.core.contents import Observation, Usage
from clew.core.entries import Entry
from clew.core.events import Stop, Thought
from clew.core.journal import wall_clock
from clew.core.listeners import Listener
from clew.core.stores import RunInfo, Store
from clew.core.trajectory import Trajectory
from clew.stores.interface import Locks
from clew.stores.locks import queue_of
from clew.support.errors import StoreError
from clew.workers import Standing, WorkerEvent, status

Labels: TypeAlias = tuple[tuple[str, str], ...]

_LOOKED_INTO: Final = 1_000
"""Of so many due runs it is looked whether they are worked on; the others count as waiting."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A quantity with its values by labels; `unit` is as OpenTelemetry writes units."""

    name: str
    kind: Literal["gauge", "counter"]
    about: str
    values: Mapping[Labels, float]
    unit: str = ""


def label(**values: str) -> Labels:
    """Labels in the order of their names."""
    return tuple(sorted(values.items()))


async def queue_figures(store: Store) -> list[Figure]:
    """How many runs of each queue wait, are worked on or are held, and for how long.

    None in a store that workers cannot share. Raises `StoreError`.
    """
    if not isinstance(store, Locks):
        return []
    runs, oldest = Counter[Labels](), dict[Labels, float]()
    now = wall_clock()

    def count(info: RunInfo, queue: str, standing: str) -> None:
        labels = label(queue=queue, standing=standing)
        runs[labels] += 1
        age = max(0.0, (now - info.last.at) / 1000)
        oldest[labels] = max(age, oldest.get(labels, 0.0))

    due = {info.run_id: info for info in await store.due()}
    for number, info in enumerate(due.values()):
        queue = queue_of(info)
        count(info, queue, await _standing(store, info, queue, look=number < _LOOKED_INTO))
    for info in await store.runs(status="held"):
        if info.run_id not in due:
            count(info, queue_of(info), "held")
    return [
        Figure("clew.queue.runs", "gauge", "runs that have not ended, by queue and standing", runs),
        Figure(
            "clew.queue.oldest", "gauge", "how long the oldest of them has not moved", oldest, "s"
        ),
    ]


async def _standing(store: Store, info: RunInfo, queue: str, *, look: bool) -> Standing:
    if not look:
        return "waiting"
    try:
        return await status(info.run_id, store=store)
    except StoreError:  # damaged, or forgotten just now
        return "failed"


@dataclass(slots=True)
class Tally:
    """What this process did since it began: give it `on_event` and `listen` of a worker."""

    steps: int = 0
    faults: int = 0
    usage: Usage = field(default_factory=Usage)
    calls: Counter[str] = field(default_factory=Counter[str])
    stops: Counter[str] = field(default_factory=Counter[str])
    events: Counter[str] = field(default_factory=Counter[str])
    in_hand: set[str] = field(default_factory=set[str])

    def on_event(self, event: WorkerEvent) -> None:
        """Count what the worker did."""
        self.events[event.what] += 1
        if event.what == "taken":
            self.in_hand.add(event.run_id)
        else:
            self.in_hand.discard(event.run_id)

    def listen(self, record: Trajectory) -> Listener:
        """Count what is recorded of a run from now on."""
        del record
        return _Counting(self)

    def figures(self) -> Sequence[Figure]:
        """All counts so far."""
        usage = self.usage
        tokens = {"input": usage.input, "output": usage.output, "cached": usage.cached}
        return [
            _counter("clew.steps", "thoughts that were recorded", {(): self.steps}),
            _counter("clew.faults", "replies that could not be read", {(): self.faults}),
            _counter("clew.tokens", "tokens of replies", _by("type", tokens), "{token}"),
            _counter("clew.cost", "US dollars that are known", {(): usage.known_cost}, "{USD}"),
            _counter("clew.calls", "calls of tools, by outcome", _by("outcome", self.calls)),
            _counter("clew.stops", "runs that stopped, by status", _by("status", self.stops)),
            _counter("clew.worker.events", "what the worker did", _by("what", self.events)),
            _counter(
                "clew.leases.lost", "runs that others took over", {(): self.events["lost"]}
            ),
            Figure("clew.runs.in_hand", "gauge", "runs at hand", {(): len(self.in_hand)}),
        ]  # fmt: skip


def _counter(name: str, about: str, values: Mapping[Labels, float], unit: str = "") -> Figure:
    return Figure(name, "counter", about, values, unit)


def _by(name: str, values: Mapping[str, float]) -> dict[Labels, float]:
    return {((name, value),): count for value, count in values.items()}


@dataclass(slots=True)
class _Counting:
    tally: Tally

    def token(self, text: str) -> None:
        """Pieces of a reply are counted with the reply."""

    def entry(self, entry: Entry) -> None:
        """Count an entry."""
        tally = self.tally
        match entry.event:
            case Thought() as thought:
                tally.steps += 1
                tally.faults += bool(thought.fault)
                tally.usage += thought.reply.usage
            case Observation() as observation:
                tally.calls[observation.outcome] += 1
            case Stop() as stop:
                tally.stops[stop.status] += 1
            case _:
                pass
