"""Self-consistency: several runs of one agent answer the same question, and the answers decide.

Wang et al., arXiv 2203.11171, over whole runs with tools. The vote's record contains everything it
was decided from; each run has its own record.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Generic, TypeAlias

import msgspec
from typing_extensions import TypeVar

from clew import (
    Agent,
    Audio,
    ConfigError,
    Failed,
    File,
    Held,
    Image,
    Limits,
    Question,
    Result,
    Trajectory,
    Usage,
    pending_approvals,
    read,
)
from clew.agent.agent import A_co, is_agent
from clew.agent.labels import begins
from clew.agent.read_result import result
from clew.agent.runner import complete, has_begun, load_if_begun, start, start_or_take_up
from clew.agent.subagents import with_limits
from clew.agent.validate import tool_grants
from clew.concurrency.portal import twin
from clew.core.journal import Journal, load
from clew.interfaces import EFFECTFUL, Changed, Json, Listener, Note, Store
from clew.stores import RunExistsError, Where, store_at
from clew.support.parts import stable_name
from clew.support.run_ids import new_run_id
from clew_strategies.policy import base_agent
from clew_strategies.voting.decision import Ballot, Count, Decision, How, VerifierChoice, ballot
from clew_strategies.voting.policy import (
    RUN,
    VERIFY,
    ToolFunction,
    ballots_in,
    choice_in,
    vote_agent,
    vote_settings,
)
from clew_strategies.voting.runs import VoteRuns, Watch, run_agent, run_id_of
from clew_strategies.voting.verifier import Verifier

D = TypeVar("D", default=Any)

Opening: TypeAlias = Callable[[], Awaitable[Journal]]
"""Opens the record of a vote."""


@dataclass(frozen=True, slots=True)
class Vote(Generic[A_co]):
    """The result of a vote.

    `result` is the result of the whole: the vote's id, summed usage and steps, the evidence and
    audit of the chosen run. `how` says how it was decided, and `words` in a sentence. `counts` are
    the answers with the numbers of their runs, `runs` the result of each run, `chosen` the number
    of the chosen run (0: none), `choice` the verifier's choice.
    """

    result: Result[A_co]
    how: How
    words: str
    chosen: int
    counts: tuple[Count, ...]
    runs: tuple[Ballot, ...]
    choice: VerifierChoice | None = None

    @property
    def answer(self) -> A_co | str | None:
        """The answer of the whole, if any: of its type, or the words of who declined."""
        return self.result.answer


async def vote(
    agent: Agent[A_co, D],
    goal: Question,
    k: int = 3,
    *,
    verifier: Verifier | None = None,
    limits: Limits | None = None,
    store: Where = None,
    run_id: str = "",
    listener: Listener | None = None,
    watch: Watch | None = None,
    origin: dict[str, Json] | None = None,
    notes: Sequence[Note] = (),
    labels: Mapping[str, str] | None = None,
    owner: str | None = None,
    deps: D | None = None,
) -> Vote[A_co]:
    """Answer with `k` runs of the agent at once; decide by agreement, verifier or majority.

    `limits` (by default the agent's) apply to the whole: tokens, cost and calls are divided among
    the runs, and a verifying agent. With the `run_id` of an existing vote, the vote continues, and
    finished runs are not paid again; while another call of it is at work, this one waits. Its
    question, settings and labels must be the same.
    `listener` observes the vote's record, `watch` returns a listener for each run. `notes`, such as
    memories, are told to each run. `labels`, `owner` and `deps` are as in `run`, of the vote and of
    each of its runs, and so is the `store`. Raises `ConfigError`, `ModelError` or `StoreError`; all
    records remain.
    """
    planned = plan(agent, k, verifier, limits)
    run_id = run_id or new_run_id()
    store = agent.store if store is None else store
    turn = partial(begins, run_id=run_id, owner=owner, patience=agent.parts.patience)
    async with store_at(store) as opened, turn(opened, if_busy="wait"):
        runs = VoteRuns(planned.agent, k, verifier is not None, opened, watch, origin or {}, notes)
        own = planned.own(runs)
        begin = partial(
            start, own, goal, opened,
            run_id=run_id, listener=listener, origin=runs.origin,
            labels=labels, owner=owner, deps=deps,
        )  # fmt: skip
        go_on = partial(
            start_or_take_up, own, goal, opened, run_id, listener=listener, labels=labels, deps=deps
        )
        journal = await _open_vote(own, goal, opened, run_id, owner, begin, go_on)
        return await _vote(planned.agent, own, runs, journal)


@dataclass(frozen=True, slots=True)
class VotePlan:
    """The agents of a vote, each with its share of the limits."""

    agent: Agent[Any]
    k: int
    verifier: Verifier | None

    @property
    def params(self) -> dict[str, Json]:
        """The settings that the vote's record keeps."""
        verifier = self.verifier
        named = verifier.spec.fingerprint if is_agent(verifier) else stable_name(verifier)
        return {
            "k": self.k,
            "verifier": named,
            "payers": _payers(self.k, verifier),
            "agent": run_agent(self.agent, 1).spec.fingerprint,
        }

    def own(self, runs: VoteRuns) -> Agent[Any]:
        """The agent of the vote's own record."""
        verify: ToolFunction | None = None
        wanted: tuple[Any, ...] = ()
        if is_agent(self.verifier):
            verify = partial(runs.verify, self.verifier)
            wanted = () if self.verifier.deps is not None else self.verifier.deps_wanted
        elif self.verifier is not None:
            verify = partial(runs.verify_by_function, self.verifier)
        return vote_agent(self.agent, self.k, self.params, runs.run, verify, wanted)


def plan(
    agent: Agent[Any], k: int, verifier: Verifier | None = None, limits: Limits | None = None
) -> VotePlan:
    """The agents of a vote's runs and verifier, each with its share of the limits.

    Raises `ConfigError` if the limits are too small for `k` runs, or a tool has side effects.
    """
    if type(k) is not int or k < 1:
        message = f"k is {k!r}: give a whole number of runs, 1 or more"
        raise ConfigError(message)
    if acting := [tool.name for tool in agent.tools if tool.effect in EFFECTFUL]:
        inner = [tool.name for tool in base_agent(agent).tools if tool.effect in EFFECTFUL]
        message = (
            f"{k} runs would each do what {', '.join(inner or acting)} does: leave it out of the "
            'vote and act on its answer, or declare effect="read" if it changes nothing'
        )
        raise ConfigError(message)
    total = agent.limits if limits is None else limits
    payers = _payers(k, verifier)
    if is_agent(verifier):
        verifier = verifier.replace(
            limits=_verifier_limits(verifier, share(total, k, payers, verifier))
        )
    return VotePlan(with_limits(agent, share(total, k, payers, agent)), k, verifier)


def _payers(k: int, verifier: Verifier | None) -> int:
    """How many share tokens and cost: the runs, and the verifier if it is an agent."""
    return k + is_agent(verifier)


def share(total: Limits, k: int, payers: int, agent: Agent[Any]) -> Limits:
    """One run's share: tokens, cost and calls are divided; steps and time are not.

    Where the price of the model or of a sub-agent is not known, only a limit on cost that somebody
    set is divided.
    """
    below = tool_grants(agent.tools).values()
    priced = agent.engine.model.info.priced and all(limit.cost is not None for limit in below)
    cost = total.max_cost if priced else total.cost
    calls = {"tool_calls": total.tool_calls}
    calls |= {f"calls_per_tool[{name}]": limit for name, limit in total.calls_per_tool.items()}
    for name, number in (*calls.items(), ("tokens", total.tokens)):
        if number < (heads := payers if name == "tokens" else k):
            message = f"limit {name} is {number}, too few for {heads} runs: raise it, or lower k"
            raise ConfigError(message)
    return replace(
        total,
        tool_calls=total.tool_calls // k,
        calls_per_tool={name: limit // k for name, limit in total.calls_per_tool.items()},
        tokens=total.tokens // payers,
        cost=None if cost is None else cost / payers,
    )


def _verifier_limits(verifier: Agent[Any], part: Limits) -> Limits:
    """The verifier's own limits, or its share of the whole if that is smaller."""
    own = verifier.limits
    costs = [cost for cost in (own.cost, part.cost) if cost is not None]
    return replace(own, tokens=min(own.tokens, part.tokens), cost=min(costs, default=None))


def agent_of(agent: Agent[Any], record: Trajectory, of: Trajectory | None = None) -> Agent[Any]:
    """The agent for replaying a vote's record, or the record of one of its runs.

    `agent` is the one the vote began with, before its limits were divided. For the record of a
    run, `of` is the record of its vote. Raises `ConfigError` where a record is none of a vote.
    """
    try:
        return _agent_of(agent, record, of)
    except (KeyError, TypeError, ValueError) as error:
        name = (record if of is None else of).run_id
        raise ConfigError(f"run {name} has not the settings of a vote: {error!r}") from error


def _agent_of(agent: Agent[Any], record: Trajectory, of: Trajectory | None) -> Agent[Any]:
    if of is None:
        params, tools = vote_settings(record), record.started.spec.tools
        return vote_agent(
            agent, params["k"], params, _nothing, _nothing if VERIFY in tools else None
        )
    params, call = vote_settings(of), of.call(record.started.parent.rpartition(":")[2])
    part = share(agent.limits, params["k"], params["payers"], agent)
    return run_agent(agent.replace(limits=part), call.args["run"], tuple(of.screen_notes))


async def _nothing(args: dict[str, Json], key: str) -> Json:
    """Placeholder tool: a replay calls none."""
    del args, key


async def _vote(agent: Agent[Any], own: Agent[Any], runs: VoteRuns, journal: Journal) -> Vote[Any]:
    runs.load(journal.trajectory)
    with runs.scope:
        await complete(own, journal)
    if runs.error is not None:
        raise runs.error
    if journal.trajectory.stop is None:
        for error in filter(None, runs.waiting.values()):
            raise error
    return await _read(agent, journal.trajectory, runs.store)


def _is_asked(trajectory: Trajectory, goal: Question) -> bool:
    """Whether a record begins with this question, wherever its attachments are kept."""
    began = [
        msgspec.structs.replace(part, blob="")
        if isinstance(part, Audio | File | Image)
        else part.text
        for part in trajectory.started.question
    ]
    return began == ([goal] if isinstance(goal, str) else [*goal])


async def _open_vote(
    own: Agent[Any],
    goal: Question,
    store: Store,
    run_id: str,
    owner: str | None,
    begin: Opening,
    go_on: Opening,
) -> Journal:
    """Create the vote's record, or continue it if it has the same settings."""
    if not await has_begun(store, run_id):  # else its deps would be made in vain
        with suppress(RunExistsError):
            return await begin()
    trajectory = await read(run_id, store=store, owner=owner)
    if (was := vote_settings(trajectory)) != own.engine.model.info.params or not _is_asked(
        trajectory, goal
    ):
        named = [
            name
            for name in own.engine.model.info.params
            if was.get(name) != own.engine.model.info.params[name]
        ]
        message = f"vote {run_id} was begun with another {(named or ['question'])[0]}: vote anew"
        raise ConfigError(message)
    journal = await go_on()
    if (stop := journal.trajectory.stop) is not None and stop.status == "interrupted":
        await journal.record(Changed(own.spec))  # a repeated call means: continue
    return journal


async def vote_status(
    agent: Agent[A_co], run_id: str, *, store: Where = None, owner: str | None = None
) -> Vote[A_co]:
    """The state of a vote, read from its records; nothing is continued.

    With an `owner`, another's vote is not found.
    """
    async with store_at(agent.store if store is None else store) as opened:
        return await _read(agent, await read(run_id, store=opened, owner=owner), opened)


async def _read(agent: Agent[A_co], trajectory: Trajectory, store: Store) -> Vote[A_co]:
    """The state of a vote: ended runs from its record, the others from their own records."""
    texts: dict[str, list[str]] = {RUN: [], VERIFY: []}
    for call in trajectory.calls:
        if call.observation is not None and call.action.name in texts:
            texts[call.action.name].append(call.observation.text)
    ballots, lost = {each.run: each for each in ballots_in(texts[RUN])}, Usage()
    for number in range(1, vote_settings(trajectory)["k"] + 1):
        run = await load_if_begun(store, run_id_of(trajectory.run_id, number))
        if run is None:
            continue
        lost += run.total.lost
        if number not in ballots:
            ballots[number] = ballot(number, run)
    runs = tuple(ballots[number] for number in sorted(ballots))
    verifying = await load_if_begun(store, run_id_of(trajectory.run_id, 0))
    spent = [each.usage for each in runs]
    if verifying is not None:
        spent.append(verifying.usage)
        lost += verifying.total.lost
    decision, base = _decision(trajectory), await _result(agent, trajectory, store, runs)
    if decision.run:
        chosen = result(agent, await load(store, run_id_of(trajectory.run_id, decision.run)))
        names = ("evidence", "cited", "references", "audit", "note", "work", "outcome")
        base = replace(base, **{name: getattr(chosen, name) for name in (*names, "contradicted")})
    steps = sum(each.steps for each in runs)
    total = replace(base, usage=sum(spent, start=Usage()), steps=steps, lost=lost)
    choice = choice_in(texts[VERIFY])
    return Vote(total, decision.how, decision.words, decision.run, decision.counts, runs, choice)


async def _result(
    agent: Agent[A_co], trajectory: Trajectory, store: Store, runs: tuple[Ballot, ...]
) -> Result[A_co]:
    """The result of the vote's record; an open one is held, or has not ended."""
    if trajectory.stop is not None:
        return result(agent, trajectory)
    waiting = [each.run_id for each in runs if each.status == "held"]
    if not waiting:
        return Failed(run_id=trajectory.run_id, reason="not at its end")
    all_approvals = await pending_approvals(store=store)
    approvals = (one for one in all_approvals if trajectory.run_id in {one.root, one.run_id})
    reason = f"waiting for a ruling in {', '.join(waiting)}"
    return Held(run_id=trajectory.run_id, reason=reason, pending_approvals=tuple(approvals))


def _decision(trajectory: Trajectory) -> Decision:
    """The decision in the last thought that has one."""
    for step in reversed(trajectory.steps):
        if step.thought is not None and (wire := step.thought.reply.wire) is not None:
            return msgspec.convert(wire.items, Decision)
    return Decision("none")


vote_sync = twin(vote)
vote_status_sync = twin(vote_status)
