"""What a spec says of tools that are taken away goes with them, as in `Agent.replace`.

Nothing is imported for it: a tool of a module goes by the name that it has there.
"""

from collections.abc import Iterable, Mapping
from typing import Any


def without_gone_tools(
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    changed: Iterable[str],
    usual: Iterable[str],
) -> dict[str, Any]:
    """The spec `after` changes, without what it says of tools that only `before` has.

    Both are specs as plain values, `usual` the tools of one that names none. What the `changed`
    keys say themselves stays, so that a wrong name in them is refused.
    """
    gone = _names(before, usual) - _names(after, usual)
    spec = dict(after)
    tools = tuple(changed)
    limits, retrieval = _table(spec, "limits"), _table(spec, "retrieval")
    if (caps := _table(limits, "calls_per_tool")) and not _says(tools, "limits.calls_per_tool"):
        kept = {name: cap for name, cap in caps.items() if name not in gone}
        spec["limits"] = {**limits, "calls_per_tool": kept or None}
    if (others := _table(spec, "fallbacks")) and not _says(tools, "fallbacks"):
        spec["fallbacks"] = {
            name: other for name, other in others.items() if gone.isdisjoint((name, _tool(other)))
        }
    if isinstance(spec.get("provenance"), dict) and not _says(tools, "provenance.exempt"):
        judges = _table(spec, "provenance")
        exempt = [each for each in judges.get("exempt", ()) if each not in gone]
        spec["provenance"] = {**judges, "exempt": exempt}
    if (labels := _table(spec, "labels")) and not _says(tools, "labels"):
        spec["labels"] = {name: one for name, one in labels.items() if name not in gone}
    if (approve := _table(spec, "approve")) and not _says(tools, "approve"):
        spec["approve"] = {name: one for name, one in approve.items() if name not in gone}
    always: list[str] = list(retrieval.get("always", ()))
    if always and not _says(tools, "retrieval.always"):
        spec["retrieval"] = {**retrieval, "always": [each for each in always if each not in gone]}
    return spec


def _table(spec: Mapping[str, Any], key: str) -> dict[str, Any]:
    """The table under a key; an empty one where there is none."""
    return spec.get(key) or {}


def _says(changed: Iterable[str], key: str) -> bool:
    """Whether one of the changed keys is this key, or stands in it or around it."""
    return any(f"{each}.".startswith(f"{key}.") or key.startswith(f"{each}.") for each in changed)


def _tool(fallback: str | Mapping[str, Any]) -> Any:
    return fallback if isinstance(fallback, str) else fallback["tool"]


def _names(spec: Mapping[str, Any], usual: Iterable[str]) -> set[str]:
    """The names of the tools that a spec lists."""
    named = spec.get("tools")
    names = {_last(name) for name in (usual if named is None else named)}
    tables = [each for kind in ("programs", "external", "agents") for each in spec.get(kind) or ()]
    names |= {each["name"] for each in tables}
    return names | {
        each.get("name") or _last(each["function"]) for each in spec.get("processes") or ()
    }


def _last(name: str) -> str:
    """The name that a tool of `module:name` has there; other names as they are."""
    return name.rpartition(":")[2].rpartition(".")[2] if ":" in name else name
