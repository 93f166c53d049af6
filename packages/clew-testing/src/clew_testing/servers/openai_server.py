"""A server on 127.0.0.1 that speaks OpenAI's formats, for tests with the real client in between.

It answers from a script, one entry a request, plain or as a stream, whichever was asked for:

    with OpenAIServer([Say("Looking it up.", calls=[("search", '{"query": "x"}')]),
                       Fail(429, headers={"retry-after": "0"}),
                       Say("It is 42.")]) as server:
        model = openai_chat("scripted", base_url=server.base_url, api_key="any")
        ...
        assert server.requests[0].body["messages"][0]["role"] == "system"

There are Chat Completions, Responses and plain completions, each with its rules (`openai_rules`,
`responses_rules`, `completions_form`): requests that the real service would refuse get status 400
in its own form, and use up no entry of the script. What may be said, and the server under it, are
in `http_server`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from clew_testing.servers.completions import Completions
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
from clew_testing.servers.openai_rules import check
from clew_testing.servers.openai_service import (
    CREATED,
    DONE,
    FINISH,
    Access,
    OpenAIService,
    chat_usage,
    pieces,
    words,
)
from clew_testing.servers.responses import Responses

__all__ = [
    "Cut",
    "Delay",
    "Drop",
    "Fail",
    "OpenAIServer",
    "ReceivedRequest",
    "Say",
    "Script",
    "Send",
    "Turn",
]


class OpenAIServer(HttpServer):
    """The server; it runs in a thread of its own, so any event loop will do.

    Args:
        script: What to answer, in order; or a function from a request's body to the answer.
        key: Ask for this key, and answer 401 without it.
        models: Names at `/v1/models`; when given, others get 404.
        listing: What `/v1/models` answers instead of them.
        piece: The size in bytes of the pieces that a stream is sent in (0: one event each).
        also: Keys that `/completions` takes beside OpenAI's.
    """

    def __init__(
        self,
        script: Script = (),
        *,
        key: str = "",
        models: Sequence[str] = (),
        listing: Send | None = None,
        piece: int = 0,
        also: frozenset[str] = frozenset(),
    ) -> None:
        access = Access(key, models)
        forms: dict[str, CompletionKind] = {
            "/chat/completions": Chat(access),
            "/responses": Responses(access),
            "/completions": Completions(access, also),
        }
        super().__init__(OpenAIService(forms, models, listing), script, piece=piece)


@dataclass(frozen=True)
class Chat:
    """Chat Completions."""

    access: Access

    def refuse(self, seen: ReceivedRequest) -> Fail | None:
        return self.access.refuse(seen, check)

    def streams(self, seen: ReceivedRequest) -> bool:
        return bool(seen.body.get("stream"))

    def full_body(self, say: Say, seen: ReceivedRequest) -> bytes:
        return to_json(reply(say, seen.body))

    def events(self, say: Say, seen: ReceivedRequest) -> Iterator[bytes]:
        return chunks(say, seen.body)


def reply(say: Say, body: Mapping[str, Any]) -> dict[str, Any]:
    """The body of a plain reply."""
    message: dict[str, Any] = {"role": "assistant", "content": say.text, "refusal": say.refusal}
    message |= _more(say)
    if say.calls:
        message["tool_calls"] = [_call(call, index) for index, call in enumerate(say.calls)]
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": _reason(say)}
    document = _frame(say, body, "chat.completion") | {"choices": [choice]}
    return document if say.usage == {} else document | {"usage": chat_usage(say, body["messages"])}


def chunks(say: Say, body: Mapping[str, Any]) -> Iterator[bytes]:
    """The events of a streamed reply: role, words, calls in pieces, the end, usage, `[DONE]`."""
    frame = _frame(say, body, "chat.completion.chunk")

    def event(delta: Mapping[str, Any], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return sse(frame | {"choices": [choice]})

    yield event({"role": "assistant", "content": "", "refusal": None})
    for key, value in _more(say).items():
        yield event({key: value})
    if say.refusal:
        yield event({"refusal": say.refusal})
    for word in words(say.text or ""):
        yield event({"content": word})
    for index, call in enumerate(say.calls):
        complete = _call(call, index)
        arguments: str | None = complete["function"].pop("arguments", None)
        if arguments is not None:
            complete["function"]["arguments"] = ""
        yield event({"tool_calls": [{"index": index, **complete}]})
        for piece in pieces(arguments or ""):
            yield event({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    yield event({}, _reason(say))
    options: dict[str, Any] = body.get("stream_options") or {}
    if options.get("include_usage") and say.usage != {}:
        none: list[Any] = []
        yield sse(frame | {"choices": none, "usage": chat_usage(say, body["messages"])})
    yield DONE


def _reason(say: Say) -> str | None:
    """The finish reason: as given, else the one that fits."""
    if say.finish == "":
        return "tool_calls" if say.calls else "stop"
    return say.finish and FINISH.get(say.finish, say.finish)


def _more(say: Say) -> Mapping[str, Any]:
    thinking = {"reasoning_content": say.reasoning} if say.reasoning else {}
    return thinking | dict(say.more)


def _frame(say: Say, body: Mapping[str, Any], kind: str) -> dict[str, Any]:
    model = say.model or body["model"]
    return {"id": "chatcmpl-scripted", "object": kind, "created": CREATED, "model": model}


def _call(call: tuple[str, str | None], index: int) -> dict[str, Any]:
    name, arguments = call
    function = {"name": name} | ({} if arguments is None else {"arguments": arguments})
    return {"id": f"call_{index}", "type": "function", "function": function}
