"""Which held call a person means, and leaving their word on it in the inbox of its run."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial

import anyio

from clew import (
    Call,
    ConfigError,
    PendingApproval,
    StaleApprovalError,
    Trajectory,
    pending_approvals,
    read,
)
from clew.agent.approvals import (
    approval_id,
    arguments_of_text,
    pending_here,
    pending_in,
    recorded_tool,
    root_of,
)
from clew.agent_files import ForeignRunError
from clew.cli.approval_prompts import confirm, post_ruling, typed_value
from clew.cli.safe_text import say
from clew.cli.store_option import MAX_LISTED, existing, find_run
from clew.interfaces import Json, Ruling, Store
from clew.support.printable import inert
from clew.support.run_ids import LAST
from clew.toolbox import ASK_PERSON, answered


@dataclass(frozen=True)
class RulingOptions:
    """A person's word; without a `call` it is on the only one that waits."""

    allow: bool
    call: str = ""
    edit: str = ""
    answer: str = ""
    why: str = ""
    digest: str = ""
    """What the call must be, for the word to cover it; "" for whatever it is."""


@dataclass(frozen=True)
class LeftRuling:
    """A word that was left: what it says, and the run that goes on with it.

    One that is `recorded` was left before, and the run went on with it.
    """

    text: str
    root: Trajectory
    recorded: bool = False


def leave_ruling(
    named: str, word: RulingOptions, store: str | None, *, yes: bool
) -> LeftRuling | None:
    """Look which call is meant, let the person confirm what is to be made, and leave the word.

    `named` is a run, or the id of an approval. None where the person would rather wait.
    """
    with suppress(ConfigError):
        asked = approval_id(named)
        named, word = asked.run_id, replace(word, call=asked.key, digest=asked.digest)
    meant = anyio.run(partial(_find, named, word, store))
    waiting, args, root = meant.waiting, meant.args, meant.root
    if word.answer and waiting.asks is None and waiting.tool != ASK_PERSON:
        message = f"{waiting.call} {waiting.tool} asks nothing: rule on it without --answer"
        raise ConfigError(message)
    if word.allow and not word.answer and not meant.below:
        made = waiting if args is None else replace(waiting, args=args, origins={})
        if not confirm(made, yes=yes):
            say(f"{waiting.call} {waiting.tool} still waits")
            return None
    ruling = Ruling(waiting.call, word.allow, args, word.why, answer=_answer(waiting, word))
    post_ruling(waiting, ruling, store)
    done = "allowed" if word.allow else "refused"
    return LeftRuling(f"{inert(waiting.call)} {inert(waiting.tool)} is {done}.", root)


def waiting_calls(run_id: str, store: str | None) -> tuple[PendingApproval, ...]:
    """The calls of a run and its sub-runs on which nobody has ruled."""

    async def look() -> tuple[PendingApproval, ...]:
        async with existing(store) as opened:
            waiting = await pending_approvals(store=opened)
            return tuple(each for each in waiting if each.root == run_id)

    return anyio.run(look)


@dataclass(frozen=True)
class _ResolvedCall:
    """The call that a word is on, its arguments as the word has them, and the run that goes on."""

    waiting: PendingApproval
    args: dict[str, Json] | None
    root: Trajectory
    below: bool
    """Whether it waits for its sub-run, and so cannot be allowed itself."""


async def _find(run: str, word: RulingOptions, store: str | None) -> _ResolvedCall:
    async with existing(store) as opened:
        if run == LAST:
            run = await _only_run(opened)
        record = await read(await find_run(opened, run), store=opened)
        if record.is_foreign:
            raise ForeignRunError(record.run_id)
        waiting = await pending_in(opened, record, await root_of(opened, record))
        each = _resolve_call(record, waiting, word)
        if word.digest and not each.id.endswith(f":{word.digest}"):
            message = f"call {each.call} of run {each.run_id} changed since: look again"
            raise StaleApprovalError(message)
        of, root = [await read(run_id, store=opened) for run_id in (each.run_id, each.root)]
        call = of.call(each.call)
        tool = await recorded_tool(opened, of, call) if word.edit else None
        args = _arguments(call, word, None if tool is None else tool.parameters)
        return _ResolvedCall(each, args, root, each not in waiting)


async def _only_run(opened: Store) -> str:
    """The run that waits, where only one does: a word must not be on whichever was written last."""
    roots = list(dict.fromkeys(each.root for each in await pending_approvals(store=opened)))
    if len(roots) > 1:
        named = ", ".join(roots[:MAX_LISTED]) + (" …" if len(roots) > MAX_LISTED else "")
        message = f"{len(roots)} runs wait ({named}): name one, or see each: `clew approvals -i`"
        raise ConfigError(message)
    return roots[0] if roots else LAST


def _resolve_call(
    record: Trajectory, waiting: Sequence[PendingApproval], word: RulingOptions
) -> PendingApproval:
    """What the word is on: a call of the run itself, or the only one that waits in its sub-runs.

    A call whose sub-run waits may be refused as a whole.
    """
    own = {each.call: each for each in pending_here(record)}
    if word.call in own:
        root = waiting[0].root if waiting else record.run_id
        return replace(own[word.call], root=root)
    if not word.call and len(waiting) == 1:
        return waiting[0]
    if not waiting:
        message = (
            f"no call of run {record.run_id} waits for a ruling: `clew show` tells what it did"
        )
        raise ConfigError(message)
    what = "several calls wait: say which"
    if word.call:
        what = f"call {word.call} does not wait for a ruling"
    named = ", ".join(
        each.call if each.run_id == record.run_id else f"{each.run_id} {each.call}"
        for each in waiting
    )
    message = f"{what}; of run {record.run_id} these wait: {named}"
    raise ConfigError(message)


def _answer(waiting: PendingApproval, word: RulingOptions) -> Json:
    """The person's answer to what the call asks, if it asks."""
    return (
        None if waiting.asks is None or not word.answer else typed_value(word.answer, waiting.asks)
    )


def _arguments(call: Call, word: RulingOptions, parameters: Json) -> dict[str, Json] | None:
    if word.answer and call.action.name != ASK_PERSON:
        return None
    if word.answer:
        return answered(call, word.answer).args
    if word.allow and call.action.name == ASK_PERSON and not word.edit:
        message = f"{call.key} is a question: answer it with --answer TEXT, or reject it"
        raise ConfigError(message)
    if not word.edit:
        return None
    return arguments_of_text(word.edit, parameters)
