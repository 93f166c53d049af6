"""What a server sends back, as observations."""

import base64
import binascii
import json
import logging
import re
from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

import mcp_types as types
import msgspec
from pydantic import TypeAdapter, ValidationError

from clew import Audio, ConfigError, File, Image, Observation
from clew.core.codes import Code
from clew.interfaces import Json, Trust, encode
from clew.support.json_values import text_or_json
from clew.support.schema_parts import keywords
from clew.support.text_encoding import decoded
from clew.tools.schema import linear_validator
from clew.tools.schema_cost import MAX_WORK, work
from clew_mcp.settings import printable

LOG: Final = logging.getLogger("clew")

Resource: TypeAlias = types.TextResourceContents | types.BlobResourceContents
Attachment: TypeAlias = Image | Audio | File
Attached: TypeAlias = tuple[Attachment, ...]

_MAX_QUOTED_CHARS: Final = 40
_CHARSET: Final = re.compile(r"charset\s*=\s*\"?([\w.:-]+)", re.IGNORECASE)
_TEXTS: Final = frozenset({
    "application/json", "application/xml", "application/yaml", "application/x-yaml",
    "application/toml", "application/javascript", "application/sql",
})  # fmt: skip
_BLOCK: Final[TypeAdapter[types.ContentBlock]] = TypeAdapter(types.ContentBlock)


def observation_of(
    raw: dict[str, Json], trust: Trust, tool: str = "", schema: Json = None
) -> Observation:
    """The observation of a call's result, as it came.

    A result that the server marks as an error is a failed observation: the tool ran to its end and
    says so. Structured content stands for a text that says the same. What is unfit (content of an
    unknown kind, or not what the tool's own output schema asks for) is told beside what can be
    read. Raises
    `ValidationError` for what is no result.
    """
    result = _read_result(raw)
    problems = result.problems
    text, attachments = content_of(result.blocks, problems)
    content = _content(text, result.structured)
    if result.is_error:
        content = f"ERROR: tool_error: {text or 'the tool failed and does not say why'}"
    elif schema is not None:
        problems += _misfit(schema, raw)
    code: Code = ""
    if result.is_error or problems:
        code = "tool_error" if result.is_error else "bad_output"
    if code == "bad_output":
        content = _unfit(f"{tool} did what it did, and what came", problems, text_or_json(content))
    own = "untrusted" if code else trust  # an error may quote what the server read
    return Observation(content=content, ok=not code, code=code, attachments=attachments, trust=own)


def checked(text: str, attachments: Attached, problems: Sequence[str]) -> Observation:
    """What a server gave of its resources or prompts; a failed one, if some of it is unfit."""
    if not problems:
        return Observation(content=text, attachments=attachments)
    content = _unfit("what came", problems, text)
    return Observation(content=content, ok=False, code="bad_output", attachments=attachments)


def _unfit(what: str, problems: Sequence[str], quoted: str) -> str:
    told = f"ERROR: bad_output: {what} is unfit: {printable('; '.join(problems))}"
    return f"{told}\n{quoted}" if quoted else told


class _ToolResult(NamedTuple):
    """A result as far as it can be read."""

    blocks: list[Any]
    structured: Json
    is_error: bool
    problems: list[str]


def _read_result(raw: dict[str, Json]) -> _ToolResult:
    problems: list[str] = []
    content = raw.get("content")
    structured = raw.get("structuredContent")
    if content is None and structured is None:
        types.CallToolResult.model_validate(raw, by_name=False)
    pieces = msgspec.convert(content, list[Json]) if isinstance(content, list) else []
    if content is not None and not isinstance(content, list):
        problems.append("its content is no list")
        pieces = [content]
    blocks = [_read_block(each, problems) for each in pieces]
    is_error = raw.get("isError", False)
    if not isinstance(is_error, bool):
        problems.append("isError is neither true nor false")
    return _ToolResult(blocks, structured, is_error is True, problems)


def _read_block(block: Json, problems: list[str]) -> Any:
    """A block of content; of one that the protocol does not know, the text that it carries."""
    try:
        return _BLOCK.validate_python(block, by_name=False)
    except ValidationError:
        pass
    if isinstance(block, str):
        problems.append("a piece of its content is a bare text")
        return types.TextContent(type="text", text=block)
    fields = keywords(block)
    kind = printable(str(fields.get("type", "none")))[:_MAX_QUOTED_CHARS]
    problems.append(f"a piece of its content, of the kind {kind}, cannot be read")
    text = fields.get("text")
    return text if isinstance(text, str) else f"[{kind} that cannot be shown]"


