"""Gemini, the way out: a prompt as bytes, each part of it encoded once.

Format: https://ai.google.dev/api/generate-content, and for signatures
https://ai.google.dev/gemini-api/docs/thought-signatures.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

import msgspec

from clew.core.contents import Attachment, RawCall, Wire
from clew.core.prompts import Calls, Part
from clew.core.tools import ToolSpec
from clew.core.values import Json, encode
from clew.models.attachments import NOTHING, base64_of, split_attachments
from clew.models.complaints import GOES_BACK
from clew.models.http.request import refuse_ours
from clew.models.tool_names import NameRules, Toolbox, described

TAKES: Final = frozenset({"image/", "audio/", "application/pdf"})
"""Attachments that a content may show."""

IN_RESULTS: Final = frozenset({"image/png", "image/jpeg", "image/webp", "application/pdf"})
"""Attachments that the result of a call may show, from Gemini 3 on."""

STOPS: Final = 5
"""How many stop sequences the API takes."""

STAND_IN: Final[str] = GOES_BACK["signature"].stand_in["google"]["thought_signature"]
"""What Google's documentation has sent with a call that no signature came with: one that another
model made, say. Without any, the models from Gemini 3 on refuse the calls of the current turn."""

NAMES: Final = NameRules(r"[^a-zA-Z0-9_.-]", 64, r"[a-zA-Z_]")
"""Names of functions: letters, digits, `_`, `.` and `-`, at most 64, first a letter or `_`.

