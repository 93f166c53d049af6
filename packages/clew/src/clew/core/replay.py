"""Replay: the same agent and the same loop, with the world taken from a record.

What another agent did is taken as it is: of a fork, and of a run that went on with a change, only
what follows the last change is derived.

The model, the tools, the user's guards and checks give what the record says they gave; notes,
rulings, the clock and every interruption come from it too. No call leaves the process. Whatever the
loop derives is compared with the record, byte by byte; the first difference ends the replay. Only
other words for the same are passed over, and said.
"""

import math
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import dropwhile, takewhile
from operator import attrgetter
from typing import Any, TypeAlias

import anyio
import msgspec

from clew.concurrency.tasks import one_error
from clew.core.actions import UnknownCall
from clew.core.call_context import CALL
from clew.core.codes import FINISH
from clew.core.contents import Observation, Reply
from clew.core.engine import Engine, NamedGuard
from clew.core.entries import Entry
from clew.core.events import (
    INPUTS,
    AnyEvent,
    Attempt,
    Cancel,
    Changed,
    Forked,
    Judged,
    Note,
    Stop,
    Suspended,
    Thought,
)
from clew.core.journal import Journal
from clew.core.loop import run
from clew.core.models import OnText
from clew.core.moves import no_review
from clew.core.prompts import Prompt
from clew.core.redaction import marked_as
from clew.core.reworded import as_worded
from clew.core.settling import stopped, waits_for_result
from clew.core.spec_changes import changes, first_difference, same_format
from clew.core.specs import AgentSpec
from clew.core.stores import Store
from clew.core.tools import AgentTool, AnyTool, Attempts, SubRun
from clew.core.trajectory import Call, Trajectory
from clew.core.values import Json, encode
from clew.core.verdicts import Verdict
from clew.support.errors import ReplayError

_AboutACall: TypeAlias = Attempt | Judged | Suspended | Observation


class Replayed(msgspec.Struct, frozen=True):
    """A replay without a difference: its trajectory, and what could not be compared."""

    trajectory: Trajectory
    passed_over: tuple[str, ...] = ()


async def replay(
    engine: Engine, record: Trajectory, store: Store, apart: Collection[str] = ()
) -> Replayed:
    """Run the agent over the record (`store` is never touched: it only completes the journal).

    `apart` names parts, as `changes` does, that only stand in for those of the record: they are not
    compared. Raises `ReplayError` with step and field of the first divergence.
    """
    prefix, spec, passed_over = _prefix(record)
    differ = changes(spec, engine.spec)
    if different := [name for name in differ if name not in {"codec", *apart}]:
        message = f"the agent has another {different[0]} than the record"
        raise ReplayError(0, f"spec.{different[0]}", message)
    same_codec = spec.codec == engine.spec.codec
    older = not same_codec and same_format(spec.codec, engine.spec.codec)
    journal = _Replaying(store, record, same_codec=same_codec, older=older)
    stand_in = _with_recorded_world(engine, journal)
    for _ in range(prefix):
        journal.follow()
    while journal.upcoming is not None:
        before = len(journal.trajectory)
        with one_error():
            async with anyio.create_task_group() as work:
                journal.scope = work.cancel_scope
                work.start_soon(_watch, journal)
                await run(stand_in, journal)
                work.cancel_scope.cancel()
        if len(journal.trajectory) == before:
            raise journal.diverged("event", "the loop stops here, the record goes on")
    if not same_codec:
        passed_over.append(f"prompts: rendered by {spec.codec} then")
    if journal.read_otherwise:
        passed_over.append(f"replies: as {spec.codec} read them then")
    if told := journal.reworded:
        passed_over.append(f"words: {len(told)} entries are worded otherwise now ({told[0]} first)")
    return Replayed(journal.trajectory, tuple(passed_over))


def _prefix(record: Trajectory) -> tuple[int, AgentSpec, list[str]]:
    """How many entries are taken as they are, the setting from there on, and what to say of it."""
    for entry in reversed(record.entries):
        event = entry.event
        if isinstance(event, Forked):
            length = entry.seq + event.again
            why = f"shared with run {event.parent}, from which this one was forked"
        elif isinstance(event, Changed) and event.what:
            length = entry.seq
            why = f"the run went on with another agent then ({', '.join(event.what)})"
        else:
            continue
        return length, event.spec, [f"entries 1 to {length} were taken as they are: {why}"]
    return 1, record.started.spec, []


