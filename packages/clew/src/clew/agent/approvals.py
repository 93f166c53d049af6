"""The calls that wait for a person, and a person's rulings, for programs that show approvals.

`pending_here` reads one record, `pending_in` its sub-runs too, and `root_of` names the run to
resume after a ruling. `clew.pending_approvals` lists all runs, and `clew.rule` rules.
"""

import contextlib
import logging
from collections.abc import Mapping
from typing import Final, TypeVar, overload

import anyio

from clew.agent.agent import A_co, Agent, D
from clew.agent.api import resume
from clew.agent.foreign import ForeignRunError
from clew.agent.labels import check_by, checked_labels, checked_owner, load_of
from clew.agent.result import Result
from clew.agent.runner import has_begun
from clew.context.prompt_spec import recorded_prompt_spec
from clew.core.events import Cancel, Json, Ruling, Settled, encode
from clew.core.inbox import encode_message, words_in
from clew.core.interfaces import Store, ToolSpec
from clew.core.journal import load
from clew.core.pending import (
    ApprovalId,
    PendingApproval,
    ancestors,
    approval_id,
    digest_of,
    pending_here,
    pending_in,
    waits_below,
)
from clew.core.redaction import Redaction, secrets
from clew.core.settling import waits_for_result
from clew.core.trajectory import Call, Trajectory
from clew.stores import Where, store_at
from clew.stores.listing import has_labels
from clew.support.errors import (
    AlreadyRuledError,
    ConfigError,
    NotHeldError,
    RunBusyError,
    RunNotFoundError,
    StaleApprovalError,
    StoreError,
)
from clew.support.json_arguments import REFUSED, unfit
from clew.tools.schema import compile_schema

__all__ = [
    "approval_id",
    "cancel",
    "pending_approvals",
    "pending_here",
    "pending_in",
    "root_of",
    "rule",
]

LOG: Final = logging.getLogger("clew")

_TRIES: Final = 20
_LOOK: Final = 0.1  # seconds between two tries to go on with a run that another process has


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
        waiting = [*await opened.runs(status="open"), *await opened.runs(status="held")]
        fits = has_labels(checked_labels(labels), checked_owner(owner))
        for info in filter(fits, waiting):
            try:
                approvals += await _held(opened, info.run_id)
            except StoreError as error:
                LOG.warning("what waits in run %s is not listed: %s", info.run_id, error)
        return tuple(sorted(approvals, key=lambda each: (each.at, each.run_id, each.call)))


async def _held(store: Store, run_id: str) -> list[PendingApproval]:
    trajectory = await load(store, run_id)
    if trajectory.is_foreign:  # nothing that it waits for will be done
        return []
    waiting = [call for call in trajectory.held if not waits_below(call)]
    ruled = {call.key for call in waiting if await word_on(store, trajectory, call) is not None}
    if ruled and not await _reached_root(store, trajectory):
        ruled = set[str]()
    kept = {call.key for call in waiting} - ruled
    root = await root_of(store, trajectory)
    return [each for each in pending_here(trajectory, root) if each.call in kept]


async def root_of(store: Store, trajectory: Trajectory) -> str:
    """The run to resume for this one; for a run of a vote, the vote."""
    while served := trajectory.parent_call or (
        "" if trajectory.forks else trajectory.started.parent
    ):
        run_id = served.rpartition(":")[0]
        try:
            trajectory = await load(store, run_id)
        except RunNotFoundError:  # it must be brought back first
            return run_id
    return trajectory.run_id


async def _reached_root(store: Store, trajectory: Trajectory) -> bool:
    """Whether all runs above a sub-run continue, or were notified."""
    with contextlib.suppress(StoreError):
        for above, call in await ancestors(store, trajectory):
            if call.held and await _word_in(store, above, call) is None:
                return False
    return True


async def word_on(store: Store, record: Trajectory, call: Call) -> Ruling | Settled | None:
    """The word on a held call that is already in the inbox, if it covers its arguments."""
    return await _word_in(store, record, call, "", call.question) if call.held else None


async def _word_in(
    store: Store, record: Trajectory, call: Call, *hashes: str
) -> Ruling | Settled | None:
    """The first word on the call in its run's inbox, for one of these hashes or for any."""
    for word in await words_in(store, record.run_id):
        if (
            isinstance(word, Ruling | Settled)
            and word.call == call.key
            and word.hash in (hashes or {word.hash})
        ):
            return word
    return None


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
    check_by(by)
    _check_json(args=args, answer=answer)
    asked = approval_id(approval)
    async with store_at(store if agent is None or store is not None else agent.store) as opened:
        record = await load_of(opened, asked.run_id, owner)
        if record.is_foreign:
            raise ForeignRunError(record.run_id)
        waiting = call_of(record, asked)
        word = _hidden(Ruling(waiting.key, allow, args, why, by, waiting.question, answer=answer))
        first = await word_on(opened, record, waiting) or _recorded(asked, waiting)
        if first is None:
            _check(record, waiting, asked, word)
            body = encode_message(word)
            if allow and args is not None:
                await _check_args(opened, record, waiting, args)
            await opened.post(record.run_id, body)
            first = await faster_word(opened, record, waiting)
        await notify_ancestors(opened, record, by)
        if first is not None and _meaning(first) != _meaning(word):
            raise ruled_on(record, waiting)
        if agent is None:
            return None
        return await go_on(agent, opened, record, deps, accept_change=accept_change)


