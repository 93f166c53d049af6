"""What a person decides of a call, by its id: allow or refuse it, give its result, settle it.

The ids are of `GET /api/inbox`. Each covers the call as it was shown; a call that changed since
asks again.
"""

from typing import Any

import msgspec

from clew import PendingApproval, Trajectory, answer, rule, settle
from clew.agent.approvals import approval_id, pending_here
from clew.interfaces import Json
from clew.toolbox import ASK_PERSON
from clew_serve.api.access_to_runs import go_on, record_of
from clew_serve.api.steering import Done
from clew_serve.endpoints import Inquiry


class RulingBody(msgspec.Struct, forbid_unknown_fields=True):
    """Whether a held call may be made; `args` replace its arguments."""

    allow: bool
    args: dict[str, Json] | None = None
    why: str = ""


class AnswerBody(msgspec.Struct, forbid_unknown_fields=True):
    """The answer to a question of the agent, or the result of a call that others perform."""

    value: Json


class SettlingBody(msgspec.Struct, forbid_unknown_fields=True):
    """Whether a call of unknown outcome was done, with its `result` if that is known."""

    done: bool
    result: Json = None
    why: str = ""


async def give_ruling(inquiry: Inquiry) -> Done:
    """Rule on a held call."""
    asked: RulingBody = inquiry.content
    record = await _record(inquiry)
    await rule(
        inquiry.path["call"], allow=asked.allow, args=asked.args, why=asked.why,
        **_by(inquiry),
    )  # fmt: skip
    return await _decided(inquiry, record)


async def give_answer(inquiry: Inquiry) -> Done:
    """Answer what a call asks, or give its result."""
    asked: AnswerBody = inquiry.content
    record, named = await _record(inquiry), inquiry.path["call"]
    waiting = waiting_call(record, named)
    if waiting is not None and waiting.tool == ASK_PERSON and waiting.wants == "ruling":
        args = {**waiting.args, "answer": asked.value}
        await rule(named, allow=True, args=args, **_by(inquiry))
    elif waiting is not None and waiting.asks is not None and waiting.wants == "ruling":
        await rule(named, allow=True, answer=asked.value, **_by(inquiry))
    else:
        await answer(named, asked.value, **_by(inquiry))
    return await _decided(inquiry, record)


async def give_outcome(inquiry: Inquiry) -> Done:
    """Say what came of a call whose outcome nobody knew."""
    asked: SettlingBody = inquiry.content
    record = await _record(inquiry)
    await settle(
        inquiry.path["call"], done=asked.done, result=asked.result, why=asked.why, **_by(inquiry)
    )
    return await _decided(inquiry, record)


async def _decided(inquiry: Inquiry, record: Trajectory) -> Done:
    """See that the run goes on, unless other calls of it are held."""
    await go_on(inquiry.service, record)
    key = approval_id(inquiry.path["call"]).key
    return Done(record.run_id, any(call.key != key for call in record.held))


async def _record(inquiry: Inquiry) -> Trajectory:
    """The record of the run whose call is named."""
    return await record_of(inquiry, approval_id(inquiry.path["call"]).run_id)


def waiting_call(record: Trajectory, named: str) -> PendingApproval | None:
    """The call that waits, by its id or key."""
    key = approval_id(named).key
    return next((each for each in pending_here(record) if each.call == key), None)


def _by(inquiry: Inquiry) -> dict[str, Any]:
    owner = inquiry.owner_for(approval_id(inquiry.path["call"]).run_id)
    return {"by": inquiry.user.by, "owner": owner, "store": inquiry.service.store}