class _Replaying(Journal):
    """A journal that writes nothing: it checks what is recorded against what was, in its order."""

    def __init__(self, store: Store, record: Trajectory, *, same_codec: bool, older: bool) -> None:
        super().__init__(store, 0, Trajectory(record.run_id), clock=lambda: 1 << 62)
        self.scope = anyio.CancelScope()
        self._recorded = record.entries
        self._ends, self._same_codec = {e.epoch: e.event for e in record.entries}, same_codec
        self._older, self.read_otherwise = older, False  # whether the older one read a reply so
        self.reworded = list[str]()
        self._moved = anyio.Event()

    def deadline(self, seconds: float) -> float:
        """None: what was late is late in the record."""
        del seconds
        return math.inf

    @property
    def upcoming(self) -> Entry | None:
        """The next entry of the record, or None at its end."""
        index = len(self.trajectory)
        return self._recorded[index] if index < len(self._recorded) else None

    def later(self) -> Iterator[AnyEvent]:
        """The events still to come before the worker of the time was cut off."""
        recorded, index = self._recorded, len(self.trajectory)
        rest = map(recorded.__getitem__, range(index, len(recorded)))
        alive = takewhile(lambda entry: entry.epoch == recorded[index].epoch, rest)
        return map(attrgetter("event"), alive)

    def about(self, key: str) -> Iterator[_AboutACall]:
        """What the record still says of a call (`step.index`, or with its run's id before it)."""
        call_key = key.rpartition(":")[2]
        for event in self.later():
            if isinstance(event, _AboutACall) and event.call == call_key:
                yield event

    def next_about(self, key: str) -> _AboutACall | None:
        """The next event of a call; raises `LookupError` where it was held in doubt."""
        event = next(self.about(key), None)
        if isinstance(event, Judged) and event.verdict.code == "unknown":
            raise LookupError(key)
        return event

    def follow(self) -> None:
        """Take the next entry as it was; end the worker's life where the record says it ended."""
        entry = self._recorded[len(self.trajectory)]
        self.trajectory.add(entry)
        after = self.upcoming
        if after is None or after.epoch != entry.epoch or isinstance(entry.event, Cancel):
            self.scope.cancel()
        elif isinstance(after.event, Note) and after.event.done:  # known before the next judgement
            self.follow()
        self._moved.set()
        self._moved = anyio.Event()

    async def outlive(self) -> None:
        """Wait until the record says that the worker's life ended: then nothing more counts."""
        while not self.scope.cancel_called:
            await self._moved.wait()

    def take_inputs(self) -> None:
        """Take what came from outside at this very place."""
        while (entry := self.upcoming) is not None and _from_outside(entry.event):
            self.follow()
            if isinstance(entry.event, Cancel):
                return

    async def has_run(self, run_id: str) -> bool:
        """No run: a replay begins none, and those of the record are there already."""
        return False

    async def receive(self, *, next_word: bool = False) -> None:
        """Take inputs from the record, not from an inbox, and only while the worker lives.

        Before them a task that was due to go on when its worker was cut off ends; after them, one
        whose worker they cut off.
        """
        del next_word  # it is there where the record has it
        await anyio.lowlevel.checkpoint()
        self.take_inputs()
        entry = self.upcoming
        if (
            (stop := self.trajectory.stop) is not None
            and self.stopped_before
            and entry is not None
            and isinstance(entry.event, Stop)
        ):
            self._compare(entry.event, stopped(self.trajectory, stop))
            self.follow()  # it was said again
        await anyio.lowlevel.checkpoint()

    async def record(self, *events: AnyEvent, taken: tuple[int, ...] = ()) -> None:
        """Compare each event with the record's, waiting for its turn among parallel calls."""
        for event in events:
            self._compare(await self._turn(event), event)
            self.follow()
        await anyio.lowlevel.checkpoint()

    async def _turn(self, event: AnyEvent) -> AnyEvent:
        """Wait until the next entry is this event's, if it is to come at all, and give that."""
        await self.receive()
        while (entry := self.upcoming) is None or not _is_due(event, entry.event):
            if not self._may_wait(event):
                name = type(event).__name__
                raise self.diverged("event", f"the loop derives {name} here, the record does not")
            await self._moved.wait()
            await self.receive()
        return entry.event

    def _may_wait(self, event: AnyEvent) -> bool:
        """Whether a call beside this one is due first, and this one is later or was lost then."""
        if self.upcoming is None or not isinstance(self.upcoming.event, _AboutACall):
            return False
        lost = not isinstance(self._ends[self.upcoming.epoch], Stop)
        return lost or any(_matches(event, other) for other in self.later())

    def _compare(self, old: AnyEvent, new: AnyEvent) -> None:
        if isinstance(old, Thought) and isinstance(new, Thought):
            new = msgspec.structs.replace(marked_as(old, new), late=old.late)
            new = new if self._same_codec else msgspec.structs.replace(new, prints=old.prints)
            if self._older:
                read = {name: getattr(old, name) for name in _READ}
                self.read_otherwise |= new != (new := msgspec.structs.replace(new, **read))
        if isinstance(old, Judged) and isinstance(new, Judged):  # nothing is left to blot out
            verdict = msgspec.structs.replace(
                new.verdict,
                redacted=old.verdict.redacted,
                also=old.verdict.also,
                until=old.verdict.until,
            )
            if new.verdict.origins and self.trajectory.call(new.call).redacted:
                verdict = msgspec.structs.replace(verdict, origins=old.verdict.origins)
            new = msgspec.structs.replace(new, verdict=verdict)
        if isinstance(old, Observation) and isinstance(new, Observation):
            # that a call was late is for the clock to say
            told = self.trajectory.call(old.call).settled is not None
            trust = old.trust if told or old.code == "timeout" else new.trust
            # nor does a result that is given again say whose word it was when it came
            new = msgspec.structs.replace(new, blob=old.blob, trust=trust, outside=old.outside)
        if isinstance(old, Attempt) and isinstance(new, Attempt):
            # it may have been cut to what the clock of the time left of the run
            new = msgspec.structs.replace(new, timeout=old.timeout)
            if old.grant is not None and new.grant is not None:
                # caps over the runs of a strategy, and the labels of tools by which it is known
                # where values come from, are no part of what an agent is made of again
                grant = msgspec.structs.replace(
                    new.grant, caps=old.grant.caps, handed=old.grant.handed
                )
                new = msgspec.structs.replace(new, grant=grant)
        if isinstance(old, Stop) and isinstance(new, Stop):
            unknown = self._unknown_then(old, new)
            new = msgspec.structs.replace(new, wake=old.wake, unknown=unknown)
        if encode(old) == encode(new):
            return
        worded = as_worded(old, new, finish=self._is_finish(new))
        if encode(old) == encode(worded):
            self.reworded.append(self._position(old, new))
            return
        new = worded
        field = first_difference(msgspec.to_builtins(old), msgspec.to_builtins(new)) or "event"
        raise self.diverged(field, "the loop derives another value than the record has")

    def _unknown_then(self, old: Stop, new: Stop) -> tuple[UnknownCall, ...]:
        """What a stop of an older clew says is unknown, where only its way to count differs.

        The first did not say it there; later ones counted calls that wait for a result.
        """
        waiting = {
            f"{self.run_id}:{call.key}" for call in self.trajectory.calls if waits_for_result(call)
        }
        counted = tuple(each for each in old.unknown if each.id not in waiting)
        return old.unknown if not old.unknown or counted == new.unknown else new.unknown

    def _position(self, old: AnyEvent, new: AnyEvent) -> str:
        """Step and field of the first difference between two events."""
        field = first_difference(msgspec.to_builtins(old), msgspec.to_builtins(new))
        return f"step {self._step}, {field}"

    def _is_finish(self, event: AnyEvent) -> bool:
        """Whether an event is about a call that gives an answer."""
        if not isinstance(event, Observation):
            return False
        return self.trajectory.call(event.call).action.name == FINISH

    @property
    def _step(self) -> int:
        """The step that the next entry belongs to."""
        thinks = self.upcoming is not None and isinstance(self.upcoming.event, Thought)
        return self.trajectory.step.number + thinks

    def with_secrets(self, call: Call) -> Call | None:
        """The call as it stands, unless the worker of the time did not know what is blotted out."""
        seen = self.next_about(call.key) if call.redacted else None
        return None if isinstance(seen, Observation) and seen.code == "not_kept" else call

    def diverged(self, field: str, message: str) -> ReplayError:
        """The error that names this place of the record."""
        return ReplayError(self._step, field, message)


