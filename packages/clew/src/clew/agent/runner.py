"""Runs opened, driven and left: whose agent it is, and what a worker that leaves may have cost."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from clew.agent.agent import A_co, Agent
from clew.agent.agent_of_run import check_agent
from clew.agent.foreign import ForeignRunError, close_off
from clew.agent.labels import check_same_run, checked_labels, checked_owner
from clew.agent.question import Question, check_takes, is_empty, question_parts
from clew.agent.read_result import complete_result
from clew.agent.result import Result
from clew.agent.run_deps import deps_for
from clew.agent.streaming.followers import FOLLOWERS
from clew.agent.streaming.work import AT_WORK, Work
from clew.context.compaction import asks_model
from clew.core.actions import Done
from clew.core.codes import Trust
from clew.core.contents import Asked, Grant, Usage, text_parts
from clew.core.effects import with_those_within
from clew.core.events import SCHEMA, AnyEvent, Changed, Charged, Forked, Started
from clew.core.fork import ForkPoint
from clew.core.journal import Journal, load
from clew.core.listeners import Listener
from clew.core.loop import run
from clew.core.moves import next_move
from clew.core.pending import ancestors
from clew.core.redaction import redact, secrets
from clew.core.spec_changes import changes
from clew.core.stores import Store
from clew.core.trajectory import Trajectory
from clew.core.values import Json
from clew.deps.run_context import RUNNING, Running
from clew.deps.run_identity import RunIdentity
from clew.support.arguments import check_argument
from clew.support.errors import ConfigError, RunNotFoundError
from clew.support.live import LIVE
from clew.support.run_ids import check_run_id, new_run_id
from clew.support.settings import check_text

_LOST: Final = "a model call may have been lost when the worker died"
_LEFT: Final = "the worker left between two steps: nothing was asked"
_FAILED: Final = "the model, or the store, failed the worker"


async def has_begun(store: Store, run_id: str) -> bool:
    """Whether the run has an entry; a worker may have died before the first."""
    try:
        return bool(await store.read(run_id))
    except RunNotFoundError:
        return False


async def load_if_begun(store: Store, run_id: str) -> Trajectory | None:
    """The record of the run; None where it has no entry.

    Raises `ForeignRunError` for one that came from outside: it answers for no run of this store.
    """
    record = await load(store, run_id) if await has_begun(store, run_id) else None
    if record is not None and record.is_foreign:
        raise ForeignRunError(run_id)
    return record


def _question(agent: Agent[Any], goal: Question) -> Asked:
    """The parts of a new run's question. Raises `ConfigError` where they cannot be asked."""
    if isinstance(goal, str):
        check_text("the question", goal)
        question, empty = text_parts(goal), not goal.strip()
    else:
        question = question_parts("the question", goal)
        check_takes(agent, question)
        empty = is_empty(question)
    if empty:
        message = "the question is empty: say what you want to know"
        raise ConfigError(message)
    return question


async def start(
    agent: Agent[Any],
    goal: Question,
    store: Store,
    *,
    run_id: str = "",
    parent: str = "",
    listener: Listener | None = None,
    origin: dict[str, Json] | None = None,
    queue: str = "",
    grant: Grant | None = None,
    trust: Trust = "trusted",
    done: tuple[Done, ...] = (),
    labels: Mapping[str, str] | None = None,
    owner: str | None = None,
    deps: object = None,
    history: Sequence[AnyEvent] = (),
) -> Journal:
    """Begin a run's record without thinking yet.

    `parent` is the call that a sub-run serves, `grant` what it may take and `trust` that of its
    goal; a run with a `queue` is left to whoever serves that. `done` are side effects of earlier
    runs for the same task: the model is told of them, and their repetition is held. The `deps` of
    a run in a queue are made by whoever takes it up. `history` came after the goal, elsewhere.
    """
    question = _question(agent, goal)
    if origin is not None:
        check_argument("origin", origin, dict, "a dict of what the run was made of")
    if not parent:  # a sub-run has the id of its call
        check_run_id(run_id)
    run_id = run_id or new_run_id()
    labels = checked_labels(labels) if labels else {}
    owner = "" if owner is None else checked_owner(owner)
    if not queue and (parent or deps is not None or agent.deps is not None or agent.deps_wanted):
        deps = await _deps(agent, RunIdentity(run_id, labels, owner), deps, parent)
    started = Started(
        question, agent.spec, SCHEMA, agent.engine.seed, parent,
        redact(origin) if origin else {}, queue, grant, trust, done, labels, owner,
    )  # fmt: skip
    journal = await Journal.create(
        store, started, run_id, history, secrets=secrets(), listener=listener
    )
    journal.deps = deps
    return journal


