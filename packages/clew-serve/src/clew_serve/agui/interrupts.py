"""What waits for a person as interrupts, and what was decided on them as rulings."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

import msgspec

from clew import PendingApproval, Trajectory, answer, rule, settle
from clew.agent.approvals import approval_id
from clew.conversations import session_run
from clew.toolbox import ASK_PERSON
from clew_serve.agui.run_input import Resume, RunInput
from clew_serve.api.access_to_runs import go_on, record_of
from clew_serve.api.decisions import waiting_call
from clew_serve.endpoints import Inquiry
from clew_serve.errors import RefusedError
from clew_serve.turns.results import by_whom, entry_before_word, root_record
from clew_serve.turns.safe_words import safe_text
from clew_serve.turns.turn import Turn

_BOOLEAN: Final = {"type": "boolean"}
_TEXT: Final = {"type": "string"}
_RULING: Final = {"approved": _BOOLEAN, "args": {"type": "object"}, "why": _TEXT}
_OUTCOME: Final = {"done": _BOOLEAN, "result": {}, "why": _TEXT}


class Ruled(msgspec.Struct, forbid_unknown_fields=True):
    """Whether a held call may be made, with other arguments perhaps."""

    approved: bool
    args: dict[str, Any] | None = None
    why: str = ""


class Told(msgspec.Struct, forbid_unknown_fields=True):
    """The answer to a question, or the result of a call that others perform."""

    answer: Any


class Outcome(msgspec.Struct, forbid_unknown_fields=True):
    """Whether a call of unknown outcome was done."""

    done: bool
    result: Any = None
    why: str = ""


def interrupt_of(waiting: PendingApproval, record: Trajectory) -> dict[str, Any]:
    """A call that waits, with the schema of what is wanted."""
    told: dict[str, Any] = {
        "id": waiting.id,
        "reason": _reason(waiting),
        "message": safe_text(f"{waiting.tool}: {waiting.why}", record),
        "toolCallId": f"{waiting.run_id}:{waiting.call}",
        "responseSchema": _schema(waiting),
        "metadata": {"tool": waiting.tool, "args": waiting.args},
    }
    if waiting.until:
        told["expiresAt"] = datetime.fromtimestamp(waiting.until / 1000, UTC).isoformat()
    return told


def _reason(waiting: PendingApproval) -> str:
    if waiting.wants == "outcome":
        return "unknown_outcome"
    return "input_required" if _wants_answer(waiting) else "tool_call"


def _wants_answer(waiting: PendingApproval) -> bool:
    asks = waiting.tool == ASK_PERSON or waiting.asks is not None
    return waiting.wants == "result" or (waiting.wants == "ruling" and asks)


def _schema(waiting: PendingApproval) -> dict[str, Any]:
    if waiting.wants == "outcome":
        return {"type": "object", "properties": _OUTCOME, "required": ["done"]}
    if _wants_answer(waiting):
        asks = dict(waiting.asks or ({} if waiting.wants == "result" else _TEXT))
        return {"type": "object", "properties": {"answer": asks}, "required": ["answer"]}
    return {"type": "object", "properties": _RULING, "required": ["approved"]}


async def resume(inquiry: Inquiry, asked: RunInput, decided: Sequence[Resume]) -> Turn:
    """Record what was decided; the turn that follows. The first word on a call counts."""
    root = await of_thread(inquiry, asked, [each.interrupt_id for each in decided])
    inquiry.service.work.failures.pop(root.run_id, None)
    for each in decided:
        await _decide(inquiry, each)
    await go_on(inquiry.service, root)
    return Turn(root.run_id, entry_before_word(root, decided[0].interrupt_id))


async def of_thread(inquiry: Inquiry, asked: RunInput, calls: Sequence[str]) -> Trajectory:
    """The record of the thread's run, of which these calls are. Raises `RefusedError`."""
    root = await root_record(inquiry, calls)
    if session_run(asked.thread_id, root.started.owner) != root.run_id:
        raise RefusedError(422, "invalid", "these calls are of another thread")
    return root


async def _decide(inquiry: Inquiry, each: Resume) -> None:
    named = each.interrupt_id
    record = await record_of(inquiry, approval_id(named).run_id)
    waiting = waiting_call(record, named)
    by, payload = by_whom(inquiry), each.payload
    if each.status == "cancelled":
        await rule(named, allow=False, why="abandoned", **by)
    elif waiting is None and _is_answer(payload):
        await answer(named, _read(payload, Told).answer, **by)
    elif waiting is not None and waiting.wants == "outcome":
        out = _read(payload, Outcome)
        await settle(named, done=out.done, result=out.result, why=out.why, **by)
    elif waiting is not None and _wants_answer(waiting):
        await _answer(waiting, named, _read(payload, Told).answer, by)
    else:
        ruling = _read(payload, Ruled)
        await rule(named, allow=ruling.approved, args=ruling.args, why=ruling.why, **by)


def _is_answer(payload: object) -> bool:
    """Whether this is an answer: of a call that waits no more, nothing else says what it took."""
    return isinstance(payload, dict) and "answer" in payload


async def _answer(waiting: PendingApproval, named: str, value: Any, by: Mapping[str, Any]) -> None:
    if waiting.wants == "result":
        await answer(named, value, **by)
    elif waiting.tool == ASK_PERSON:
        await rule(named, allow=True, args={**waiting.args, "answer": value}, **by)
    else:
        await rule(named, allow=True, answer=value, **by)


def _read(payload: Any, kind: type[Any]) -> Any:
    """What was decided. Raises `RefusedError` where it is not what the interrupt asked for."""
    try:
        return msgspec.convert(payload, kind)
    except msgspec.ValidationError as error:
        hint = "the interrupt's responseSchema says what it takes"
        raise RefusedError(422, "invalid", f"the payload: {error}", hint) from error
