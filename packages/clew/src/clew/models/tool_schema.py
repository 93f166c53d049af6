"""Schemas of tools for servers that refuse some of their keywords: less and less is said in them.

A model is then held to less than the tool takes. clew validates every call against the whole schema
by itself, and tells the model what was wrong.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Final, cast

from clew.core.tools import Parameters, ToolSpec
from clew.core.values import Json, encode

_HELD_TO: Final = frozenset({"pattern", "format", "patternProperties", "propertyNames"})
"""Keywords with regular expressions, whose dialects differ, and names of formats."""

_NAMED: Final = frozenset({"properties", "$defs", "definitions", "dependentSchemas"})
"""Keywords that hold schemas by names of the tool's own."""

_DATA: Final = frozenset({"enum", "const", "default", "examples"})
"""Keywords that hold values, which may look like schemas."""

LEVELS: Final = frozenset({"patterns", "schemas", "open"})
"""The repairs that reduce schemas."""

DEEP: Final = 30
"""So deep a schema is followed: references may go in circles."""


def reduced(tool: ToolSpec, repairs: frozenset[str]) -> ToolSpec:
    """The tool with its schema as far as the repairs `patterns`, `schemas` and `open` leave it."""
    if "open" in repairs:
        description = f"{tool.description}\nThe arguments have this JSON Schema: "
        bare: Parameters = {"type": "object", "properties": {}}
        told = description + encode(tool.parameters).decode()
        return replace(tool, parameters=bare, description=told)
    if "schemas" in repairs:
        return replace(tool, parameters=_plain(tool.parameters, tool.parameters, 0))
    if "patterns" in repairs:
        return replace(tool, parameters=_without(tool.parameters, _HELD_TO))
    return tool


def _without(schema: Any, keys: Iterable[str]) -> Json:
    """A schema without these keywords, at every depth."""
    if isinstance(schema, list):
        return [_without(one, keys) for one in _array(schema)]
    if not isinstance(schema, dict):
        return schema
    known = cast("dict[str, Any]", schema)
    kept: dict[str, Json] = {}
    for key, value in known.items():
        if key in keys:
            continue
        if key in _NAMED and isinstance(value, dict):
            named = cast("dict[str, Any]", value)
            kept[key] = {name: _without(inner, keys) for name, inner in named.items()}
        else:
            kept[key] = value if key in _DATA else _without(value, keys)
    return kept


def _plain(schema: Any, root: Parameters, depth: int) -> dict[str, Json]:
    """Types, names and descriptions; a reference is what it refers to, a choice anything."""
    if not isinstance(schema, dict) or depth > DEEP:
        return {}
    known = cast("dict[str, Any]", schema)
    if isinstance(ref := known.get("$ref"), str):
        known = _referred(ref, root) | {key: it for key, it in known.items() if key != "$ref"}
    kept: dict[str, Json] = {key: known[key] for key in ("description",) if key in known}
    kind: Any = known.get("type")
    if isinstance(kind, list):  # such as a string or null
        kind = next((one for one in _array(kind) if one != "null"), None)
    either: Any = known.get("anyOf") or known.get("oneOf") or []
    others = [one for one in either if one != {"type": "null"}]
    if kind is None and len(others) == 1:
        return _plain(others[0], root, depth + 1) | kept
    kept |= {"type": kind} if isinstance(kind, str) else {}
    values: Any = known.get("enum")
    if isinstance(values, list) and all(isinstance(one, str) for one in _array(values)):
        kept["enum"] = values
    if kind == "array":
        kept["items"] = _plain(known.get("items"), root, depth + 1)
    if isinstance(properties := known.get("properties"), dict):
        named = cast("dict[str, Any]", properties)
        kept["properties"] = {name: _plain(one, root, depth + 1) for name, one in named.items()}
    if isinstance(required := known.get("required"), list) and required:
        kept["required"] = required
    return kept


def _referred(ref: str, root: Parameters) -> dict[str, Any]:
    """The definition that a reference within the schema means; {} for any other."""
    target: Any = root
    for name in ref.removeprefix("#").strip("/").split("/"):
        step = name.replace("~1", "/").replace("~0", "~")
        target = cast("dict[str, Any]", target).get(step) if isinstance(target, dict) else None
    return cast("dict[str, Any]", target) if isinstance(target, dict) else {}


def _array(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []  # pyright: ignore[reportUnknownVariableType] # mypy calls the cast that helps pyright redundant
