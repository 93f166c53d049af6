"""An agent as a tool: each call is a run of its own, and only its result comes back.

The sub-run has its own record in the store of the run that it serves, and is only taken up through
that. What it may take is granted; what it takes is counted there.
"""

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any, Final, TypeAlias

import msgspec

from clew.agent.agent import Agent, is_agent
from clew.agent.foreign import ForeignRunError
from clew.agent.question import Question, check_takes
from clew.agent.read_result import result
from clew.agent.result import Result
from clew.agent.runner import complete, load_if_begun, start_or_take_up
from clew.agent.validate import tool_grants
from clew.agent.work_done import CONTRADICTED
from clew.core.actions import Done
from clew.core.codes import EFFECTFUL, OUTCOME, Code, Effect, Outcome, Status, error_text
from clew.core.contents import Evidence, Grant, Observation, Spending
from clew.core.events import Cancel
from clew.core.inbox import words_in
from clew.core.journal import Journal
from clew.core.listeners import Listener
from clew.core.pending import interrupt
from clew.core.settling import unknown_calls
from clew.core.stores import Store
from clew.core.tools import AgentTool, Parameters, SubRun
from clew.core.trajectory import Trajectory
from clew.core.values import Json, encode
from clew.core.verdicts import Verdict
from clew.guards.limits import Limits, with_waits
from clew.support.arguments import NONE, check_argument, check_callable
from clew.support.error_text import message_of
from clew.support.errors import ConfigError, StoreError, ToolError
from clew.support.settings import check_text
from clew.tools.schema import checked

Goal: TypeAlias = Callable[[dict[str, Json]], str]
"""Writes the goal of a sub-run from the arguments of its call."""

Watch: TypeAlias = Callable[[str], Listener | None]
"""Who watches the sub-run with this id."""

Begin: TypeAlias = Callable[[Agent[Any], SubRun, Listener | None], Awaitable[Journal]]
"""Creates the record of a sub-run."""

Earlier: TypeAlias = Callable[[SubRun], Awaitable[tuple[Done, ...]]]
"""Finds the side effects of other runs that a sub-run must not repeat unasked."""

"""What stands in an observation before the words of a sub-run that declined."""

TASK: Final[Parameters] = {
    "type": "object",
    "properties": {
        "task": {
            "type": "string",
            "minLength": 1,
            "description": "What is to be done, with all that must be known for it: "
            "nothing else of what you know is passed on.",
        }
    },
    "required": ["task"],
    "additionalProperties": False,
}

_CITED: Final = re.compile(r"\[([^\[\]\s]{1,80})\]")

_CODES: Final[dict[Status, Code]] = {"interrupted": "interrupted", "refused": "denied"}


def delegate(
    agent: Agent[Any],
    *,
    name: str,
    description: str,
    parameters: Parameters | None = None,
    goal: Goal | None = None,
    effect: Effect | None = None,
    watch: Watch | None = None,
    origin: dict[str, Json] | None = None,
    attachments: bool = False,
) -> AgentTool:
    """Make a tool that delegates a task to an agent.

    Its one parameter is `task`, the goal of the sub-run. With `parameters` of your own, `goal`
    makes the goal from the arguments; the model sees a `ToolError` that it raises. The default of
    `effect` is "unsafe" if any of the agent's tools has an effect, else "read". `watch` returns a
    listener for the id of a sub-run; `origin` is recorded with it. With `attachments` it is given,
    beside its goal, the pictures, recordings and files of a person's words. Raises `ConfigError` if
    the parts do not fit.
    """
    check_argument("agent", agent, Agent, "an Agent")
    check_argument("parameters", parameters, (Mapping, NONE), "a JSON Schema of type object")
    check_callable("goal", goal, "a function of the arguments")
    if (parameters is None) is not (goal is None):
        message = f"{name}: parameters and the goal that is written from them go together"
        raise ConfigError(message)
    return replace(
        delegation_spec(name, description, parameters),
        effect=effect or ("unsafe" if _acts(agent) else "read"),
        version=f"1+{agent.spec.fingerprint[:16]}",  # another agent is another tool
        run=Delegation(agent, goal or _task, watch, origin or {}, attached=attachments),
        grant=_max_grant(agent),
    )


def delegation_spec(name: str, description: str, parameters: Parameters | None = None) -> AgentTool:
    """The tool as a model is shown it, with nobody to hand on to: a replay needs no more."""
    return checked(AgentTool(name, description, parameters or TASK, run=_nobody))


def reachable(agent: Agent[Any]) -> frozenset[str]:
    """The names of the tools that runs of an agent call, those of their sub-runs with them."""
    runs = (each.run for each in agent.tools if isinstance(each, AgentTool))
    below = (getattr(run, "agent", None) for run in runs)
    return agent.parts.countable.union(*(reachable(each) for each in below if is_agent(each)))


def with_limits(agent: Agent[Any], limits: Limits) -> Agent[Any]:
    """The agent with other limits; of a strategy's, the caps of its runs on tools follow them."""
    caps = limits.calls_per_tool
    tools = [
        replace(each, caps={**each.caps, **caps}) if isinstance(each, AgentTool) else each
        for each in agent.tools
    ]
    held = caps and any(isinstance(each, AgentTool) and each.caps for each in agent.tools)
    return agent.replace(tools=tools, limits=limits) if held else agent.replace(limits=limits)