_READ = ("text", "actions", "answer", "fault", "repairs")  # of a thought, what a codec read


def _from_outside(event: AnyEvent) -> bool:
    return isinstance(event, INPUTS) and not (isinstance(event, Note) and event.source == "check")


def _matches(new: AnyEvent, old: AnyEvent) -> bool:
    """Whether two events report the same thing about the same call."""
    return type(new) is type(old) and getattr(new, "call", "") == getattr(old, "call", "")


def _is_due(event: AnyEvent, upcoming: AnyEvent) -> bool:
    """Whether it is this event's turn; anything that is about no call cannot wait for one."""
    return _matches(event, upcoming) or not isinstance(event, _AboutACall)


async def _watch(journal: _Replaying) -> None:
    """Detect that all tasks wait: without I/O in a replay, none of them would ever continue.

    On asyncio they seem to where one has ended and its group is yet to be told: so look again.
    """
    last = -1
    while last != (last := len(journal.trajectory)):
        await anyio.wait_all_tasks_blocked()
        await anyio.wait_all_tasks_blocked()
    raise journal.diverged("event", "the loop never derives this entry")


def _with_recorded_world(engine: Engine, journal: _Replaying) -> Engine:
    """The engine with everything that reaches outside replaced by the record.

    It leaves out nothing by itself: what was left out of a prompt is fed.
    """
    asked = [guard if guard.own else _recorded_guard(guard, journal) for guard in engine.guards]
    return replace(
        engine,
        tools={name: _recorded_tool(tool, journal) for name, tool in engine.tools.items()},
        guards=tuple(asked),
        screens=tuple((name, _RecordedJudge(name, journal)) for name, _ in engine.screens),
        checks=[_recorded_check(journal)] if engine.checks else [],
        complete=partial(_recorded_reply, journal),
        find_tools=None if engine.find_tools is None else partial(_recorded_tools, journal),
        omission=_nothing,
        wants_plan=None,
        wants_review=no_review,
    )


