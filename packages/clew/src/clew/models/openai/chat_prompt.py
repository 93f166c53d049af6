"""Chat Completions, the way out: a prompt as bytes, each part of it encoded once.

Format: https://platform.openai.com/docs/api-reference/chat/create
"""

from collections.abc import Mapping
from typing import Any, Final, cast

from clew.core.attachments import file_name
from clew.core.contents import Attachment, Audio, Image, RawCall, Wire
from clew.core.prompts import Part
from clew.core.tools import ToolSpec
from clew.core.values import Json, encode
from clew.models.attachments import NOTHING, base64_of, data_url, split_attachments
from clew.models.complaints import GOES_BACK
from clew.models.http.request import refuse_ours
from clew.models.openai.response_schema import openai_tool
from clew.models.tool_names import Ids, NameRules, Toolbox, arguments, described

TAKES: Final = frozenset({"image/", "audio/wav", "audio/mpeg", "application/pdf"})
"""Attachments that a message may show."""

STOPS: Final = 4
"""How many stop sequences the API takes."""

OURS: Final = frozenset(
    {
        "model",
        "messages",
        "tools",
        "tool_choice",
        "stream",
        "stream_options",
        "n",
        "functions",
        "function_call",
    }
)
"""Keys of the body that the adapter writes, or that would change what it can read."""

IN_MESSAGES: Final = frozenset(
    name for name, back in GOES_BACK.items() if back.where in {"message", "call"}
)
"""What of `GOES_BACK` has its place in messages of this API."""

NAMES: Final = NameRules()
"""Names of functions: letters, digits, `_` and `-`, at most 64."""

IDS: Final = Ids(r".{1,40}", 32)
"""Ids of calls: at most 40 signs."""


def declare(tool: ToolSpec, alias: str) -> Json:
    """A tool as the API takes it."""
    function = {"name": alias, "description": described(tool), "parameters": arguments(tool)}
    return {"type": "function", "function": function}


def declare_openai(tool: ToolSpec, alias: str) -> Json:
    """The same for OpenAI itself. Raises `ConfigError` for a schema that it refuses."""
    openai_tool(tool)
    return declare(tool, alias)


def message(
    part: Part,
    box: Toolbox,
    wire: Wire | None,
    *,
    sees: bool,
    fill: frozenset[str] = frozenset(),
) -> bytes:
    """One part as a message. `wire` is what the same model sent beside text and calls, or None.

    To a model that does not see, pictures are named instead of shown. `fill` names what must go
    back (`GOES_BACK`) and has a stand-in where this part lacks it.
    """
    if part.role == "tool":
        id_ = IDS.legal(part.call_id)
        text, _ = split_attachments(part, NOTHING)  # it takes text alone
        return encode({"role": "tool", "tool_call_id": id_, "content": text})
    if part.role != "assistant":
        return encode({"role": part.role, "content": content(part, sees=sees)})
    kept = _wire_message(wire)
    more: list[Any] = kept.get("calls") or []
    body: dict[str, Json] = {"role": "assistant", "content": part.text}
    if part.calls:
        body["content"] = part.text or None
        body["tool_calls"] = [
            _call(call, box) | (more[index] if index < len(more) else {})
            for index, call in enumerate(part.calls)
        ]
    own: dict[str, Json] = kept.get("message") or {}
    return encode(_filled(body | own, fill))


def _filled(body: dict[str, Json], fill: frozenset[str]) -> dict[str, Json]:
    """The message with stand-ins for what it must have, and has not."""
    for back in (GOES_BACK[name] for name in fill):
        calls: list[dict[str, Json]] = body.get("tool_calls") or []
        for target in [body] if back.where == "message" else calls[:1]:
            if not target.get(back.key):
                target[back.key] = back.stand_in
    return body


def content(part: Part, *, sees: bool) -> Json:
    """The text of a message, with the attachments it shows."""
    text, visible = split_attachments(part, TAKES if sees else NOTHING)
    if not visible:
        return text
    return [{"type": "text", "text": text}, *map(_attachment, visible)]


def _attachment(attachment: Attachment) -> dict[str, Json]:
    if isinstance(attachment, Image):
        return {"type": "image_url", "image_url": {"url": data_url(attachment)}}
    if isinstance(attachment, Audio):
        form = "wav" if "wav" in attachment.media_type else "mp3"
        audio: dict[str, Json] = {"data": base64_of(attachment), "format": form}
        return {"type": "input_audio", "input_audio": audio}
    file: dict[str, Json] = {"filename": file_name(attachment), "file_data": data_url(attachment)}
    return {"type": "file", "file": file}


def _wire_message(wire: Wire | None) -> dict[str, Any]:
    items = None if wire is None else wire.items
    return cast("dict[str, Any]", items) if isinstance(items, dict) else {}


def kept_keys(wire: Wire) -> set[str]:
    """The keys that `message` takes from a wire, to know them again in a server's complaint."""
    kept = _wire_message(wire)
    calls: list[dict[str, Any]] = kept.get("calls") or []
    return {*(kept.get("message") or {}), *(key for call in calls for key in call)}


def _call(call: RawCall, box: Toolbox) -> dict[str, Json]:
    arguments = "{}" if call.arguments is None else call.arguments
    function = {"name": box.alias(call.name), "arguments": arguments}
    return {"id": IDS.legal(call.id), "type": "function", "function": function}


def head(model: str, params: Mapping[str, Json]) -> bytes:
    """The beginning of every body, up to the messages. Raises `ConfigError` for `OURS`."""
    refuse_ours(OURS & params.keys())
    rest = {key: value for key, value in params.items() if key != "stop"}
    return encode({"model": model} | rest)[:-1] + b',"messages":['
