"""What a provider's body says, read as plainly as can be, and with nothing of clew's.

A stream is first put together into the body that would have come in one piece.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec

Body = dict[str, Any]


@dataclass(frozen=True)
class Told:
    """What a reply says: its text, its calls by name and decoded arguments, how it ended, and what
    it took as (input, output, cached, reasoning); None where that is not told.
    """

    text: str
    calls: tuple[tuple[str, Any], ...]
    finish: str
    usage: tuple[int, int, int, int] | None


def form_of(uri: str) -> str:
    """Which form a completion at this address speaks; "" where it is none."""
    path = urlsplit(uri).path
    for ending, form in (
        ("/chat/completions", "openai-chat"),
        ("/responses", "openai-responses"),
        ("/v1/messages", "anthropic"),
        (":generateContent", "gemini"),
        (":streamGenerateContent", "gemini"),
    ):
        if path.endswith(ending):
            return form
    return ""


def told(form: str, body: Body) -> Told:
    """What a whole body says."""
    return _READ[form](body)


def full_body(form: str, stream: str) -> Body:
    """The body that a stream's events come to."""
    return _GATHERED[form](events_of(stream))


def events_of(stream: str) -> list[Body]:
    """The events of a stream, but for the mark at its end."""
    lines = (line[5:].strip() for line in stream.split("\n") if line.startswith("data:"))
    return [_dict(json.loads(line)) for line in lines if line != "[DONE]"]


def _dict(value: Any) -> Body:
    return msgspec.convert(value, Body) if isinstance(value, dict) else {}


def _list(value: Any) -> list[Body]:
    return msgspec.convert(value, list[Body]) if isinstance(value, list) else []


def arguments(text: Any) -> Any:
    """Arguments as a value; text that is no JSON stays text."""
    try:
        return json.loads(text) if isinstance(text, str) else text
    except ValueError:
        return text


def _aloud(text: str) -> str:
    """A text without the thinking that some servers leave before it."""
    thought = re.match(r"\s*<think>.*?(?:</think>\s*|$)", text, re.DOTALL)
    return text[thought.end() :] if thought else text


def _number(usage: Body, *path: str) -> int:
    value: Any = usage
    for key in path:
        value = _dict(value).get(key)
    return int(value or 0)


def ended(form: str, stream: str) -> bool:
    """Whether a recorded stream has its end, or an error in its place."""
    return any(map(_ENDS[form], events_of(stream))) or "data: [DONE]" in stream


def _ended(word: str | None, text: str, calls: object, early: Mapping[str, str]) -> str:
    """How a reply ended; nothing at all counts only where the word says that this was it."""
    if word is not None and word in early:
        return early[word]
    if not (text or calls or word in _COMPLETE):
        return "cut"
    return "calls" if calls else "stop"


def _chosen(event: Body) -> Body:
    """The first choice, or candidate."""
    return next(iter(_list(event.get("choices")) or _list(event.get("candidates"))), {})


_LAST: Final = frozenset({"response.completed", "response.incomplete", "response.failed"})
_COMPLETE: Final = frozenset(
    {
        *("stop", "tool_calls", "function_call", "completed", "STOP"),
        *("end_turn", "tool_use", "stop_sequence"),
    }
)
"""The words for a reply that is all there."""

_ENDS: Final[Mapping[str, Callable[[Body], object]]] = {
    "openai-chat": lambda event: _chosen(event).get("finish_reason") or event.get("error"),
    "openai-responses": lambda event: event.get("type") in _LAST or event.get("error"),
    "anthropic": lambda event: _dict(event.get("delta")).get("stop_reason") or event.get("error"),
    "gemini": lambda event: _chosen(event).get("finishReason") or event.get("error"),
}


# ---------------------------------------------------------------- Chat Completions


def _chat(body: Body) -> Told:
    choice = _list(body["choices"])[0]
    message = _dict(choice.get("message"))  # Azure's filter may leave it out
    content = message.get("content") or ""
    text = _aloud(content if isinstance(content, str) else _joined(_list(content), "text"))
    called = [_dict(call.get("function")) for call in _list(message.get("tool_calls"))]
    older = _dict(message.get("function_call"))
    called += [older] if older.get("name") else []
    calls = tuple((str(call.get("name")), arguments(call.get("arguments"))) for call in called)
    refusal = message.get("refusal") or ""
    early = {"length": "length", "content_filter": "filter", "error": "cut"}
    finish = _ended(choice.get("finish_reason"), text, calls, early)
    usage = _dict(body.get("usage"))
    cached = max(
        _number(usage, "prompt_tokens_details", "cached_tokens"),
        _number(usage, "prompt_cache_hit_tokens"),
        _number(usage, "num_cached_tokens"),
        _number(usage, "cached_tokens"),
    )
    took = (
        _number(usage, "prompt_tokens"),
        _number(usage, "completion_tokens"),
        cached,
        _number(usage, "completion_tokens_details", "reasoning_tokens"),
    )
    return Told(text or refusal, calls, "refusal" if refusal else finish, took if usage else None)


def _joined(blocks: Iterable[Body], key: str) -> str:
    return "".join(str(block.get(key) or "") for block in blocks)


def _chat_body(events: list[Body]) -> Body:
    message: Body = {}
    calls: dict[int, Body] = {}
    body: Body = {}
    finish = None
    for event in events:
        body |= {key: event[key] for key in ("model", "usage") if event.get(key)}
        for choice in _list(event.get("choices"))[:1]:
            finish = choice.get("finish_reason") or finish
            delta = _dict(choice.get("delta"))
            for key in ("content", "refusal"):
                if delta.get(key):
                    message[key] = message.get(key, "") + delta[key]
            for piece in _list(delta.get("tool_calls")):
                call = calls.setdefault(piece["index"], {"name": "", "arguments": ""})
                function = _dict(piece.get("function"))
                call["name"] += function.get("name") or ""
                call["arguments"] += function.get("arguments") or ""
    message["tool_calls"] = [{"function": call} for call in calls.values()]
    return body | {"choices": [{"message": message, "finish_reason": finish}]}


