"""An agent whose runs may start as forks of each other, and stop after a number of steps.

The steps that a branch shares with the run it was forked from cost no call and are not counted.
Its record begins with the side effects of the other branches, so that they do not happen twice.
"""

from dataclasses import dataclass, replace
from typing import Any, Final, cast

import msgspec

from clew import Agent, ConfigError, Observation, Step, ToolError, Trajectory, Verdict, delegate
from clew.agent.runner import load_if_begun, start_fork
from clew.agent.subagents import TASK, Delegation
from clew.core.actions import Done
from clew.core.bounds import Tripped
from clew.core.done import described_effect
from clew.core.fork import ForkPoint, find_fork_point
from clew.core.journal import Journal, load
from clew.interfaces import (
    FINISH,
    AgentTool,
    Json,
    Listener,
    Note,
    Parameters,
    StopRule,
    Store,
    SubRun,
    encode,
)
from clew.stores import RunNotFoundError
from clew.support.short_text import one_line
from clew_strategies.earlier import done_before

MAX_CHARS: Final = 200
"""The characters of a call, and of its observation, that describe a branch's last step."""

_PARAMETERS: Final[Parameters] = {
    **TASK,
    "properties": {
        **TASK["properties"],
        "of": {"type": "string"},
        "at": {"type": "integer", "minimum": 0},
        "say": {"type": "string"},
    },
}


@dataclass(frozen=True, slots=True)
class Branches:
    """An agent whose runs may start as forks of other runs of the strategy (`Runs.fork`).

    Each continues for `steps` steps of its own, or until it answers; 0 leaves that to the agent's
    limits, which hold for each branch in any case. Its result is a `BranchResult`.
    """

    agent: Agent[Any]
    steps: int = 1

    @property
    def bounded(self) -> Agent[Any]:
        """The agent that stops after `steps` steps, without a last thought.

        No limit says so: a branch goes on in the next one. So it is not told to finish, and its
        sub-runs get their part of the agent's own steps.
        """
        if not self.steps:
            return self.agent
        limits, pause = replace(self.agent.limits, landing=False), Pause(self.steps)
        bounds = (*self.agent.bounds, cast("StopRule", pause))  # one of clew's, which says so
        return self.agent.replace(limits=limits, bounds=bounds, fallback=None)


class Pause(msgspec.Struct, frozen=True):
    """The bound at which a branch waits for its score: so many steps that it shares with none."""

    max_steps: int

    def __call__(self, trajectory: Trajectory) -> Tripped | None:
        """What is said once they are made."""
        shared = trajectory.forks[-1].step if trajectory.forks else 0
        made = len(trajectory.steps) - shared
        detail = f"{made} of {self.max_steps} used"
        return None if made < self.max_steps else Tripped("steps", "steps", detail)


class BranchResult(msgspec.Struct, frozen=True, omit_defaults=True):
    """The result of a branch. `steps` counts all steps of its run, including shared ones.

    `did` describes the last step. An `open` branch has no answer yet and may be forked to continue.
    Any other has its `answer`; if a limit made it answer early, `cut_short` says why.
    """

    steps: int
    did: str = ""
    open: bool = False
    answer: Any = None
    cut_short: str = ""


def branching(name: str, role: Branches) -> AgentTool:
    """The role as a tool of the strategy's own record."""
    agent = role.bounded
    made = delegate(
        agent,
        name=name,
        description=f"A run of {name}, or a fork of another one.",
        parameters=_PARAMETERS,
        goal=_task,
    )
    return replace(made, run=_BranchRun(agent))


def _task(args: dict[str, Json]) -> str:
    return str(args["task"])


@dataclass(frozen=True, slots=True)
class _BranchRun:
    """Runs a branch until it stops, and reports how far it got."""

    agent: Agent[Any]

    async def __call__(self, sub: SubRun) -> Observation | Verdict:
        """The branch's result, or the verdict that holds it."""
        begin = _begin_fork if "of" in sub.args else None
        end = await Delegation(self.agent, _task, begin=begin, earlier=done_before, attached=True)(
            sub
        )
        if isinstance(end, Verdict):
            return end
        record = await load_if_begun(sub.store, sub.run_id)
        return end if record is None else _branch_observation(end, record)


