"""Words to a run that others are at work on: they wait in its inbox, and are answered in order.

Whoever works on the run next answers them, in any process, even if the one that left them is gone.
"""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from functools import partial
from typing import Any, Final

import anyio

from clew.agent.agent import A_co, Agent
from clew.agent.agent_of_run import differs
from clew.agent.labels import load_of
from clew.agent.open_run import OpenRun, open_run
from clew.agent.question import Question, message_parts
from clew.agent.read_result import complete_result
from clew.agent.request_words import check_same_words, turn_of, words_of
from clew.agent.result import Result
from clew.core.contents import Asked
from clew.core.events import Note
from clew.core.inbox import encode_message, queued_in
from clew.core.journal import load
from clew.core.listeners import Listener
from clew.core.redaction import redact
from clew.core.stores import Store
from clew.core.values import Json
from clew.stores.turns import is_mine, is_taken
from clew.stores.user_store import location_of
from clew.support.errors import ConfigError, RunBusyError
from clew.support.run_ids import new_run_id
from clew.support.settings import check_text

_LOOK: Final = 0.1  # seconds between two looks whether another process is done


def _unwatched() -> None:
    """Nobody wants to know when the words are taken."""


async def say_in_turn(
    agent: Agent[A_co],
    run_id: str,
    words: Question,
    store: Store,
    *,
    request: str = "",
    accept_change: bool = False,
    listener: Listener | None = None,
    origin: dict[str, Json] | None = None,
    owner: str | None = None,
    deps: Any = None,
    taken: Callable[[], None] = _unwatched,
) -> Result[A_co]:
    """Say something to a run, once for each `request`; what it comes to when its turn has come.

    Where somebody is at work on the run, the words are put into its inbox, and wait there. `taken`
    is called when they wait, or the run is open for them.
    """
    parts = message_parts(agent, "say", words)
    check_text("request", request)
    opening = partial(
        open_run, agent, run_id=run_id, store=store, accept_change=accept_change,
        listener=listener, origin=origin, owner=owner, deps=deps,
    )  # fmt: skip
    record = await load_of(store, run_id, owner)
    takes_over = differs(agent, record, accept_change=accept_change)
    if (known := words_of(record, request)) is not None:
        check_same_words(request, known, parts)
    else:
        while True:
            async with AsyncExitStack() as stack:
                key = location_of(store), run_id
                if (opened := await _opened(stack, opening, key)) is not None:
                    taken()
                    return await opened.go_on(words, request=request)
            if not takes_over:
                break
            await anyio.sleep(_LOOK)  # whoever is at work would answer as the agent before it
        request = request or f"word-{new_run_id()}"
        await _queue(store, run_id, parts, request)
    taken()
    return await _answered(agent, run_id, request, store, opening)


async def leave_words(
    agent: Agent[Any],
    run_id: str,
    words: Question,
    store: Store,
    *,
    request: str = "",
    owner: str | None = None,
) -> None:
    """Put words into the inbox of a run, once for each `request`, for whoever works on it next."""
    parts = message_parts(agent, "say", words)
    known = words_of(await load_of(store, run_id, owner), request)
    if known is None:
        await _queue(store, run_id, parts, request or f"word-{new_run_id()}")
    else:
        check_same_words(request, known, parts)


async def _opened(
    stack: AsyncExitStack,
    opening: Callable[[], AbstractAsyncContextManager[OpenRun[A_co]]],
    key: tuple[Any, str],
) -> OpenRun[A_co] | None:
    """The run, open for work; None where others are at work on it."""
    if is_taken(key) and not is_mine(key):
        return None
    try:
        return await stack.enter_async_context(opening())
    except RunBusyError:
        return None


async def _queue(store: Store, run_id: str, parts: Asked, request: str) -> None:
    """Put words into the inbox of a run, unless they are there."""
    for note in (await queued_in(store, run_id)).values():
        if note.request == request:
            check_same_words(request, note.parts, parts)
            return
    await store.post(run_id, encode_message(redact(Note(parts, request=request, queued=True))))


async def _answered(
    agent: Agent[A_co],
    run_id: str,
    request: str,
    store: Store,
    opening: Callable[[], AbstractAsyncContextManager[OpenRun[A_co]]],
) -> Result[A_co]:
    """What a run came to after a request's words, as soon as it is their turn.

    One that is held, and has got a ruling or is to end, goes on first.
    """
    went_on = False
    while True:
        record = await load(store, run_id)
        turn = turn_of(record, request)
        if turn is not None and turn.stop is not None:
            is_held = turn.stop.status == "held" and turn.entries[-1] == record.entries[-1]
            if went_on or not is_held or not await store.inbox(run_id):
                return await complete_result(agent, turn, store)
        try:
            async with opening() as opened:
                turn = turn_of(opened.record, request)
                waiting = await queued_in(store, run_id)
                if turn is None and all(note.request != request for note in waiting.values()):
                    message = f"the words of request {request!r} were set aside: say them again"
                    raise ConfigError(message)
                if turn is None or turn.stop is None or await store.inbox(run_id):
                    await opened.go_on()
                    went_on = True
        except RunBusyError:
            await anyio.sleep(_LOOK)