# ---------------------------------------------------------------- Responses


def _responses(body: Body) -> Told:
    items = _list(body.get("output"))
    contents = [_list(item.get("content")) for item in items if item["type"] == "message"]
    texts = [_joined(blocks, "text") for blocks in contents]
    refusal = "".join(_joined(blocks, "refusal") for blocks in contents)
    calls = tuple(
        (str(item["name"]), arguments(item["arguments"]))
        for item in items
        if item["type"] == "function_call"
    )
    why = _dict(body.get("incomplete_details")).get("reason")
    early = {"incomplete": "length" if why == "max_output_tokens" else "filter"}
    early |= dict.fromkeys(("queued", "in_progress", "cancelled"), "cut")
    usage = _dict(body.get("usage"))
    took = (
        _number(usage, "input_tokens"),
        _number(usage, "output_tokens"),
        _number(usage, "input_tokens_details", "cached_tokens"),
        _number(usage, "output_tokens_details", "reasoning_tokens"),
    )
    text = _aloud("\n\n".join(filter(None, texts)))
    finish = "refusal" if refusal else _ended(body.get("status"), text, calls, early)
    return Told(text or refusal, calls, finish, took if usage else None)


def _responses_body(events: list[Body]) -> Body:
    return next(_dict(event["response"]) for event in events if event.get("type") in _LAST)


# ---------------------------------------------------------------- Messages


def _messages(body: Body) -> Told:
    blocks = _list(body["content"])
    calls = tuple(
        (str(block["name"]), block["input"]) for block in blocks if block["type"] == "tool_use"
    )
    early = dict.fromkeys(("max_tokens", "model_context_window_exceeded"), "length")
    early |= {"pause_turn": "cut", "refusal": "filter" if blocks else "refusal"}
    usage = _dict(body.get("usage"))
    cached = _number(usage, "cache_read_input_tokens")
    written = _number(usage, "cache_creation_input_tokens")
    took = (
        _number(usage, "input_tokens") + cached + written,
        _number(usage, "output_tokens"),
        cached,
        _number(usage, "output_tokens_details", "thinking_tokens"),
    )
    text = _joined((block for block in blocks if block["type"] == "text"), "text")
    return Told(text, calls, _ended(body.get("stop_reason"), text, calls, early), took)


def _messages_body(events: list[Body]) -> Body:
    body: Body = {}
    blocks: dict[int, Body] = {}
    texts: dict[int, str] = {}
    for event in events:
        match event["type"]:
            case "message_start":
                body = dict(_dict(event["message"]))
            case "content_block_start":
                blocks[event["index"]] = dict(_dict(event["content_block"]))
            case "content_block_delta":
                delta, block = _dict(event["delta"]), blocks[event["index"]]
                kind = str(delta["type"]).removesuffix("_delta")
                if kind == "input_json":
                    index = event["index"]
                    texts[index] = texts.get(index, "") + delta["partial_json"]
                elif kind in delta:
                    block[kind] = str(block.get(kind) or "") + delta[kind]
            case "message_delta":
                body |= _dict(event["delta"])
                body["usage"] = _dict(body.get("usage")) | _dict(event.get("usage"))
            case _:
                pass
    for index, text in texts.items():
        blocks[index]["input"] = json.loads(text or "{}")
    return body | {"content": list(blocks.values())}


# ---------------------------------------------------------------- Gemini


def _gemini(body: Body) -> Told:
    candidate = (_list(body.get("candidates")) or [{}])[0]
    parts = _list(_dict(candidate.get("content")).get("parts"))
    called = [_dict(part["functionCall"]) for part in parts if "functionCall" in part]
    calls = tuple((str(call["name"]), call.get("args")) for call in called)
    text = _joined((part for part in parts if not part.get("thought")), "text")
    filters = ("SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII")
    early = dict.fromkeys(filters, "filter") | {"MAX_TOKENS": "length"}
    early |= dict.fromkeys(("MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL"), "cut")
    finish = _ended(candidate.get("finishReason"), text, calls, early)
    if _dict(body.get("promptFeedback")).get("blockReason"):
        finish = "refusal"
    usage = _dict(body.get("usageMetadata"))
    thought = _number(usage, "thoughtsTokenCount")
    took = (
        _number(usage, "promptTokenCount") + _number(usage, "toolUsePromptTokenCount"),
        _number(usage, "candidatesTokenCount") + thought,
        _number(usage, "cachedContentTokenCount"),
        thought,
    )
    return Told(text, calls, finish, took if usage else None)


def _gemini_body(events: list[Body]) -> Body:
    candidates = [_dict(each) for event in events for each in _list(event.get("candidates"))[:1]]
    parts = [
        part
        for candidate in candidates
        for part in _list(_dict(candidate.get("content")).get("parts"))
    ]
    reasons = [each["finishReason"] for each in candidates if each.get("finishReason")]
    last: Body = {"content": {"parts": parts}, "finishReason": reasons[-1] if reasons else None}
    return events[-1] | {"candidates": [last]}


_READ: Final[Mapping[str, Callable[[Body], Told]]] = {
    "openai-chat": _chat,
    "openai-responses": _responses,
    "anthropic": _messages,
    "gemini": _gemini,
}
_GATHERED: Final[Mapping[str, Callable[[list[Body]], Body]]] = {
    "openai-chat": _chat_body,
    "openai-responses": _responses_body,
    "anthropic": _messages_body,
    "gemini": _gemini_body,
}
