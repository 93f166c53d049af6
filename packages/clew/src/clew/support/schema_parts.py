"""Where the parts of a JSON Schema lie: its keywords, what a path or a reference leads to."""

from collections.abc import Sequence
from typing import cast

from clew.support.json_values import Json


def at(root: Json, path: Sequence[str | int]) -> Json:
    """What lies at a path in a schema or a value; True (anything) where nothing does."""
    value = root
    for step in path:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return True
    return value


def keywords(schema: Json) -> dict[str, Json]:
    """A schema's keywords: none for `true`, which takes anything, or for what is no schema."""
    return cast("dict[str, Json]", schema) if isinstance(schema, dict) else {}


def target(reference: Json, root: Json) -> Json:
    """Where a local reference leads."""
    path = str(reference).removeprefix("#").split("/")[1:]
    return at(root, [step.replace("~1", "/").replace("~0", "~") for step in path])