def _acts(agent: Agent[Any]) -> bool:
    return any(tool.effect in EFFECTFUL for tool in agent.tools)


async def _nobody(sub: SubRun) -> Observation:
    message = f"there is nobody to work on {sub.run_id}: this agent was made for a replay"
    raise ConfigError(message)


def _task(args: dict[str, Json]) -> str:
    return str(args["task"])


def _max_grant(agent: Agent[Any]) -> Grant:
    """The agent's own limits: more is never granted. Cost None: somebody's price is not known."""
    below = tool_grants(agent.tools).values()
    info = agent.engine.model.info
    priced = info.priced and all(grant.cost is not None for grant in below)
    grant = with_waits(agent.limits, info.wait).allowance if info.wait else agent.limits.allowance
    return grant if priced else msgspec.structs.replace(grant, cost=None)


class Delegation(msgspec.Struct, frozen=True):
    """What takes a sub-run to where it ends or waits, and says what its call observes."""

    agent: Agent[Any]
    goal: Goal
    watch: Watch | None = None
    origin: dict[str, Json] = msgspec.field(default_factory=dict[str, Json])
    begin: Begin | None = None
    """How a sub-run is begun that is more than its goal, such as a fork."""
    earlier: Earlier | None = None
    """By default they are those that the run it serves must not repeat."""
    attached: bool = False
    """Whether it is given what a person attached to the run that it serves: a model that writes a
    task of its own does not hand on what it has seen, a strategy does."""

    async def __call__(self, sub: SubRun) -> Observation | Verdict:
        """Begin the sub-run, or take it up where it is; close it, where that is wanted.

        `ModelError` and `StoreError` are raised: its record stays open, and so does its root's.
        """
        try:
            trajectory = await self._run_sub_run(sub)
        except ForeignRunError as error:
            return _failed("unknown", f"what it did is not known: {error}", "unknown")
        if trajectory is None:
            text = f"{sub.close}: its run {sub.run_id} is gone, and what it did is not known"
            return _failed("unknown", text, "unknown")
        if trajectory.stop is not None and trajectory.stop.status == "held":
            held = ", ".join(call.key for call in trajectory.held)
            text = f"run {trajectory.run_id} waits for a ruling on {held}"
            return Verdict(
                "hold", text, until=trajectory.stop.wake, unknown=unknown_calls(trajectory)
            )
        told = _result_observation(self.agent, trajectory, sub.parent.rpartition(":")[2])
        return msgspec.structs.replace(
            told,
            outcome=_outcome(trajectory, ok=told.ok),
            trust=trajectory.trust,
            spent=_spending(self.agent, trajectory, told.content),
            unknown=unknown_calls(trajectory),
        )

    async def _run_sub_run(self, sub: SubRun) -> Trajectory | None:
        """The sub-run as it ends or waits; None for one that is to be closed, and is gone.

        One that was not begun yet is begun, to be closed: a worker that is frozen, and was just
        about to begin it, then finds that it is over.
        """
        trajectory = await load_if_begun(sub.store, sub.run_id)
        if trajectory is not None:
            _check(trajectory, sub)
            if trajectory.stop is not None and trajectory.stop.status != "held":
                return trajectory
        elif sub.close and sub.waited:
            return None
        journal = await self._open(sub, begun=trajectory is not None)
        journal.among = sub.among
        await journal.receive()
        if why := sub.close or await _cancelled(sub.store, sub.parent.rpartition(":")[0]):
            stop = journal.trajectory.stop
            if stop is None or stop.status == "held":
                await interrupt(self.agent.engine, journal, why)
            return journal.trajectory
        return await complete(self.agent, journal)

    async def _open(self, sub: SubRun, *, begun: bool) -> Journal:
        """Its record, opened for work. Whoever resumed the root accepted how its agents changed."""
        listener = sub.listener if self.watch is None else self.watch(sub.run_id)
        if sub.waited and not begun:
            message = f"run {sub.run_id}, which serves {sub.parent}, is gone: bring it back"
            raise StoreError(message)
        if self.begin is not None and not begun:
            return await self.begin(self.agent, sub, listener)
        goal = "" if begun else self._question(sub)
        done = () if begun else await self._done(sub)
        return await start_or_take_up(
            self.agent, goal, sub.store, sub.run_id,
            accept_change=True, listener=listener, origin=self.origin,
            parent=sub.parent, grant=sub.grant, trust=sub.trust, done=done,
            labels=sub.labels, owner=sub.owner or None,
        )  # fmt: skip

    async def _done(self, sub: SubRun) -> tuple[Done, ...]:
        """The side effects of other runs; what cannot act needs to know of none."""
        if not _acts(self.agent):
            return ()
        return sub.done if self.earlier is None else await self.earlier(sub)

    def _question(self, sub: SubRun) -> Question:
        """The goal, with what is handed on. Raises `ToolError` where that is not taken."""
        text = self._written(sub.args)
        if not self.attached or not sub.attachments:
            return text
        try:
            check_takes(self.agent, sub.attachments)
        except ConfigError as error:
            raise ToolError(str(error)) from error
        return [*sub.attachments, text]

    def _written(self, args: dict[str, Json]) -> str:
        """The goal. Raises `ToolError` whatever is wrong with it: a model wrote the arguments."""
        try:
            text = self.goal(args)
            check_text("the task", text)
        except ToolError:
            raise
        except Exception as error:
            message = f"no task could be made of this ({type(error).__name__}: {message_of(error)})"
            raise ToolError(message) from error
        if not text.strip():
            raise ToolError("the task is empty: say what is to be done")
        return text