def _branch_observation(end: Observation, record: Trajectory) -> Observation:
    """The observation of a branch: its state, or why it ended without an answer."""
    stop, steps = record.stop, len(record.steps)
    if end.ok:
        early = stop is not None and stop.status == "bound"
        cut_short = stop.reason if stop is not None and early else ""
        answer: Any = end.content["answer"] if early else end.content
        branch = BranchResult(steps, _describe(record.step), answer=answer, cut_short=cut_short)
        return msgspec.structs.replace(end, content=msgspec.to_builtins(branch))
    if stop is None or stop.status != "bound" or stop.code not in {"steps", "grant_steps"}:
        return end
    branch = BranchResult(steps, _describe(record.step), open=True)
    outcome = "unknown" if end.outcome == "unknown" else "done"
    return msgspec.structs.replace(
        end,
        content=msgspec.to_builtins(branch),
        ok=True,
        code="",
        outcome=outcome,
        trust="trusted" if record.untainted else "untrusted",  # it says what was just observed
    )


def _describe(step: Step) -> str:
    """A step in a line: its calls, and the beginning of each observation."""
    lines = [
        f"{one_line(f'{call.action.name}({encode(call.args).decode()})', MAX_CHARS)} -> "
        f"{one_line(call.observation.text if call.observation else 'nothing', MAX_CHARS)}"
        for call in step.calls
        if call.action.name != FINISH
    ]
    thought = "" if step.thought is None else step.thought.text or step.thought.fault
    return "; ".join(lines) or one_line(thought, MAX_CHARS)


async def _begin_fork(agent: Agent[Any], sub: SubRun, listener: Listener | None) -> Journal:
    """Start a branch as a fork of another run of the same strategy."""
    of = await load_sub_run(sub)
    try:
        at, say = int(sub.args.get("at", len(of.steps))), str(sub.args.get("say", ""))
        point = find_fork_point(of, at, say=say)
    except ConfigError as error:
        raise ToolError(str(error)) from error
    again = tuple(
        msgspec.structs.replace(event, trust=sub.trust) if isinstance(event, Note) else event
        for event in point.again
    )
    done = await _done_elsewhere(sub, of, point)
    point = msgspec.structs.replace(point, again=again, done=done)
    return await start_fork(
        agent, point, sub.store, sub.run_id, listener=listener, call=sub.parent, grant=sub.grant
    )


async def _done_elsewhere(sub: SubRun, of: Trajectory, point: ForkPoint) -> tuple[Done, ...]:
    """The side effects that the branch cannot see: after the fork point, and in earlier runs."""
    effects = {done.key: done for done in (*point.done, *await done_before(sub))}
    shared = Trajectory(of.run_id, point.shared)
    visible = {described_effect(shared, call).key for call in shared.effects}
    visible |= {done.key for done in shared.done_elsewhere}
    return tuple(done for key, done in effects.items() if key not in visible)


async def load_sub_run(sub: SubRun) -> Trajectory:
    """The run of the call `of`, which the strategy's record names. Raises `ToolError` without one.

    In a fork, calls before the fork point were made by the run that it was forked from.
    """
    root, of = sub.parent.rpartition(":")[0], str(sub.args["of"])
    record = await _load(sub.store, root)
    recorded_call = next((call for call in record.calls if call.key == of), None)
    if recorded_call is None or not recorded_call.child:
        raise ToolError(f"the call {of} of run {root} has no run of its own")
    return await _load(sub.store, recorded_call.child)


async def _load(store: Store, run_id: str) -> Trajectory:
    try:
        return await load(store, run_id)
    except RunNotFoundError as error:
        raise ToolError(f"run {run_id} is not in this store: bring it back") from error


def request_args(task: str, of: str, at: int | None, say: str) -> dict[str, Json]:
    """The arguments of a request for a fork."""
    args: dict[str, Json] = {"task": task, "of": of}
    return args | ({} if at is None else {"at": at}) | ({"say": say} if say else {})
