"""Messages of OpenAI's Chat Completions and of Anthropic's Messages, read as what happened.

Each message, and each part of one, is read by its own type, so nobody has to say which form it is.
Formats: https://platform.openai.com/docs/api-reference/chat/create and
https://platform.claude.com/docs/en/api/messages
"""

import base64
import binascii
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias, cast

from clew.core.attachments import check_attachment, text_file
from clew.core.contents import Asked, Attachment, Audio, File, Image, RawCall, Text
from clew.core.values import encode
from clew.support.errors import ConfigError
from clew.support.settings import check_text

Messages: TypeAlias = Sequence[Mapping[str, Any]]
"""Messages as the official clients take them."""

_AUDIO: Final = {"wav": "audio/wav", "mp3": "audio/mpeg"}
_THINKING: Final = frozenset({"thinking", "redacted_thinking"})


class Words(NamedTuple):
    """What a person asked or told."""

    parts: Asked


class Turn(NamedTuple):
    """What a model wrote: its text, and the calls that it asked for."""

    text: str
    calls: tuple[RawCall, ...] = ()


class Outcome(NamedTuple):
    """What a call with this id came to."""

    call: str
    text: str
    attachments: tuple[Attachment, ...] = ()
    ok: bool = True


Item: TypeAlias = Words | Turn | Outcome


def read_messages(messages: Messages) -> list[Item]:
    """What messages tell, in order. Raises `ConfigError`, which names what cannot be read.

    What a model thought stays with the model that thought it, and is left out.
    """
    whatever: Any = messages
    if isinstance(whatever, str) or not isinstance(whatever, Sequence):
        raise ConfigError("messages are a list of dicts: give them as the official clients do")
    items: list[Item] = []
    for number, message in enumerate(cast("list[Any]", whatever)):
        where = f"messages[{number}]"
        if not isinstance(message, Mapping):
            raise ConfigError(f"{where} is no dict: give messages as the official clients do")
        items += _items(where, cast("Mapping[str, Any]", message))
    return items


def _items(where: str, message: Mapping[str, Any]) -> Iterator[Item]:
    role = message.get("role")
    content = _blocks(where, message.get("content"))
    match role:
        case "user":
            yield from _of_user(where, content)
        case "assistant":
            calls = [_openai_call(where, each) for each in message.get("tool_calls") or ()]
            refused = message.get("refusal")
            text = [str(refused)] if refused else []
            for at, block in enumerate(content):
                if block.get("type") == "tool_use":
                    arguments = encode(block.get("input") or {}).decode()
                    name, id_ = _text(where, block, "name"), _text(where, block, "id")
                    calls.append(RawCall(name=name, arguments=arguments, id=id_))
                elif block.get("type") not in _THINKING:
                    text.append(_words(f"{where}.content[{at}]", block))
            yield Turn("\n\n".join(text), tuple(calls))
        case "tool":
            result, attachments = _result(where, content)
            yield Outcome(_text(where, message, "tool_call_id"), result, attachments)
        case "system" | "developer":
            why = f"{where} has the role {role}: give instructions as Agent(prompt=…)"
            raise ConfigError(why)
        case _:
            raise ConfigError(f"{where} has the role {role!r}: give user, assistant or tool")


def _of_user(where: str, content: Sequence[Mapping[str, Any]]) -> Iterator[Item]:
    """A person's words, and before them the results that Anthropic's form has among them."""
    parts: list[Text | Attachment] = []
    for at, block in enumerate(content):
        here = f"{where}.content[{at}]"
        if block.get("type") == "tool_result":
            text, attachments = _result(here, _blocks(here, block.get("content")))
            id_, ok = _text(here, block, "tool_use_id"), not block.get("is_error")
            yield Outcome(id_, text, attachments, ok)
        else:
            parts.append(_part(here, block))
    if parts:
        yield Words(tuple(parts))


def _blocks(where: str, content: Any) -> list[Mapping[str, Any]]:
    """The parts of a message; a text is one of them."""
    if content is None:
        return []
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    blocks: list[Any] = (
        [*cast("Sequence[Any]", content)] if isinstance(content, list | tuple) else [content]
    )
    for at, block in enumerate(blocks):
        if not isinstance(block, Mapping):
            raise ConfigError(f"{where}.content[{at}] is no part of a message: give a dict")
    return blocks


