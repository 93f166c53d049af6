"""Fork: a new run that shares another's entries up to a complete step."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from itertools import islice
from typing import Any

import msgspec

from clew.core.actions import Done
from clew.core.codes import FINISH
from clew.core.contents import Asked, Observation, text_parts
from clew.core.done import described_effect
from clew.core.entries import Entry
from clew.core.events import AnyEvent, Forked, Note, Settled, Stop, Suspended, Thought
from clew.core.observations import refusal, replaced
from clew.core.stores import Base
from clew.core.trajectory import Step, Trajectory
from clew.support.arguments import NONE, check_argument, check_number
from clew.support.errors import ConfigError
from clew.support.settings import check_text


class ForkPoint(msgspec.Struct, frozen=True):
    """A record as it stood when step number `step` was complete.

    `parent` is the run that wrote the last of the `shared` entries. `again` completes the step
    where not all of it is shared, `changed` what another observation replaces; `done` are the
    effects that happened afterwards.
    """

    parent: str
    step: int
    shared: tuple[Entry, ...]
    again: tuple[AnyEvent, ...] = ()
    changed: tuple[str, ...] = ()
    done: tuple[Done, ...] = ()

    @property
    def base(self) -> Base:
        """What a fork shares, for its store."""
        return Base(self.parent, len(self.shared))


def _message(say: str | Asked) -> Asked:
    """The parts of a message, none where it is empty. Raises `ConfigError` for what is none."""
    if isinstance(say, tuple):
        return say
    check_text("say", say)
    return text_parts(say) if say.strip() else ()


def find_fork_point(
    record: Trajectory,
    at: int,
    observations: Mapping[str, Any] | None = None,
    say: str | Asked = (),
) -> ForkPoint:
    """Cut where step number `at` was complete; 0 is before the first thought.

    `observations` take the place of what calls of this step observed, by their keys. A call that
    had asked for one of these goes on with what it observes now, and asks for the rest anew. An
    answer that the step gave is left out, to be judged anew, if it was accepted, or if what stands
    beside it is another now; where a message follows (`say`) it stands if it ended the run, and is
    closed if it did not. Raises `ConfigError` where the run cannot be forked like this.
    """
    words = _message(say)
    check_number("at", at)
    wanted = 'a dict by the keys of calls, as {"2.1": …}'
    check_argument("observations", observations, (Mapping, NONE), wanted)
    step, spoken = _step(record, at), bool(words)
    changed = _changed(step, observations or {})
    asked_anew = _asked_because_of(record, step, changed)
    if both := sorted(asked_anew & changed.keys()):
        raise ConfigError(f"{both[0]} will be asked for anew: leave it out, or fork again there")
    refused = {c.key for c in step.calls if c.observation is not None and not c.observation.ok}
    counted = {call.key for call in step.all_calls if call.action.name != FINISH}
    counted = (counted if changed else counted | refused) - asked_anew
    end = _last(record, at, counted)
    if spoken and not changed:
        end = _conclusion(record, step, end)
    events = [entry.event for entry in record.entries[:end]]
    seen = (n for n, e in enumerate(events) if isinstance(e, Observation) and e.call in changed)
    start = next(seen, end)
    shared = record.entries[:start]
    again = [
        changed.get(event.call, event) if isinstance(event, Observation) else event
        for event in events[start:]
        if isinstance(event, Note) or _of(event) in counted
    ]
    again += _settled_later(record, at, end, changed.keys() | asked_anew)
    if spoken:
        again += [*_closed(Trajectory(record.run_id, shared).step), Note(words)]
    before = sum(isinstance(entry.event, Forked) for entry in shared)
    later = record.forks[before:]
    parent = later[0].parent if later else record.run_id
    hidden = _hidden_effects(record, at, before, changed.keys() | asked_anew)
    replacements = tuple(f"observation {key}" for key in changed)
    return ForkPoint(parent, at, tuple(shared), tuple(again), replacements, hidden)


def _changed(step: Step, observations: Mapping[str, Any]) -> dict[str, Observation]:
    """The observations that take the place of recorded ones, by call. Raises `ConfigError`."""
    calls = {call.key: call for call in step.all_calls if call.action.name != FINISH}
    changed: dict[str, Observation] = {}
    for key, value in observations.items():
        call = calls.get(key)
        if call is None or call.observation is None:
            known = ", ".join(calls) or "-"
            raise ConfigError(f"{key} is no call of step {step.number}: its calls are {known}")
        if call.suspended is not None and not call.suspended.actions:
            inner = ", ".join(one.key for one in call.asked)
            instead = (
                f"change what it observed ({inner})" if inner else f"fork at {step.number - 1}"
            )
            raise ConfigError(f"{key} left variables, which would stay as they are: {instead}")
        changed[key] = replaced(call.observation, key, value)
    return changed


def _asked_because_of(
    record: Trajectory, step: Step, changed: Mapping[str, Observation]
) -> set[str]:
    """The calls that observed something else since an observation is another.

    They are those that had asked for it, and what these asked for afterwards; and calls that had
    been put off until the step ended.
    """
    put_off = {call.key for call in step.gathered}
    anew = put_off if changed.keys() - put_off else set[str]()
    for call in step.calls:
        requests = [
            entry.event.actions
            for entry in record.entries
            if isinstance(entry.event, Suspended) and entry.event.call == call.key
        ]
        asked = iter(call.asked)
        reached = False
        for actions in requests:
            keys = {one.key for one in islice(asked, len(actions))}
            anew |= {call.key, *keys} if reached else set()
            reached = reached or not keys.isdisjoint(changed)
        anew |= {call.key} if reached else set()
    return anew


def _of(event: AnyEvent) -> str:
    """The call that an event is about, or ""."""
    return getattr(event, "call", "")


def _step(record: Trajectory, at: int) -> Step:
    """The step, if the run can be forked there."""
    count = len(record.steps)
    why = ""
    if count and record.step.pending:
        waiting = ", ".join(call.key for call in record.step.pending)
        why = f" (step {count} waits for {waiting})"
        count -= 1
    if not 0 <= at <= count:
        message = f"run {record.run_id} cannot be forked at {at}: give 0 to {count}{why}"
        raise ConfigError(message)
    return record.steps[at - 1] if at else record.before


def _last(record: Trajectory, at: int, counted: set[str]) -> int:
    """The number of the last entry of the step."""
    step, last = 0, 1
    for entry in record.entries:
        step += isinstance(entry.event, Thought)
        if step == at and (isinstance(entry.event, Thought) or _of(entry.event) in counted):
            last = entry.seq
    return last


def _conclusion(record: Trajectory, step: Step, end: int) -> int:
    """The number of the stop that an accepted call of finish led to; else `end` as it is."""
    finish = (call.observation for call in step.calls if call.action.name == FINISH)
    if not any(observation is not None and observation.ok for observation in finish):
        return end
    stops = (e for e in record.entries[end:] if isinstance(e.event, Stop))
    return next((e.seq for e in stops if getattr(e.event, "status", "") != "held"), end)


def _settled_later(
    record: Trajectory, at: int, end: int, changed: AbstractSet[str]
) -> list[Settled]:
    """What somebody said after the cut of calls before it: their outcome is the same in a fork."""
    later = (entry.event for entry in record.entries[end:])
    words = [event for event in later if isinstance(event, Settled)]
    return [
        word for word in words if record.call(word.call).step <= at and word.call not in changed
    ]


def _closed(step: Step) -> list[Observation]:
    """Close every open answer: a person's message takes precedence."""
    return [
        refusal(call, "interrupted", "a person spoke before it was looked at")
        for call in step.calls
        if call.action.name == FINISH and call.observation is None
    ]


def _hidden_effects(
    record: Trajectory, at: int, before: int, changed: AbstractSet[str]
) -> tuple[Done, ...]:
    """Effects that are out of sight after the cut: this run's, and those of runs it was cut from.

    `before` of its forks are shared; what they tell stays in sight.
    """
    told = {done.key for fork in record.forks[:before] for done in fork.done}
    gone = [done for fork in record.forks[before:] for done in fork.done]
    gone += [
        done
        for step in record.steps[at:]
        for notice in step.notices
        if isinstance(notice, Forked)
        for done in notice.done
    ]
    own = [described_effect(record, c) for c in record.effects if c.step > at or c.key in changed]
    return tuple({done.key: done for done in (*gone, *own) if done.key not in told}.values())