async def take_up(
    agent: Agent[Any],
    run_id: str,
    store: Store,
    *,
    accept_change: bool = False,
    listener: Listener | None = None,
    origin: dict[str, Json] | None = None,
    parent: str = "",
    deps: object = None,
) -> Journal:
    """Open a run for work, having made sure that the agent is the record's or may differ.

    `origin` is recorded with a change, as `start` does it at the beginning. Where a worker may have
    died while the model was thinking, what that may have cost is charged. A sub-run is only taken
    up for its `parent`, the call that it serves. What came from outside is closed off first.
    """
    trajectory = await load(store, run_id)
    if parent != trajectory.parent_call:
        await refuse_sub_run(store, trajectory)
    check_agent(agent, trajectory, accept_change=accept_change)  # before anybody is fenced off
    if parent or deps is not None or agent.deps is not None or agent.deps_wanted:
        deps = await _deps(agent, _identity(trajectory), deps, parent)
    journal = await Journal.open(store, run_id, trajectory, secrets=secrets(), listener=listener)
    journal.deps = deps
    events: list[AnyEvent] = []
    different = check_agent(agent, trajectory, accept_change=accept_change)
    if await close_off(agent, journal, different, origin):
        return journal
    if _may_have_asked(journal) and _pays_next(agent, trajectory, other=bool(different)):
        events.append(
            Charged(agent.engine.budget.standing(trajectory).expected, "lost_reply", _LOST)
        )
    if different:
        events.append(Changed(agent.spec, different, redact(origin) if origin else {}))
    if events:
        await journal.record(*events)
    return journal


async def start_fork(
    agent: Agent[Any],
    point: ForkPoint,
    store: Store,
    run_id: str = "",
    *,
    listener: Listener | None = None,
    origin: dict[str, Json] | None = None,
    call: str = "",
    grant: Grant | None = None,
    deps: object = None,
) -> Journal:
    """Create the fork's record without thinking yet; as a sub-run, it serves `call`.

    It is told of the effects of the point, and of those that sub-runs had within them.
    """
    if not call:  # a sub-run has the id of its call
        check_run_id(run_id)
    trajectory = Trajectory(point.parent, point.shared)
    what = (
        *changes(trajectory.spec or trajectory.started.spec, agent.spec),
        *point.changed,
    )
    run_id = run_id or new_run_id()
    if call or deps is not None or agent.deps is not None or agent.deps_wanted:
        deps = await _deps(agent, _identity(trajectory, run_id), deps, call)
    made_of = redact(origin) if origin else {}
    done = tuple((await with_those_within(store, point.done)).values())
    first = Forked(
        point.parent, point.step, agent.spec, what, done, len(point.again), made_of,
        call, grant,
    )  # fmt: skip
    journal = await Journal.fork(
        store, point.base, point.shared, (first, *point.again), run_id,
        secrets=secrets(), listener=listener,
    )  # fmt: skip
    journal.deps = deps
    await close_off(agent, journal)
    return journal


async def start_or_take_up(
    agent: Agent[Any],
    goal: Question,
    store: Store,
    run_id: str,
    *,
    accept_change: bool = False,
    listener: Listener | None = None,
    origin: dict[str, Json] | None = None,
    parent: str = "",
    grant: Grant | None = None,
    trust: Trust = "trusted",
    done: tuple[Done, ...] = (),
    labels: Mapping[str, str] | None = None,
    owner: str | None = None,
    deps: object = None,
) -> Journal:
    """Open the run of this id for work: begun now, or taken up where its record is.

    Raises `ConfigError` where the record is another's: it serves another call, or, where no call
    is served, answers another question, or has other labels; and `RunNotFoundError` where it is
    another owner's.
    """
    checked_owner(owner)
    trajectory = await load_if_begun(store, run_id)
    if trajectory is None:
        return await start(
            agent, goal, store, run_id=run_id, parent=parent,
            listener=listener, origin=origin, grant=grant, trust=trust, done=done,
            labels=labels, owner=owner, deps=deps,
        )  # fmt: skip
    own = not parent
    check_same_run(trajectory, goal if own else None, labels if own else None, owner)
    if parent != (trajectory.parent_call or trajectory.started.parent):
        message = f"run {run_id} is another's: give this one an id of its own"
        raise ConfigError(message)
    return await take_up(
        agent, run_id, store,
        accept_change=accept_change, listener=listener, origin=origin,
        parent=trajectory.parent_call, deps=deps,
    )  # fmt: skip


