"""Which JSON Schemas OpenAI can hold a reply to, and in what manner. Pure.

Rules: https://developers.openai.com/api/docs/guides/structured-outputs
"""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Final, Literal, TypeAlias

import msgspec

from clew.core.tools import ToolSpec
from clew.core.values import Json, encode
from clew.support.errors import ConfigError

Fit: TypeAlias = Literal["strict", "object", "objects", "other"]
"""What a schema is to OpenAI: held to word by word; taken as a hint; not taken, for it is several
schemas of objects, or one of something else."""

TOP: Final = ("anyOf", "oneOf", "allOf", "enum", "not")
"""What OpenAI refuses at the top of the schema of a tool's arguments."""

LEAVE: Final = ("schema", "json")
"""What a server that refuses the form of a reply is spared of it, one after the other."""

REFUSED: Final = re.compile(
    r"response_format|text\.format|json_(?:schema|object)|json mode|json_validate_failed"
    r"|structured[ _]outputs?|\bgrammar",
    re.IGNORECASE,
)
"""How a server names the form when it refuses it."""

_DEPTH: Final = 10
_PROPERTIES: Final = 5000
_VALUES: Final = 1000
_LETTERS: Final = 120_000

_Kind: TypeAlias = Literal["string", "number", "integer", "boolean", "object", "array", "null"]
_Format: TypeAlias = Literal[
    "date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"
]


class _Subset(msgspec.Struct, forbid_unknown_fields=True):
    """The subset: whatever else a schema has, makes it another."""

    type: _Kind | list[_Kind] | None = None
    enum: list[Json] = []
    const: Json | msgspec.UnsetType = msgspec.UNSET
    title: str = ""
    description: str = ""
    any_of: list["_Subset"] | None = msgspec.field(default=None, name="anyOf")
    ref: str = msgspec.field(default="", name="$ref")
    defs: dict[str, "_Subset"] = msgspec.field(default={}, name="$defs")
    properties: dict[str, "_Subset"] = {}
    required: list[str] = []
    more: Json = msgspec.field(default=True, name="additionalProperties")
    items: "_Subset | None" = None
    min_items: int = msgspec.field(default=0, name="minItems")
    max_items: int | None = msgspec.field(default=None, name="maxItems")
    pattern: str = ""
    format: _Format | None = None
    multiple_of: float = msgspec.field(default=1, name="multipleOf")
    minimum: float = 0
    maximum: float = 0
    above: float = msgspec.field(default=0, name="exclusiveMinimum")
    below: float = msgspec.field(default=0, name="exclusiveMaximum")

    @property
    def kinds(self) -> list[_Kind]:
        if isinstance(self.type, list):
            return self.type
        return [] if self.type is None else [self.type]

    @property
    def inner(self) -> Iterator["_Subset"]:
        yield from self.any_of or ()
        yield from self.defs.values()
        if self.items is not None:
            yield self.items


@lru_cache(maxsize=256)
def fit(schema: bytes) -> tuple[Fit, bytes]:
    """How OpenAI can take this (encoded) schema of a reply, and the schema as it is sent.

    One that only refers to a definition is that definition: OpenAI looks for a type at the top.
    """
    known = _fields(msgspec.json.decode(schema))
    definitions = _fields(known.get("$defs"))
    named = _defined(known, definitions)
    if known.keys() == {"$ref", "$defs"} and named and "$defs" not in named:
        known = {**named, "$defs": definitions}
        schema = encode(known)
    if known.get("type") != "object":
        either = msgspec.convert(known.get("anyOf") or [None], list[Json])
        kinds = {_defined(_fields(each), definitions).get("type") for each in either}
        return ("objects" if kinds == {"object"} else "other"), schema
    try:
        typed = msgspec.convert(known, _Subset)
    except (msgspec.ValidationError, RecursionError):
        return "object", schema
    size = _SchemaSize()
    held = typed.any_of is None and size.takes(typed, 1) and size.fits
    return ("strict" if held else "object"), schema


def _fields(schema: Json) -> dict[str, Json]:
    """The keywords of a schema; those that are True or False have none."""
    return msgspec.convert(schema, dict[str, Json]) if isinstance(schema, dict) else {}


def _defined(schema: dict[str, Json], definitions: Mapping[str, Json]) -> dict[str, Json]:
    """The schema, or the definition that it refers to."""
    if "$ref" not in schema:
        return schema
    return _fields(definitions.get(str(schema["$ref"]).removeprefix("#/$defs/")))


def openai_tool(tool: ToolSpec) -> None:
    """Raise `ConfigError` for what OpenAI refuses in the schema of a tool's arguments."""
    if odd := [key for key in TOP if key in tool.parameters]:
        raise ConfigError(
            f"OpenAI takes no {odd[0]!r} at the top of a tool's schema, and {tool.name!r} has one: "
            "put it into a property"
        )


def response_format(schema: bytes, without: frozenset[str], *, any_schema: bool) -> dict[str, Json]:
    """The form of a reply to ask for: that of the schema, any JSON object, or none.

    OpenAI takes schemas of objects only; servers that run models themselves take any.
    """
    if "json" in without:
        return {}
    how, sent = fit(schema)
    if "schema" in without or (how in {"objects", "other"} and not any_schema):
        return {} if how == "other" else {"type": "json_object"}
    named = {"name": "reply", "strict": how == "strict", "schema": msgspec.Raw(sent)}
    return {"type": "json_schema"} | named


class _SchemaSize:
    """Walks a schema, and counts what there may not be too much of."""

    def __init__(self) -> None:
        self.properties = self.values = self.letters = 0

    @property
    def fits(self) -> bool:
        return (
            self.properties <= _PROPERTIES and self.values <= _VALUES and self.letters <= _LETTERS
        )

    def takes(self, schema: _Subset, depth: int) -> bool:
        """Whether everything is of a kind, each reference stands alone, each list says of what, and
        each object is closed, with nothing optional.
        """
        if schema.ref:
            return schema.ref.startswith("#") and schema == _Subset(ref=schema.ref)
        kinds = schema.kinds
        if depth > _DEPTH or not (kinds or schema.any_of):
            return False
        self._count(schema)
        closed = schema.more is False and set(schema.required) == schema.properties.keys()
        return (
            (closed or "object" not in kinds)
            and (schema.items is not None or "array" not in kinds)
            and all(self.takes(each, depth) for each in schema.inner)
            and all(self.takes(each, depth + 1) for each in schema.properties.values())
        )

    def _count(self, schema: _Subset) -> None:
        values = [*schema.enum, *(() if schema.const is msgspec.UNSET else (schema.const,))]
        self.properties += len(schema.properties)
        self.values += len(values)
        self.letters += sum(len(str(each)) for each in values)
        self.letters += sum(map(len, [*schema.properties, *schema.defs]))
