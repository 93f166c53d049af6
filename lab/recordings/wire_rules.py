"""Whether a provider would take a request: by the strict rules of `clew.testing`, and by the types
that its official client asks for.

What a model signed or encrypted only its provider can check. Here it has to come back exactly as it
was recorded; for the rules it then gets the signature of the service that they belong to. So with
what a provider's own tools left in a reply: exactly as recorded, and no concern of the rules.
"""

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any, Final

import msgspec
from anthropic.types.beta.message_create_params import MessageCreateParamsNonStreaming as Messages
from google.genai import types as gemini
from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming as Chat
from openai.types.responses.response_create_params import ResponseCreateParamsNonStreaming as Input
from pydantic import TypeAdapter, ValidationError

from clew_testing.servers import anthropic_rules, gemini_rules, openai_rules, responses_rules
from clew_testing.servers.responses_rules import Issued
from recordings.wire_bodies import Body

_REFUSED: Final = (
    openai_rules.OpenAIRefusal,
    anthropic_rules.AnthropicRefusal,
    gemini_rules.GeminiRefusal,
)
_PLAIN: Final[Mapping[str, frozenset[str]]] = {
    "openai-responses": frozenset(
        {"message", "function_call", "function_call_output", "reasoning"}
    ),
    "anthropic": frozenset(
        {"text", "image", "tool_use", "tool_result", "thinking", "redacted_thinking"}
    ),
}
"""The kinds of items and blocks that the rules know; others are of a provider's own tools."""


def complaint(form: str, model: str, body: Body, replies: Sequence[Body]) -> str:
    """Why a request would be refused after these replies; "" where it would be taken."""
    try:
        _RULES[form](copy.deepcopy(body), model, replies)
    except _REFUSED as refused:
        return f"rules: {refused}"
    except _AlteredError as altered:
        return f"altered: {altered}"
    try:
        _typed(form, body)
    except ValidationError as error:
        deepest = max(error.errors(), key=lambda each: len(each["loc"]))
        return f"types of the client: {'.'.join(map(str, deepest['loc']))}: {deepest['msg']}"
    return ""


class _AlteredError(Exception):
    """What has to come back as it was does not."""


def _same(item: Body, known: Iterable[Body], *ignored: str) -> None:
    """Raise unless this is one of the recorded items; keys without a value say nothing."""
    if _told(item, ignored) not in [_told(each, ignored) for each in known]:
        raise _AlteredError(f"{item.get('type', 'a part')} is none of the recorded ones")


def _told(item: Body, ignored: Sequence[str]) -> Body:
    return {key: it for key, it in item.items() if it is not None and key not in ignored}


def _list(value: Any) -> list[Body]:
    return msgspec.convert(value, list[Body]) if isinstance(value, list) else []


# ---------------------------------------------------------------- rules


def _chat(body: Body, model: str, replies: Sequence[Body]) -> None:
    openai_rules.check(body)


def _responses(body: Body, model: str, replies: Sequence[Body]) -> None:
    plain = _PLAIN["openai-responses"]
    recorded = [item for reply in replies for item in _list(reply.get("output"))]
    issued: dict[str, Issued] = {}
    for reply in replies:
        items = [item for item in _list(reply.get("output")) if item["type"] in plain]
        thought: tuple[str, ...] = ()
        for index, item in enumerate(items):
            following = items[index + 1]["id"] if index + 1 < len(items) else ""
            issued[item["id"]] = Issued(item, thought, following)
            thought += (item["id"],) if item["type"] == "reasoning" else ()
    for item in body["input"]:
        if not _is_plain(item):
            _same(item, recorded)
    body["input"] = [item for item in body["input"] if _is_plain(item)]
    responses_rules.check(body, issued)


def _is_plain(item: Body) -> bool:
    return item.get("type", "message") in _PLAIN["openai-responses"]


def _messages(body: Body, model: str, replies: Sequence[Body]) -> None:
    recorded = [block for reply in replies for block in _list(reply.get("content"))]
    signer = anthropic_rules.Signer(body)
    for message in body["messages"]:
        blocks = message["content"]
        if isinstance(blocks, str):
            continue
        for block in blocks:
            if block["type"] not in _PLAIN["anthropic"]:
                _same(block, recorded, "cache_control")
            elif block["type"] == "thinking":
                _same(block, recorded)
                block["signature"] = signer.sign(block["thinking"])
            elif block["type"] == "redacted_thinking":
                _same(block, recorded)
                block["data"] = signer.sign("")
        kept = [block for block in blocks if block["type"] in _PLAIN["anthropic"]]
        message["content"] = kept or [{"type": "text", "text": "…"}]
    anthropic_rules.check(body, bound=False)


def _gemini(body: Body, model: str, replies: Sequence[Body]) -> None:
    recorded = [
        part
        for reply in replies
        for candidate in _list(reply.get("candidates"))
        for part in _list(candidate.get("content", {}).get("parts"))
    ]
    signed = {_plain(part.get("thoughtSignature")) for part in recorded}
    for content in body["contents"]:
        for part in content["parts"]:
            signature = part.get("thoughtSignature")
            if signature is None or signature in gemini_rules.STAND_INS:
                continue
            if _plain(signature) not in signed:
                raise _AlteredError("a signature is none of the recorded ones")
            part["thoughtSignature"] = gemini_rules.sign(model, part)
    gemini_rules.check(body, model)


def _plain(signature: Any) -> str:
    """A signature in one of its two alphabets."""
    return str(signature).replace("-", "+").replace("_", "/")


_RULES: Final[Mapping[str, Callable[[Body, str, Sequence[Body]], None]]] = {
    "openai-chat": _chat,
    "openai-responses": _responses,
    "anthropic": _messages,
    "gemini": _gemini,
}


# ---------------------------------------------------------------- the clients' types


def _typed(form: str, body: Body) -> None:
    """Hold a request to what the official client takes. Raises `ValidationError`."""
    if form == "openai-responses":  # what else there is was found to be as it was sent
        body = body | {"input": [item for item in body["input"] if _is_plain(item)]}
    if form != "gemini":
        _walk(_adapter(form).validate_python(body | {"stream": False}))
        return
    gemini.GenerateContentConfig.model_validate(body.get("generationConfig", {}))
    for content in [*body["contents"], *filter(None, [body.get("systemInstruction")])]:
        gemini.Content.model_validate(content)
    for tool in body.get("tools", []):
        gemini.Tool.model_validate(tool)


@cache
def _adapter(form: str) -> TypeAdapter[Any]:
    kinds: Mapping[str, Any] = {
        "openai-chat": Chat,
        "openai-responses": Input,
        "anthropic": Messages,
    }
    return TypeAdapter(kinds[form])


def _walk(value: Any) -> None:
    """Look at everything: what the types call an iterable is checked when it is gone through."""
    if isinstance(value, dict):
        for inner in msgspec.convert(value, dict[str, Any], strict=False).values():
            _walk(inner)
    elif hasattr(value, "__iter__") and not isinstance(value, (str, bytes)):
        for inner in value:
            _walk(inner)
