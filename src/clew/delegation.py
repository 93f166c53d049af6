"""Calls that are made in a run of their own: what they are granted, and how they end.

A sub-run's record says how far it came, so its call is never in doubt: to make it again is to take
the sub-run up where it is.
"""

from collections.abc import Sequence
from typing import Final

import msgspec

from clew.agent import Agent
from clew.errors import ConfigError, ToolError, message_of
from clew.events import AnyEvent, Attempt, Grant, Judged, Observation, Thought, Verdict
from clew.journal import Journal
from clew.judging import refusal
from clew.observed import failed, observed
from clew.protocols import SubRun, Tool
from clew.trajectory import Call, Trajectory

SUB_RUN: Final = "sub-run"
"""By whom a call is held whose sub-run is held."""

RESERVE: Final = 2
"""So many thoughts are kept back from what is granted: one more, and a landing."""


async def hand_out(agent: Agent, journal: Journal, calls: Sequence[Call]) -> None:
    """Begin all sub-runs among the calls at once: record what each may take, or that it may not.

    Together, so that their shares do not depend on which of them comes first.
    """
    so_far = journal.trajectory
    new = [(call, tool) for call in calls if (tool := _hands_on(agent, call)) and not call.attempts]
    if not new:
        return
    rest = _rest(agent, so_far)
    events: list[AnyEvent] = []
    for call, tool in new:
        grant = least(rest.share(len(new)), tool.most)
        if (why := _nothing(grant)) is not None:
            events.append(refusal(call, "cap", why))
        else:
            child = sub_run_id(journal.run_id, call)
            attempt = Attempt(call.key, tool.name, call.hash, 0.0, child=child, grant=grant)
            events.append(attempt)
    await journal.record(*events)


async def hand_on(agent: Agent, journal: Journal, tool: Tool, call: Call) -> None:
    """Take the sub-run of a call to where it ends or waits; record what the call observes."""
    if call.observation is not None:  # there was nothing left to grant
        return
    if call.child != sub_run_id(journal.run_id, call):
        text = f"it was begun as run {call.child}, which is not this run's: look there"
        await journal.record(refusal(call, "unknown", text))
        return
    if call.ruling is not None and not call.ruling.allow:
        await journal.record(await _denied(agent, journal, tool, call, call.ruling.why))
        return
    end = await _end(journal, tool, call)
    if isinstance(end, Verdict):
        await journal.record(Judged(call.key, end, by=SUB_RUN))
    else:
        await journal.record(_told(agent, journal, tool, call, end))


async def closed(agent: Agent, journal: Journal, call: Call, why: str) -> Observation:
    """End the sub-run of a call where it is; what the call observes then."""
    tool = agent.by_name.get(call.action.name)
    if tool is None or tool.sub is None:
        text = f"a person interrupted it, and nobody is left to close its run {call.child}"
        return refusal(call, "unknown", text)
    end = await _end(journal, tool, call, why)
    if isinstance(end, Verdict):
        message = f"{tool.name}: a sub-run that is to be closed cannot be held: mend the tool"
        raise ConfigError(message)
    return _told(agent, journal, tool, call, end)


def sub_run_id(run_id: str, call: Call) -> str:
    """The id of the run that a call of this run is made in."""
    return f"{run_id}-{call.key}"


def _hands_on(agent: Agent, call: Call) -> Tool | None:
    """The tool of a call that is made in a run of its own."""
    tool = agent.by_name.get(call.action.name)
    return tool if tool is not None and tool.sub is not None else None


async def _end(journal: Journal, tool: Tool, call: Call, close: str = "") -> Observation | Verdict:
    """What the tool says of the sub-run: how it ended, or that it waits."""
    if tool.sub is None or (grant := call.grant) is None:
        message = f"{tool.name} was begun in a run of its own ({call.child}), and now works in none"
        raise ConfigError(message)
    sub = SubRun(
        call.child,
        f"{journal.run_id}:{call.key}",
        call.args,
        grant,
        journal.store,
        close=close,
        waited=call.verdict is not None and call.verdict.by == SUB_RUN,
        trust=journal.trajectory.trust,
    )
    try:
        return await tool.sub(sub)
    except ToolError as error:
        return failed(tool, call, "tool_error", message_of(error), "not_done")


