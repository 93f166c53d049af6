"""What people ask: words, or words and attachments, checked once wherever a question comes from."""

from collections.abc import Sequence
from typing import Any, Final, TypeAlias, cast

import msgspec

from clew.agent.agent import Agent
from clew.core.attachments import check_attachment
from clew.core.contents import (
    Asked,
    Attachment,
    Audio,
    File,
    Image,
    Text,
    attachments_of,
    text_parts,
)
from clew.core.redaction import Redaction, secrets
from clew.support.errors import ConfigError
from clew.support.settings import check_text

Question: TypeAlias = str | Sequence[str | Image | Audio | File]
"""What is asked or said: a text, or texts and attachments in their order."""

_MANY: Final = {Image: "pictures", Audio: "recordings", File: "files"}


def question_parts(what: str, question: Question) -> Asked:
    """The parts of a question. Raises `ConfigError`, which says in one line what is wrong."""
    if isinstance(question, str):
        check_text(what, question)
        return text_parts(question)
    parts: Any = question
    if not isinstance(parts, (list, tuple)):
        kind = type(parts).__name__
        message = f"{what} is a value of the type {kind}: give a text, or a list of parts"
        raise ConfigError(message)
    return tuple(_part(what, part) for part in cast("Sequence[Any]", parts))


def message_parts(agent: Agent[Any], what: str, message: Question) -> Asked:
    """The parts of a message to a run of the agent; none where nothing is said."""
    parts = question_parts(what, message)
    check_takes(agent, parts)
    return () if is_empty(parts) else parts


def check_question(agent: Agent[Any], question: Question) -> None:
    """Raise `ConfigError` for a question that the agent cannot be asked; nothing is asked.

    It is none, or has attachments that the agent's model is not shown.
    """
    check_takes(agent, question_parts("the question", question))


def check_takes(agent: Agent[Any], parts: Asked) -> None:
    """Raise `ConfigError` for attachments that the model is not shown, and no words stand for."""
    info = agent.engine.model.info
    for each in attachments_of(parts):
        if not each.text and not each.media_type.startswith(tuple(info.takes)):
            what = f"{_MANY[type(each)]} of the type {each.media_type}"
            message = f"{info.name} takes no {what}: give it a text, or ask another model"
            raise ConfigError(message)


def is_empty(parts: Asked) -> bool:
    """Whether nothing is asked or said."""
    return not any(not isinstance(part, Text) or part.text.strip() for part in parts)


def same_question(parts: Asked, others: Asked) -> bool:
    """Whether two questions are the same, wherever their attachments are kept.

    One of them may be on record, which keeps no secret.
    """
    return _content(parts) == _content(others)


def _part(what: str, part: Any) -> Text | Attachment:
    if isinstance(part, str):
        check_text(what, part)
        return Text(part)
    if not isinstance(part, Image | Audio | File):
        kind = type(part).__name__
        message = f"{what} has a part of the type {kind}: give texts and images, audio or files"
        raise ConfigError(message)
    check_attachment(f"the {type(part).__name__.lower()} in {what}", part)
    return msgspec.structs.replace(part, blob="")


def _content(parts: Asked) -> list[tuple[Any, ...]]:
    redaction = Redaction(secrets())
    return [
        (redaction.cleaned(part.text),)
        if isinstance(part, Text)
        else (part.media_type, part.data, redaction.cleaned(part.text))
        for part in parts
    ]
