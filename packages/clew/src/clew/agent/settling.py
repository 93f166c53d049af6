"""Saying what came of a call: one that somebody else performs, or whose outcome nobody knew."""

from typing import Final, overload

from clew.agent.agent import A_co, Agent, D
from clew.agent.approvals import (
    call_of,
    faster_word,
    go_on,
    notify_ancestors,
    recorded_tool,
    recorded_word,
    ruled_on,
    word_on,
)
from clew.agent.foreign import ForeignRunError
from clew.agent.labels import check_by, load_of
from clew.agent.result import Result
from clew.core.events import Json, Settled, encode
from clew.core.inbox import encode_message, words_in
from clew.core.interfaces import Store
from clew.core.journal import wall_clock
from clew.core.pending import ApprovalId, approval_id, digest_of
from clew.core.redaction import redact
from clew.core.settling import is_unknown, waits_for_result
from clew.core.trajectory import Call, Trajectory
from clew.stores import Where, store_at
from clew.support.errors import ConfigError, NotHeldError, StaleApprovalError
from clew.support.json_arguments import REFUSED, unfit
from clew.tools.schema import compile_schema

MAX_BYTES: Final = 1_000_000
"""So long a result may be, as JSON."""


@overload
async def answer(
    call: str,
    value: Json,
    *,
    by: str = ...,
    store: Where = ...,
    owner: str | None = ...,
    agent: None = ...,
    deps: None = ...,
) -> None: ...
@overload
async def answer(
    call: str,
    value: Json,
    *,
    by: str = ...,
    store: Where = ...,
    owner: str | None = ...,
    agent: Agent[A_co, D],
    deps: D | None = ...,
    accept_change: bool = ...,
) -> Result[A_co]: ...
async def answer(
    call: str,
    value: Json,
    *,
    by: str = "",
    store: Where = None,
    owner: str | None = None,
    agent: Agent[A_co, D] | None = None,
    deps: D | None = None,
    accept_change: bool = False,
) -> Result[A_co] | None:
    """Give the result of a call that somebody else performs; with an `agent`, go on.

    `call` is the id of its `PendingApproval` or its key (`run_id:step.index`), `deps` and
    `accept_change` are as in `rule`. The first result counts; repeating it does no harm, and
    completes a delivery that was cut off. Raises `NotHeldError` where the call waits for no result,
    `AlreadyRuledError`, `StaleApprovalError`, and `ConfigError` for a value that does not fit the
    tool's schema of results.
    """
    check_by(by)
    if value is None:
        message = "the result is None: give what came of the call, or refuse it with clew.rule"
        raise ConfigError(message)
    asked = approval_id(call)
    async with store_at(store if agent is None or store is not None else agent.store) as opened:
        record = await _record(opened, asked, owner)
        waiting = call_of(record, asked)
        if waiting.settled is None and not waits_for_result(waiting):
            message = f"call {waiting.key} of run {record.run_id} waits for no result"
            raise NotHeldError(message)
        await _settle(opened, record, waiting, asked, _word(waiting, value, by=by))
        if agent is None:
            return None
        return await go_on(agent, opened, record, deps, accept_change=accept_change)


@overload
async def settle(
    call: str,
    *,
    done: bool,
    result: Json = ...,
    why: str = ...,
    by: str = ...,
    store: Where = ...,
    owner: str | None = ...,
    agent: None = ...,
    deps: None = ...,
) -> None: ...
@overload
async def settle(
    call: str,
    *,
    done: bool,
    result: Json = ...,
    why: str = ...,
    by: str = ...,
    store: Where = ...,
    owner: str | None = ...,
    agent: Agent[A_co, D],
    deps: D | None = ...,
    accept_change: bool = ...,
) -> Result[A_co]: ...
async def settle(
    call: str,
    *,
    done: bool,
    result: Json = None,
    why: str = "",
    by: str = "",
    store: Where = None,
    owner: str | None = None,
    agent: Agent[A_co, D] | None = None,
    deps: D | None = None,
    accept_change: bool = False,
) -> Result[A_co] | None:
    """Say what came of a call whose outcome is unknown; with an `agent`, go on.

    It was `done`, with this `result` if that is known, or it certainly did not happen. `call` is
    its key (`run_id:step.index`), or the id of its `PendingApproval`. The model is told, and the
    run counts the effect accordingly. The first word counts. Raises as `answer` does, and
    `NotHeldError` where the outcome is known.
    """
    check_by(by)
    if not done and result is not None:
        raise ConfigError("what did not happen has no result: leave it out")
    asked = approval_id(call)
    async with store_at(store if agent is None or store is not None else agent.store) as opened:
        record = await _record(opened, asked, owner)
        waiting = call_of(record, asked)
        if waiting.settled is None:
            _check_unknown(record, waiting)
        word = _word(waiting, result, done=done, why=why, by=by)
        await _settle(opened, record, waiting, asked, word)
        if agent is None:
            return None
        return await go_on(agent, opened, record, deps, accept_change=accept_change)


