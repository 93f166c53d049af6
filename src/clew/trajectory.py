"""The fold: a run as read from its record.

A `Trajectory` takes entries one by one and answers every question the loop, the view, bounds and
guards ask. It holds nothing that the entries do not say; folding them again gives the same.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

import msgspec

from clew.errors import StoreError
from clew.events import (
    EFFECTFUL,
    FINISH,
    Action,
    AnyEvent,
    Attempt,
    Cancel,
    Changed,
    Entry,
    Evidence,
    Forked,
    Json,
    Judged,
    Landing,
    Note,
    Observation,
    Ruling,
    Setting,
    Started,
    Stop,
    Thought,
    Usage,
)

Aside: TypeAlias = Note | Landing | Forked
"""What the model is told between an observation and its next thought."""


_sorted = msgspec.json.Encoder(order="sorted")


def args_hash(tool: str, args: dict[str, Json]) -> str:
    """Identify a call by what it asks for: the same tool and arguments give the same 16 digits."""
    return hashlib.blake2b(_sorted.encode([tool, args]), digest_size=8).hexdigest()


@dataclass(slots=True)
class Call:
    """One action of a step and everything that became of it. `key` is `step.index`, from 1."""

    key: str
    action: Action
    verdict: Judged | None = None
    hints: list[Judged] = field(default_factory=list[Judged])
    ruling: Ruling | None = None
    attempts: list[Attempt] = field(default_factory=list[Attempt])
    observation: Observation | None = None
    deadline: int = 0
    """When the last attempt must have ended, in Unix milliseconds."""
    again: bool = False
    """Whether a person allowed it (once more) since the last attempt."""
    revised: dict[str, Json] | None = None
    """The arguments a verdict or a person last put in the place of the model's."""

    @property
    def args(self) -> dict[str, Json]:
        """The arguments as last ruled or amended, else as the model wrote them."""
        return self.action.args if self.revised is None else self.revised

    @property
    def hash(self) -> str:
        """The `args_hash` of the call as it will be, or was, made."""
        return args_hash(self.action.name, self.args)

    @property
    def held(self) -> bool:
        """Whether it waits for a person's ruling."""
        return (
            self.verdict is not None
            and self.verdict.verdict.kind == "hold"
            and self.ruling is None
            and self.observation is None
        )

    @property
    def in_doubt(self) -> bool:
        """Whether an effect was begun and nobody knows how it ended."""
        return bool(self.attempts) and self.observation is None


@dataclass(slots=True)
class Spent:
    """What work took: thoughts, calls really made by tool name, model usage, active milliseconds.

    Refused calls do not count, finish neither, nor the thought of a landing.
    """

    steps: int = 0
    calls: Counter[str] = field(default_factory=Counter[str])
    usage: Usage = field(default_factory=Usage)
    active_ms: int = 0


@dataclass(slots=True)
class Step:
    """A thought and everything until the next. Step 0 is what comes before the first thought."""

    number: int
    thought: Thought | None = None
    calls: list[Call] = field(default_factory=list[Call])
    asides: list[Aside] = field(default_factory=list[Aside])
    concluded: bool = False
    """Whether a stop has taken, or given up, its answer."""

    @property
    def pending(self) -> list[Call]:
        """Calls without an observation, except finish."""
        return [
            call for call in self.calls if call.observation is None and call.action.name != FINISH
        ]

    @property
    def finish(self) -> Call | None:
        """The first call of finish that is not refused, until a stop has taken its answer."""
        if self.concluded:
            return None
        for call in self.calls:
            if call.action.name == FINISH and (not call.observation or call.observation.ok):
                return call
        return None

    @property
    def spoken(self) -> bool:
        """Whether a person has spoken since the thought."""
        return any(isinstance(a, Note) and a.source == "person" for a in self.asides)

    @property
    def answered(self) -> bool:
        """Whether the thought answers in plain text and nobody has objected since."""
        return (
            self.thought is not None
            and self.thought.answer is not None
            and not self.concluded
            and not any(isinstance(a, Note) and a.source != "late" for a in self.asides)
        )

    @property
    def answer(self) -> Call | str | None:
        """What waits to be concluded: an open call of finish, a text, or nothing."""
        if (call := self.finish) is not None:
            return call
        return self.thought.answer if self.thought is not None and self.answered else None


