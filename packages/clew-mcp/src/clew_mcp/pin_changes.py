"""What differs between the pins of a server and what it says now, in lines for people."""

import difflib
from collections.abc import Iterator, Mapping
from typing import Any, Final

from clew.interfaces import Json
from clew_mcp.pins import FIELDS, ServerPins, canonical
from clew_mcp.settings import printable

MAX_CHANGES: Final = 40
"""Lines of differences that are shown; the rest is counted."""

_LONGEST: Final = 300


def changes(pinned: ServerPins, now: ServerPins) -> tuple[str, ...]:
    """Each difference in a line or a few; empty if and only if the digests are equal."""
    if pinned.digest == now.digest:
        return ()
    lines = [
        *_changed("address", pinned.address, now.address),
        *_changed("server name", pinned.name, now.name),
        *_changed("server version", pinned.version, now.version),
        *_changed("instructions", pinned.instructions, now.instructions),
        *_tools(pinned, now),
    ]
    if len(lines) > MAX_CHANGES:
        lines = [*lines[:MAX_CHANGES], f"… and {len(lines) - MAX_CHANGES} more lines"]
    return (*lines,)


def _tools(pinned: ServerPins, now: ServerPins) -> Iterator[str]:
    before, after = pinned.by_name, now.by_name
    gone = [name for name in before if name not in after]
    new = [name for name in after if name not in before]
    for name in gone:
        other = next((each for each in new if _same(before[name], after[each])), None)
        if other is None:
            yield f"tool {printable(name)}: removed"
        else:
            new.remove(other)
            yield f"tool {printable(name)}: renamed to {printable(other)}"
    for name in new:
        yield f"tool {printable(name)}: added: {_value(after[name].get('description', ''))}"
    for name in (each for each in before if each in after):
        for field in FIELDS:
            lines = _changed(field, before[name].get(field), after[name].get(field))
            yield from (f"tool {printable(name)}: {line}" for line in lines)
    if len(now.by_name) < len(now.tools):
        yield "two tools have one name"


def _same(one: Mapping[str, Json], other: Mapping[str, Json]) -> bool:
    """Whether two definitions differ in nothing but the name."""
    return canonical({**one, "name": ""}) == canonical({**other, "name": ""})


def _changed(what: str, before: Json, after: Json) -> Iterator[str]:
    """The differences between two values, each with the path to it."""
    if canonical(before) == canonical(after):
        return
    if isinstance(before, dict) and isinstance(after, dict):
        known: dict[str, Any] = {**before, **after}
        for key in known:
            path = f"{what}.{printable(key)}"
            if key not in after:
                yield f"{path}: removed: {_value(before[key])}"
            elif key not in before:
                yield f"{path}: added: {_value(after[key])}"
            else:
                yield from _changed(path, before[key], after[key])
    elif isinstance(before, str) and isinstance(after, str) and "\n" in before + after:
        yield f"{what}:"
        for line in difflib.unified_diff(before.split("\n"), after.split("\n"), n=0, lineterm=""):
            if not line.startswith(("---", "+++", "@@")):
                yield f"  {_cut(printable(line))}"
    elif before is None:
        yield f"{what}: added: {_value(after)}"
    elif after is None:
        yield f"{what}: removed: {_value(before)}"
    else:
        yield f"{what}: {_value(before)} → {_value(after)}"


def _value(value: Json) -> str:
    text = value if isinstance(value, str) else canonical(value).decode()
    return _cut(f'"{printable(text)}"' if isinstance(value, str) else printable(text))


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}… ({len(text)} characters)"