def _result(where: str, content: Sequence[Mapping[str, Any]]) -> tuple[str, tuple[Attachment, ...]]:
    parts = [_part(f"{where}.content[{at}]", block) for at, block in enumerate(content)]
    attachments = tuple(part for part in parts if not isinstance(part, Text) and part.data)
    told = (part.text for part in parts if isinstance(part, Text) or not part.data)
    return "\n".join(told), attachments


def _words(where: str, block: Mapping[str, Any]) -> str:
    if block.get("type") == "refusal":
        return _text(where, block, "refusal")
    part = _unchecked_part(where, block)
    if not isinstance(part, Text):
        raise ConfigError(f"{where} is no text, and a model writes nothing else: leave it out")
    check_text(where, part.text)
    return part.text


def _part(where: str, block: Mapping[str, Any]) -> Text | Attachment:
    """A text, or an attachment that is fit for a question too. Raises `ConfigError`."""
    part = _unchecked_part(where, block)
    if isinstance(part, Text):
        check_text(where, part.text)
    else:
        check_attachment(where, part)
    return part


def _unchecked_part(where: str, block: Mapping[str, Any]) -> Text | Attachment:
    match block.get("type"):
        case "text":
            return Text(_text(where, block, "text"))
        case "image_url":
            kind, data = _from_url(where, _text(where, _dict(where, block, "image_url"), "url"))
            return Image(kind, data)
        case "input_audio":
            audio = _dict(where, block, "input_audio")
            form = _text(where, audio, "format")
            data = _decoded(where, _text(where, audio, "data"))
            return Audio(_AUDIO.get(form, f"audio/{form}"), data)
        case "file":
            file = _dict(where, block, "file")
            kind, data = _from_url(where, _text(where, file, "file_data"))
            return _file(where, kind, data, str(file.get("filename") or ""))
        case "image" | "document" as kind:
            return _anthropic(where, kind, block)
        case other:
            message = f"{where} has the type {other!r}: give texts, pictures, audio and files"
            raise ConfigError(message)


def _anthropic(where: str, kind: str, block: Mapping[str, Any]) -> Text | Attachment:
    """An attachment in Anthropic's form."""
    source, title = _dict(where, block, "source"), str(block.get("title") or "")
    if source.get("type") == "text":
        return File("text/plain", text=_text(where, source, "data"), name=title)
    if source.get("type") != "base64":
        raise _elsewhere(where)
    data = _decoded(where, _text(where, source, "data"))
    media = _text(where, source, "media_type")
    return Image(media, data) if kind == "image" else _file(where, media, data, title)


def _file(where: str, kind: str, data: bytes, name: str) -> File:
    file = File(kind, data, name=name)
    return text_file(where, file) if kind.startswith("text/") and data else file


def _from_url(where: str, url: str) -> tuple[str, bytes]:
    """The media type and the bytes of a `data:` URL."""
    head, comma, body = url.partition(",")
    if not head.startswith("data:") or not comma or not head.endswith(";base64"):
        raise _elsewhere(where)
    return head.removeprefix("data:").removesuffix(";base64"), _decoded(where, body)


def _elsewhere(where: str) -> ConfigError:
    return ConfigError(f"{where} is kept elsewhere, and nothing is fetched: give its data (base64)")


def _decoded(where: str, text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise ConfigError(f"{where} has data that are no base64: {error}") from None


def _openai_call(where: str, call: Any) -> RawCall:
    if not isinstance(call, Mapping):
        raise ConfigError(f"{where} has a call that is no function's: give function calls")
    asked = cast("Mapping[str, Any]", call)
    function = _dict(where, asked, "function")
    name, id_ = _text(where, function, "name"), _text(where, asked, "id")
    return RawCall(name=name, arguments=_text(where, function, "arguments"), id=id_)


def _dict(where: str, block: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    inner = block.get(key)
    if not isinstance(inner, Mapping):
        raise ConfigError(f"{where} has no {key}: give it as a dict")
    return cast("Mapping[str, Any]", inner)


def _text(where: str, block: Mapping[str, Any], key: str) -> str:
    text = block.get(key)
    if not isinstance(text, str):
        raise ConfigError(f"{where} has no {key}: give it as a text")
    return text
