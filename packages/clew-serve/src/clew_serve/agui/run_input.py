"""What a front end sends, read as clew's other fronts read messages."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Literal

import msgspec

from clew_serve.client_tools import ClientTool
from clew_serve.errors import RefusedError
from clew_serve.turns.messages import readable
from clew_serve.turns.results import CallResult, is_call_id

_DISPLAY_ONLY: Final = frozenset({"activity", "reasoning"})
"""The roles of messages that a front end shows, and nobody ruling."""

_FORMATS: Final = {"audio/wav": "wav", "audio/x-wav": "wav", "audio/mpeg": "mp3"}


class Resume(msgspec.Struct, rename="camel"):
    """What somebody decided on an interrupt."""

    interrupt_id: str
    status: Literal["resolved", "cancelled"]
    payload: Any = None


class ContextItem(msgspec.Struct):
    """What the agent is told beside the conversation."""

    description: str
    value: str


class RunInput(msgspec.Struct, rename="camel"):
    """`RunAgentInput`. A thread is a conversation, and the id of a run that of a request.

    Its state and its forwarded properties are the front end's own: the agent is not told of them.
    """

    thread_id: str
    run_id: str
    messages: list[dict[str, Any]]
    tools: list[ClientTool] | None = None
    context: list[ContextItem] | None = None
    resume: list[Resume] | None = None


def messages_of(asked: RunInput) -> list[dict[str, Any]]:
    """The messages in OpenAI's form, with the context in front of the last words.

    Raises `RefusedError` for what cannot be read.
    """
    messages = [_message(it) for it in asked.messages if it.get("role") not in _DISPLAY_ONLY]
    if asked.context and messages and messages[-1].get("role") == "user":
        told = "\n".join(f"{each.description}: {each.value}" for each in asked.context)
        messages.insert(-1, {"role": "system", "content": told})
    return readable(messages)


def results_of(asked: RunInput) -> list[CallResult]:
    """The results of calls at the end of the messages; those of other systems are history."""
    results: list[CallResult] = []
    for message in reversed(asked.messages):
        if message.get("role") != "tool":
            break
        if not is_call_id(name := message.get("toolCallId")):
            return []
        text = _text(message.get("content"))
        why = message.get("error")
        results.append(CallResult(str(name), f"{why}\n{text}" if why else text, bool(why)))
    return results[::-1]


def _message(message: Mapping[str, Any]) -> dict[str, Any]:
    content = message.get("content")
    read: dict[str, Any] = {"role": message.get("role"), "content": content}
    if isinstance(content, list):
        read["content"] = [*_parts([*content])]
    if message.get("toolCalls"):
        read["tool_calls"] = message["toolCalls"]
    if "toolCallId" in message:
        read["tool_call_id"] = message["toolCallId"]
    return read


def _parts(parts: Sequence[Any]) -> Iterator[Any]:
    for part in parts:
        match part:
            case {"type": "image" | "audio" | "document" as kind, "source": source}:
                yield _attachment(kind, source)
            case {"type": "binary", "mimeType": str(media), "data": str(data)}:  # before 1.0
                kind = "image" if media.startswith("image/") else "document"
                yield _attachment(kind, {"type": "data", "value": data, "mimeType": media})
            case _:
                yield part


def _attachment(kind: str, source: Any) -> dict[str, Any]:
    match source:
        case {"type": "data", "value": str(data), "mimeType": str(media)}:
            url = f"data:{media};base64,{data}"
        case _:
            message = f"an {kind} is kept elsewhere, and nothing is fetched"
            raise RefusedError(422, "invalid", message, "give its data")
    if kind == "image":
        return {"type": "image_url", "image_url": {"url": url}}
    if kind == "audio":
        audio = {"data": data, "format": _FORMATS.get(media, media.removeprefix("audio/"))}
        return {"type": "input_audio", "input_audio": audio}
    return {"type": "file", "file": {"file_data": url}}


def _text(content: Any) -> str:
    """The text of a result. Raises `RefusedError` for one of other parts."""
    parts: list[Any] = [*content] if isinstance(content, list) else [{"text": content}]
    texts: list[str] = []
    for part in parts:
        match part:
            case {"text": str(text)}:
                texts.append(text)
            case _:
                raise RefusedError(
                    422, "invalid", "the result of a tool is no text", "give its text"
                )
    return "\n".join(texts)
