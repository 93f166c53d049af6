"""The question of a call: its text, and the pictures, recordings and files that go with it."""

import base64
import binascii
from typing import Any, Final

import msgspec

from clew import Audio, ConfigError, File, Image, Question
from clew.conversations import text_file
from clew.interfaces import Json, Started

_MAX_ATTACHED: Final = 20

_ATTACHMENTS: Final[dict[str, Json]] = {
    "type": "array",
    "maxItems": _MAX_ATTACHED,
    "description": "Pictures, recordings, PDFs and texts that belong to the question.",
    "items": {
        "type": "object",
        "properties": {
            "mimeType": {"type": "string", "description": 'Such as "image/png".'},
            "data": {"type": "string", "contentEncoding": "base64"},
            "name": {"type": "string", "description": "The name of the file."},
            "text": {
                "type": "string",
                "description": "What it shows or says, for a model that does not take it.",
            },
        },
        "required": ["mimeType", "data"],
        "additionalProperties": False,
    },
}


class _Attached(msgspec.Struct, forbid_unknown_fields=True, rename={"media_type": "mimeType"}):
    media_type: str
    data: str
    name: str = ""
    text: str = ""


def question_schema(longest: int) -> dict[str, Any]:
    """The JSON Schema of a call's arguments; a question may have `longest` characters."""
    question: dict[str, Json] = {
        "type": "string",
        "minLength": 1,
        "maxLength": longest,
        "description": "What to find out or to do, with everything that must be known for it.",
    }
    return {
        "type": "object",
        "properties": {"question": question, "attachments": _ATTACHMENTS},
        "required": ["question"],
        "additionalProperties": False,
    }


def read_question(arguments: dict[str, Any], longest: int) -> Question:
    """The question that a call's arguments ask. Raises `ConfigError`, in one line."""
    rest = dict(arguments)
    question, attached = rest.pop("question", None), rest.pop("attachments", [])
    if not isinstance(question, str) or rest:
        raise ConfigError("give the text `question`, and `attachments` if there are any")
    if len(question) > longest:
        message = f"the question has {len(question):,} characters, and may have {longest:,}"
        raise ConfigError(message)
    try:
        parts = msgspec.convert(attached, list[_Attached])
    except msgspec.ValidationError as error:
        raise ConfigError(f"attachments: {error}") from error
    if len(parts) > _MAX_ATTACHED:
        message = f"{len(parts)} attachments are too many: give at most {_MAX_ATTACHED}"
        raise ConfigError(message)
    made = [_part(f"attachments[{at}]", part) for at, part in enumerate(parts)]
    return [*made, question] if made else question


def is_asked(started: Started, question: Question) -> bool:
    """Whether it is this question that a run was begun with."""
    parts = [question] if isinstance(question, str) else question
    attached = [(part.media_type, part.data) for part in parts if not isinstance(part, str)]
    same = [(part.media_type, part.data) for part in started.attachments] == attached
    return same and [started.words] == [part for part in parts if isinstance(part, str)]


def _part(where: str, part: _Attached) -> Image | Audio | File:
    """An attachment as what it says it is."""
    try:
        data = base64.b64decode(part.data, validate=True)
    except (binascii.Error, ValueError) as error:
        raise ConfigError(f"{where} has data that is no base64: encode the bytes") from error
    kind = part.media_type.partition("/")[0]
    if kind == "image":
        return Image(part.media_type, data, part.text)
    if kind == "audio":
        return Audio(part.media_type, data, part.text)
    file = File(part.media_type, data, part.text, name=part.name)
    return text_file(where, file) if kind == "text" and data else file
