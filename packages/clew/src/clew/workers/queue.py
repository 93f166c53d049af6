"""Leaving a run to workers: `submit`. `follow` watches it, as any run.

Workers are whatever serves the queue of the run, in this process or another (`clew.workers`).
"""

import hashlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import zip_longest
from typing import Any

from msgspec.structs import replace

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
from clew.core.contents import Text
from clew.core.events import AnyEvent, Note
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
    history: Sequence[AnyEvent] = (),
) -> str:
    """Create a run in the queue and return its id; a worker executes it.

    It is given the agent, or builds it from the `origin`. `trust` is that of the goal: untrusted if
    no person wrote it. A client's own id of the `request` makes it safe to send twice. With a
    `session` the goal is said in that conversation. A run of some `priority` comes as soon as one
    that waited so many minutes longer. A `history` (`conversations.history_of`) came after the
    goal: its last word is answered. Raises `ConfigError` for a store that is not shared.
    """
    labels = _checked(agent, queue, labels, priority)
    async with store_at(agent.store if store is None else store) as opened:
        shared(opened)
        beginning = partial(
            start, agent, goal, opened, origin=origin, queue=queue, trust=trust, owner=owner,
            history=history if session is None else _named_by(request, history),
        )  # fmt: skip
        if session is not None:
            run_id = check_session(session, run_id, owner)
            named = {**(labels or {}), **({REQUEST: request} if request and not history else {})}
            if not await _began(partial(beginning, run_id=run_id, labels=named), run_id, opened):
                words = await _words_for(opened, run_id, session, queue, goal, history)
                await leave_words(agent, run_id, words, opened, request=request, owner=owner)
            return run_id
        if request:
            run_id = _run_of(request, run_id, queue, owner)
        elif owner is not None and run_id:
            await refuse_anothers(opened, run_id, owner)
        try:
            return (await beginning(run_id=run_id, labels=labels)).run_id
        except (RunExistsError, FencedError):  # another process is faster, or was
            if request:
                _check_same(request, await load_of(opened, run_id, owner), goal, labels, history)
                return run_id
            await refuse_anothers_soon(opened, run_id, owner, agent.parts.patience)
            raise


def _check_same(
    request: str,
    record: Trajectory,
    goal: Question,
    labels: Mapping[str, str] | None,
    history: Sequence[AnyEvent],
) -> None:
    """Raise `ConfigError` where a request was sent with other words, or labels."""
    check_same_words(request, record.started.question, question_parts("the question", goal))
    first, *more = record.entries
    begun = (entry.event for entry in more if entry.epoch == first.epoch)  # before any worker's
    for known, event in zip_longest(begun, history):
        told = known.parts if isinstance(known, Note) else ()
        check_same_words(request, told, event.parts if isinstance(event, Note) else ())
    check_same_run(record, None, labels, None)


def _named_by(request: str, history: Sequence[AnyEvent]) -> Sequence[AnyEvent]:
    """The same with the request at its last word, which begins its turn in a conversation."""
    if not history:
        return history
    if not isinstance(last := history[-1], Note):
        message = "the messages end with no words: a conversation goes on with what is said in it"
        raise ConfigError(message, field="session")
    return [*history[:-1], replace(last, request=request)]


async def _words_for(
    store: Store,
    run_id: str,
    session: str,
    queue: str,
    goal: Question,
    history: Sequence[AnyEvent],
) -> Question:
    """What is said in a conversation that has begun: the last word of a history, or the goal."""
    await _check_served(store, run_id, session, queue)
    if not history or not isinstance(last := history[-1], Note):
        return goal
    return [part.text if isinstance(part, Text) else part for part in last.parts]


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
