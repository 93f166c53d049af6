"""OpenAI Responses, the way out: a prompt as input items, each part of it encoded once.

Nothing is left at the service (`store` is false), so what a model thought goes back to it with the
items it came with: encrypted, whole and in its place.

Format: https://developers.openai.com/api/reference/resources/responses
"""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from clew.core.attachments import file_name
from clew.core.contents import Attachment, File, RawCall, Wire
from clew.core.prompts import Part
from clew.core.tools import ToolSpec
from clew.core.values import Json, encode
from clew.models.attachments import NOTHING, data_url, split_attachments
from clew.models.http.request import refuse_ours
from clew.models.openai.response_schema import openai_tool
from clew.models.tool_names import Ids, Toolbox, arguments, described
from clew.support.errors import ConfigError

OURS: Final = frozenset(
    {
        "model",
        "input",
        "instructions",
        "tools",
        "tool_choice",
        "stream",
        "stream_options",
        "store",
        "background",
        "previous_response_id",
        "conversation",
    }
)
"""Keys of the body that the adapter writes, or that would change what it can read."""

TAKES: Final = frozenset({"image/", "application/pdf"})
"""Attachments that a message may show."""

IDS: Final = Ids(r".{1,64}", 32)
"""Ids of calls: at most 64 signs."""

ENCRYPTED: Final = "reasoning.encrypted_content"


_PLAIN: Final[dict[str, Json]] = {"annotations": []}


def declare(tool: ToolSpec, alias: str) -> Json:
    """A tool as the API takes it, which holds tools to its strict subset unless told not to."""
    return {
        "type": "function",
        "name": alias,
        "description": described(tool),
        "parameters": arguments(tool),
        "strict": False,
    }


def declare_openai(tool: ToolSpec, alias: str) -> Json:
    """The same for OpenAI itself. Raises `ConfigError` for a schema that it refuses."""
    openai_tool(tool)
    return declare(tool, alias)


def items(part: Part, box: Toolbox, wire: Wire | None, *, sees: bool) -> bytes:
    """One part as items, with commas between. `wire` is what the same model sent, or None."""
    if part.role == "tool":
        output = _content(part, sees=sees)
        id_ = IDS.legal(part.call_id)
        entries: list[Json] = [{"type": "function_call_output", "call_id": id_, "output": output}]
    elif part.role != "assistant":
        entries = [{"role": part.role, "content": _content(part, sees=sees)}]
    elif (kept := _wire_items(part, wire)) is None:
        has_text = part.text or not part.calls
        entries = [{"role": "assistant", "content": part.text}] if has_text else []
        entries += [_call(call, box) for call in part.calls]
    else:
        entries = _verbatim(part, box, kept)
    return encode(entries)[1:-1]


def _content(part: Part, *, sees: bool) -> Json:
    text, visible = split_attachments(part, TAKES if sees else NOTHING)
    if not visible:
        return text
    return [{"type": "input_text", "text": text}, *map(_attachment, visible)]


def _attachment(attachment: Attachment) -> dict[str, Json]:
    url = data_url(attachment)
    if isinstance(attachment, File):
        return {"type": "input_file", "filename": file_name(attachment), "file_data": url}
    return {"type": "input_image", "image_url": url}


def _call(call: RawCall, box: Toolbox) -> dict[str, Json]:
    return {
        "type": "function_call",
        "call_id": IDS.legal(call.id),
        "name": box.alias(call.name),
        "arguments": "{}" if call.arguments is None else call.arguments,
    }


def _wire_items(part: Part, wire: Wire | None) -> list[dict[str, Any]] | None:
    """The items of a wire, where they are those of this part."""
    try:
        kept = msgspec.convert(wire and wire.items, list[dict[str, Any]])
    except msgspec.ValidationError:
        return None
    kinds = [item.get("type") for item in kept]
    return kept if all(kinds) and kinds.count("function_call") == len(part.calls) else None


def _verbatim(part: Part, box: Toolbox, kept: list[dict[str, Any]]) -> list[Json]:
    """The items as they came: text and calls that a wire leaves out are those of the part."""
    calls = iter(part.calls)
    entries: list[Json] = []
    for item in kept:
        if item["type"] == "function_call":
            entries.append(_call(next(calls), box) | item)
        elif item["type"] == "message":
            own = {key: value for key, value in item.items() if key != "text"}
            message = _message(item.get("text", part.text), named="id" in item)
            entries.append(own | {"role": "assistant"} | message)
        else:
            entries.append(item)
    return entries


def _message(text: str, *, named: bool) -> dict[str, Json]:
    """What a message says: blocks only where it has its id; the API's schema wants both or none."""
    if not named:
        return {"content": text}
    block: dict[str, Json] = {"type": "output_text", "text": text} | _PLAIN
    return {"status": "completed", "content": [block]}


def head(model: str, params: Mapping[str, Json], *, encrypted: bool) -> bytes:
    """The beginning of every body, up to the input. Raises `ConfigError` for `OURS`."""
    refuse_ours(OURS & params.keys())
    if "stop" in params:
        raise ConfigError("the Responses API takes no stop sequences; leave out the parameter stop")
    own: list[str] = params.get("include") or []
    include = [*own, *([ENCRYPTED] if encrypted and ENCRYPTED not in own else ())]
    rest = {key: value for key, value in params.items() if key not in {"include", "text"}}
    asked = {"include": include} if include else {}
    return encode({"model": model, "store": False} | rest | asked)[:-1] + b',"input":['
