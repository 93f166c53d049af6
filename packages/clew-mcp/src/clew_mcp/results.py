"""What a server sends back, as observations."""

import base64
import binascii
import json
import logging
import re
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

import mcp_types as types
import msgspec
from pydantic import TypeAdapter, ValidationError

from clew import Audio, ConfigError, File, Image, Observation
from clew.core.events import Code
from clew.interfaces import Json, Trust, encode
from clew.support.json_values import text_or_json
from clew.support.schema_parts import keywords
from clew.support.text_encoding import decoded
from clew.tools.schema import linear_validator
from clew.tools.schema_cost import MAX_WORK, work
from clew_mcp.settings import printable

LOG: Final = logging.getLogger("clew")

_MAX_QUOTED_CHARS: Final = 40
_BLOCK: Final[TypeAdapter[types.ContentBlock]] = TypeAdapter(types.ContentBlock)

_CHARSET: Final = re.compile(r"charset\s*=\s*\"?([\w.:-]+)", re.IGNORECASE)
_TEXTS: Final = frozenset({
    "application/json", "application/xml", "application/yaml", "application/x-yaml",
    "application/toml", "application/javascript", "application/sql",
})  # fmt: skip

NO_DATA = "(what came is no base64)"


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
    text, attachments = content_of(result.blocks)
    content = _content(text, result.structured)
    problems = result.problems
    if result.is_error:
        content = f"ERROR: tool_error: {text or 'the tool failed and does not say why'}"
    elif schema is not None:
        problems += _misfit(schema, raw)
    code: Code = ""
    if result.is_error or problems:
        code = "tool_error" if result.is_error else "bad_output"
    if code == "bad_output":
        quoted = text_or_json(content)
        unfit = printable("; ".join(problems))
        content = f"ERROR: bad_output: {tool} did what it did, and what came is unfit: {unfit}"
        content = f"{content}\n{quoted}" if quoted else content
    own = "untrusted" if code else trust  # an error may quote what the server read
    return Observation(content=content, ok=not code, code=code, attachments=attachments, trust=own)


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


def content_of(blocks: Iterable[Any]) -> tuple[str, tuple[Image | Audio | File, ...]]:
    """Blocks of content as text, and as pictures, recordings and files."""
    lines: list[str] = []
    attachments: list[Image | Audio | File] = []
    for block in blocks:
        match block:
            case str():
                lines.append(block)
            case types.TextContent():
                lines.append(block.text)
            case types.ImageContent():
                if (data := _decoded(block.data)) is None:
                    lines.append(NO_DATA)
                else:
                    lines.append(f"[a picture: {block.mime_type}, {len(data)} bytes]")
                    attachments.append(Image(block.mime_type, data, text=lines[-1]))
            case types.AudioContent():
                if (data := _decoded(block.data)) is None:
                    lines.append(NO_DATA)
                else:
                    lines.append(f"[a sound: {block.mime_type}, {len(data)} bytes]")
                    attachments.append(Audio(block.mime_type, data))
            case types.ResourceLink():
                about = ": ".join(filter(None, (block.name, block.description)))
                lines.append(f"[resource {block.uri} ({about})]")
            case types.EmbeddedResource():
                lines.append(resource_text(block.resource))
                attachments += _attached(block.resource)
            case _:
                lines.append(f"[{getattr(block, 'type', 'something')} that cannot be shown]")
    return "\n".join(lines), (*attachments,)


def _attached(
    resource: types.TextResourceContents | types.BlobResourceContents,
) -> list[Image | Audio | File]:
    """A resource that is a picture, a recording or a PDF; none where it is a text or unknown."""
    kind = (resource.mime_type or "").partition(";")[0].strip().lower()
    known = kind.startswith(("image/", "audio/")) or kind == "application/pdf"
    if isinstance(resource, types.TextResourceContents) or not known:
        return []
    if (data := _decoded(resource.blob)) is None:
        return []
    if kind.startswith("image/"):
        return [Image(kind, data, text=resource_text(resource))]
    if kind.startswith("audio/"):
        return [Audio(kind, data)]
    return [File(kind, data, name=str(resource.uri).rpartition("/")[2])]


def resource_text(
    resource: types.TextResourceContents | types.BlobResourceContents,
) -> str:
    """The content of a resource as text, under its address."""
    kind = resource.mime_type or "of an unknown kind"
    if isinstance(resource, types.TextResourceContents):
        return f"[resource {resource.uri}, {kind}]\n{resource.text}"
    if _is_text(kind) and (data := _decoded(resource.blob)) is not None:
        charset = _CHARSET.search(kind)
        read = decoded(data, charset=charset[1] if charset else "", html="html" in kind.lower())
        note = f", {read.note}" if read.note else ""
        return f"[resource {resource.uri}, {kind}{note}]\n{read.text}"
    return f"[resource {resource.uri}, {kind}: {len(resource.blob) * 3 // 4} bytes]"


def _is_text(kind: str) -> bool:
    """Whether a MIME type is that of a text (https://www.rfc-editor.org/rfc/rfc6839)."""
    name = kind.partition(";")[0].strip().lower()
    return name.startswith("text/") or name in _TEXTS or name.endswith(("+json", "+xml", "+yaml"))


def _decoded(data: str) -> bytes | None:
    try:
        return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
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