def _spending(agent: Agent[Any], trajectory: Trajectory, answer: Json) -> Spending:
    """What it took, with its calls by the caps that were granted, and what it says of values."""
    handed = agent.parts.provenance.handed_up(trajectory, answer)
    granted = {} if trajectory.grant is None else trajectory.grant.caps
    calls = {name: agent.parts.strategy_caps.made(trajectory.total, name) for name in granted}
    made = {name: number for name, number in calls.items() if number}
    return msgspec.structs.replace(trajectory.total.spending, made=made, handed=handed)


def _check(trajectory: Trajectory, sub: SubRun) -> None:
    """Raise where a run of this id is there already and is another's."""
    if trajectory.parent_call != sub.parent:
        run_id = sub.parent.rpartition(":")[0]
        message = f"run {sub.run_id} is no sub-run of {run_id}: give that another id of its own"
        raise ConfigError(message)


async def _cancelled(store: Store, run_id: str) -> str:
    """Why the run that is served was cancelled, if word of that waits in its inbox.

    A cancel is left there before its sub-runs are told, and one that is only now begun is not.
    """
    words = (word for word in await words_in(store, run_id) if isinstance(word, Cancel))
    return next((word.why or "a person interrupted the run" for word in words), "")


def _outcome(trajectory: Trajectory, *, ok: bool) -> Outcome:
    """What is known of the sub-run's effects together."""
    had = trajectory.effects
    if any(call.outcome == "unknown" for call in had):
        return "unknown"
    return "done" if ok or had else "not_done"


def _result_observation(agent: Agent[Any], trajectory: Trajectory, call: str) -> Observation:
    """The result as the call's observation: an answer, or why there is none."""
    outcome = result(agent, trajectory)
    if (
        outcome.status in {"answered", "bound"}
        and not outcome.fallback
        and trajectory.stop is not None
    ):
        known = {piece.doc_id: f"{call}/{piece.doc_id}" for piece in outcome.evidence}
        content = _recited(trajectory.stop.answer, known)
        more = _ended(agent, trajectory, outcome)
        content = {"answer": content, **more} if more else content
        pieces = outcome.cited or outcome.evidence
        evidence = tuple(_renamed(piece, known[piece.doc_id]) for piece in pieces)
        return Observation(content=content, evidence=evidence)
    reason = f" ({outcome.reason})" if outcome.reason else ""
    why = f"the sub-run ended as {outcome.status}{reason} and gave no answer"
    if outcome.status == "declined":
        known = {piece.doc_id: f"{call}/{piece.doc_id}" for piece in outcome.cited}
        why = str(_recited(outcome.answer, known))
        evidence = tuple(_renamed(piece, known[piece.doc_id]) for piece in outcome.cited)
        return msgspec.structs.replace(_failed("declined", why, "not_done"), evidence=evidence)
    if outcome.fallback and outcome.raw_answer is not None:
        why += f"; declared for that case: {encode(outcome.raw_answer).decode()}"
    return _failed(_CODES.get(outcome.status, "tool_error"), why, "not_done")


def _ended(agent: Agent[Any], trajectory: Trajectory, ended: Result[Any]) -> dict[str, Json]:
    """What stands beside an answer: that it was cut short, what it says came of the task, and what
    the record has against that.
    """
    more: dict[str, Json] = {"cut_short": ended.reason} if ended.status == "bound" else {}
    if ended.outcome not in {"", "answered"}:
        more[OUTCOME] = ended.outcome
    if ended.contradicted and ended.outcome:
        why = agent.engine.contradiction(trajectory, ended.outcome)
        more[CONTRADICTED] = why.partition(".")[0]
    return more


def _renamed(piece: Evidence, doc_id: str) -> Evidence:
    return msgspec.structs.replace(piece, doc_id=doc_id)


def _recited(value: Json, known: dict[str, str]) -> Json:
    """The answer with its citations under the ids that are unique in the run it is for."""
    if isinstance(value, str):
        return _CITED.sub(lambda match: f"[{known.get(match[1], match[1])}]", value)
    if isinstance(value, dict):
        fields = msgspec.convert(value, dict[str, Any])
        return {name: _recited(each, known) for name, each in fields.items()}
    if isinstance(value, list):
        return [_recited(each, known) for each in msgspec.convert(value, list[Any])]
    return value


def _failed(code: Code, text: str, outcome: Outcome) -> Observation:
    return Observation(content=error_text(code, text), ok=False, code=code, outcome=outcome)
