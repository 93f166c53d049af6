"""JSON Schemas as types of Python, for programs that a model writes."""

from collections.abc import Mapping
from typing import Final, cast

from clew.codecs.schema_references import resolved
from clew.interfaces import Json, Parameters

DEEPEST: Final = 4
"""Levels of a shape that are written out: schemas may refer to themselves."""
_LONGEST: Final = 400
"""Characters of a shape. A longer one costs more than it says."""

_KINDS: Final = {
    "string": "str",
    "integer": "int",
    "number": "float",
    "boolean": "bool",
    "array": "list",
    "object": "dict",
    "null": "None",
}


class Types:
    """The types of a schema's parts, which may refer to definitions in the whole schema."""

    def __init__(self, root: Parameters) -> None:
        self._root = root

    def name(self, schema: Mapping[str, Json]) -> str:
        """A type for an annotation, as far as it can be said in one: `list[str]`, `dict`."""
        return self._type(schema, DEEPEST, fields=False)

    def shape(self, schema: Mapping[str, Json]) -> str:
        """What an annotation cannot say: the fields of dicts, `{"name": str}`. Empty without."""
        shape = self._type(schema, DEEPEST, fields=True)
        return shape if "{" in shape and len(shape) <= _LONGEST else ""

    def _type(self, schema: object, depth: int, *, fields: bool) -> str:
        known = resolved(self._root, schema)
        kinds = known.get("type")
        if isinstance(choices := known.get("enum"), list):
            return f"Literal[{', '.join(map(repr, cast('list[object]', choices)))}]"
        if isinstance(kinds, list):
            return " | ".join(_KINDS.get(str(kind), "Any") for kind in cast("list[object]", kinds))
        if depth > 0:
            for key in ("anyOf", "oneOf"):
                if isinstance(either := known.get(key), list):
                    ways = cast("list[object]", either)
                    parts = (self._type(one, depth - 1, fields=fields) for one in ways)
                    return " | ".join(dict.fromkeys(parts))
            if kinds == "array" and isinstance(items := known.get("items"), dict):
                item = cast("dict[str, object]", items)
                return f"list[{self._type(item, depth - 1, fields=fields)}]"
            if fields and isinstance(properties := known.get("properties"), dict) and properties:
                named = cast("dict[str, object]", properties).items()
                parts = (f'"{one}": {self._type(of, depth - 1, fields=True)}' for one, of in named)
                return f"{{{', '.join(parts)}}}"
            if "properties" not in known and (values := known.get("additionalProperties")):
                value = self._type(values, depth - 1, fields=fields)
                return "dict" if value == "Any" else f"dict[str, {value}]"
        return _KINDS.get(str(kinds), "Any")
