"""Answers that are no text, as a text that can be audited."""

import re
from collections.abc import Collection, Iterator
from typing import Any, Final

import msgspec

from clew.core.values import Json
from clew.support.json_values import builtins_of
from clew.support.lazy_regex import Lazy

_ID: Final = Lazy(r"\[?([a-z][a-z0-9]*_\d{1,9})\]?", re.IGNORECASE)


def as_text(answer: Json, known: Collection[str]) -> tuple[str, tuple[str, ...]]:
    """The text of an answer, and the ids that stand in it as values of their own.

    A text is taken as it is. Of anything else each value gets a line, behind its name; values that
    are ids cite for the whole answer.
    """
    if isinstance(answer, str):
        return answer, ()
    lines: list[str] = []
    listed: list[str] = []
    for name, value in _leaves(builtins_of(answer), ""):
        match = _ID.fullmatch(value)
        if match or value in known:
            listed.append(match[1] if match and value not in known else value)
        else:
            lines.append(f"- {name}: {value}" if name else value)
    return "\n".join(lines), tuple(dict.fromkeys(listed))


def _leaves(value: Any, name: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for key, part in msgspec.convert(value, dict[str, Any]).items():
            yield from _leaves(part, key.replace("_", " "))
    elif isinstance(value, list | tuple):
        for part in msgspec.convert(value, list[Any]):
            yield from _leaves(part, name)
    elif isinstance(value, str):
        yield name, value
    elif value is not None and not isinstance(value, bool):
        yield name, msgspec.json.encode(value).decode()
