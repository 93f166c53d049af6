"""`/v1/responses`: a turn of a run as OpenAI's response, which later ones go on from."""

from collections.abc import AsyncGenerator
from typing import Any

import msgspec
from starlette.responses import Response
from starlette.types import Receive, Scope, Send
from typing_extensions import override

from clew import Trajectory, rule
from clew_serve.agents import ServedAgent, agent_name
from clew_serve.api.access_to_runs import agent_named, go_on, record_of
from clew_serve.api.events import LiveEvents
from clew_serve.api.steering import end_run
from clew_serve.endpoints import Inquiry
from clew_serve.errors import RefusedError
from clew_serve.openai_front.chat import IDEMPOTENCY, ONCE
from clew_serve.openai_front.chat_body import labels_from, tools_from
from clew_serve.openai_front.response_body import (
    Decided,
    ResponseBody,
    chat_messages,
    check,
    decided_in,
    messages_in,
)
from clew_serve.openai_front.response_events import ResponseEvents
from clew_serve.openai_front.response_id import run_of, turn_named
from clew_serve.openai_front.response_object import ResponseObject
from clew_serve.turns.ending import ending_of
from clew_serve.turns.messages import readable
from clew_serve.turns.results import by_whom, entry_before_word, give_results, root_record
from clew_serve.turns.turn import Turn, begin, look, say, watching


async def create(inquiry: Inquiry) -> Response | dict[str, Any]:
    """Answer the input: at once, as it comes, or later (`background`)."""
    body: ResponseBody = inquiry.content
    check(body)
    served = agent_named(inquiry.service, body.model)
    _check_format(body, served)
    turn = await _turn(inquiry, body, served)
    asked = {
        "instructions": body.instructions, "metadata": body.metadata or {},
        "previous_response_id": body.previous_response_id, "tools": body.tools or [],
        "text": body.text or {"format": {"type": "text"}}, "background": body.background,
    }  # fmt: skip
    made = ResponseObject(inquiry.service, turn, body.model, asked)
    if body.stream:
        return ResponseStream(made)
    if body.background:
        return await _now(inquiry, made)
    try:
        async with watching(inquiry.service, turn) as items:
            async for _ in items:
                pass
        return made.ended(await ending_of(inquiry.service, turn))
    except RefusedError as error:
        error.headers = ONCE
        raise


async def get(inquiry: Inquiry) -> dict[str, Any]:
    """A response as it is now."""
    named = inquiry.path["run"]
    record = await record_of(inquiry, run_of(named))
    turn = turn_named(named, record)
    identity = named if "~" in named else ""
    made = ResponseObject(inquiry.service, turn, agent_name(record), id=identity)
    return await _now(inquiry, made)


async def end(inquiry: Inquiry) -> dict[str, Any]:
    """Ask the run of a response to stop; it does when the call that it is at has ended."""
    await end_run(inquiry, await record_of(inquiry, run_of(inquiry.path["run"])))
    return await get(inquiry)


async def _now(inquiry: Inquiry, made: ResponseObject) -> dict[str, Any]:
    """The object of a turn as it is now, whether it has ended or not."""
    await look(inquiry.service, made.turn)
    if made.turn.stop is None:
        return made.of("in_progress", [])
    try:
        return made.ended(await ending_of(inquiry.service, made.turn))
    except RefusedError as error:
        failed = {"code": "server_error", "message": error.message}
        return made.of("failed", [], error=failed)


def _check_format(body: ResponseBody, served: ServedAgent) -> None:
    """Raise `RefusedError` where JSON is asked for, and the agent answers with text."""
    wanted: Any = (body.text or {}).get("format") or {}
    if wanted.get("type", "text") != "text" and served.agent.answer is str:
        raise RefusedError(
            422, "unsupported_parameter", f"{body.model} answers with text",
            "leave text.format out, or give the agent an answer type",
        )  # fmt: skip


async def _turn(inquiry: Inquiry, body: ResponseBody, served: ServedAgent) -> Turn:
    """The turn that answers: of a run that begins, or of one that goes on."""
    request = inquiry.headers.get(IDEMPOTENCY, "")
    before = None
    if body.previous_response_id:
        before = await record_of(inquiry, run_of(body.previous_response_id))
    decided = decided_in(body.input)
    if decided.results or decided.approvals:
        turn = await _decide(inquiry, decided, before)
        if not decided.words:
            return turn
        before = await record_of(inquiry, turn.run_id)
        return await say(inquiry, before, chat_messages(decided.words), request)
    messages = readable(messages_in(body))
    if before is not None:
        _check_is_last(body.previous_response_id or "", before)
        return await say(inquiry, before, messages, request)
    return await begin(
        inquiry, served.with_tools(tools_from(body.tools)), messages, request=request,
        labels=labels_from(body.metadata, body.user), session=body.session,
    )  # fmt: skip


def _check_is_last(named: str, record: Trajectory) -> None:
    """Raise `RefusedError` for a response that others follow already."""
    first, last = turn_named(named, record), turn_named(run_of(named), record)
    if first.after < last.after:
        raise RefusedError(
            409, "not_the_last_response", "other responses follow this one already",
            "go on from the last one: a run has one course",
        )  # fmt: skip


async def _decide(inquiry: Inquiry, decided: Decided, before: Trajectory | None) -> Turn:
    """Record results and rulings; the turn that follows."""
    ids = [each.approval_request_id for each in decided.approvals]
    ids += [each.id for each in decided.results]
    root = await root_record(inquiry, ids)
    if before is not None and before.run_id != root.run_id:
        raise RefusedError(422, "invalid", "these calls are not of the previous response")
    inquiry.service.work.failures.pop(root.run_id, None)
    for each in decided.approvals:
        why = each.reason or ""
        await rule(each.approval_request_id, allow=each.approve, why=why, **by_whom(inquiry))
    if decided.results:
        await give_results(inquiry, decided.results)
    await go_on(inquiry.service, root)
    return Turn(root.run_id, entry_before_word(root, ids[0]))


class ResponseStream(Response):
    """The events of a response; whoever leaves ends nothing."""

    def __init__(self, made: ResponseObject) -> None:
        super().__init__()
        self._made = made

    @override
    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        made = self._made
        async with watching(made.service, made.turn) as items:
            encoded = _encoded(ResponseEvents(made).all(items))
            await LiveEvents(made.service, encoded)(scope, receive, send)


async def _encoded(events: AsyncGenerator[dict[str, Any]]) -> AsyncGenerator[bytes]:
    async for event in events:
        name = str(event["type"]).encode()
        yield b"event: " + name + b"\ndata: " + msgspec.json.encode(event) + b"\n\n"
