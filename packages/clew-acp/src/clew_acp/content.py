"""The parts of a prompt as a question to a run, and those of a record as an editor shows them."""

import base64
import binascii
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from typing import Final, TypeAlias, cast
from urllib.parse import unquote, urlsplit

from acp import schema

from clew import Agent, Audio, ConfigError, File, Image, Question
from clew.conversations import check_question
from clew.interfaces import Text
from clew.toolbox import attach

Block: TypeAlias = (
    schema.TextContentBlock
    | schema.ImageContentBlock
    | schema.AudioContentBlock
    | schema.ResourceContentBlock
    | schema.EmbeddedResourceContentBlock
)
"""A part of a prompt, as the SDK reads it."""

ReadFile: TypeAlias = Callable[[Path], Awaitable[str | None]]
"""The text of a file as the editor has it, with what is not saved; None where it does not tell."""


async def reads_nothing(path: Path) -> str | None:
    """What an editor tells that shows no files."""
    del path
    return None


_PIXEL: Final = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
_SILENCE: Final = b"RIFF\x24\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00" + bytes(20)


async def question_of(
    blocks: Sequence[Block], folders: Sequence[Path], read_file: ReadFile
) -> Question:
    """The question that a prompt asks; linked files below the `folders` are attached.

    Raises `ConfigError` for a part that cannot be read.
    """
    parts = [await _part(block, folders, read_file) for block in blocks]
    texts = [part for part in parts if isinstance(part, str)]
    if not parts or (len(texts) == len(parts) and not any(map(str.strip, texts))):
        raise ConfigError("the prompt is empty: write something")
    return texts[0] if parts == texts[:1] else parts


async def _part(
    block: Block, folders: Sequence[Path], read_file: ReadFile
) -> str | Image | Audio | File:
    match block:
        case schema.TextContentBlock(text=text):
            return text
        case schema.ImageContentBlock(data=data, mime_type=kind):
            return Image(kind, _bytes(data, "image"))
        case schema.AudioContentBlock(data=data, mime_type=kind):
            return Audio(kind, _bytes(data, "recording"))
        case schema.EmbeddedResourceContentBlock(resource=resource):
            return _embedded(resource)
        case schema.ResourceContentBlock():
            return await _linked(block, folders, read_file)


def _embedded(
    resource: schema.TextResourceContents | schema.BlobResourceContents,
) -> Image | Audio | File:
    name, kind = _name(resource.uri), resource.mime_type or ""
    if isinstance(resource, schema.TextResourceContents):
        return File("text/plain", text=resource.text, name=name)
    data = _bytes(resource.blob, "resource")
    if kind.startswith("image/"):
        return Image(kind, data, name)
    if kind.startswith("audio/"):
        return Audio(kind, data, name)
    return File(kind or "application/octet-stream", data, name=name)


async def _linked(
    link: schema.ResourceContentBlock, folders: Sequence[Path], read_file: ReadFile
) -> str | Image | Audio | File:
    """The file that a link names, as the editor has it; the link itself where it is none here."""
    mention = f"[{link.title or link.name}]({link.uri})"
    path = path_of(link.uri)
    folder = next((each for each in folders if path is not None and _is_below(path, each)), None)
    if path is None or folder is None:
        return mention
    try:
        file = attach(path, folder=folder)
    except ConfigError:
        return mention  # a folder, or what the model cannot be shown: a tool may look at it
    if isinstance(file, File) and file.media_type == "text/plain":
        unsaved = await read_file(path)
        return file if unsaved is None else File("text/plain", text=unsaved, name=path.name)
    return file


def path_of(uri: str) -> Path | None:
    """The absolute path that a `file:` address names, or None."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return None
    path = unquote(parts.path)
    if parts.scheme != "file" or not path.startswith("/") or "\0" in path:
        return None
    return Path(path)


def _is_below(path: Path, folder: Path) -> bool:
    return ".." not in path.parts and path.is_relative_to(folder)


def _name(uri: str) -> str:
    return unquote(uri.rstrip("/").rpartition("/")[2])


def _bytes(data: str, what: str) -> bytes:
    try:
        return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError) as error:
        raise ConfigError(f"the {what} in the prompt is not base64: {error}") from error


def takes(agent: Agent) -> schema.PromptCapabilities:
    """What a prompt to the agent may hold."""
    return schema.PromptCapabilities(
        image=_takes(agent, Image("image/png", _PIXEL)),
        audio=_takes(agent, Audio("audio/wav", _SILENCE)),
        embedded_context=True,
    )


def _takes(agent: Agent, part: Image | Audio) -> bool:
    try:
        check_question(agent, [part])
    except ConfigError:
        return False
    return True


def blocks_of(parts: Sequence[Text | Image | Audio | File]) -> Iterator[Block]:
    """A person's words of a record, as an editor shows them."""
    for part in parts:
        match part:
            case Text(text=text):
                yield schema.TextContentBlock(type="text", text=text)
            case Image(media_type=kind, data=data) if data:
                encoded = base64.b64encode(data).decode()
                yield schema.ImageContentBlock(type="image", data=encoded, mime_type=kind)
            case Audio(media_type=kind, data=data) if data:
                encoded = base64.b64encode(data).decode()
                yield schema.AudioContentBlock(type="audio", data=encoded, mime_type=kind)
            case _:
                name = cast("str", getattr(part, "name", "")) or part.media_type
                yield schema.TextContentBlock(type="text", text=f"[attached: {name}]")
