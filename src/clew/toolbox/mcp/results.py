"""What a server sends back, as observations."""

import base64
import binascii
import json
from collections.abc import Iterable
from typing import Any

import mcp_types as types

from clew.core.events import Image, Json, Observation, Trust, encode
from clew.tools.explain import keywords

NO_DATA = "(what came is no base64)"


def observation_of(result: types.CallToolResult, trust: Trust) -> Observation:
    """The observation of a call's result.

    A result that the server marks as an error is a failed observation: the tool ran to its end and
    says so. Structured content stands for a text that says the same.
    """
    text, images = content_of(result.content)
    content: Json = text
    if (structured := result.structured_content) is not None:
        inner = _unwrapped(structured)
        if not text.strip():
            content = structured
        elif text != inner:
            if (said := _read(text)) in (structured, inner):
                content = said
            else:
                content = f"{text}\n{encode(structured).decode()}"
    if result.is_error:
        content = f"ERROR: tool_error: {text or 'the tool failed and does not say why'}"
    return Observation(
        content=content,
        ok=not result.is_error,
        code="tool_error" if result.is_error else "",
        images=images,
        trust=trust,
    )


def content_of(blocks: Iterable[Any]) -> tuple[str, tuple[Image, ...]]:
    """Blocks of content as text and pictures."""
    lines: list[str] = []
    images: list[Image] = []
    for block in blocks:
        match block:
            case types.TextContent():
                lines.append(block.text)
            case types.ImageContent():
                if (data := _decoded(block.data)) is None:
                    lines.append(NO_DATA)
                else:
                    lines.append(f"[a picture: {block.mime_type}, {len(data)} bytes]")
                    images.append(Image(block.mime_type, data, text=lines[-1]))
            case types.AudioContent():
                lines.append(f"[a sound: {block.mime_type}, {len(block.data) * 3 // 4} bytes]")
            case types.ResourceLink():
                about = ": ".join(filter(None, (block.name, block.description)))
                lines.append(f"[resource {block.uri} ({about})]")
            case types.EmbeddedResource():
                lines.append(resource_text(block.resource))
            case _:
                lines.append(f"[{getattr(block, 'type', 'something')} that cannot be shown]")
    return "\n".join(lines), (*images,)


def resource_text(
    resource: types.TextResourceContents | types.BlobResourceContents,
) -> str:
    """The content of a resource as text, under its address."""
    kind = resource.mime_type or "of an unknown kind"
    if isinstance(resource, types.TextResourceContents):
        return f"[resource {resource.uri}, {kind}]\n{resource.text}"
    return f"[resource {resource.uri}, {kind}: {len(resource.blob) * 3 // 4} bytes]"


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