def _content(text: str, structured: Json) -> Json:
    """A result's text, or the structured content that stands for it; both where they differ."""
    if structured is None:
        return text
    inner = _unwrapped(structured)
    if not text.strip():
        return structured
    if text == inner:
        return text
    if (inner_value := _read(text)) in (structured, inner):
        return inner_value
    return f"{text}\n{encode(structured).decode()}"


def _misfit(schema: Json, raw: dict[str, Json]) -> list[str]:
    """What is wrong with structured content by the tool's own schema.

    A schema that cannot be used says nothing, as does one that might take too long here.
    """
    if "structuredContent" not in raw:
        return ["it has no structured content, and its output schema asks for some"]
    structured = raw["structuredContent"]
    try:
        check = linear_validator(keywords(schema))
        if work(schema, structured) <= MAX_WORK:
            return check(structured)
        why = "it may take too long"
    except (ConfigError, RecursionError) as error:
        why = str(error)
    LOG.debug("a result of an MCP server is not checked by its output schema: %s", printable(why))
    return []


def content_of(blocks: Iterable[Any], problems: list[str]) -> tuple[str, Attached]:
    """Blocks of content as text, and as pictures, recordings and files.

    What cannot be read is added to `problems`.
    """
    lines: list[str] = []
    attachments: list[Attachment] = []
    for block in blocks:
        match block:
            case str():
                lines.append(block)
            case types.TextContent():
                lines.append(block.text)
            case types.ImageContent():
                data = _decoded(block.data, "a picture", problems)
                lines.append(_told("a picture", block.mime_type, data))
                if data is not None:
                    attachments.append(Image(block.mime_type, data, text=lines[-1]))
            case types.AudioContent():
                data = _decoded(block.data, "a sound", problems)
                lines.append(_told("a sound", block.mime_type, data))
                if data is not None:
                    attachments.append(Audio(block.mime_type, data))
            case types.ResourceLink():
                about = ": ".join(filter(None, (block.name, block.description)))
                lines.append(f"[resource {block.uri} ({about})]")
            case types.EmbeddedResource():
                text, attached = resource_of(block.resource, problems)
                lines.append(text)
                attachments += attached
            case _:
                lines.append(f"[{getattr(block, 'type', 'something')} that cannot be shown]")
    return "\n".join(lines), (*attachments,)


def _told(what: str, kind: str, data: bytes | None) -> str:
    size = "no base64" if data is None else f"{len(data)} bytes"
    return f"[{what}: {kind}, {size}]"


def resource_of(resource: Resource, problems: list[str]) -> tuple[str, Attached]:
    """The content of a resource as text, under its address, and what is no text of it.

    That is a picture, a recording or a PDF; other kinds are only named.
    """
    kind = resource.mime_type or "of an unknown kind"
    where = f"resource {resource.uri}"
    if isinstance(resource, types.TextResourceContents):
        return f"[{where}, {kind}]\n{resource.text}", ()
    if (data := _decoded(resource.blob, where, problems)) is None:
        return f"[{where}, {kind}: no base64]", ()
    if _is_text(kind):
        charset = _CHARSET.search(kind)
        read = decoded(data, charset=charset[1] if charset else "", html="html" in kind.lower())
        note = f", {read.note}" if read.note else ""
        return f"[{where}, {kind}{note}]\n{read.text}", ()
    text, name = f"[{where}, {kind}: {len(data)} bytes]", kind.partition(";")[0].strip().lower()
    if name.startswith("image/"):
        return text, (Image(name, data, text=text),)
    if name.startswith("audio/"):
        return text, (Audio(name, data),)
    if name == "application/pdf":
        return text, (File(name, data, name=str(resource.uri).rpartition("/")[2]),)
    return text, ()


def _is_text(kind: str) -> bool:
    """Whether a MIME type is that of a text (https://www.rfc-editor.org/rfc/rfc6839)."""
    name = kind.partition(";")[0].strip().lower()
    return name.startswith("text/") or name in _TEXTS or name.endswith(("+json", "+xml", "+yaml"))


def _decoded(data: str, what: str, problems: list[str]) -> bytes | None:
    try:
        return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        problems.append(f"{what} is no base64")
        return None


def _read(text: str) -> Json:
    """The JSON that a text is; else the text."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def _unwrapped(structured: Json) -> Json:
    """The value that was wrapped, as results must be objects: `{"result": VALUE}`."""
    wrapped = keywords(structured)
    return wrapped["result"] if wrapped.keys() == {"result"} else structured