async def _denied(agent: Agent, journal: Journal, tool: Tool, call: Call, why: str) -> Observation:
    """A person refused the call although it was begun: its sub-run is ended, its cost counted."""
    end = await closed(agent, journal, call, why or "a person said no")
    said = refusal(call, "denied", f"{why or 'a person said no'}. Do not try it in another way.")
    return msgspec.structs.replace(said, outcome=end.outcome, effect=tool.effect, spent=end.spent)


def _told(agent: Agent, journal: Journal, tool: Tool, call: Call, end: Observation) -> Observation:
    """The observation, whatever becomes of its content, with what the sub-run took."""
    told = observed(agent, journal.trajectory, tool, call, end)
    return msgspec.structs.replace(told, spent=end.spent)


# ---------------------------------------------------------------- what is granted


class _Rest(msgspec.Struct, frozen=True):
    """What is left for sub-runs together; cost None where it is not bounded."""

    steps: int
    tool_calls: int
    tokens: int
    seconds: float
    cost: float | None
    depth: int

    def share(self, among: int) -> Grant:
        """An equal part of it. Time passes for all at once: it is not divided."""
        return Grant(
            self.steps // among,
            self.tool_calls // among,
            self.tokens // among,
            self.seconds,
            None if self.cost is None else self.cost / among,
            self.depth,
        )


def _rest(agent: Agent, so_far: Trajectory) -> _Rest:
    """What the run may still take, less what it needs itself to make something of the results.

    That is another step and a landing, and the calls of this step that are not made yet.
    """
    left, thought = agent.limits.left(so_far), agent.budget.expected(so_far)
    waiting = sum(not call.attempts for call in so_far.step.pending)
    bounded = agent.thinker.priced or (so_far.grant is not None and so_far.grant.cost is not None)
    return _Rest(
        steps=left.steps - 1,
        tool_calls=left.tool_calls - waiting,
        tokens=left.tokens - RESERVE * thought.tokens,
        seconds=round(left.seconds - RESERVE * _thinking(so_far), 3),
        cost=left.cost - RESERVE * (thought.cost or 0.0) if bounded else None,
        depth=left.depth - 1,
    )


def _thinking(so_far: Trajectory) -> float:
    """Seconds from what came before the last thought to it, where one worker saw both."""
    pairs = zip(so_far.entries[-2::-1], so_far.entries[::-1], strict=False)
    worked = (
        entry.at - before.at if entry.epoch == before.epoch else 0
        for before, entry in pairs
        if isinstance(entry.event, Thought)
    )
    return max(0, next(worked, 0)) / 1000


def least(share: Grant, most: Grant | None) -> Grant:
    """The smaller of two grants on every axis."""
    if most is None:
        return share
    costs = [cost for cost in (share.cost, most.cost) if cost is not None]
    return Grant(
        min(share.steps, most.steps),
        min(share.tool_calls, most.tool_calls),
        min(share.tokens, most.tokens),
        min(share.seconds, most.seconds),
        min(costs) if costs else None,
        min(share.depth, most.depth),
    )


def _nothing(grant: Grant) -> str | None:
    """Why a sub-run with this grant could not begin, in a line for the model."""
    if grant.depth < 0:
        return "runs are nested as deep as they may be: do it yourself, with your other tools"
    for name in ("steps", "tool_calls", "tokens", "seconds", "cost"):
        value = getattr(grant, name)
        if value is not None and value <= 0:
            words = name.replace("_", " ")
            return f"too little is left of this run's {words} to hand on: answer with what is known"
    return None
