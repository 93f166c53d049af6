"""Attachments: what they must be, wherever they come from, and those in what a tool returns.

Wherever one stands in a result, a model is shown it as what it is.
"""

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, cast

import msgspec

from clew.core.contents import Attachment, Audio, File, Image, Observation
from clew.support.errors import ConfigError
from clew.support.media_types import charset_of, check_size, contradiction, is_media_type, kinds_of
from clew.support.settings import check_text
from clew.support.text_encoding import decoded

_SCALARS: Final = frozenset({str, int, float, bool, bytes, type(None)})
_WORDS: Final = {Image: "an image", Audio: "a recording", File: "a file"}


def check_attachment(name: str, part: Attachment) -> None:
    """Raise `ConfigError`, in one line, for what no provider could take: `name` says whose it is.

    It must have bytes (a file with a text need not), at most `MAX_BYTES`, and be what it says.
    """
    data: Any = part.data
    if not isinstance(data, bytes):
        message = f"{name} has data of the type {type(data).__name__}: give the bytes of its file"
        raise ConfigError(message)
    check_text(f"the text of {name}", part.text)
    check_text(f"the media type of {name}", part.media_type)
    if not is_media_type(part.media_type):
        message = f"{name} has the media type {part.media_type[:80]!r}: name one, as text/plain"
        raise ConfigError(message)
    if isinstance(part, File):
        check_text(f"the name of {name}", part.name)
    if not data and not (isinstance(part, File) and part.text):
        raise ConfigError(f"{name} has no bytes: give its data")
    check_size(name, len(data))
    if isinstance(part, File):
        wrong = contradiction(part.media_type, data) if data else ""
    else:
        kinds = kinds_of(data)
        kind = "picture" if isinstance(part, Image) else "recording"
        wrong = f"is {kinds[0]}" if kinds else f"its bytes are no {kind} that clew knows"
        wrong = "" if part.media_type in kinds else wrong
    if wrong:
        joined = "but" if wrong.startswith("its") else "and"
        raise ConfigError(f"{name} is said to be {part.media_type}, {joined} {wrong}")


def text_file(name: str, file: File) -> File:
    """A file that is a text, as that: models need no bytes of it, and secrets in a text count.

    Raises `ConfigError` as `check_attachment` does, if its bytes are no such text.
    """
    check_attachment(name, file)
    text = file.text or decoded(file.data, charset=charset_of(file.media_type)).text
    return msgspec.structs.replace(file, data=b"", text=text)


def kind_in_words(part: Attachment) -> str:
    """What it is, as in "an image"."""
    return _WORDS[type(part)]


def file_name(file: File) -> str:
    """The name of a file; one that has none has that of its kind."""
    return file.name or f"file.{file.media_type.rpartition('/')[2]}"


def file_in_words(file: File) -> str:
    """What a file says, under its name."""
    return f"[file {file_name(file)}]\n{file.text}\n[end of the file]"


def caption(part: Attachment) -> str:
    """What stands in the place of an attachment in a result; of a file that is a text, the text."""
    if isinstance(part, Image) and part.text:
        return part.text
    if isinstance(part, File) and _is_text(part):
        return file_in_words(part)
    data: Any = part.data
    size = f", {len(data)} bytes" if isinstance(data, bytes) else ""
    name = f"{part.name}, " if isinstance(part, File) and part.name else ""
    return f"{kind_in_words(part)} ({name}{part.media_type}{size})"


def attached_texts(seen: Observation) -> Iterator[tuple[Attachment, int]]:
    """The attachments of a result, and where in `readable_text` what each says begins."""
    at = len(seen.text)
    for each in seen.attachments:
        yield each, at + 1
        at += len(each.text) + 1 if each.text else 0


def readable_text(seen: Observation) -> str:
    """All that a result says: its text, and behind it the texts of its attachments."""
    texts = (each.text for each in seen.attachments if each.text)
    return "\n".join([seen.text, *texts]) if seen.attachments else seen.text


def has_attachments(value: Any) -> bool:
    """Whether a returned value has an attachment in it."""
    if type(value) in _SCALARS:
        return False
    try:
        return isinstance(value, Attachment) or any(map(has_attachments, _inner(value)))
    except RecursionError:  # it holds itself, or is too deep: told where it is recorded
        return False


def taken_out(value: Any) -> tuple[Any, tuple[Attachment, ...]]:
    """The value with captions in the place of its attachments, and the attachments, in order.

    A file that is a text is in the value with its text, as all that a tool says.
    """
    attachments: list[Attachment] = []
    return _captioned(value, attachments), tuple(attachments)


def _is_text(part: Attachment) -> bool:
    data: Any = part.data
    return isinstance(part, File) and data == b"" and bool(part.text)


def _inner(value: Any) -> list[Any]:
    """What a value holds, but for texts and numbers."""
    if type(value) in _SCALARS:
        return []
    if isinstance(value, Mapping):
        held: Iterable[Any] = cast("dict[Any, Any]", value).values()
    elif isinstance(value, (list, tuple, set, frozenset)):
        held = cast("list[Any]", value)
    else:
        held = _object_fields(value).values()
    return [each for each in held if type(each) not in _SCALARS]


def _captioned(value: Any, attachments: list[Attachment]) -> Any:
    if isinstance(value, Attachment):
        if not _is_text(value):
            attachments.append(value)
        return caption(value)
    if not has_attachments(value):
        return value
    if isinstance(value, Mapping):
        mapping = cast("dict[Any, Any]", value)
        return {key: _captioned(inner, attachments) for key, inner in mapping.items()}
    if isinstance(value, tuple) and hasattr(cast("object", value), "_fields"):
        named = cast("Any", value)
        items = zip(named._fields, named, strict=True)
        return {name: _captioned(inner, attachments) for name, inner in items}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_captioned(inner, attachments) for inner in cast("list[Any]", value)]
    return {key: _captioned(inner, attachments) for key, inner in _object_fields(value).items()}


def _object_fields(value: Any) -> dict[str, Any]:
    """The fields of a struct, dataclass or pydantic model."""
    kind = cast("Any", type(value))  # pyright: ignore[reportUnknownArgumentType] # of any value
    if isinstance(value, msgspec.Struct):
        return {name: getattr(value, name) for name in kind.__struct_fields__}
    if dataclasses.is_dataclass(kind):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(kind)}
    named: Any = getattr(kind, "model_fields", None)
    if isinstance(named, dict):
        return {name: getattr(value, name) for name in cast("dict[str, Any]", named)}
    return {}
