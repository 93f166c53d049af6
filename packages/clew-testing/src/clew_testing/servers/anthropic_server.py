"""A server on 127.0.0.1 that speaks Anthropic's Messages, for tests with the real client.

It answers from a script, one entry a request, plain or as a stream, whichever was asked for:

    with AnthropicServer([Say("Looking it up.", calls=[("search", '{"query": "x"}')]),
                          Fail(529),
                          Say("It is 42.", reasoning="Six times seven …")]) as server:
        model = anthropic_messages("scripted", base_url=server.base_url, api_key="any")
        ...
        assert server.requests[0].body["system"][0]["type"] == "text"

Requests that the real service would refuse get status 400 in its own form and use up no entry of
the script (`anthropic_rules`). `reasoning` is thought and signed; a signature that comes back must
be of this model, of this text, and behind the same conversation.
"""

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from clew import Usage
from clew_testing.servers.anthropic_rules import AnthropicRefusal, Block, Signer, check, turns
from clew_testing.servers.http_server import (
    CompletionKind,
    Cut,
    Delay,
    Drop,
    Fail,
    HttpServer,
    ReceivedRequest,
    Say,
    Script,
    Send,
    Turn,
    sse,
    to_json,
)
from clew_testing.servers.openai_service import pieces, words

__all__ = [
    "AnthropicServer",
    "Cut",
    "Delay",
    "Drop",
    "Fail",
    "ReceivedRequest",
    "Say",
    "Script",
    "Send",
    "Turn",
]

ERRORS: Final[Mapping[int, str]] = {
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    504: "timeout_error",
    529: "overloaded_error",
}
FINISH: Final[Mapping[str, str]] = {"length": "max_tokens", "filter": "refusal"}


class AnthropicServer(HttpServer):
    """The server; it runs in a thread of its own, so any event loop will do.

    Args:
        script: What to answer, in order; or a function from a request's body to the answer. The
            `more` of a `Say` may hold `blocks`: the content as it is, but for signatures and ids,
            which the server makes.
        key: Ask for this key, and answer 401 without it.
        models: Names at `/v1/models`; when given, others get 404.
        bound: Whether thinking must stand behind the conversation it was thought in.
        max_tokens: How many tokens the model can write.
        piece: The size in bytes of the pieces that a stream is sent in (0: one event each).
    """

    def __init__(
        self,
        script: Script = (),
        *,
        key: str = "",
        models: Sequence[str] = (),
        bound: bool = True,
        max_tokens: int = 128_000,
        piece: int = 0,
    ) -> None:
        super().__init__(
            AnthropicService(Messages(key, models, bound, max_tokens), models), script, piece=piece
        )


@dataclass(frozen=True)
class AnthropicService:
    """Messages, and the list of models."""

    messages: CompletionKind
    models: Sequence[str] = ()
    root: str = ""
    stream_type: str = "text/event-stream; charset=utf-8"

    def find(self, seen: ReceivedRequest) -> CompletionKind | Send | Fail:
        if (seen.method, seen.path) == ("POST", "/v1/messages"):
            return self.messages
        if (seen.method, seen.path) == ("GET", "/v1/models"):
            listed = [{"type": "model", "id": name, "display_name": name} for name in self.models]
            return Send(to_json({"data": listed, "has_more": False}))
        return Fail(404, "Not found")

    def error(self, fail: Fail) -> bytes:
        kind = fail.code or ERRORS.get(fail.status, "invalid_request_error")
        return to_json(error(kind, fail.message) | {"request_id": "req_scripted"})


def error(kind: str, message: str) -> dict[str, Any]:
    """An error, in the place of a message or of an event."""
    return {"type": "error", "error": {"type": kind, "message": message}}


