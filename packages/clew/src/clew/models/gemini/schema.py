"""Which JSON Schemas Gemini can hold a reply to. Pure.

Keywords: https://ai.google.dev/api/generate-content, under `responseJsonSchema`.
"""

from functools import lru_cache
from typing import Any, Final

import msgspec

_SCHEMA: Final = frozenset({"items", "additionalProperties"})
_SCHEMAS: Final = frozenset({"prefixItems", "anyOf", "oneOf"})
_NAMED: Final = frozenset({"properties", "$defs"})
_KEYWORDS: Final = frozenset(
    {
        *("$id", "$ref", "$anchor", "type", "format", "title", "description", "enum", "required"),
        *("minItems", "maxItems", "minimum", "maximum", "propertyOrdering"),
        *("default", "examples", "$schema", "$comment"),  # these hold nobody to anything
    }
)


@lru_cache(maxsize=256)
def fits(schema: bytes) -> bool:
    """Whether every keyword of the (encoded) schema is among those that the API takes there."""
    return _fits(msgspec.json.decode(schema))


def _fits(schema: Any) -> bool:
    if isinstance(schema, bool):
        return True
    known = msgspec.convert(schema, dict[str, Any])
    if "$ref" in known and any(not key.startswith("$") for key in known):
        return False  # a reference stands alone
    return all(
        _fits(inner)
        if key in _SCHEMA
        else all(map(_fits, inner))
        if key in _SCHEMAS
        else all(map(_fits, inner.values()))
        if key in _NAMED
        else key in _KEYWORDS
        for key, inner in known.items()
    )
