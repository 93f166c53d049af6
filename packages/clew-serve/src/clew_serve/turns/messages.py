"""Messages of a client as an agent can be asked them."""

from collections.abc import Mapping, Sequence
from typing import Any

from clew_serve.errors import RefusedError


def readable(messages: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The messages with those of the system in front of the person's next words.

    An agent has instructions of its own: what a client adds to them is said by its user.
    """
    read: list[dict[str, Any]] = []
    waiting: list[Any] = []
    for message in messages:
        if message.get("role") in {"system", "developer"}:
            waiting += parts_of(message.get("content"))
        elif message.get("role") == "user" and waiting:
            read.append({**message, "content": [*waiting, *parts_of(message.get("content"))]})
            waiting = []
        else:
            read.append(message)
    if waiting:
        read.append({"role": "user", "content": waiting})
    return read


def parts_of(content: Any) -> list[Any]:
    """The content of a message as a list of parts."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return [*content] if isinstance(content, list) else [content] if content else []


def one_message(messages: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What a person says in some messages, as one. Raises `RefusedError` for others' words."""
    if any(message.get("role") != "user" for message in messages):
        message = "only a user can say something in a run that goes on"
        raise RefusedError(422, "invalid", message, "give the new messages alone")
    parts = [part for message in messages for part in parts_of(message.get("content"))]
    return {"role": "user", "content": parts}
