"""Python types as JSON Schema, JSON as those types, results as JSON: strictly, both ways.

The types are those of msgspec (https://jcristharif.com/msgspec/supported-types.html) and those of
pydantic: its models, which are known by their methods, and what a stand-in reads as one.
"""

import copy
import re
import typing
from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, TypeAlias, cast

import msgspec

from clew.core.tools import Parameters
from clew.core.values import Json, encode
from clew.support.errors import ConfigError
from clew.support.nearest_name import fold
from clew.support.pydantic_classes import adapter_of
from clew.support.schema_parts import keywords
from clew.support.short_text import one_line
from clew.tools.named_tuples import as_object, by_position, named_tuples
from clew.tools.own_fields import hide
from clew.tools.pydantic_tuples import name_fields
from clew.tools.pydantic_types import adapted, is_model, parts
from clew.tools.schema import subschemas
from clew.tools.times import completed

Mode: TypeAlias = Literal["validation", "serialization"]

_REF: Final = "#/$defs/{name}"
_MODEL_REF: Final = "#/$defs/{model}"
_DECIMAL: Final = r"^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?$"
_WHERE: Final = re.compile(r"^(?P<what>.*) - at `(?P<path>[^`]*)`$", re.DOTALL)


def schemas(
    kinds: Mapping[str, Any], where: str, mode: Mode = "validation"
) -> tuple[dict[str, Parameters], dict[str, Parameters]]:
    """The schema of each named type, and the definitions they refer to.

    Objects take no undeclared properties. Raises `ConfigError`, naming `where` and the type's name,
    for a type that has no schema.
    """
    kinds = {name: adapted(kind, f"{where}, {name}") for name, kind in kinds.items()}
    for name, kind in kinds.items():
        if mode == "validation":
            _refuse_keys(kind, f"{where}, {name}", set())
        _components([kind], f"{where}, {name}", mode)
    components, definitions = _components(list(kinds.values()), where, mode)
    named = dict(zip(kinds, components, strict=True))
    for name, schema in (*definitions.items(), *named.items()):
        _normalised_schema(schema, name, mode)
    return named, definitions


def schema_of(kind: Any, where: str, mode: Mode = "validation") -> Parameters:
    """The schema of one type, with the definitions it refers to under `$defs`.

    It is what is read again where it was recorded: of a default that is a tuple, a list.
    """
    named, definitions = schemas({"type": kind}, where, mode)
    named_schema = named["type"] | ({"$defs": definitions} if definitions else {})
    return msgspec.json.decode(msgspec.json.encode(named_schema), type=dict[str, Json])


def from_json(kind: Any, value: Json) -> Any:
    """A JSON value as the type, without coercion but of keys: JSON has only text for them.

    Raises `ValueError` with one line.
    """
    try:
        try:
            return _converted(kind, value)
        except msgspec.ValidationError:
            if (usual := by_position(kind, completed(kind, value))) == value:
                raise
            return _converted(kind, usual)
    except (ValueError, RecursionError) as error:
        cause = error.__cause__
        located = isinstance(cause, _ModelError) and cause.located
        raise ValueError(_one_line(str(error), located=located)) from error


def _converted(kind: Any, value: Json) -> Any:
    return msgspec.convert(value, kind, strict=True, str_keys=True, dec_hook=_decode)


class _Hoist(msgspec.Struct):
    """Collects the definitions that pydantic nests, to be put beside the others."""

    mode: Mode
    definitions: dict[str, Parameters] = msgspec.field(default_factory=dict[str, Parameters])

    def schema(self, kind: Any) -> Parameters:
        if kind is object:
            return {"description": "any JSON value"}  # msgspec takes no schema without a word
        try:
            schema: Parameters = (
                kind.model_json_schema(ref_template=_MODEL_REF, mode=self.mode)
                if is_model(kind)
                else adapter_of(kind).json_schema(ref_template=_MODEL_REF, mode=self.mode)
            )
        except RuntimeError as error:  # pydantic's, of a type that JSON cannot carry
            raise TypeError(str(error).partition("\n")[0]) from error
        if self.mode == "validation":
            name_fields(kind, schema)
        _merge(self.definitions, schema.pop("$defs", {}), self.mode)
        return schema


def _components(
    kinds: list[Any], where: str, mode: Mode
) -> tuple[tuple[Parameters, ...], dict[str, Parameters]]:
    hoist = _Hoist(mode)
    try:
        components, definitions = msgspec.json.schema_components(
            kinds, schema_hook=hoist.schema, ref_template=_REF
        )
        if any("prefixItems" in each for each in definitions.values()):
            _name_fields([*named_tuples(kinds)], kinds, definitions)
        if mode == "validation":
            hide(kinds, definitions, _Hoist(mode).schema)
        _merge(definitions, hoist.definitions, mode)
    except (TypeError, NameError, ValueError) as error:
        reason = str(error).rpartition("\n")[2] or str(error)
        message = f"{where}: {reason}"
        raise ConfigError(message) from error
    return components, definitions


