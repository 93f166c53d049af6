"""The calls that wait for a person, and a person's rulings, for programs that show approvals.

`pending_here` reads one record, `pending_in` its sub-runs too, and `root_of` names the run to
resume after a ruling. `value_of_text` and `arguments_of_text` read what a person typed by the
schema of what is wanted: `PendingApproval.asks`, or that of `recorded_tool`.
`clew.pending_approvals` lists all runs, and `clew.rule` rules.
"""

import logging
from collections.abc import Mapping
from typing import Final, overload

from clew.agent.agent import A_co, Agent, D
from clew.agent.labels import checked_labels, checked_owner, load_of
from clew.agent.result import Result
from clew.agent.runner import has_begun
from clew.agent.typed_text import TypedText, arguments_of_text, value_of_text
from clew.agent.words_on_calls import (
    NamedCall,
    first_word,
    notify_ancestors,
    reached_root,
    recorded_tool,
    root_of,
    say_of_call,
    word_on,
)
from clew.core.events import Cancel, Ruling
from clew.core.inbox import encode_message, words_in
from clew.core.journal import load
from clew.core.pending import PendingApproval, approval_id, pending_here, pending_in, waits_below
from clew.core.redaction import Redaction, secrets
from clew.core.settling import waits_for_result
from clew.core.stores import Store
from clew.core.trajectory import Call, Trajectory
from clew.core.values import Json, encode
from clew.stores import Where, store_at
from clew.stores.listing import runs_with
from clew.support.errors import ConfigError, NotHeldError, StaleApprovalError, StoreError
from clew.support.json_arguments import REFUSED, unfit
from clew.tools.schema import compile_schema

__all__ = [
    "TypedText",
    "approval_id",
    "arguments_of_text",
    "cancel",
    "decided_by",
    "pending_approvals",
    "pending_here",
    "pending_in",
    "recorded_tool",
    "root_of",
    "rule",
    "value_of_text",
    "waiting_in",
]

LOG: Final = logging.getLogger("clew")


async def pending_approvals(
    *, store: Where = None, labels: Mapping[str, str] | None = None, owner: str | None = None
) -> tuple[PendingApproval, ...]:
    """The calls that wait for a person's ruling in a store, oldest first.

    All of them, or those in runs with these `labels` and of this `owner`.
    A call with a ruling no longer waits, even if its run has not continued yet. A run that cannot
    be read is logged, and does not affect the others.
    """
    async with store_at(store) as opened:
        approvals: list[PendingApproval] = []
        labels, owner = checked_labels(labels), checked_owner(owner)
        for info in [
            info
            for status in ("open", "held")
            for info in await runs_with(opened, status=status, labels=labels, owner=owner)
        ]:
            try:
                approvals += await waiting_in(opened, info.run_id)
            except StoreError as error:
                LOG.warning("what waits in run %s is not listed: %s", info.run_id, error)
        return tuple(sorted(approvals, key=lambda each: (each.at, each.run_id, each.call)))


async def waiting_in(store: Store, run_id: str) -> list[PendingApproval]:
    """The calls of one run that `pending_approvals` would list. Raises `StoreError`."""
    trajectory = await load(store, run_id)
    if trajectory.is_foreign or await _is_to_end(store, run_id):  # nothing of it will be done
        return []
    waiting = [call for call in trajectory.held if not waits_below(call)]
    ruled = {call.key for call in waiting if await word_on(store, trajectory, call) is not None}
    if ruled and not await reached_root(store, trajectory):
        ruled = set[str]()
    kept = {call.key for call in waiting} - ruled
    root = await root_of(store, trajectory)
    return [each for each in pending_here(trajectory, root) if each.call in kept]


async def decided_by(store: Store, record: Trajectory, key: str) -> str | None:
    """Who said the first word on a call of a run; None where nobody did, or there is no such call.

    A ruling, a result or an outcome counts from when it is in the run's inbox. Raises `StoreError`.
    """
    call = next((each for each in record.calls if each.key == key), None)
    if call is None:
        return None
    word = call.settled or call.ruling or await first_word(store, record, call)
    return None if word is None else word.by


async def _is_to_end(store: Store, run_id: str) -> bool:
    """Whether somebody cancelled a run that has not gone on since."""
    return any(isinstance(word, Cancel) for word in await words_in(store, run_id))


