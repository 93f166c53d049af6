"""Saying what came of a call: one that somebody else performs, or whose outcome nobody knew."""

from typing import Final, overload

from clew.agent.agent import A_co, Agent, D
from clew.agent.result import Result
from clew.agent.words_on_calls import NamedCall, first_word, recorded_tool, say_of_call
from clew.core.events import Settled
from clew.core.inbox import encode_message
from clew.core.journal import wall_clock
from clew.core.redaction import redact
from clew.core.settling import is_unknown, waits_for_result
from clew.core.stores import Store
from clew.core.trajectory import Call, Trajectory
from clew.core.values import Json, encode
from clew.stores import Where
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
    if value is None:
        message = "the result is None: give what came of the call, or refuse it with clew.rule"
        raise ConfigError(message)

    async def leave(named: NamedCall) -> None:
        waiting = named.target
        if waiting.settled is None and not waits_for_result(waiting):
            raise NotHeldError(_too_late(named.record, waiting))
        await _leave(named, _word(waiting, value, by=by))

    return await say_of_call(
        call, leave, by=by, store=store, owner=owner, agent=agent, deps=deps,
        accept_change=accept_change,
    )  # fmt: skip


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
    its id in `Result.unknown`, which is its key (`run_id:step.index`), or that of its
    `PendingApproval`. The model is told, that of a run above its own too, and the run counts the
    effect accordingly. The first word counts. Raises as `answer` does, and `NotHeldError` where the
    outcome is known.
    """
    if not done and result is not None:
        raise ConfigError("what did not happen has no result: leave it out")

    async def leave(named: NamedCall) -> None:
        if named.target.settled is None:
            _check_unknown(named.record, named.target)
        await _leave(named, _word(named.target, result, done=done, why=why, by=by))

    return await say_of_call(
        call, leave, by=by, store=store, owner=owner, agent=agent, deps=deps,
        accept_change=accept_change,
    )  # fmt: skip


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


def _too_late(record: Trajectory, call: Call) -> str:
    """Why a call takes no result, and what a person may say of it instead."""
    told = f"call {call.key} of run {record.run_id} waits for no result"
    if not call.woken:
        return told
    if is_unknown(call):
        return f"{told} any more: its time has passed. Say what came of it by clew.settle"
    return f"{told} any more: its time has passed, and the run went on without it"


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


async def _leave(on: NamedCall, word: Settled) -> None:
    """Leave the word with the call's run, if its result may be what the call returned."""

    async def check() -> None:
        if on.target.settled is not None:
            raise on.ruled_on
        if on.has_changed:
            message = f"call {on.target.key} of run {on.record.run_id} changed: look again"
            raise StaleApprovalError(message)
        await _check_result(on.store, on.record, on.target, word)

    first = await first_word(on.store, on.record, on.target) or on.on_record(on.target.settled)
    await on.leave(word, first, check)


async def _check_result(store: Store, record: Trajectory, call: Call, word: Settled) -> None:
    """Raise if the result does not fit what the record says that the tool returns."""
    if word.result is None:
        return
    schema = None if call.verdict is None else call.verdict.verdict.asks
    if schema is None:
        tool = await recorded_tool(store, record, call)
        schema = None if tool is None else tool.result
    if schema is not None and (problems := compile_schema(schema, "field")(word.result)):
        message = (
            f"the result does not fit {call.action.name}, and nothing was recorded: {problems[0]}"
        )
        raise ConfigError(message)
