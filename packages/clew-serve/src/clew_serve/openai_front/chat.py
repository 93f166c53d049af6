"""`/v1/chat/completions`: the answer of an agent, at once or as it comes."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Any, Final

import msgspec
from starlette.responses import Response
from starlette.types import Receive, Scope, Send
from typing_extensions import override

from clew import PendingApproval, Token, Withdrawn
from clew.interfaces import encode
from clew_serve.agents import ServedAgent
from clew_serve.api.access_to_runs import agent_named, record_of
from clew_serve.api.events import LiveEvents
from clew_serve.endpoints import Inquiry
from clew_serve.errors import RefusedError, problem_of
from clew_serve.openai_front.chat_body import (
    RUN,
    SESSION,
    ChatBody,
    Finish,
    check,
    labels_from,
    results_at_end,
    tools_from,
)
from clew_serve.openai_front.failures import error_of
from clew_serve.openai_front.usage import chat_usage
from clew_serve.service import Service
from clew_serve.turns.ending import Ending, ending_of
from clew_serve.turns.messages import readable
from clew_serve.turns.results import give_results
from clew_serve.turns.safe_words import SafeWords
from clew_serve.turns.turn import Turn, begin, last_turn, say, watching

IDEMPOTENCY: Final = "idempotency-key"
"""The header with a client's own id of a request, which makes it safe to send twice."""

ONCE: Final = {"x-should-retry": "false"}
"""What keeps OpenAI's clients from sending again by themselves what has begun a run."""

_DONE: Final = b"data: [DONE]\n\n"


async def complete(inquiry: Inquiry) -> Response | dict[str, Any]:
    """Answer the last message."""
    body: ChatBody = inquiry.content
    check(body)
    served = agent_named(inquiry.service, body.model)
    _check_format(body, served)
    turn = await _turn(inquiry, body, served)
    chat = Chat(inquiry.service, turn, body)
    if body.stream:
        return ChatStream(chat)
    try:
        async with watching(inquiry.service, turn) as items:
            async for _ in items:
                pass
        return await chat.completion()
    except RefusedError as error:
        error.headers = ONCE
        raise


def _check_format(body: ChatBody, served: ServedAgent) -> None:
    """Raise `RefusedError` where JSON is asked for, and the agent answers with text."""
    kind = (body.response_format or {}).get("type", "text")
    if kind != "text" and served.agent.answer is str:
        raise RefusedError(
            422, "unsupported_parameter", f"{body.model} answers with text",
            "leave response_format out, or give the agent an answer type",
        )  # fmt: skip


async def _turn(inquiry: Inquiry, body: ChatBody, served: ServedAgent) -> Turn:
    """The turn that answers: of a run that begins, or of one that goes on."""
    metadata, request = body.metadata or {}, inquiry.headers.get(IDEMPOTENCY, "")
    if run_id := metadata.get(RUN):
        return last_turn(await record_of(inquiry, run_id))
    results, words = results_at_end(body.messages)
    if results:
        turn = await give_results(inquiry, results)
        if not words:
            return turn
        record = await record_of(inquiry, turn.run_id)
        return await say(inquiry, record, words, request)
    return await begin(
        inquiry, served.with_tools(tools_from(body.tools, "function")), readable(body.messages),
        request=request, labels=labels_from(metadata, body.user), session=metadata.get(SESSION),
    )  # fmt: skip


@dataclass
class Chat:
    """A turn as a chat completion."""

    service: Service
    turn: Turn
    body: ChatBody

    @property
    def head(self) -> dict[str, Any]:
        """What the completion and each of its pieces has."""
        first = self.turn.record.entries[0].at // 1000 if len(self.turn.record) else 0
        return {"id": f"chatcmpl-{self.turn.run_id}", "created": first, "model": self.body.model}

    async def completion(self) -> dict[str, Any]:
        """The answer as a whole."""
        ending = await ending_of(self.service, self.turn)
        message: dict[str, Any] = {"role": "assistant", "content": ending.text or None}
        message["refusal"] = ending.refusal or None
        if ending.calls:
            message["tool_calls"] = [tool_call(each) for each in ending.calls]
        choice = {
            "index": 0, "message": message, "finish_reason": finish_of(ending), "logprobs": None,
        }  # fmt: skip
        usage = chat_usage(self.turn)
        return {
            **self.head, "object": "chat.completion", "choices": [choice], "usage": usage,
            "clew": ending.told,
        }  # fmt: skip

    async def pieces(self, items: AsyncGenerator[object]) -> AsyncGenerator[dict[str, Any]]:
        """The answer as it comes."""
        words, told = SafeWords(), False
        yield self._piece({"role": "assistant", "content": ""})
        async for item in items:
            text = ""
            if isinstance(item, Token) and item.field == "answer":
                text = words.feed(item.text, self.turn.record)
            elif isinstance(item, Withdrawn):
                words.withdraw()
            if text:
                told = True
                yield self._piece({"content": text})
        ending = await ending_of(self.service, self.turn)
        if ending.is_answer:
            rest = words.finish(ending.answer, self.turn.record)
        else:
            rest = f"\n\n{ending.text}" if told and ending.text else ending.text
        if rest:
            yield self._piece({"content": rest})
        if ending.refusal:
            yield self._piece({"refusal": ending.refusal})
        if ending.calls:
            calls = [{"index": at, **tool_call(it)} for at, it in enumerate(ending.calls)]
            yield self._piece({"tool_calls": calls})
        yield {**self._piece({}, finish_of(ending)), "clew": ending.told}
        if self.body.stream_options and self.body.stream_options.include_usage:
            head = {**self.head, "object": "chat.completion.chunk"}
            yield {**head, "choices": [], "usage": chat_usage(self.turn)}

    def _piece(self, delta: dict[str, Any], finish: Finish | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
        return {**self.head, "object": "chat.completion.chunk", "choices": [choice], "usage": None}


class ChatStream(Response):
    """The pieces as server-sent events; whoever leaves ends nothing."""

    def __init__(self, chat: Chat) -> None:
        super().__init__()
        self._chat = chat

    @override
    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        chat = self._chat
        async with watching(chat.service, chat.turn) as items:
            await LiveEvents(chat.service, _encoded(chat.pieces(items)))(scope, receive, send)


async def _encoded(pieces: AsyncGenerator[dict[str, Any]]) -> AsyncGenerator[bytes]:
    try:
        async for piece in pieces:
            yield b"data: " + msgspec.json.encode(piece) + b"\n\n"
    except Exception as error:  # noqa: BLE001 - it is told in the stream, which has begun
        told = {"error": error_of(*problem_of(error))}
        yield b"data: " + msgspec.json.encode(told) + b"\n\n"
    yield _DONE


def tool_call(call: PendingApproval) -> dict[str, Any]:
    """A call of the client's tool, which it performs."""
    arguments = encode(call.args).decode()
    function = {"name": call.tool, "arguments": arguments}
    return {"id": call.id, "type": "function", "function": function}


def finish_of(ending: Ending) -> Finish:
    """Why the turn ended."""
    if ending.calls:
        return "tool_calls"
    if ending.refusal:
        return "content_filter"
    return "length" if ending.status == "bound" else "stop"
