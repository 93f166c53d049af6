"""How the spec of an agent differs from the one on record, and where two JSON values part."""

from typing import Final

from clew.core.specs import AgentSpec
from clew.core.values import Json


def changes(old: AgentSpec, new: AgentSpec) -> tuple[str, ...]:
    """The names of what differs between two settings, such as "model" or "tools.search"."""
    changed = [
        name
        for name in ("model", "codec", "prompt", "params")
        if getattr(old, name) != getattr(new, name)
    ]
    for group in ("tools", "parts"):
        was, now = getattr(old, group), getattr(new, group)
        changed += [
            f"{group}.{name}" for name in sorted({*was, *now}) if was.get(name) != now.get(name)
        ]
    return tuple(changed)


def changes_to_accept(old: AgentSpec, new: AgentSpec) -> tuple[str, ...]:
    """What differs between two settings, as far as that is for a person to accept.

    Another version of the same format is not: clew was updated. It takes nothing back either, so
    alone it is no change of the run.
    """
    unaccepted = changes(old, new)
    updated = same_format(old.codec, new.codec)
    return tuple(name for name in unaccepted if name != "codec") if updated else unaccepted


def same_format(one: str, other: str) -> bool:
    """Whether two names of formats differ in their versions only."""
    return one.rpartition("/")[0] == other.rpartition("/")[0]


_GONE: Final = object()


def first_difference(old: Json, new: Json, path: str = "") -> str | None:
    """The dotted path of the first field in which two JSON values differ, or None."""
    kinds: set[type] = {type(old), type(new)}
    if kinds == {dict}:
        names = {name: f"{path}.{name}" if path else name for name in (*old, *new)}
        pairs = [(at, old.get(name, _GONE), new.get(name, _GONE)) for name, at in names.items()]
    elif kinds == {list} and len(old) == len(new):
        both = enumerate(zip(old, new, strict=True))
        pairs = [(f"{path}[{index}]", was, now) for index, (was, now) in both]
    else:
        return None if old == new else path
    differences = (first_difference(was, now, at) for at, was, now in pairs)
    return next((at for at in differences if at is not None), None)