Newer descriptions of the API allow 128 and colons too, but older ones do not.
"""

TOP: Final = frozenset(
    {"safetysettings", "cachedcontent", "servicetier", "store", "labels", "modelarmorconfig"}
)
"""Parameters that stand beside `generationConfig`, not in it."""

OURS: Final = frozenset(
    {
        *("contents", "systeminstruction", "tools", "toolconfig", "generationconfig", "model"),
        *("candidatecount", "responsemimetype", "responsejsonschema", "responseschema"),
    }
)
"""Keys that the adapter writes, or that would change what it can read."""

BEGIN: Final = "Begin."
GO_ON: Final = "Go on."
"""What is said for the person where a conversation begins or ends with the model."""

_BEGIN: Final = encode({"text": BEGIN})
_USER: Final = b'{"role":"user","parts":['
_MODEL: Final = b'{"role":"model","parts":['
_FIRST: Final[Mapping[str, bytes]] = {"user": _USER, "model": _USER + _BEGIN + b"]}," + _MODEL}
_NEXT: Final[Mapping[str, bytes]] = {"user": b"]}," + _USER, "model": b"]}," + _MODEL}

_CLOSED: Final[Json] = {"type": "object", "properties": {}, "additionalProperties": False}
_MODES: Final[Mapping[Calls, bytes]] = {"none": b"NONE", "required": b"ANY"}


@dataclass(frozen=True)
class RequestWriter:
    """How the parts of a conversation are written.

    `stand_in` sends `STAND_IN` with calls that have no signature, `ids` the ids of calls, `sees`
    shows pictures, which are named otherwise.
    """

    stand_in: bool = True
    ids: bool = True
    sees: bool = True


def declare(tool: ToolSpec, alias: str) -> Json:
    """A tool as the API takes it; one without arguments has no schema."""
    declaration = {"name": alias, "description": described(tool)}
    bare = {key: tool.parameters.get(key) for key in _CLOSED} == _CLOSED
    return declaration if bare else declaration | {"parametersJsonSchema": tool.parameters}


def pieces(part: Part, box: Toolbox, wire: Wire | None, how: RequestWriter) -> bytes:
    """One part of a prompt as parts of a content, with commas between; empty where it says nothing.

    `wire` is what the same model sent, or None.
    """
    if part.role == "tool":
        output, visible = split_attachments(part, IN_RESULTS if how.sees else NOTHING)
        made: dict[str, Json] = {"name": box.alias(part.name), "response": {"output": output}}
        if visible:
            made["parts"] = [_attachment(each) for each in visible]
        answer = {"functionResponse": made | ({"id": part.call_id} if how.ids else {})}
        return encode(answer)
    if part.role != "assistant":
        return b",".join(map(encode, _parts_of(part, sees=how.sees)))
    calls: list[dict[str, Json]] = [
        {"functionCall": _call(call, box, ids=how.ids)} for call in part.calls
    ]
    kept = None if wire is None else _wire_parts(part, calls, wire)
    if kept is None:
        text = [{"text": part.text}] if part.text else []
        if calls and how.stand_in:
            calls[0]["thoughtSignature"] = STAND_IN
        kept = [*text, *calls]
    return b",".join(map(encode, kept))


def _parts_of(part: Part, *, sees: bool) -> list[Json]:
    text, visible = split_attachments(part, TAKES if sees else NOTHING)
    parts: list[Json] = [{"text": text}] if text else []
    return parts + [_attachment(each) for each in visible]


def _attachment(attachment: Attachment) -> Json:
    return {"inlineData": {"mimeType": attachment.media_type, "data": base64_of(attachment)}}


def _call(call: RawCall, box: Toolbox, *, ids: bool) -> dict[str, Json]:
    function_call: dict[str, Json] = {"name": box.alias(call.name), "args": _args(call.arguments)}
    return function_call | {"id": call.id} if ids and call.id else function_call


def _args(arguments: str | None) -> Json:
    """The arguments as an object, sign by sign as they were; what is none, in one that says so."""
    if arguments is None or not arguments.strip():
        return {}
    try:
        msgspec.json.decode(arguments, type=dict[str, Any])
    except (msgspec.MsgspecError, RecursionError):
        return {"unreadable": arguments}
    return msgspec.Raw(arguments.encode())


def _wire_parts(
    part: Part, calls: list[dict[str, Json]], wire: Wire
) -> list[dict[str, Json]] | None:
    """The parts as the model sent them (see `gemini_reply`), None where the part says otherwise."""
    items = wire.items
    known = cast("list[dict[str, Any]]", items) if isinstance(items, list) else []
    parts: list[dict[str, Json]] = []
    waiting, texts, at = iter(calls), list[str](), 0
    for item in known:
        if "call" in item:
            call = next(waiting, None)
            if call is None:
                return None
            parts.append(call | {key: value for key, value in item.items() if key != "call"})
        elif "text" not in item or item.get("thought"):
            parts.append(item)
        else:
            text = item["text"]
            if isinstance(text, int):
                end = at + text
                text, at = part.text[at:end], end
            texts.append(text)
            parts.append(item | {"text": text})
    same = "".join(texts).strip() == part.text.strip() and next(waiting, None) is None
    return parts if same and parts else None


def contents(turns: Iterable[tuple[str, bytes]]) -> bytes:
    """Pieces by role as contents that take turns, of which the person has the first and the last.

    What has one role stands in one content: all results of a step, and what is said behind them.
    """
    written: list[bytes] = []
    last = ""
    for role, piece in turns:
        if not piece:
            continue
        if role == last:
            written.append(b",")
        else:
            written.append(_NEXT[role] if last else _FIRST[role])
            last = role
        written.append(piece)
    if not last:
        written += [_USER, _BEGIN]
    elif last == "model":
        written += [_NEXT["user"], encode({"text": GO_ON})]
    written.append(b"]}")
    return b"".join(written)


def split(params: Mapping[str, Json]) -> tuple[dict[str, Json], dict[str, Json]]:
    """The parameters: those of `generationConfig`, and those beside it.

    Raises `ConfigError` for `OURS`, in either way to write them.
    """
    plain = {key: key.replace("_", "").lower() for key in params}
    refuse_ours(key for key, name in plain.items() if name in OURS)
    beside = {key: value for key, value in params.items() if plain[key] in TOP}
    return {key: value for key, value in params.items() if key not in beside}, beside


def body(
    written: bytes, system: list[bytes], box: Toolbox, calls: Calls, more: Mapping[str, Json]
) -> bytes:
    """The whole body: instruction, contents from `contents`, tools, and the keys in `more`."""
    fields = [b"{"]
    if system:
        fields += [b'"systemInstruction":{"parts":[', b",".join(system), b"]},"]
    fields += [b'"contents":[', written, b"]"]
    if box.declared:
        fields += [b',"tools":[{"functionDeclarations":', box.declared, b"}]"]
        if (mode := _MODES.get(calls)) is not None:
            config = b'{"functionCallingConfig":{"mode":"' + mode + b'"}}'
            fields += [b',"toolConfig":', config]
    for key, value in more.items():
        if value != {}:
            fields += [b',"', key.encode(), b'":', encode(value)]
    fields.append(b"}")
    return b"".join(fields)
