"""References in a JSON Schema (`$ref`), followed within the schema."""

from typing import Any, Final, cast

from clew.core.tools import Parameters

LONGEST: Final = 4
"""References followed one after the other: they may lead round in a circle."""


def resolved(root: Parameters, schema: object) -> dict[str, Any]:
    """A schema, or the definition in the whole schema that it refers to; empty where none is."""
    known = _dict(schema)
    for _ in range(LONGEST):
        if not isinstance(reference := known.get("$ref"), str):
            break
        target: object = root
        for step in reference.split("/")[1:]:
            target = _dict(target).get(step.replace("~1", "/").replace("~0", "~"))
        known = _dict(target)
    return known


def _dict(value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}