def _name_fields(tuples: list[Any], kinds: list[Any], definitions: dict[str, Parameters]) -> None:
    """Make the definitions of named tuples those of objects: of two of a name, each its own."""
    hook = _Hoist("validation").schema
    references, _ = msgspec.json.schema_components(
        [*tuples, *kinds], schema_hook=hook, ref_template=_REF
    )
    for kind, reference in zip(tuples, references, strict=False):
        name = str(reference["$ref"]).removeprefix(_REF.format(name=""))
        as_object(kind, definitions[name])


def _merge(definitions: dict[str, Parameters], more: dict[str, Parameters], mode: Mode) -> None:
    """Add definitions; msgspec and pydantic may both have made that of one type."""
    for name, schema in more.items():
        other = definitions.setdefault(name, schema)
        if other != schema and _in_one_form(other, name, mode) != _in_one_form(schema, name, mode):
            message = f"two different types are called {name}: rename one"
            raise TypeError(message)


def _in_one_form(schema: Parameters, name: str, mode: Mode) -> Parameters:
    schema = copy.deepcopy(schema)
    _normalised_schema(schema, name, mode)
    return schema


def _refuse_keys(kind: Any, where: str, seen: set[int]) -> None:
    """Refuse dicts whose keys no text can stand for, wherever they are."""
    if id(kind) in seen:
        return
    seen.add(id(kind))
    origin = typing.get_origin(kind)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        (key,), named = _components([typing.get_args(kind)[0]], where, "validation")
        for schema in (key, *cast("list[Parameters]", key.get("anyOf", [])), *named.values()):
            if schema.get("type") in {"null", "boolean", "array", "object"}:
                message = f"{where}: {kind} has keys that JSON has not; use str or int"
                raise ConfigError(message)
    for part in parts(kind):
        _refuse_keys(part, where, seen)


def _normalised_schema(schema: Json, name: str, mode: Mode) -> None:
    """Close objects to undeclared properties and drop titles that only repeat a name.

    A decimal is read from a number too, and is one that JSON could have: not NaN or infinity.
    """
    fields = keywords(schema)
    if mode == "validation" and fields.get("format") == "decimal":
        del fields["format"], fields["type"]
        fields["anyOf"] = [{"type": "number"}, {"type": "string", "pattern": _DECIMAL}]
    if isinstance(title := fields.get("title"), str) and fold(title) == fold(name):
        del fields["title"]
    if "properties" in fields:
        fields.setdefault("additionalProperties", False)
    for inner_name, inner in subschemas(fields):
        _normalised_schema(inner, inner_name, mode)


def _decode(kind: Any, value: Json) -> Any:
    """Read what only pydantic reads in its own strict way."""
    if kind is object:
        return value
    body = encode(value)
    try:
        if is_model(kind):
            return kind.model_validate_json(body, strict=True)
        return adapter_of(kind).validate_json(body, strict=True)
    except ValueError as error:
        raise _ModelError(error) from error


class _ModelError(ValueError):
    """A pydantic error on one line: `a.0: Input should be …`.

    `located` says whether its first words are a place in the model.
    """

    def __init__(self, error: Any) -> None:
        errors = error.errors(include_url=False, include_context=False)
        super().__init__("; ".join(map(_model_line, errors)))
        self.located = bool(errors[0]["loc"])


def _model_line(error: Any) -> str:
    """One error: of a validator of the model's own, its words alone."""
    words, kind = error["msg"], error["type"]
    if kind in {"value_error", "assertion_error"}:
        words = words.partition(", ")[2] or words
    return ": ".join(filter(None, (".".join(map(str, error["loc"])), words)))


def _one_line(text: str, *, located: bool) -> str:
    """A msgspec message with the place in front: `limits[2]: Expected `int`, got `float``.

    One that is `located` has a place in front already.
    """
    match = _WHERE.match(text)
    label, what = (match["path"].lstrip("$."), match["what"]) if match else ("", text)
    if not label and located:
        return one_line(what)
    return f"{label or 'value'}: {one_line(what)}"


def with_description(kind: Any, description: str) -> Any:
    """The type with a description, unless it has one; a bare string beside a type is one."""
    if typing.get_origin(kind) is Annotated:
        inner, *metadata = typing.get_args(kind)
        metas = [msgspec.Meta(description=m) if isinstance(m, str) else m for m in metadata]
        kind = Annotated[inner, *metas]
        if any(isinstance(meta, msgspec.Meta) and meta.description for meta in metas):
            return kind
    return Annotated[kind, msgspec.Meta(description=description)] if description else kind
