"""OpenAI's Responses API, plain and streamed: a form of `OpenAIServer`.

It issues reasoning encrypted (by its own lights) and remembers what came with it, so that a request
with any of it altered or out of place is refused (`responses_rules`).
"""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Final

from clew import Usage
from clew_testing.servers.http_server import Fail, ReceivedRequest, Say, sse, to_json
from clew_testing.servers.openai_service import CREATED, Access, pieces, words
from clew_testing.servers.responses_rules import Issued, check

ENCRYPTED: Final = "reasoning.encrypted_content"

_EARLY: Final[Mapping[str, str]] = {"length": "max_output_tokens", "filter": "content_filter"}


@dataclass(frozen=True)
class Responses:
    """The Responses API. `issued` are all items given out, by their ids.

    A `Say` with reasoning begins with an item of it; where it makes several calls, another item
    comes before the last one. Its `more` are further keys of the message (`phase`).
    """

    access: Access
    issued: dict[str, Issued] = field(default_factory=dict[str, Issued])
    _numbers: Iterator[int] = field(default_factory=count)

    def refuse(self, seen: ReceivedRequest) -> Fail | None:
        return self.access.refuse(seen, lambda body: check(body, self.issued))

    def streams(self, seen: ReceivedRequest) -> bool:
        return bool(seen.body.get("stream"))

    def full_body(self, say: Say, seen: ReceivedRequest) -> bytes:
        return to_json(self._response(say, seen.body))

    def events(self, say: Say, seen: ReceivedRequest) -> Iterator[bytes]:
        response = self._response(say, seen.body)
        nothing: dict[str, Any] = {"output": [], "usage": None}
        begun = response | {"status": "in_progress"} | nothing
        numbers = count()

        def event(kind: str, **more: Any) -> bytes:
            return sse({"type": kind, "sequence_number": next(numbers)} | more, kind)

        yield event("response.created", response=begun)
        yield event("response.in_progress", response=begun)
        for index, item in enumerate(response["output"]):
            for kind, more in _growth(item):
                at = {} if "item" in more else {"item_id": item["id"]}
                yield event(kind, output_index=index, **at, **more)
        last = "incomplete" if response["status"] == "incomplete" else "completed"
        yield event(f"response.{last}", response=response)

    def _response(self, say: Say, body: Mapping[str, Any]) -> dict[str, Any]:
        number = next(self._numbers)
        early = _EARLY.get(say.finish or "")
        response = {
            "id": f"resp_{number}",
            "object": "response",
            "created_at": CREATED,
            "model": say.model or body["model"],
            "status": "incomplete" if early else say.finish or "completed",
            "error": None,
            "incomplete_details": {"reason": early} if early else None,
            "output": self._output(say, number, encrypted=ENCRYPTED in (body.get("include") or [])),
        }
        if say.finish == "refusal":
            response["status"] = "completed"
        return response if say.usage == {} else response | {"usage": _usage(say, body)}

    def _output(self, say: Say, number: int, *, encrypted: bool) -> list[dict[str, Any]]:
        calls = [_call(call, f"{number}_{index}") for index, call in enumerate(say.calls)]
        refused = say.text if say.finish == "refusal" else say.refusal
        output: list[dict[str, Any]] = []
        if say.reasoning:
            output.append(_reasoning(say.reasoning, f"rs_{number}_0", encrypted=encrypted))
        if say.text or refused or not calls:
            output.append(_message(say, refused, f"msg_{number}"))
        if say.reasoning and len(calls) > 1:
            calls.insert(-1, _reasoning("And then.", f"rs_{number}_1", encrypted=encrypted))
        output += calls
        thought: tuple[str, ...] = ()
        for item, following in zip(output, [*output[1:], {}], strict=True):
            self.issued[item["id"]] = Issued(item, thought, following.get("id", ""))
            if item["type"] == "reasoning":
                thought = (*thought, item["id"])
        return output


def _reasoning(text: str, id_: str, *, encrypted: bool) -> dict[str, Any]:
    sealed = hashlib.sha256(f"{id_} {text}".encode()).hexdigest() if encrypted else None
    summary = [{"type": "summary_text", "text": text}]
    return {"id": id_, "type": "reasoning", "summary": summary, "encrypted_content": sealed}


def _message(say: Say, refused: str | None, id_: str) -> dict[str, Any]:
    nothing: list[Any] = []
    text = {"type": "output_text", "text": say.text or "", "annotations": nothing}
    content = {"type": "refusal", "refusal": refused} if refused else text
    message = {"id": id_, "type": "message", "role": "assistant", "status": "completed"}
    return message | {"content": [content]} | dict(say.more)


def _call(call: tuple[str, str | None], id_: str) -> dict[str, Any]:
    name, arguments = call
    made = {"id": f"fc_{id_}", "type": "function_call", "call_id": f"call_{id_}", "name": name}
    return made | {"status": "completed"} | ({} if arguments is None else {"arguments": arguments})


def _growth(item: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The events in which an item comes: its beginning, its pieces, all of it."""
    begun = {key: value for key, value in item.items() if key != "encrypted_content"}
    nothing: list[Any] = []
    match item["type"]:
        case "reasoning":
            yield "response.output_item.added", {"item": begun | {"summary": nothing}}
            for word in words(item["summary"][0]["text"]):
                kind = "response.reasoning_summary_text.delta"
                yield kind, {"summary_index": 0, "delta": word}
        case "message":
            content = item["content"][0]
            key = "refusal" if content["type"] == "refusal" else "text"
            kind = "response.refusal" if key == "refusal" else "response.output_text"
            empty = content | {key: ""}
            yield "response.output_item.added", {"item": begun | {"content": nothing}}
            yield "response.content_part.added", {"content_index": 0, "part": empty}
            for word in words(content[key]):
                yield f"{kind}.delta", {"content_index": 0, "delta": word}
            yield f"{kind}.done", {"content_index": 0, key: content[key]}
            yield "response.content_part.done", {"content_index": 0, "part": content}
        case _:
            kind = "response.function_call_arguments"
            yield "response.output_item.added", {"item": begun | {"arguments": ""}}
            for piece in pieces(item.get("arguments", "")):
                yield f"{kind}.delta", {"delta": piece}
            yield f"{kind}.done", {"arguments": item.get("arguments", "")}
    yield "response.output_item.done", {"item": item}


def _usage(say: Say, body: Mapping[str, Any]) -> Mapping[str, Any]:
    usage = say.usage
    if usage is not None and not isinstance(usage, Usage):
        return usage
    counted = Usage(len(to_json(body["input"])) // 4, len(say.text or "") // 4 + 1)
    told = usage or counted
    return {
        "input_tokens": told.input,
        "input_tokens_details": {
            "cached_tokens": told.cached,
            "cache_write_tokens": told.written,
        },
        "output_tokens": told.output,
        "output_tokens_details": {"reasoning_tokens": told.reasoning},
        "total_tokens": told.tokens,
    }
