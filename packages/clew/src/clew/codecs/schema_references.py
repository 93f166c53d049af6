"""References in a JSON Schema (`$ref`), followed within the schema."""

from typing import Any, Final, cast

from clew.core.interfaces import Parameters

LONGEST: Final = 4
"""References followed one after the other: they may lead round in a circle."""


def resolved(whole: Parameters, schema: object) -> dict[str, Any]:
    """A schema, or the definition in the whole schema that it refers to; empty where none is."""
    known = _dict(schema)
    for _ in range(LONGEST):
        if not isinstance(reference := known.get("$ref"), str):
            break
        found: object = whole
        for step in reference.removeprefix("#").split("/")[1:]:
            found = _dict(found).get(step.replace("~1", "/").replace("~0", "~"))
        known = _dict(found)
    return known


def _dict(value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}