class Trajectory:
    """Everything a record says, folded. `add` is the only way in; the rest is for reading."""

    def __init__(self, run_id: str, entries: Iterable[Entry] = ()) -> None:
        self.run_id = run_id
        self.entries: list[Entry] = []
        self.steps: list[Step] = []
        self.before = Step(0)
        """Step 0: what was said before the first thought."""
        self.setting: Setting | None = None
        self.total = Spent()
        """What the whole run took."""
        self.spent = Spent()
        """What it took since a person last spoke: the share that bounds look at."""
        self.faults_in_row = 0
        self.rejected: list[str] = []
        """What was wrong with the answers offered since a person last spoke."""
        self.landing: Landing | None = None
        self.stop: Stop | None = None
        self.cancel: Cancel | None = None
        self.forks: list[Forked] = []
        """Where the run was cut from others, the last one last; empty in a run that is no fork."""
        self._calls: dict[str, Call] = {}
        for entry in entries:
            self.add(entry)

    def __iter__(self) -> Iterator[Step]:
        return iter(self.steps)

    def __len__(self) -> int:
        return len(self.entries)

    @property
    def started(self) -> Started:
        """The first entry's event. Raises `StoreError` where the record is empty."""
        if not self.entries or not isinstance(first := self.entries[0].event, Started):
            message = f"run {self.run_id} has no beginning: its record was never started"
            raise StoreError(message)
        return first

    @property
    def goal(self) -> str:
        """What the person first asked."""
        return self.started.goal

    @property
    def step(self) -> Step:
        """The current step; step 0 before the first thought."""
        return self.steps[-1] if self.steps else self.before

    @property
    def landed(self) -> bool:
        """Whether the current thought is the one after a `Landing`."""
        return self.landing is not None and not any(
            isinstance(aside, Landing) for aside in self.step.asides
        )

    @property
    def usage(self) -> Usage:
        """What the models of the whole run took."""
        return self.total.usage

    @property
    def evidence(self) -> list[Evidence]:
        """Every piece an answer may cite, in the order it was found; the first of an id counts."""
        found: dict[str, Evidence] = {}
        for call in self._calls.values():
            if call.observation is not None:
                for piece in call.observation.evidence:
                    found.setdefault(piece.doc_id, piece)
        return list(found.values())

    def call(self, key: str) -> Call:
        """The call at `step.index`. Raises `StoreError` if there is none."""
        if (call := self._calls.get(key)) is None:
            known = ", ".join(self._calls) or "none"
            message = f"run {self.run_id} has no call {key!r}; its calls: {known}"
            raise StoreError(message)
        return call

    @property
    def calls(self) -> list[Call]:
        """All calls of the run, in the order of their keys."""
        return list(self._calls.values())

    def add(self, entry: Entry) -> None:
        """Take the next entry. Raises `StoreError` if it does not follow the last."""
        if entry.seq != len(self.entries) + 1:
            message = f"run {self.run_id}: entry {entry.seq} cannot follow {len(self.entries)}"
            raise StoreError(message)
        if self.entries and self._worked(last := self.entries[-1], entry):
            for spent in (self.total, self.spent):
                spent.active_ms += max(0, entry.at - last.at)
        self.entries.append(entry)
        self._fold(entry.event)

    def _worked(self, last: Entry, entry: Entry) -> bool:
        """Whether the time between two entries was work: not waiting for a person, nor down."""
        waited = isinstance(last.event, Stop) or isinstance(entry.event, Forked)
        return last.epoch == entry.epoch and not waited

    def _fold(self, event: AnyEvent) -> None:
        match event:
            case Thought():
                self._think(event)
            case Observation():
                self._observe(event)
            case Attempt():
                self._attempt(event)
            case Judged():
                self._judge(event)
            case Note():
                self._note(event)
            case _:
                self._turn(event)

    def _turn(self, event: Started | Changed | Forked | Ruling | Cancel | Landing | Stop) -> None:
        """What begins a run, ends it or lets it go on."""
        match event:
            case Started():
                self.setting = event.setting
            case Landing():
                self.landing = event
                self.step.asides.append(event)
            case Stop():
                self.stop = event
                self.step.concluded = event.status != "held"
            case Cancel():
                self.cancel = event
                if self.stop is not None and self.stop.status == "held":
                    self.stop = None  # there is something left to close
            case Ruling():
                call = self.call(event.call)
                call.ruling = event
                call.again = event.allow
                if event.args is not None:
                    call.revised = event.args
                self.stop = self.landing = None
            case Forked():
                self._fork(event)
            case _:
                self.setting = event.setting
                self.rejected, self.faults_in_row = [], 0
                if self.stop is not None and self.stop.status not in {"answered", "held"}:
                    self._go_on()

    def _fork(self, event: Forked) -> None:
        """Another run from here on: what was spent, said and landed stands, an interrupt not."""
        self.setting = event.setting
        self.stop = self.cancel = None
        self.forks.append(event)
        if event.done:
            self.step.asides.append(event)

    def _judge(self, event: Judged) -> None:
        call = self.call(event.call)
        if event.verdict.kind == "hint":
            call.hints.append(event)
        else:
            call.verdict = event
            if event.verdict.args is not None:
                call.revised = event.verdict.args
            if event.verdict.kind == "hold":
                call.ruling = None

    def _think(self, thought: Thought) -> None:
        step = Step(len(self.steps) + 1, thought)
        for index, action in enumerate(thought.actions, start=1):
            call = Call(f"{step.number}.{index}", action)
            step.calls.append(call)
            self._calls[call.key] = call
        landing = self.landing is not None
        self.steps.append(step)
        for spent in (self.total, self.spent):
            spent.steps += not landing
            spent.usage += thought.reply.usage
        self.faults_in_row = self.faults_in_row + 1 if thought.fault else 0

    def _attempt(self, attempt: Attempt) -> None:
        call = self.call(attempt.call)
        if not call.attempts:
            self._count(call)
        call.attempts.append(attempt)
        call.deadline = self.entries[-1].at + int(attempt.timeout * 1000)
        call.again = False

    def _count(self, call: Call) -> None:
        self.total.calls[call.action.name] += 1
        self.spent.calls[call.action.name] += 1

    def _observe(self, observation: Observation) -> None:
        call = self.call(observation.call)
        call.observation = observation
        if call.action.name == FINISH:
            if observation.code == "rejected":
                self.rejected.append(observation.text)
        elif not call.attempts and observation.made:
            self._count(call)

    def _note(self, note: Note) -> None:
        self.step.asides.append(note)
        if note.source == "person":
            self.rejected, self.faults_in_row = [], 0
            self.spent = Spent()
            self._go_on()
        elif note.source == "check":
            self.rejected.append(note.text)

    def _go_on(self) -> None:
        """A person spoke: a stop, a landing and a cancel before it no longer count."""
        self.stop = self.landing = self.cancel = None


def effects(trajectory: Trajectory) -> list[Call]:
    """Calls that changed, or may have changed, the world."""
    return [
        call
        for call in trajectory.calls
        if call.in_doubt
        or (
            call.observation is not None
            and call.observation.effect in EFFECTFUL
            and call.observation.outcome != "not_done"
        )
    ]