@overload
async def rule(
    approval: str,
    *,
    allow: bool,
    args: dict[str, Json] | None = ...,
    answer: Json = ...,
    why: str = ...,
    by: str = ...,
    store: Where = ...,
    owner: str | None = ...,
    agent: None = ...,
    deps: None = ...,
) -> None: ...
@overload
async def rule(
    approval: str,
    *,
    allow: bool,
    args: dict[str, Json] | None = ...,
    answer: Json = ...,
    why: str = ...,
    by: str = ...,
    store: Where = ...,
    owner: str | None = ...,
    agent: Agent[A_co, D],
    deps: D | None = ...,
    accept_change: bool = ...,
) -> Result[A_co]: ...
async def rule(
    approval: str,
    *,
    allow: bool,
    args: dict[str, Json] | None = None,
    answer: Json = None,
    why: str = "",
    by: str = "",
    store: Where = None,
    owner: str | None = None,
    agent: Agent[A_co, D] | None = None,
    deps: D | None = None,
    accept_change: bool = False,
) -> Result[A_co] | None:
    """Rule on a held call by its `PendingApproval.id`; with an `agent`, go on and give the result.

    Without an agent the ruling waits in the run's inbox for whoever goes on (`resume`, a worker).
    It covers the call once, as it was shown; a call key (`run_id:step.index`) covers the call with
    whatever arguments it has now. `args` replace them. `answer` is what the call asks for, if it
    asks (`PendingApproval.asks`, a JSON Schema). The `agent` is that of the run to resume, the root
    of a sub-run; `deps` and `accept_change` are as in `resume`. Repeating a ruling does no harm: it
    completes a delivery that was cut off.

    Raises `NotHeldError`, `AlreadyRuledError` for another ruling than the first one,
    `StaleApprovalError` if the call changed since it was shown; and `ConfigError` for arguments or
    an answer that do not fit, for a run from outside, as `resume` does. Another `owner` finds none.
    """
    _check_json(args=args, answer=answer)

    async def leave(named: NamedCall) -> None:
        held = named.target
        word = _hidden(Ruling(held.key, allow, args, why, by, held.question, answer=answer))

        async def check() -> None:
            _check(named, word)
            if await _is_to_end(named.store, named.record.run_id):
                message = f"run {named.record.run_id} was cancelled: it waits for no ruling"
                raise NotHeldError(message)
            if allow and args is not None:
                await _check_args(named, args)

        first = await word_on(named.store, named.record, held) or _recorded(named)
        await named.leave(word, first, check)

    return await say_of_call(
        approval, leave, by=by, store=store, owner=owner, agent=agent, deps=deps,
        accept_change=accept_change,
    )  # fmt: skip


def _check_json(**values: object) -> None:
    """Raise `ConfigError` for what JSON cannot carry, by name."""
    for what, value in values.items():
        if problem := unfit(value):
            raise ConfigError(f"the {what} of a ruling hold {REFUSED.format(problem)}")


def _recorded(named: NamedCall) -> Ruling | None:
    """The ruling on record; on a call whose run is a run of its own, others rule there."""
    return None if named.target.child else named.on_record(named.target.ruling)


def _hidden(word: Ruling) -> Ruling:
    """The ruling as it may be kept in the inbox; arguments with a secret are marked."""
    redaction = Redaction(secrets())
    hidden = redaction.event(word) if redaction.finds(encode_message(word)) else word
    return hidden if isinstance(hidden, Ruling) else word


def _check(on: NamedCall, word: Ruling) -> None:
    """Raise if the call cannot be ruled on like this."""
    record, call = on.record, on.target
    run_id, held = record.run_id, [each.key for each in record.held]
    if not call.held:
        if call.ruling is not None:
            raise on.ruled_on
        named = ", ".join(held) or "none"
        message = f"call {call.key} of run {run_id} does not wait for a ruling; held: {named}"
        raise NotHeldError(message)
    if on.has_changed:
        what = "was begun since" if call.in_doubt else "has other arguments now"
        raise StaleApprovalError(f"call {call.key} of run {run_id} {what}: look again")
    if word.allow and waits_for_result(call):
        message = f"call {call.key} of run {run_id} waits for its result: give it by clew.answer"
        raise ConfigError(message)
    message = ""
    if word.allow and (problem := _wrong_answer(call, word.answer)):
        message = f"call {call.key} of run {run_id}: {problem}"
    elif word.args is not None and call is record.words:
        message = f"{call.key} is a person's own words: allow or refuse them, or say others"
    elif waits_below(call) and (word.allow or word.args is not None):
        message = (
            f"call {call.key} of run {run_id} waits for run {call.child}: rule on what is held "
            "there, or refuse the call as a whole"
        )
    if message:
        raise ConfigError(message)


async def _check_args(on: NamedCall, args: dict[str, Json]) -> None:
    """Raise if the tool cannot take the arguments, as far as the record says what it takes.

    The model would be told of the mistake, and the ruling would be used up.
    """
    tool = await recorded_tool(on.store, on.record, on.target)
    if tool is not None and (problems := compile_schema(tool.parameters)(args)):
        message = f"the arguments do not fit {tool.name}, and nothing was ruled: {problems[0]}"
        raise ConfigError(message)


def _wrong_answer(call: Call, answer: Json) -> str:
    """What is wrong with the answer to what a held call asks, or ""."""
    asks = None if call.verdict is None else call.verdict.verdict.asks
    if asks is None:
        return "" if answer is None else "it asks nothing: rule without an answer"
    if answer is None:
        return f"it asks for an answer: {encode(asks).decode()}"
    return "; ".join(compile_schema(asks, "answer")(answer))


async def cancel(
    run_id: str, *, why: str = "", store: Where = None, owner: str | None = None
) -> None:
    """Ask a run, through its inbox, to close what is pending and stop, with its sub-runs.

    You can also cancel a sub-run alone; its parent then continues without its answer.
    """
    async with store_at(store) as opened:
        await load_of(opened, run_id, owner)
        await _cancel(opened, run_id, why)
        await notify_ancestors(opened, await load(opened, run_id), "")


async def _cancel(store: Store, run_id: str, why: str) -> None:
    await load(store, run_id)
    await store.post(run_id, encode_message(Cancel(why)))
    trajectory = await load(store, run_id)  # only now: a sub-run begun later looks into the inbox
    for child in [call.child for call in trajectory.step.pending if call.child]:
        if await has_begun(store, child):
            await _cancel(store, child, why)