async def _record(store: Store, asked: ApprovalId, owner: str | None) -> Trajectory:
    record = await load_of(store, asked.run_id, owner)
    if record.is_foreign:
        raise ForeignRunError(record.run_id)
    return record


def _word(call: Call, result: Json, *, done: bool = True, why: str = "", by: str = "") -> Settled:
    """What somebody says of a call, as a record may keep it."""
    if problem := unfit(result):
        raise ConfigError(f"the result holds {REFUSED.format(problem)}")
    if (size := len(encode(result))) > MAX_BYTES:
        message = f"the result has {size:,} bytes, and may have {MAX_BYTES:,}: give less of it"
        raise ConfigError(message)
    word = Settled(call.key, done, result, why, by, call.question)
    encode_message(word)
    return redact(word)


def _check_unknown(record: Trajectory, call: Call) -> None:
    """Raise `NotHeldError` unless nobody knows what came of the call."""
    if not is_unknown(call):
        known = "did not happen" if call.outcome == "not_done" else f"is {call.outcome}"
        known = "was not begun" if call.observation is None and not call.begun else known
        raise NotHeldError(f"call {call.key} of run {record.run_id} {known}: nothing is unknown")
    if call.observation is None and not call.held and call.deadline > wall_clock():
        left = (call.deadline - wall_clock()) // 1000 + 1
        message = f"call {call.key} of run {record.run_id} may be at work: look again in {left} s"
        raise NotHeldError(message)


async def _settle(
    store: Store, record: Trajectory, call: Call, asked: ApprovalId, word: Settled
) -> None:
    """Leave the word in the run's inbox, once, and tell the runs above."""
    first = await _first(store, record, call) or recorded_word(asked, call.settled)
    if first is None and call.settled is not None:
        raise ruled_on(record, call)
    if first is None:
        if asked.digest not in {"", digest_of(call.question)}:
            raise StaleApprovalError(f"call {call.key} of run {record.run_id} changed: look again")
        body = encode_message(word)
        await _check_result(store, record, call, word)
        await store.post(record.run_id, body)
        first = await _first(store, record, call) or await faster_word(store, record, call)
    if call.observation is None:
        await notify_ancestors(store, record, word.by)
    if first is not None and _meaning(first) != _meaning(word):
        raise ruled_on(record, call)


async def _first(store: Store, record: Trajectory, call: Call) -> object:
    """The first word on the call in the inbox."""
    if call.held:
        return await word_on(store, record, call)
    for word in await words_in(store, record.run_id):
        if isinstance(word, Settled) and word.call == call.key:
            return word
    return None


def _meaning(word: object) -> bytes:
    return encode([word.done, word.result]) if isinstance(word, Settled) else b""


async def _check_result(store: Store, record: Trajectory, call: Call, word: Settled) -> None:
    """Raise if the result does not fit what the record says that the tool returns."""
    if word.result is None:
        return
    schema = None if call.verdict is None else call.verdict.verdict.asks
    if schema is None:
        tool = await recorded_tool(store, record, call)
        schema = None if tool is None else tool.result
    if schema is not None and (problems := compile_schema(schema, "field")(word.result)):
        message = f"the result does not fit {call.action.name}, and nothing is told: {problems[0]}"
        raise ConfigError(message)
