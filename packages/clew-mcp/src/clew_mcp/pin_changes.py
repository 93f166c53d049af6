"""What differs between the pins of a server and what it says now, in lines for people."""

import difflib
from collections.abc import Iterator, Mapping
from typing import Any, Final, cast

from clew.interfaces import Json
from clew_mcp.pins import FIELDS, ServerPins, canonical
from clew_mcp.settings import printable

MAX_QUESTION_CHARS: Final = 20_000
"""Characters of differences that a question shows: no longer one is asked."""


def changes(pinned: ServerPins, now: ServerPins) -> tuple[str, ...]:
    """Each difference whole, in a line or a few; empty if and only if the digests are equal.

    Nothing is cut: who accepts a change accepts all of it.
    """
    if pinned.digest == now.digest:
        return ()
    return (
        *_changed("address", pinned.address, now.address),
        *_changed("server name", pinned.name, now.name),
        *_changed("server version", pinned.version, now.version),
        *_changed("instructions", pinned.instructions, now.instructions),
        *_tools(pinned, now),
    )


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
        yield from _rest(after[name])
    for name in (each for each in before if each in after):
        for field in FIELDS:
            lines = _changed(field, before[name].get(field), after[name].get(field))
            yield from (f"tool {printable(name)}: {line}" for line in lines)
    if len(now.by_name) < len(now.tools):
        yield "two tools have one name"
        for tool in (one for one in now.tools if now.by_name[one["name"]] is not one):
            name = printable(tool["name"])
            yield f"tool {name}: another: {_value(tool.get('description', ''))}"
            yield from _rest(tool)


def _rest(tool: Mapping[str, Json]) -> Iterator[str]:
    """What else the definition of a tool says that nobody has seen."""
    name = printable(cast("str", tool["name"]))
    for field in (one for one in FIELDS if one not in {"name", "description"}):
        if (value := tool.get(field)) is not None:
            yield f"tool {name}: {field}: {_value(value)}"


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
                yield f"  {printable(line)}"
    elif before is None:
        yield f"{what}: added: {_value(after)}"
    elif after is None:
        yield f"{what}: removed: {_value(before)}"
    else:
        yield f"{what}: {_value(before)} → {_value(after)}"


def _value(value: Json) -> str:
    if isinstance(value, str):
        return f'"{printable(value)}"'
    return printable(canonical(value).decode())