def _identity(record: Trajectory, run_id: str = "") -> RunIdentity:
    """What the record says of whose run it is; of a fork that is what the first run's says."""
    return RunIdentity(run_id or record.run_id, record.started.labels, record.started.owner)


async def _deps(agent: Agent[Any], run: RunIdentity, deps: object, served: str) -> Any:
    return await deps_for(agent, run, deps, agent.parts.patience, serves=bool(served))


async def complete(agent: Agent[Any], journal: Journal) -> Trajectory:
    """Advance the run until it stops, or waits for a person: how every face does it.

    Raises `ModelError`, `PartError` or `StoreError`; then its record is open.
    """
    work = Work(agent, journal, LIVE.get())  # as `working` does it, at no call where none follows
    AT_WORK.add(work)
    before = LIVE.set(work)
    outer = RUNNING.set(Running(journal.deps, agent.parts.left, agent.deps))
    try:
        if FOLLOWERS:
            work.look()
        return await run(agent.engine, journal)
    finally:
        LIVE.reset(before)
        RUNNING.reset(outer)
        AT_WORK.discard(work)
        if work.followed:
            work.end()


async def drive(agent: Agent[A_co], journal: Journal) -> Result[A_co]:
    """As `complete`: what the run came to, with what waits in its sub-runs."""
    return await complete_result(agent, await complete(agent, journal), journal.store)


async def leave(agent: Agent[Any], journal: Journal) -> None:
    """Record that no due thought was requested; otherwise the next worker charges one."""
    idle = journal.trajectory.entries[-1].epoch < journal.epoch  # nothing says that it lived
    if journal.trajectory.stop is None and (idle or _pays_next(agent, journal.trajectory)):
        await journal.record(Charged(Usage(), "left", _LEFT))


async def record_failure(agent: Agent[Any], journal: Journal) -> None:
    """Record that the worker is alive, and charge what it may have requested in vain."""
    pays = _pays_next(agent, journal.trajectory)
    usage = agent.engine.budget.standing(journal.trajectory).expected if pays else Usage()
    await journal.record(Charged(usage, "failed", _FAILED))


def _pays_next(agent: Agent[Any], trajectory: Trajectory, *, other: bool = False) -> bool:
    """Whether the next thing asks the model, and takes tokens of somebody.

    Where the agent is an `other`, its bounds say nothing of what the one before it did.
    """
    info = agent.engine.model.info
    if info.unmetered or info.wait:  # a reply that waits is not lost
        return False
    move = next_move(agent.engine, trajectory, screened=trajectory.words is None)
    asks = move.kind in {"think", "review"} or asks_model(move.less, trajectory)
    return asks or (other and move.kind == "land")


def _may_have_asked(journal: Journal) -> bool:
    """Whether the worker before this one may have asked the model, and died.

    Not where its last entry says that it left, and not where the run was only put in a queue;
    unless somebody took the run up after that, and wrote nothing.
    """
    last = journal.trajectory.entries[-1]
    left = isinstance(last.event, Charged) and last.event.kind in {"left", "failed"}
    queued = isinstance(last.event, Started) and bool(last.event.queue)
    return not (left or queued) or journal.epoch > last.epoch + 1


async def refuse_sub_run(store: Store, trajectory: Trajectory) -> None:
    """Raise `ConfigError` for a run that continues through another, and name that run."""
    if not (above := await ancestors(store, trajectory)):
        return
    (served, call), (root, _) = above[0], above[-1]
    message = (
        f"run {trajectory.run_id} serves call {call.key} of run {served.run_id}: "
        f"resume run {root.run_id}"
    )
    raise ConfigError(message)
