"""Attachments of a prompt's part: those that a model is shown, and what is told of the others."""

import base64
from collections.abc import Collection
from typing import Final

from clew.core.attachments import file_in_words, kind_in_words
from clew.core.contents import Attachment, Audio, File, Image
from clew.core.prompts import Part

NOTHING: Final = frozenset[str]()

NOT_TAKEN: Final = r"input_(?:audio|file)|\b(?:audio|files?|documents?|PDFs?)\b"
"""How servers name what is no picture where they refuse it."""


def split_attachments(part: Part, takes: Collection[str]) -> tuple[str, list[Attachment]]:
    """The text of a part, with what its model is not shown told in words; and what it is shown.

    `takes` are media types, or their beginnings, such as "image/".
    """
    if not part.attachments:
        return part.text, []
    visible = [each for each in part.attachments if each.media_type.startswith(tuple(takes))]
    told = [_in_words(each) for each in part.attachments if each not in visible]
    return "\n".join(filter(None, [part.text, *told])), visible


def base64_of(attachment: Attachment) -> str:
    """Its bytes, as JSON bodies have them."""
    return base64.b64encode(attachment.data).decode()


def data_url(attachment: Attachment) -> str:
    """It as a URL."""
    return f"data:{attachment.media_type};base64,{base64_of(attachment)}"


def _in_words(attachment: Attachment) -> str:
    match attachment:
        case File(text=text) if text:
            return file_in_words(attachment)
        case Audio(text=text) if text:
            return f"(a recording, not heard here; what is spoken: {text})"
        case Image(text=text) if text:
            return f"(not shown here: {text})"
        case _:
            return f"(not shown here: {kind_in_words(attachment)} ({attachment.media_type}))"