@dataclass(frozen=True)
class Messages:
    """The Messages API."""

    key: str = ""
    models: Sequence[str] = ()
    bound: bool = True
    max_tokens: int = 128_000
    count: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def check(self, body: Any) -> None:
        """Raise `AnthropicRefusal` for a body that is not taken."""
        check(body, bound=self.bound, max_tokens=self.max_tokens)

    def refuse(self, seen: ReceivedRequest) -> Fail | Send | None:
        bearer = seen.headers.get("authorization", "").removeprefix("Bearer ")
        if self.key and self.key not in {bearer, seen.headers.get("x-api-key")}:
            return Fail(401, "invalid x-api-key")
        if "anthropic-version" not in seen.headers:
            return Fail(400, "anthropic-version: header is required")
        try:
            self.check(seen.body)
        except AnthropicRefusal as refused:
            return Fail(400, str(refused))
        if self.models and seen.body["model"] not in self.models:
            return Fail(404, f"model: {seen.body['model']}")
        return None

    def streams(self, seen: ReceivedRequest) -> bool:
        return bool(seen.body.get("stream"))

    def full_body(self, say: Say, seen: ReceivedRequest) -> bytes:
        return to_json(self._message(say, seen) | _end(say) | _usage(say, seen))

    def events(self, say: Say, seen: ReceivedRequest) -> Iterator[bytes]:
        message = self._message(say, seen)
        blocks: list[Block] = message.pop("content")
        none: list[Any] = []
        begun = message | {"content": none, "stop_reason": None} | _usage(say, seen)
        yield _event("message_start", message=begun)
        yield _event("ping")
        for index, block in enumerate(blocks):
            start, deltas = _stream_pieces(block)
            yield _event("content_block_start", index=index, content_block=start)
            for delta in deltas:
                yield _event("content_block_delta", index=index, delta=delta)
            yield _event("content_block_stop", index=index)
        yield _event("message_delta", delta=_end(say), **_usage(say, seen))
        yield _event("message_stop")

    def _message(self, say: Say, seen: ReceivedRequest) -> dict[str, Any]:
        return {
            "id": f"msg_{next(self.count):04}",
            "type": "message",
            "role": "assistant",
            "model": say.model or seen.body["model"],
            "content": self._signed(_blocks(say), seen),
        }

    def _signed(self, blocks: list[Block], seen: ReceivedRequest) -> list[Block]:
        """The blocks with signatures and ids."""
        signer = Signer(seen.body)
        for role, before in turns(seen.body):
            for block in before:
                signer.past(role, block)
        signed: list[Block] = []
        for made in blocks:
            block = dict(made)
            match block["type"]:
                case "thinking":
                    block["signature"] = signer.sign(block["thinking"])
                case "redacted_thinking":
                    block["data"] = signer.sign("")
                case "tool_use":
                    block["id"] = f"toolu_{next(self.count):04}"
                case _:
                    pass
            signer.past("assistant", block)
            signed.append(block)
        return signed


def _blocks(say: Say) -> list[Block]:
    """What is said, in the order of the service."""
    if "blocks" in say.more:
        return list(say.more["blocks"])
    blocks: list[Block] = []
    if say.reasoning:
        blocks.append({"type": "thinking", "thinking": say.reasoning})
    if say.text:
        blocks.append({"type": "text", "text": say.text})
    for name, arguments in say.calls:
        blocks.append({"type": "tool_use", "name": name, "input": _input(arguments)})
    return blocks


def _input(arguments: str | None) -> Any:
    """Arguments as an object; text that is none stays text."""
    try:
        return json.loads(arguments or "{}")
    except ValueError:
        return arguments


def _stream_pieces(block: Block) -> tuple[Block, list[dict[str, Any]]]:
    """How a block begins in a stream, and the pieces it goes on with."""
    match block["type"]:
        case "text":
            deltas = [{"type": "text_delta", "text": word} for word in words(block["text"])]
            return block | {"text": ""}, deltas
        case "thinking":
            deltas = [
                {"type": "thinking_delta", "thinking": word} for word in words(block["thinking"])
            ]
            deltas.append({"type": "signature_delta", "signature": block["signature"]})
            return block | {"thinking": "", "signature": ""}, deltas
        case "tool_use":
            arguments = block["input"]
            text = (
                arguments
                if isinstance(arguments, str)
                else json.dumps(arguments)
                if arguments
                else ""
            )
            deltas = [
                {"type": "input_json_delta", "partial_json": piece} for piece in ["", *pieces(text)]
            ]
            return block | {"input": {}}, deltas
        case "compaction":
            keys = ("content", "encrypted_content")
            grown: Block = {key: block[key] for key in keys if key in block}
            return block | dict.fromkeys(grown), [{"type": "compaction_delta"} | grown]
        case _:
            return block, []


def _event(kind: str, **more: Any) -> bytes:
    return sse({"type": kind, **more}, kind)


def _end(say: Say) -> dict[str, Any]:
    """How the reply ended."""
    reason = say.finish and FINISH.get(say.finish, say.finish)
    if reason == "":
        called = any(block["type"] == "tool_use" for block in _blocks(say))
        reason = "refusal" if say.refusal else "tool_use" if called else "end_turn"
    end: dict[str, Any] = {"stop_reason": reason, "stop_sequence": None}
    if say.refusal:
        end["stop_details"] = {"type": "refusal", "category": None, "explanation": say.refusal}
    return end


def _usage(say: Say, seen: ReceivedRequest) -> dict[str, Any]:
    """Usage as the service counts it: cached tokens are none of the input tokens."""
    used = say.usage
    if used == {}:
        return {}
    if used is not None and not isinstance(used, Usage):
        return {"usage": used}
    if used is None:
        used = Usage(len(to_json(seen.body["messages"])) // 4, len(say.text or "") // 4 + 1)
    return {
        "usage": {
            "input_tokens": used.input - used.cached - used.written,
            "cache_creation_input_tokens": used.written,
            "cache_read_input_tokens": used.cached,
            "output_tokens": used.output,
            "output_tokens_details": {"thinking_tokens": used.reasoning},
        }
    }
