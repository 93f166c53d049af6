"""What a person says over HTTP: words, and the pictures, recordings and files that go with them."""

from collections.abc import Sequence
from typing import Final

import msgspec

from clew import Audio, File, Image, Question
from clew_serve.errors import RefusedError

MAX_ATTACHED: Final = 20


class Attachment(msgspec.Struct, forbid_unknown_fields=True):
    """A picture, recording or file: its media type, its bytes in base64, and its `name`.

    `text` is what it shows or says, for a model that does not take it. What is text says it itself:
    it has either bytes in UTF-8, or a `text`.
    """

    media_type: str
    data: bytes = b""
    name: str = ""
    text: str = ""


def question_of(words: str, attachments: Sequence[Attachment]) -> Question:
    """What goes with the words, and these. Raises `RefusedError` for what cannot be said."""
    if len(attachments) > MAX_ATTACHED:
        hint = f"give {MAX_ATTACHED} at most"
        raise RefusedError(422, "invalid", f"there are {len(attachments)} attachments", hint)
    if not attachments:
        return words
    return [*map(_part, attachments), *([words] if words.strip() else [])]


def _part(attached: Attachment) -> Image | Audio | File:
    kind = attached.media_type.partition("/")[0].lower()
    if kind == "image":
        return Image(attached.media_type, attached.data, attached.text)
    if kind == "audio":
        return Audio(attached.media_type, attached.data, attached.text)
    if kind != "text":
        return File(attached.media_type, attached.data, attached.text, name=attached.name)
    if attached.text and attached.data:
        message = f"the attachment {attached.name[:80]!r} is a text that comes twice"
        raise RefusedError(422, "invalid", message, "give its data or its text")
    try:
        text = attached.text or attached.data.decode()
    except UnicodeDecodeError as error:
        message = f"the attachment {attached.name[:80]!r} is no text of UTF-8"
        raise RefusedError(422, "invalid", message, "name another media type") from error
    return File(attached.media_type, text=text, name=attached.name)
