"""Messages of a client as an agent can be asked them."""

from collections.abc import Sequence
from typing import Any


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
