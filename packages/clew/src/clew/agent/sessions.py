"""Conversations by name: begun with their first words, and continued with all others."""

from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from functools import partial
from typing import Any, Final

import anyio

from clew.agent.agent import A_co, Agent
from clew.agent.labels import check_same_run, checked_owner
from clew.agent.open_run import open_run
from clew.agent.question import Question
from clew.agent.queued_words import say_in_turn
from clew.agent.request_words import REQUEST
from clew.agent.result import Result
from clew.agent.runner import load_if_begun
from clew.agent.session_names import session_run
from clew.core.listeners import Listener
from clew.core.stores import Store
from clew.core.values import Json
from clew.support.errors import ConfigError, RunBusyError, RunExistsError

_LOOK: Final = 0.05  # seconds between two looks whether another has begun the conversation


async def converse(
    agent: Agent[A_co],
    words: Question,
    run_id: str,
    store: Store,
    *,
    request: str = "",
    accept_change: bool = False,
    listener: Listener | None = None,
    origin: dict[str, Json] | None = None,
    labels: Mapping[str, str] | None = None,
    owner: str | None = None,
    deps: Any = None,
    taken: Callable[[], None] = lambda: None,
) -> Result[A_co]:
    """Say something in a conversation, which begins with it if it is new."""
    begins = {**(labels or {}), **({REQUEST: request} if request else {})}
    opening = partial(
        open_run, agent, words, run_id=run_id, store=store, listener=listener,
        origin=origin, labels=begins, owner=owner, deps=deps,
    )  # fmt: skip
    while (record := await load_if_begun(store, run_id)) is None:
        async with AsyncExitStack() as stack:
            try:
                opened = await stack.enter_async_context(opening())
            except (RunExistsError, RunBusyError):  # another begins it, and is faster
                await anyio.sleep(_LOOK)
            else:
                taken()
                return await opened.go_on()
    check_same_run(record, None, labels, owner)
    return await say_in_turn(
        agent, run_id, words, store, request=request, accept_change=accept_change,
        listener=listener, origin=origin, owner=owner, deps=deps, taken=taken,
    )  # fmt: skip


def check_session(session: str | None, run_id: str, owner: str | None) -> str:
    """The id of a run that is asked for by a session, or by its id. Raises `ConfigError`."""
    if session is None:
        return run_id
    if run_id:
        message = "give session or run_id, not both: a session has a run of its own"
        raise ConfigError(message, field="session")
    return session_run(session, checked_owner(owner))
