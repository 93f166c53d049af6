"""What a user calls: run, resume, fork, replay and batch, and the sync twins of all.

The store may be a `Store`, a place (path) or None for the default place; a store opened here is
closed here.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic

import anyio

from clew.agent.agent import A_co, Agent, D
from clew.agent.compare import as_begun, as_judged
from clew.agent.labels import begins, load_of
from clew.agent.open_run import open_fork, open_run
from clew.agent.question import Question, question_parts
from clew.agent.queued_words import say_in_turn
from clew.agent.read_result import complete_result
from clew.agent.rendered_prompt import RenderedPrompt, as_asked, render_prompt
from clew.agent.result import Failed, Result
from clew.agent.run_deps import deps_for_replay
from clew.agent.runner import drive, start, start_or_take_up
from clew.agent.sessions import check_session, converse
from clew.agent.streaming.tasks import join
from clew.concurrency.portal import twin
from clew.concurrency.tasks import one_error
from clew.core.codec import Codec, Shape
from clew.core.fork import find_fork_point
from clew.core.journal import Journal
from clew.core.listeners import Listener
from clew.core.replay import Replayed
from clew.core.replay import replay as replay_record
from clew.core.stores import Store
from clew.core.trajectory import Trajectory
from clew.core.values import Json
from clew.deps.run_context import RUNNING, Running
from clew.deps.run_identity import RunIdentity
from clew.stores import Where, store_at
from clew.stores.memory import MemoryStore
from clew.stores.turns import IfBusy
from clew.support.arguments import check_argument, check_callable, check_number
from clew.support.errors import ConfigError, ModelError
from clew.support.resources import resources
from clew.support.run_ids import new_run_id
from clew.support.settings import check_text

__all__ = [
    "batch", "fork", "prompt_of", "read", "replay", "result_of", "resume", "run", "run_sync",
]  # fmt: skip


async def run(
    agent: Agent[A_co, D],
    goal: Question,
    *,
    store: Where = None,
    run_id: str = "",
    listener: Listener | None = None,
    origin: dict[str, Json] | None = None,
    labels: Mapping[str, str] | None = None,
    owner: str | None = None,
    deps: D | None = None,
    session: str | None = None,
    request: str = "",
    accept_change: bool = False,
) -> Result[A_co]:
    """Answer a goal. Raises `ModelError` or `StoreError`; the record stays and can be resumed.

    `labels` (16 short texts by name) and the `owner` are recorded with the run; its forks and
    sub-runs have the same. They serve to list runs, and calls with an `owner` find no other's.
    `deps` reach its tools, guards, checks and prompts by their `RunContext`, and are not recorded;
    without them the agent's own factory makes them (`Agent.deps`). The `store` is the agent's own
    unless another is named.

    A `session` names a conversation among those of the owner: the goal begins it, or is said in it
    after all that was said before, in any process. A client's own id of the `request` makes that
    safe to send twice, and `accept_change` is `resume`'s.
    """
    if not isinstance(goal, str):  # None would open the run of an id
        question_parts("the question", goal)
    if session is not None:
        _check_agent(agent)
        store = agent.store if store is None else store
        async with store_at(store) as opened_store, resources(agent):
            return await converse(
                agent, goal, check_session(session, run_id, owner), opened_store,
                request=request, accept_change=accept_change, listener=listener,
                origin=origin, labels=labels, owner=owner, deps=deps,
            )  # fmt: skip
    if request or accept_change:
        raise ConfigError("request and accept_change are of a conversation: give its session too")
    opening = open_run(
        agent, goal, run_id=run_id, store=store, listener=listener, origin=origin,
        labels=labels, owner=owner, deps=deps,
    )  # fmt: skip
    async with opening as opened:
        return await opened.go_on()


async def resume(
    agent: Agent[A_co, D],
    run_id: str,
    *,
    say: Question = "",
    request: str = "",
    store: Where = None,
    accept_change: bool = False,
    take_over: bool = False,
    listener: Listener | None = None,
    owner: str | None = None,
    deps: D | None = None,
) -> Result[A_co]:
    """Continue a run: after a crash, a ruling, a raised limit, or with a message (`say`).

    A stopped run without anything new returns its result again, unless a person interrupted it.
    While another call of this process works on the run, this one waits, and then continues from
    what that recorded; it joins what `start` began. A message waits for its turn on disk, whichever
    process is at work, and comes to the result of that turn. Raises `ConfigError` if the agent
    differs from the record's without `accept_change`, and, without a message, if another process
    has the run; `take_over` fences off whoever has it.
    With an `owner`, another's run is not found. A client's own id of its `request` makes a message
    safe to send twice: it is added once. `deps` are as in `run`; without them nothing runs.
    """
    _check_agent(agent)
    store = agent.store if store is None else store
    if say != "" and not take_over:
        async with store_at(store) as opened_store, resources(agent):
            return await say_in_turn(
                agent, run_id, say, opened_store, request=request, accept_change=accept_change,
                listener=listener, owner=owner, deps=deps,
            )  # fmt: skip
    if not take_over:
        joined = await join(agent, run_id, store, listener, owner, accept_change=accept_change)
        if joined is not None:
            return await joined.wait()
    async with open_run(
        agent, run_id=run_id, store=store, accept_change=accept_change, take_over=take_over,
        listener=listener, owner=owner, deps=deps,
    ) as opened:  # fmt: skip
        return await opened.go_on(say, request=request)


async def fork(
    agent: Agent[A_co, D],
    run_id: str,
    *,
    at: int,
    observations: Mapping[str, Any] | None = None,
    say: Question = "",
    store: Where = None,
    new_id: str = "",
    listener: Listener | None = None,
    origin: dict[str, Json] | None = None,
    owner: str | None = None,
    deps: D | None = None,
) -> Result[A_co]:
    """Start a new run with the first `at` steps of another, and continue it.

    The agent may be any; the record keeps the differences. `observations` replace what calls of
    step `at` returned ({"2.1": "nothing found"}); `say` adds a message. No call of the shared steps
    is repeated. Raises `ConfigError` if the run cannot be forked there.
    """
    async with open_fork(
        agent, run_id, at=at, observations=observations, say=say, store=store, new_id=new_id,
        listener=listener, origin=origin, owner=owner, deps=deps,
    ) as opened:  # fmt: skip
        return await opened.go_on()


def _check_agent(agent: object) -> None:
    """Raise `ConfigError` for what is no agent."""
    check_argument("agent", agent, Agent, "an Agent")


async def result_of(
    agent: Agent[A_co], run_id: str, *, store: Where = None, owner: str | None = None
) -> Result[A_co]:
    """The result of a stopped run, from its record. Raises `ConfigError` if it has not stopped."""
    _check_agent(agent)
    async with store_at(agent.store if store is None else store) as opened:
        record = await load_of(opened, run_id, owner)
        if record.stop is None:
            message = f"run {run_id} has not stopped: resume it, or wait for its worker"
            raise ConfigError(message)
        return await complete_result(agent, record, opened)


async def replay(
    agent: Agent[Any, D],
    run_id: str,
    *,
    store: Where = None,
    stand_ins: frozenset[str] = frozenset(),
    owner: str | None = None,
    deps: D | None = None,
) -> Replayed:
    """Run the record again without a single call. Raises `ReplayError` at the first divergence.

    `stand_ins` stand in for parts of the record, as `clew.agent_files.replay_doubles` makes them.
    With an `owner`, another's run is not found. `deps` are for the prompt's tail, which alone is
    called again; without them the agent's factory makes them of the record.
    """
    _check_agent(agent)
    async with store_at(agent.store if store is None else store) as opened:
        record = await load_of(opened, run_id, owner)
        agent = await as_asked(agent, record, opened)
    agent = as_begun(as_judged(agent, record), record)
    identity = RunIdentity(run_id, record.started.labels, record.started.owner)
    deps = await deps_for_replay(agent, identity, deps, agent.parts.patience)
    outer = RUNNING.set(Running(deps, agent.parts.left, agent.deps))
    try:
        return await replay_record(agent.engine, record, MemoryStore(), stand_ins)
    finally:
        RUNNING.reset(outer)


async def read(
    run_id: str, *, at: int | None = None, store: Where = None, owner: str | None = None
) -> Trajectory:
    """A run as recorded, without opening it; with `at` as it stood when that step was complete.

    With an `owner`, another's run is not found (`RunNotFoundError`).
    """
    async with store_at(store) as opened:
        record = await load_of(opened, run_id, owner)
    if at is None:
        return record
    shared = Trajectory(run_id, find_fork_point(record, at).shared)
    shared.foreign = record.foreign
    return shared


async def prompt_of(
    run_id: str,
    step: int | None = None,
    *,
    store: Where = None,
    codec: Codec | None = None,
    shape: Shape | None = None,
    owner: str | None = None,
) -> RenderedPrompt:
    """Rebuild the prompt of thought number `step` (default: the last one) from the record.

    Pass `codec` and `shape` of the agent if they do not ship with clew. With an `owner`, another's
    run is not found. Raises `ConfigError` if
    there is no such thought, or the record does not say how its prompt was made.
    """
    if step is not None:
        check_number("step", step)
    async with store_at(store) as opened:
        record = await load_of(opened, run_id, owner)
        return await render_prompt(record, opened, step, codec=codec, shape=shape)


@dataclass
class _Batch(Generic[A_co]):
    done: int = 0
    results: dict[int, Result[A_co]] = field(default_factory=dict[int, "Result[A_co]"])


async def _ended(agent: Agent[A_co, D], begun: Awaitable[Journal]) -> Result[A_co]:
    """What a run came to; one whose model failed has failed, and stays open."""
    journal = await begun
    try:
        return await drive(agent, journal)
    except ModelError as error:
        record = journal.trajectory
        return Failed(
            run_id=record.run_id, reason=str(error), code="model",
            usage=record.usage, steps=len(record.steps),
        )  # fmt: skip


async def batch(
    agent: Agent[A_co, D],
    goals: Sequence[Question],
    *,
    at_once: int = 8,
    name: str = "",
    store: Where = None,
    on_done: Callable[[int, int, Result[A_co]], None] | None = None,
    labels: Mapping[str, str] | None = None,
    owner: str | None = None,
    deps: D | None = None,
) -> list[Result[A_co]]:
    """Answer many goals, `at_once` at a time; returns the results in the order of the goals.

    `on_done(done, total, result)` is called as each run ends. A run whose model failed has the
    status "failed" and the error as its reason; its record stays open. All have the same `labels`,
    `owner` and `deps`.

    With a `name` it goes on where it was left, in any process: the runs are called NAME-1, NAME-2
    and so on, those that have stopped return their results again, and the others are resumed.
    """
    _check_agent(agent)
    check_argument("goals", goals, (list, tuple), "a list of questions")
    for goal in goals:
        question_parts("the question", goal)
    check_number("at_once", at_once, 1)
    check_text("the batch's name", name)
    check_callable("on_done", on_done, "a function")
    state = _Batch[A_co]()
    limiter = anyio.Semaphore(at_once)

    async def one(opened: Store, index: int, goal: Question) -> None:
        run_id = f"{name}-{index + 1}" if name else new_run_id()
        if_busy: IfBusy = "wait" if name else "refuse"
        async with limiter, begins(opened, run_id, owner, agent.parts.patience, if_busy):
            begin = partial(start_or_take_up if name else start, agent, goal, opened)
            begun = begin(run_id=run_id, labels=labels, owner=owner, deps=deps)
            outcome = await _ended(agent, begun)
        state.results[index] = outcome
        state.done += 1
        if on_done is not None:
            on_done(state.done, len(goals), outcome)

    async with store_at(agent.store if store is None else store) as opened, resources(agent):
        with one_error():
            async with anyio.create_task_group() as group:
                for index, goal in enumerate(goals):
                    group.start_soon(one, opened, index, goal)
    return [state.results[index] for index in range(len(goals))]


run_sync = twin(run)
