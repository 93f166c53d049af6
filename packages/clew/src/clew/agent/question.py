"""What people ask: words, or words and pictures, checked once wherever a question comes from."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias, cast

import msgspec

from clew.agent.agent import Agent
from clew.core.events import Asked, Image, Text, images_of, text_parts
from clew.support.errors import ConfigError
from clew.support.settings import check_text

Question: TypeAlias = str | Sequence[str | Image]
"""What is asked or said: a text, or texts and pictures in their order."""

IMAGE_BYTES: Final = 20_000_000
"""A picture of more is refused: no provider takes it."""

_KINDS: Final = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
}
"""How pictures begin that every provider with vision takes; WebP has its name further in."""


def question_parts(what: str, question: Question) -> Asked:
    """The parts of a question. Raises `ConfigError`, which says in one line what is wrong."""
    if isinstance(question, str):
        check_text(what, question)
        return text_parts(question)
    parts: Any = question
    if not isinstance(parts, (list, tuple)):
        kind = type(parts).__name__
        message = (
            f"{what} is a value of the type {kind}: give a text, or a list of texts and images"
        )
        raise ConfigError(message)
    return tuple(_part(what, part) for part in cast("Sequence[Any]", parts))


def message_parts(agent: Agent, what: str, message: Question) -> Asked:
    """The parts of a message to a run of the agent; none where nothing is said."""
    parts = question_parts(what, message)
    check_takes(agent, parts)
    return () if is_empty(parts) else parts


def check_takes(agent: Agent, parts: Asked) -> None:
    """Raise `ConfigError` for pictures that the model cannot see, and that no words stand for."""
    info = agent.engine.model.info
    if not info.vision and not all(image.text for image in images_of(parts)):
        message = f"{info.name} sees no pictures: give each a text, or ask a model with vision"
        raise ConfigError(message)


def is_empty(parts: Asked) -> bool:
    """Whether nothing is asked or said."""
    return not images_of(parts) and not any(isinstance(p, Text) and p.text.strip() for p in parts)


def same_question(parts: Asked, others: Asked) -> bool:
    """Whether two questions are the same, wherever their pictures are kept."""
    return _content(parts) == _content(others)


def read_image(path: str | Path, text: str = "") -> Image:
    """A picture from a file, to stand in a question; `text` says what it is.

    Raises `ConfigError` if it cannot be read, is too large, or is no PNG, JPEG, GIF or WebP.
    """
    file = Path(path)
    try:
        size = file.stat().st_size
        if not file.is_file():
            raise ConfigError(f"{file} is no file: attach a picture")
        _check_size(str(file), size)
        data = file.read_bytes()
    except OSError as error:
        raise ConfigError(f"{file} cannot be attached: {error.strerror or error}") from error
    if not (kind := _kind(data)):
        raise ConfigError(f"{file} is no picture: attach PNG, JPEG, GIF or WebP")
    return Image(kind, data, text)


def _part(what: str, part: Any) -> Text | Image:
    if isinstance(part, str):
        check_text(what, part)
        return Text(part)
    if not isinstance(part, Image):
        message = f"{what} has a part of the type {type(part).__name__}: give texts and images"
        raise ConfigError(message)
    data: Any = part.data
    if not isinstance(data, bytes) or not data:
        raise ConfigError(f"{what} has a picture without bytes: give its data")
    _check_size(f"a picture of {what}", len(data))
    check_text("the text of a picture", part.text)
    if (kind := _kind(data)) != part.media_type:
        is_ = f"is {kind}" if kind else "is none that is known: give PNG, JPEG, GIF or WebP"
        raise ConfigError(f"a picture of {what} is said to be {part.media_type}, and {is_}")
    return msgspec.structs.replace(part, blob="")


def _check_size(what: str, size: int) -> None:
    if size > IMAGE_BYTES:
        message = f"{what} has {size:,} bytes, and may have {IMAGE_BYTES:,}: make it smaller"
        raise ConfigError(message)


def _kind(data: bytes) -> str:
    """The media type of a picture by how it begins, or ""."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for start, kind in _KINDS.items() if data.startswith(start)), "")


def _content(parts: Asked) -> list[tuple[Any, ...]]:
    return [
        (part.text,) if isinstance(part, Text) else (part.media_type, part.data, part.text)
        for part in parts
    ]
