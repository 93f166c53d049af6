"""The loop: look at the record, do the one next thing, write down what came of it.

It is the notebook loop of ReAct (prompt, call, split, act, append), with the record in the place of
the growing prompt. Running, resuming, going on after a ruling and following up are the same call.
"""

from collections.abc import Sequence
from functools import partial

import anyio

from clew.concurrency.tasks import one_error
from clew.core.answers import accepted, answer_of, sent_back
from clew.core.bounds import Tripped
from clew.core.budget import Standing
from clew.core.codes import Status
from clew.core.contents import text_parts
from clew.core.engine import Engine
from clew.core.events import Charged, Landing, Note, Stop
from clew.core.execute import perform
from clew.core.gathering import one_by_one, put_off, taken_up, unasked
from clew.core.journal import Journal
from clew.core.moves import next_move
from clew.core.observations import closed_answers
from clew.core.pending import interrupt
from clew.core.policy import comes_before, held_stop, judge_answer, judge_call, judge_words
from clew.core.settling import stopped
from clew.core.siblings import judged_beside
from clew.core.subruns import grant_sub_runs
from clew.core.thought import in_time, think
from clew.core.trajectory import Call, Trajectory
from clew.support.resources import resources


async def run(engine: Engine, journal: Journal) -> Trajectory:
    """Advance until the run stops. After `ModelError` or `StoreError` it stays open."""
    async with resources():  # what its tools hold open, unless its owner holds more than this run
        await journal.receive(next_word=True)
        while journal.trajectory.stop is None:
            await advance(engine, journal)
    return journal.trajectory


async def advance(engine: Engine, journal: Journal) -> None:
    """Make the next move, then receive messages."""
    move = next_move(engine, journal.trajectory)
    if move.kind == "screen":
        if judged := await judge_words(engine, journal.trajectory):
            await journal.record(*judged)
        else:
            move = next_move(engine, journal.trajectory, screened=True)
    match move.kind:
        case "think":
            await journal.record(await think(engine, journal, move.standing))
        case "leave_out" | "review" | "plan":
            leave_out = partial(engine.leave_out, journal.trajectory, move.less)
            plan = partial(engine.plan, journal.trajectory)
            ask = plan if move.kind == "plan" else leave_out
            came = await in_time(engine, journal, move.standing, ask)
            await journal.record(*([came] if isinstance(came, Charged) else came[0]))
        case "act":
            await act(engine, journal)
        case "conclude":
            await conclude(engine, journal)  # a failed check is an observation
        case "land" if move.tripped is not None:
            await land(engine, journal, move.standing, move.tripped)
        case "give_up":
            await give_up(engine, journal)
        case "interrupt":
            await interrupt(engine, journal, move.why)
        case _:  # done; or a person's words were judged
            pass
    stop = journal.trajectory.stop
    if journal.words or not journal.quiet or (stop is not None and stop.wake):
        await journal.receive()


async def act(engine: Engine, journal: Journal) -> None:
    """Judge all pending calls and perform those that are allowed; others wait, or are put off."""
    trajectory, step = journal.trajectory, journal.trajectory.step
    in_turn = one_by_one(step) if step.gathered else step.pending
    await judge(engine, journal, in_turn)
    ready = [call for call in in_turn if not (call.held or call.observation)]
    if (trajectory.put_off or not ready) and (later := put_off(engine, trajectory, ready)):
        await journal.record(*later)
    elif ready:
        await observe(engine, journal, ready)
    elif held := [call for call in step.pending if call.held]:
        await journal.record(held_stop(trajectory, *held))


async def judge(engine: Engine, journal: Journal, calls: Sequence[Call]) -> None:
    """Record every verdict other than yes; a refused call gets its observation with it."""
    for call in calls:
        came = call.settled is not None or call.woken
        new = call.again or not (call.begun or call.suspended or came)
        if new and not call.held and not call.child:
            with_secrets = journal.with_secrets(call) or call
            if call.action.name in engine.effectful:
                events = await judged_beside(engine, journal, with_secrets)
            else:
                events = await judge_call(engine, journal.trajectory, with_secrets)
            if events:
                await journal.record(*events)


async def observe(engine: Engine, journal: Journal, calls: Sequence[Call]) -> None:
    """Perform the calls in parallel; each records its own observation as soon as it has one."""
    if engine.delegates:
        await grant_sub_runs(engine, journal, calls)
    if len(calls) == 1:
        await perform(engine, journal, calls[0])
        return
    with one_error():
        async with anyio.create_task_group() as together:
            for call in calls:
                together.start_soon(perform, engine, journal, call)


async def conclude(engine: Engine, journal: Journal) -> None:
    """Stop with the answer if it passes the checks, else send it back. Put-off calls come first."""
    trajectory, step = journal.trajectory, journal.trajectory.step
    if first := taken_up(engine, trajectory):
        await journal.record(*first)
        return
    if (call := step.finish) is not None and not await may_finish(engine, journal, call):
        return
    if wrong := sent_back(engine, trajectory):
        await journal.record(*closed_answers(step, "contradicted", wrong))
        return
    value = answer_of(engine, step)
    problem = None if step.declined else await judge_answer(engine, trajectory, value)
    if problem is None:
        await journal.record(*closed_answers(step), accepted(engine, trajectory, value))
    elif call is not None:
        await journal.record(*closed_answers(step, "rejected", problem))
    else:
        await journal.record(Note(text_parts(problem), source="check"))


async def may_finish(engine: Engine, journal: Journal, call: Call) -> bool:
    """Whether the answer may be judged: nothing takes precedence, and no guard objects."""
    step = journal.trajectory.step
    if call.observation is not None:  # it was accepted already
        return True
    if (before := comes_before(step)) is not None:
        await journal.record(*closed_answers(step, *before))
        return False
    await judge(engine, journal, [call])
    if call.held:
        await journal.record(held_stop(journal.trajectory, call))
    return not call.held and call.observation is None


async def give_up(engine: Engine, journal: Journal) -> None:
    """Stop with the declared fallback: no answer was acceptable, or the last thought gave none."""
    trajectory = journal.trajectory
    why = (
        f"the answer was rejected: {trajectory.rejected[-1]}"
        if trajectory.rejected
        else "no answer"
    )
    if (over := engine.budget.standing(trajectory).exceeded) is not None:
        why = f"{why}; {over.reason}"
    if (landing := trajectory.landing) is not None:
        why = f"{landing.bound}: {why}"
    status: Status = "failed" if landing is None else "bound"
    code = "" if landing is None else landing.code
    why += unasked(trajectory)
    stop = Stop(status, why, engine.fallback, fallback=True, code=code)
    await journal.record(stopped(trajectory, stop))


async def land(engine: Engine, journal: Journal, standing: Standing, bound: Tripped) -> None:
    """A bound tripped: ask for a last thought, or stop if none is wanted or affordable."""
    if first := taken_up(engine, journal.trajectory):
        await journal.record(*first)
    elif standing.lands:
        await journal.record(Landing(bound.name, bound.detail, bound.code))
    else:
        why, own = bound.reason, bound.reason if bound.code == "own" else ""
        if engine.budget.landing:
            why = f"{why}; the remaining budget cannot pay for a final answer"
        why += unasked(journal.trajectory)
        stop = Stop("bound", why, engine.fallback, fallback=True, code=bound.code, detail=own)
        await journal.record(stopped(journal.trajectory, stop))
