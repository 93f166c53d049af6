"""Runs that are at work at once for one strategy: what one begins in the world, the others know.

A run learns of earlier runs when it begins (`Started.done`). What runs beside it begin later is
asked for when one of its own calls is about to be made: an equal one goes into its record as a note
(`Note.done`), and its own is held, as in a fork. All of them work in one process. So who asks first
makes the call; what was done before this process began is read from their records.

The same holds between a strategy's runs and the calls that it makes itself: such a call is at work
beside the runs of its step, and is told, in the strategy's own record, what any run did before it.
What the strategy itself asks for twice, in view of the first, is meant to happen twice.
"""

from collections.abc import Iterable, Sequence

import msgspec

from clew.core.actions import Action, Done
from clew.core.at_work import AtWork, Begun, Sibling
from clew.core.contents import Observation, text_parts
from clew.core.done import described_effect
from clew.core.effects import effects_of, is_strategy
from clew.core.engine import Engine
from clew.core.events import AnyEvent, Judged, Note
from clew.core.journal import Journal
from clew.core.policy import judge_call
from clew.core.received import as_recorded, handed_hashes, received_hash, repetitions
from clew.core.stores import Store
from clew.core.tools import ToolSpec
from clew.core.trajectory import Call
from clew.core.values import Json

_TOLD = "another run for the same work did the same, or is about to"


def siblings_at(journal: Journal, call: Call) -> tuple[Sibling, ...]:
    """As whom a call, its sub-run, and all below that, are at work beside others."""
    trajectory = journal.trajectory
    if len(trajectory.step.all_calls) == 1 or not is_strategy(trajectory):
        return journal.among
    if journal.at_work is None or journal.at_work.step != trajectory.step.number:
        journal.at_work = AtWork(trajectory, trajectory.step.number)
    return (*journal.among, Sibling(journal.at_work, call.key))


async def judged_beside(engine: Engine, journal: Journal, call: Call) -> list[AnyEvent]:
    """The verdicts on a call with an effect, with what other runs did or have begun till then.

    They are the runs beside this one and, for a call of a strategy's own, those that it asked for.
    """
    tool = engine.tools[call.action.name]
    while True:
        events = await judge_call(engine, journal.trajectory, call)
        told = await _done_by_others(journal, tool, call, events)
        if told is None:
            return events
        await journal.record(told)


async def _done_by_others(
    journal: Journal, tool: ToolSpec, call: Call, judged: Sequence[AnyEvent]
) -> Note | None:
    """What the run must be told before the call is made: an equal one of one of those runs.

    None where there is none, or the call was `judged` not to be made. If it is to be made, the
    others know of it from here on.
    """
    trajectory = journal.trajectory
    if not (journal.among or is_strategy(trajectory)) or any(_stops(event) for event in judged):
        return None
    others = await _others(journal)
    known = {done.key for done in trajectory.done_elsewhere}
    new = [done for done in others if done.key not in known]
    among = siblings_at(journal, call)
    if not (new or among):
        return None
    asked = as_recorded(
        trajectory, Call(call.key, Action(call.action.name, _amended(call, judged)))
    )
    if equal := {done.key: done for done, _ in repetitions(trajectory, asked, tool, new)}:
        return Note(text_parts(_TOLD), source="late", done=tuple(equal.values()))
    if not among:
        return None
    done = msgspec.structs.replace(
        described_effect(trajectory, asked),
        received=received_hash(tool, asked.args),
        handed=tuple(hash_ for _, hash_ in handed_hashes(tool, asked.args)),
    )
    for each in among:
        each.work.begun.append(Begun(each.key, trajectory, trajectory.call(call.key), done))
    return None


async def _others(journal: Journal) -> list[Done]:
    """The effects of runs beside this one, and of a strategy's own runs, at any depth.

    A strategy judges its own calls while none of its runs is at work: their records have it all.
    """
    trajectory = journal.trajectory
    runs = [call for call in trajectory.calls if call.child] if is_strategy(trajectory) else []
    effects = [*(await effects_of(journal.store, trajectory, runs)).values()]
    for each in journal.among:
        await _read(each.work, journal.store)
    return [*effects, *(done for each in journal.among for done in _beside(each))]


async def _read(work: AtWork, store: Store) -> None:
    """Read, once, what the runs did before they were taken up in this process."""
    async with work.reading:
        if work.before is not None:
            return
        before = dict[str, tuple[str, Done]]()
        for call in work.record.step.all_calls:
            effects = await effects_of(store, work.record, [call])
            before |= {key: (call.key, done) for key, done in effects.items()}
        work.before = before


def _beside(sibling: Sibling) -> list[Done]:
    """The effects of the other runs, as they stand."""
    before = dict(sibling.work.before or {})
    for by, trajectory, call, done in sibling.work.begun:
        if call.observation is None and (call.begun or not call.held):
            before[done.key] = by, done
        elif call.changed:
            before[done.key] = by, described_effect(trajectory, call)
        else:
            before.pop(done.key, None)
    return [done for by, done in before.values() if by != sibling.key]


def _stops(event: AnyEvent) -> bool:
    held = isinstance(event, Judged) and event.verdict.kind == "hold"
    return held or isinstance(event, Observation)


def _amended(call: Call, judged: Iterable[AnyEvent]) -> dict[str, Json]:
    """The arguments as they were last changed."""
    changed = [event.verdict.args for event in judged if isinstance(event, Judged)]
    return next((args for args in reversed(changed) if args is not None), call.args)