def _check_json(**values: object) -> None:
    """Raise `ConfigError` for what JSON cannot carry, by name."""
    for what, value in values.items():
        if problem := unfit(value):
            raise ConfigError(f"the {what} of a ruling hold {REFUSED.format(problem)}")


async def go_on(
    agent: Agent[A_co, D], store: Store, record: Trajectory, deps: D | None, *, accept_change: bool
) -> Result[A_co]:
    """Resume the root of a run in whose inbox a word waits.

    Raises `RunBusyError` where another process works on it: that takes the word up.
    """
    root = await root_of(store, record)
    for left in reversed(range(_TRIES)):
        try:
            return await resume(agent, root, store=store, accept_change=accept_change, deps=deps)
        except RunBusyError as error:
            if not left or not await store.inbox(record.run_id):
                message = (
                    f"what was said is kept, but another process works on run {root}, and goes on "
                    "with it: follow the run"
                )
                raise RunBusyError(message) from error
        await anyio.sleep(_LOOK)  # it may have looked into the inbox before, and just end
    raise AssertionError  # pragma: no cover - the last try returns or raises


async def faster_word(store: Store, record: Trajectory, call: Call) -> Ruling | Settled | None:
    """The first word on a held call, which somebody at work may have taken into the record."""
    if (first := await word_on(store, record, call)) is not None:
        return first
    now = await load(store, record.run_id)
    same = next(each for each in now.calls if each.key == call.key)
    return same.settled or same.ruling


W = TypeVar("W", Ruling, Settled)


def _recorded(asked: ApprovalId, call: Call) -> Ruling | None:
    """The ruling on record; on a call whose run is a run of its own, others rule there."""
    return None if call.child else recorded_word(asked, call.ruling)


def recorded_word(asked: ApprovalId, word: W | None) -> W | None:
    """A word on record, if it is on what the id names: to say the same again is no other word."""
    same = word is not None and asked.digest in {"", digest_of(word.hash)}
    return word if same else None


def call_of(record: Trajectory, asked: ApprovalId) -> Call:
    """The call that an id names. Raises `NotHeldError` where the run has none."""
    call = next((each for each in record.calls if each.key == asked.key), None)
    if call is None:
        raise NotHeldError(f"run {record.run_id} has no call {asked.key}: look at `clew show`")
    return call


def ruled_on(record: Trajectory, call: Call) -> AlreadyRuledError:
    message = f"{call.key} of run {record.run_id} was ruled on already, and the first word counts"
    return AlreadyRuledError(message)


def _meaning(word: Ruling | Settled) -> bytes:
    return b"" if isinstance(word, Settled) else encode([word.allow, word.args, word.answer])


def _hidden(word: Ruling) -> Ruling:
    """The ruling as it may be kept in the inbox; arguments with a secret are marked."""
    redaction = Redaction(secrets())
    hidden = redaction.event(word) if redaction.finds(encode_message(word)) else word
    return hidden if isinstance(hidden, Ruling) else word


def _check(record: Trajectory, call: Call, asked: ApprovalId, word: Ruling) -> None:
    """Raise if the call cannot be ruled on like this."""
    run_id, held = record.run_id, [each.key for each in record.held]
    if not call.held:
        if call.ruling is not None:
            raise ruled_on(record, call)
        named = ", ".join(held) or "none"
        message = f"call {call.key} of run {run_id} does not wait for a ruling; held: {named}"
        raise NotHeldError(message)
    if asked.digest not in {"", digest_of(call.question)}:
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


async def _check_args(store: Store, record: Trajectory, call: Call, args: dict[str, Json]) -> None:
    """Raise if the tool cannot take the arguments, as far as the record says what it takes.

    The model would be told of the mistake, and the ruling would be used up.
    """
    tool = await recorded_tool(store, record, call)
    if tool is not None and (problems := compile_schema(tool.parameters)(args)):
        message = f"the arguments do not fit {tool.name}, and nothing was ruled: {problems[0]}"
        raise ConfigError(message)


async def recorded_tool(store: Store, record: Trajectory, call: Call) -> ToolSpec | None:
    """The tool of a call, as far as the record says what it is."""
    blob = (record.spec or record.started.spec).prompt_blob
    if not blob:
        return None
    try:
        prompt_spec, _ = recorded_prompt_spec(await store.blob(blob))
    except StoreError:  # it is lost: then the tool's own check is left
        return None
    visible = (*prompt_spec.more, *prompt_spec.tools, prompt_spec.finish)
    return {each.name: each for each in visible}.get(call.action.name)


def _wrong_answer(call: Call, answer: Json) -> str:
    """What is wrong with the answer to what a held call asks, or ""."""
    asks = None if call.verdict is None else call.verdict.verdict.asks
    if asks is None:
        return "" if answer is None else "it asks nothing: rule without an answer"
    if answer is None:
        return f"it asks for an answer: {encode(asks).decode()}"
    return "; ".join(compile_schema(asks, "answer")(answer))


async def notify_ancestors(store: Store, trajectory: Trajectory, by: str) -> None:
    """Notify every run above a sub-run, once each."""
    for above, call in await ancestors(store, trajectory):
        if call.observation is None and await _word_in(store, above, call) is None:
            await store.post(above.run_id, encode_message(Ruling(call.key, allow=True, by=by)))


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
