"""Calls that are made in a run of their own: what they are granted, and how they end.

A sub-run's record says how far it came, so its call is never in doubt: to make it again is to take
the sub-run up where it is.
"""

from collections.abc import Sequence
from math import ceil
from typing import Final

import msgspec

from clew.core.budget import smaller_grant, too_little
from clew.core.codes import ACTING, EFFECTFUL
from clew.core.contents import Observation
from clew.core.engine import Engine
from clew.core.events import AnyEvent, Attempt, Judged
from clew.core.journal import Journal
from clew.core.observations import failed, from_sub_run, refusal, refused_sub_run
from clew.core.received import received_hash
from clew.core.siblings import siblings_at
from clew.core.tools import AgentTool, SubRun, ToolSpec
from clew.core.trajectory import Call, Trajectory
from clew.core.verdicts import Verdict
from clew.support.error_text import message_of
from clew.support.errors import ConfigError, ToolError

_ROUNDING: Final = 1e-9
"""Sums of weights are not exact."""

SUB_RUN: Final = "sub-run"
"""The name under which a held sub-run holds its call."""


async def grant_sub_runs(engine: Engine, journal: Journal, calls: Sequence[Call]) -> None:
    """Begin all sub-runs among the calls at once: record what each may take, or that it may not.

    Together, so that their shares do not depend on which of them comes first.
    """
    trajectory = journal.trajectory
    tools = ((call, engine.tools.get(call.action.name)) for call in calls if not call.attempts)
    new = [(call, tool) for call, tool in tools if isinstance(tool, AgentTool)]
    if not new:
        return
    for call, _ in new:
        await _refuse_stranger(journal, sub_run_id(journal.run_id, call))
    standing = engine.budget.standing(trajectory)
    weights = [float((tool.weight and call.args.get(tool.weight)) or 1) for call, tool in new]
    events: list[AnyEvent] = []
    capped = _caps(engine, trajectory, [tool for _, tool in new], weights)
    told = engine.handed(trajectory, [call for call, _ in new])
    for (call, tool), weight, caps, handed in zip(new, weights, capped, told, strict=True):
        share = standing.share(sum(weights) / weight)
        grant = share if tool.grant is None else smaller_grant(share, tool.grant)
        grant = msgspec.structs.replace(grant, caps=caps, handed=handed)
        if (why := too_little(grant)) is not None:
            events.append(refusal(call, "cap", why))
        else:
            child = sub_run_id(journal.run_id, call)
            acts = tool.effect in EFFECTFUL
            attempt = Attempt(
                call.key, tool.name, call.hash, 0.0, child=child, grant=grant,
                received=received_hash(tool, call.args) if acts else "",
            )  # fmt: skip
            events.append(attempt)
    await journal.record(*events)


async def _refuse_stranger(journal: Journal, child: str) -> None:
    """Raise `ConfigError` where a run has the id of a sub-run that is not begun yet.

    The attempt of a call is on record before its sub-run is. So that run came from elsewhere, such
    as an archive, and its answer is not that of the call.
    """
    if not await journal.has_run(child):
        return
    message = (
        f"run {child} is in this store, and run {journal.run_id} has not begun it: it would "
        "answer for a sub-run. Remove it or keep it in another store, then resume"
    )
    raise ConfigError(message)


def _caps(
    engine: Engine, trajectory: Trajectory, tools: Sequence[AgentTool], weights: Sequence[float]
) -> list[dict[str, int]]:
    """The parts of sub-runs in what may still be called; whole calls, so the first get the rest.

    Of those with an effect, runs that have none get no part.
    """
    left = engine.caps_left(trajectory, len(trajectory.step.all_calls) + 1)
    parts = [dict[str, int]() for _ in tools]
    for name, cap in left.items():
        sizes = [
            0.0 if name == ACTING and tool.effect not in EFFECTFUL else weight
            for tool, weight in zip(tools, weights, strict=True)
        ]
        handed, size = 0, 0.0
        for part, each in zip(parts, sizes, strict=True):
            size += each
            upto = ceil(cap * size / (sum(sizes) or 1.0) - _ROUNDING)
            part[name], handed = upto - handed, upto
    return parts


async def run_sub_run(engine: Engine, journal: Journal, tool: ToolSpec, call: Call) -> None:
    """Run the sub-run of a call until it ends or waits, and record the call's observation."""
    if call.observation is not None:  # there was nothing left to grant
        return
    if call.child != sub_run_id(journal.run_id, call):
        text = f"it was begun as run {call.child}, which is not this run's: look there"
        await journal.record(refusal(call, "unknown", text))
        return
    if call.ruling is not None and not call.ruling.allow:
        why = call.ruling.why or "a person said no"
        closed = await close_sub_run(engine, journal, call, why)
        await journal.record(refused_sub_run(tool, call, why, closed))
        return
    end = await _end(journal, tool, call)
    if isinstance(end, Verdict):
        await journal.record(Judged(call.key, end, by=SUB_RUN))
    else:
        await journal.record(from_sub_run(engine, journal.trajectory, tool, call, end))


async def close_sub_run(engine: Engine, journal: Journal, call: Call, why: str) -> Observation:
    """End the sub-run of a call where it is; returns the call's observation."""
    tool = engine.tools.get(call.action.name)
    if not isinstance(tool, AgentTool):
        text = f"a person interrupted it, and nobody is left to close its run {call.child}"
        return refusal(call, "unknown", text)
    end = await _end(journal, tool, call, why)
    if isinstance(end, Verdict):
        message = f"{tool.name}: a sub-run that is to be closed cannot be held: mend the tool"
        raise ConfigError(message)
    return from_sub_run(engine, journal.trajectory, tool, call, end)


def sub_run_id(run_id: str, call: Call) -> str:
    """The id of a call's sub-run."""
    return f"{run_id}-{call.key}"


async def _end(
    journal: Journal, tool: ToolSpec, call: Call, close: str = ""
) -> Observation | Verdict:
    """The tool's report on the sub-run: how it ended, or that it waits."""
    if not isinstance(tool, AgentTool) or (grant := call.grant) is None:
        message = f"{tool.name} was begun in a run of its own ({call.child}), and now works in none"
        raise ConfigError(message)
    waited = call.verdict is not None and call.verdict.by == SUB_RUN
    sub = SubRun(
        call.child, f"{journal.run_id}:{call.key}", call.args, grant, journal.store,
        close=close, waited=waited, trust=journal.trajectory.trust,
        done=tuple(journal.trajectory.done_elsewhere), among=siblings_at(journal, call),
        labels=(first := journal.trajectory.started).labels, owner=first.owner,
        attachments=journal.trajectory.attachments,
    )  # fmt: skip
    try:
        return await tool.run(sub)
    except ToolError as error:
        return failed(tool, call, "tool_error", message_of(error), "not_done")
