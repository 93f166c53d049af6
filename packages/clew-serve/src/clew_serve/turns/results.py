"""Results of calls that a client performs, by the ids that it was told."""

from collections.abc import Sequence
from typing import Any

import msgspec

from clew import ConfigError, Observation, Trajectory, answer, read, rule
from clew.agent.approvals import approval_id, root_of
from clew.interfaces import Json, Ruling, Settled
from clew_serve.api.access_to_runs import go_on, record_of
from clew_serve.endpoints import Inquiry
from clew_serve.errors import RefusedError
from clew_serve.turns.turn import Turn


class CallResult(msgspec.Struct, frozen=True):
    """What came of a call, or why it failed."""

    id: str
    text: str
    failed: bool = False


def is_call_id(text: object) -> bool:
    """Whether it may be the id of a call of a run here."""
    try:
        approval_id(text if isinstance(text, str) else "")
    except ConfigError:
        return False
    return True


async def root_record(inquiry: Inquiry, ids: Sequence[str]) -> Trajectory:
    """The record of the one run that goes on when these calls are decided.

    Raises `RunNotFoundError` for another user's, and `RefusedError` for calls of two runs.
    """
    store = inquiry.service.store
    roots = dict[str, None]()
    for each in ids:
        record = await record_of(inquiry, approval_id(each).run_id)
        roots[await root_of(store, record)] = None
    if len(roots) != 1:
        raise RefusedError(422, "invalid", "these are calls of several runs", "answer one run")
    return await read(next(iter(roots)), store=store)


async def give_results(inquiry: Inquiry, results: Sequence[CallResult]) -> Turn:
    """Give the results of calls; the turn that follows. The first result of a call counts."""
    record = await root_record(inquiry, [each.id for each in results])
    inquiry.service.work.failures.pop(record.run_id, None)
    for each in results:
        if each.failed:
            await rule(each.id, allow=False, why=each.text, **by_whom(inquiry))
        else:
            await _answer(inquiry, each)
    await go_on(inquiry.service, record)
    return Turn(record.run_id, entry_before_word(record, results[0].id))


def entry_before_word(record: Trajectory, call: str) -> int:
    """Behind which entry the word on a call is on record, or will be."""
    run_id, key, _ = approval_id(call)
    for entry in record.entries if run_id == record.run_id else ():
        event = entry.event
        if isinstance(event, Settled | Ruling) and event.call == key:
            return entry.seq - 1
        if isinstance(event, Observation) and event.call == key and event.code != "waits":
            return entry.seq - 1
    return len(record)


async def _answer(inquiry: Inquiry, result: CallResult) -> None:
    """Give a result as text, or as the JSON that it is, where the tool's schema wants that."""
    try:
        await answer(result.id, result.text, **by_whom(inquiry))
    except ConfigError:
        value = _json_of(result.text)
        if value is None or isinstance(value, str):
            raise
        await answer(result.id, value, **by_whom(inquiry))


def _json_of(text: str) -> Json:
    try:
        value: Json = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return None
    return value


def by_whom(inquiry: Inquiry) -> dict[str, Any]:
    """What a word on a call is said with."""
    user = inquiry.user
    return {"by": user.by, "owner": user.owner, "store": inquiry.service.store}
