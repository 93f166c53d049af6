"""Leaving a run to workers: `submit`. `follow` watches it, as any run.

Workers are whatever serves the queue of the run, in this process or another (`clew.workers`).
"""

import hashlib
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

from clew.agent.agent import Agent
from clew.agent.labels import (
    check_same_run,
    load_of,
    refuse_anothers,
    refuse_anothers_soon,
)
from clew.agent.question import Question, question_parts
from clew.agent.queued_words import leave_words
from clew.agent.request_words import REQUEST, check_same_words
from clew.agent.runner import load_if_begun, start
from clew.agent.sessions import check_session
from clew.core.codes import Trust
from clew.core.journal import Journal
from clew.core.stores import Store
from clew.core.trajectory import Trajectory
from clew.core.values import Json, encode
from clew.stores import Where, store_at
from clew.stores.locks import shared
from clew.support.arguments import check_argument
from clew.support.errors import ConfigError, FencedError, RunExistsError
from clew.support.settings import check_text
from clew.workers.config import QUEUE
from clew.workers.priorities import with_priority


async def submit(
    agent: Agent[Any],
    goal: Question,
    *,
    store: Where = None,
    queue: str = QUEUE,
    run_id: str = "",
    origin: dict[str, Json] | None = None,
    trust: Trust = "trusted",
    labels: Mapping[str, str] | None = None,
    owner: str | None = None,
    request: str = "",
    session: str | None = None,
    priority: int = 0,
) -> str:
    """Create a run in the queue and return its id; a worker executes it.

    The worker needs the agent: from Python you pass it to the worker; for the command line and
    agent files it builds it from the `origin`. It makes the deps by `Agent.deps`. `trust` is that
    of the goal: untrusted if no person wrote it; `labels` and `owner` are as in `clew.run`. A
    client's own id of the `request` makes it safe to send twice: the second time it returns the
    same run. With a `session` the goal is said in that conversation, in its turn. The `priority` is
    a label: the run comes as soon as one that waited so many minutes longer. Raises `ConfigError`
    if workers share no such store or conversation, and for other words or labels.
    """
    labels = _checked(agent, queue, labels, priority)
    async with store_at(agent.store if store is None else store) as opened:
        shared(opened)
        beginning = partial(
            start, agent, goal, opened, origin=origin, queue=queue, trust=trust, owner=owner
        )
        if session is not None:
            run_id = check_session(session, run_id, owner)
            named = {**(labels or {}), **({REQUEST: request} if request else {})}
            if not await _began(partial(beginning, run_id=run_id, labels=named), run_id, opened):
                await _check_served(opened, run_id, session, queue)
                await leave_words(agent, run_id, goal, opened, request=request, owner=owner)
            return run_id
        if request:
            run_id = _run_of(request, run_id, queue, owner)
        elif owner is not None and run_id:
            await refuse_anothers(opened, run_id, owner)
        try:
            return (await beginning(run_id=run_id, labels=labels)).run_id
        except (RunExistsError, FencedError):  # another process is faster, or was
            if not request:
                await refuse_anothers_soon(opened, run_id, owner, agent.parts.patience)
                raise
            _check_same(request, await load_of(opened, run_id, owner), goal, labels)
            return run_id


def _check_same(
    request: str, record: Trajectory, goal: Question, labels: Mapping[str, str] | None
) -> None:
    """Raise `ConfigError` where a request was sent with other words, or labels."""
    check_same_words(request, record.started.question, question_parts("the question", goal))
    check_same_run(record, None, labels, None)


async def _began(beginning: Callable[[], Awaitable[Journal]], run_id: str, store: Store) -> bool:
    """Begin a run; False where it has begun."""
    if await load_if_begun(store, run_id) is None:
        with suppress(RunExistsError):  # another may be faster
            await beginning()
            return True
    return False


async def _check_served(store: Store, run_id: str, session: str, queue: str) -> None:
    """Raise `ConfigError` where no worker of the queue would answer words to the conversation."""
    served = (await load_of(store, run_id)).started.queue
    if served != queue:
        where = f"is in the queue {served!r}" if served else "was not begun by submit"
        message = (
            f"the conversation {session!r} {where}, so workers of the queue {queue!r} leave it "
            "alone: say this with run or start, or submit what begins a conversation"
        )
        raise ConfigError(message, field="session")


def _checked(
    agent: Agent[Any], queue: str, labels: Mapping[str, str] | None, priority: int
) -> Mapping[str, str] | None:
    """The labels with the priority. Raises `ConfigError` for what no worker could do."""
    check_text("queue", queue)
    if not queue:
        raise ConfigError("the queue has no name: leave it out for the usual one")
    check_argument("agent", agent, Agent, "an Agent")
    if agent.deps is None and agent.deps_wanted:
        message = (
            f"a worker has no deps for this run ({agent.deps_wanted[0]}): give Agent(deps=make), a "
            "function of the run, which is told the recorded labels"
        )
        raise ConfigError(message, field="deps")
    return with_priority(labels, priority)


def _run_of(request: str, run_id: str, queue: str, owner: str | None) -> str:
    """The id of the run that a client's request begins, whoever sends it again."""
    check_text("request", request)
    if run_id:
        raise ConfigError("give request or run_id, not both: a request has a run of its own")
    named = encode([queue, owner or "", request])
    return f"request-{hashlib.blake2b(named, digest_size=12).hexdigest()}"
