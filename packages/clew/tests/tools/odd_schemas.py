"""Schemas of arguments put together at random: alternatives, conditions, limits that are missed."""

import random
from typing import Any, Final

_NAMES: Final = "abcd"
_LEAVES: Final[tuple[Any, ...]] = (
    {"type": "string"},
    {"type": "integer"},
    {"type": "boolean"},
    {"type": "null"},
    {"type": ["string", "null"]},
    {"enum": ["x", 3, None]},
    {"const": "k"},
    {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
    {"type": "integer", "minimum": 4, "multipleOf": 5},
    {"type": "integer", "maximum": -3},
    {"type": "string", "minLength": 5},
    {"type": "string", "maxLength": 2},
    {"type": "string", "pattern": "^[a-z]+$"},
    {"type": "string", "format": "date"},
    {"type": "array", "items": {"type": "integer"}, "minItems": 2, "uniqueItems": True},
    {"type": "array", "contains": {"const": 7}},
    {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "items": False},
    {"type": "array", "maxItems": 0, "items": {"type": "string"}},
    {"type": "string", "default": 5},
    {"type": "string", "not": {"const": "..."}},
    True,
)


def odd_schema(seed: str) -> dict[str, Any]:
    """An object's schema, the same for the same seed."""
    return _object(random.Random(seed), 3)


def _schema(draw: random.Random, depth: int) -> Any:
    chance = draw.random()
    if depth <= 0 or chance < 0.45:
        return draw.choice(_LEAVES)
    if chance < 0.75:
        return _object(draw, depth)
    if chance < 0.85:
        keyword = draw.choice(["anyOf", "oneOf"])
        return {keyword: [_object(draw, depth - 1), _object(draw, depth - 1)]}
    if chance < 0.92:
        return {"allOf": [_object(draw, depth - 1), _object(draw, 0)]}
    return {"type": "array", "items": _object(draw, depth - 1), "minItems": 1}


def _object(draw: random.Random, depth: int) -> dict[str, Any]:
    names = draw.sample(_NAMES, draw.randint(1, 3))
    made: dict[str, Any] = {
        "type": "object",
        "properties": {name: _schema(draw, depth - 1) for name in names},
        "required": [name for name in names if draw.random() < 0.5],
    }
    if draw.random() < 0.4:
        made["additionalProperties"] = False
    return made | draw.choice(_conditions(draw, names)) if draw.random() < 0.7 else made


def _conditions(draw: random.Random, names: list[str]) -> list[dict[str, Any]]:
    one, other = draw.choice(names), draw.choice(names)
    asked = {"properties": {one: {"const": "x"}}, "required": [one]}
    each = [{"required": [name]} for name in names]
    return [
        {"anyOf": each},
        {"oneOf": each},
        {"allOf": [{"required": [one]}, {"properties": {other: draw.choice(_LEAVES)}}]},
        {"if": asked, "then": {"required": [other]}, "else": {"required": [names[-1]]}},
        {"dependentRequired": {one: [other]}},
        {"dependentSchemas": {one: {"required": [other]}}},
        {"minProperties": draw.randint(1, len(names))},
        {"maxProperties": draw.randint(0, len(names))},
        {"not": {"required": [one]}, "required": []},
    ]