def _nothing(_: Trajectory) -> None:
    return None


def _recorded_guard(guard: NamedGuard, journal: _Replaying) -> NamedGuard:
    return guard._replace(ask=_RecordedJudge(guard.name, journal))


async def _recorded_reply(journal: _Replaying, prompt: Prompt, on_text: OnText | None) -> Reply:
    """The reply of the next recorded thought."""
    _ = (prompt, on_text)
    await journal.receive()
    entry = journal.upcoming
    if entry is None or not isinstance(entry.event, Thought):
        raise journal.diverged("event", "the loop thinks here, the record does not")
    return entry.event.reply


async def _recorded_tools(journal: _Replaying, trajectory: Trajectory) -> Sequence[str]:
    """The tools that the next recorded thought was shown; none if no thought follows."""
    _ = trajectory
    await journal.receive()
    entry = journal.upcoming
    return entry.event.visible_tools if entry and isinstance(entry.event, Thought) else ()


def _recorded_tool(tool: AnyTool, journal: _Replaying) -> AnyTool:
    """The tool, answering from the record: its observation, or the failure before a retry."""

    async def call(_args: dict[str, Json], key: str) -> Observation | Suspended | Verdict:
        event, made = next(journal.about(key), None), CALL.get()
        tried = journal.trajectory.call(key.rpartition(":")[2]).attempts
        number = tried[-1].number if tried else 1
        while isinstance(event, Attempt) and event.number == number and made is not None:
            await made.begun(event.task, by=event.tool)
            event = next(journal.about(key), None)
        if isinstance(event, Attempt):
            return Observation(content=event.after, ok=False, outcome="not_done")
        if event is None:  # the worker of the time did not live to see it
            await journal.outlive()
            raise LookupError(key)
        if isinstance(event, Judged) and event.verdict.code == "unknown":
            why = event.verdict.reason
            return Observation(content=why, ok=False, code="timeout", outcome="unknown")
        return event.verdict if isinstance(event, Judged) else event

    async def probe(_args: dict[str, Json], key: str) -> Observation | None:
        event = journal.next_about(key)
        return event if isinstance(event, Observation) else None

    async def run(asked: SubRun) -> Observation | Verdict:
        ends = (event for event in journal.about(asked.parent) if not isinstance(event, Attempt))
        while not isinstance(ending := next(ends, None), Judged | Observation):  # nor this
            await anyio.sleep_forever()
        return ending.verdict if isinstance(ending, Judged) else ending

    if isinstance(tool, AgentTool):
        return replace(tool, run=run, guard=None)
    return replace(
        tool,
        call=call,
        guard=None,
        attempts=Attempts(
            timeout=1e9,  # a slow replay makes no call late: who was late is so in the record
            retry=replace(tool.attempts.retry, delay=0.0, max_delay=0.0),
            probe=None if tool.attempts.probe is None else probe,
        ),
    )


class _RecordedJudge(msgspec.Struct, frozen=True):
    """Returns the recorded verdicts of the guard or screen it replaces."""

    name: str
    journal: _Replaying

    def __repr__(self) -> str:
        return self.name

    async def __call__(self, judged: Call | str, trajectory: Any = None) -> Verdict | None:
        """Its recorded verdict on a call, or on a person's words, if that is among what follows."""
        for event in self.journal.later():
            if not isinstance(event, Judged):
                return None
            if event.by == self.name and (isinstance(judged, str) or event.call == judged.key):
                return event.verdict
        return None


def _recorded_check(journal: _Replaying) -> Callable[[Any, Trajectory], Any]:
    async def check(answer: Any, trajectory: Trajectory) -> str | None:
        """The recorded objection to this answer, if the record has one here."""
        _ = (answer, trajectory)
        # an answer of the same reply that was not looked at is closed before it
        event = next(dropwhile(lambda it: getattr(it, "code", "") == "cap", journal.later()), None)
        if isinstance(event, Note) and event.source == "check":
            return event.text
        if isinstance(event, Observation) and event.code == "rejected":
            return event.words
        return None

    return check
