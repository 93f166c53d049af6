"""Published schemas in the words of JSON Schema, with a line for each change.

What is published as a tool's schema is often written in another dialect, or says two things that
cannot both be. It is read so that whatever it calls a legal value is one.
"""

import re
from typing import Final, cast

import msgspec

from clew.core.tools import Parameters
from clew.core.values import Json, encode
from clew.support.errors import ConfigError
from clew.support.linear_patterns import is_linear
from clew.support.schema_parts import keywords
from clew.tools.schema import compile_schema, subschemas

_TYPES: Final = {
    **dict.fromkeys(("str", "text", "char", "character"), "string"),
    **dict.fromkeys(("int", "long", "short", "byte", "bigint", "biginteger"), "integer"),
    **dict.fromkeys(("float", "double"), "number"),
    "bool": "boolean",
    **dict.fromkeys(("dict", "dictionary", "map", "hashmap", "hashtable", "mapping"), "object"),
    **dict.fromkeys(("list", "arraylist", "linkedlist", "tuple", "set", "sequence"), "array"),
    **dict.fromkeys(("none", "nonetype"), "null"),
}
_KNOWN: Final = frozenset({"string", "integer", "number", "boolean", "object", "array", "null"})
_ANY: Final = frozenset({"any", "typing.any"})
_HEAD: Final = re.compile(r"\s*([A-Za-z.]+)\s*[\[<]")
"""`list` of `list[str]`, `Map` of `Map<String, Integer>`."""

_MAY_BE_NULL: Final = frozenset({"default", "const", "example", "examples"})
_SAYS_ONLY: Final = frozenset(
    {"title", "description", "default", "example", "examples", "deprecated", "$defs", "definitions"}
)
"""Keywords that stay where they are when a schema becomes one of two."""


def usable(schema: Json) -> tuple[Parameters, tuple[str, ...]]:
    """A published schema with its types in the words of JSON Schema, and a line for each change.

    Published tools say `dict`, `float` or `any`, upper-case types, `"required": true` beside a type
    and lists under `items`. A type that nobody knows is taken out, which lets any value pass. A
    default is always a legal value, whatever stands beside it; words under `enum` that are of
    another type than the one beside them are those of a list's items, or legal beside that type.
    All of it is reported. Raises `ConfigError` where even that gives no schema of an object.
    """
    try:
        copy = msgspec.json.decode(encode(schema), type=dict[str, Json])
    except (TypeError, ValueError) as error:
        message = f"a tool's parameters must be a JSON object: {error}"
        raise ConfigError(message) from error
    lines: list[str] = []
    _mend(copy, "", lines, top=True)
    if copy.setdefault("type", "object") != "object":
        message = f'a tool takes an object: its parameters have "type": {copy["type"]!r}'
        raise ConfigError(message)
    compile_schema(copy)
    _drop_slow_patterns(copy, "", lines)
    return copy, tuple(lines)


def _drop_slow_patterns(schema: dict[str, Json], name: str, lines: list[str]) -> None:
    """Leave out patterns that might stop the process: they look back or ahead, or are large."""
    where = name or "parameters"
    if not is_linear(str(schema.get("pattern", ""))):
        del schema["pattern"]
        lines.append(f"{where}: its pattern might take for ever and is left out: any text passes")
    if not all(map(is_linear, keywords(schema.get("patternProperties")))):
        for keyword in ("patternProperties", "additionalProperties", "unevaluatedProperties"):
            schema.pop(keyword, None)
        lines.append(f"{where}: patternProperties might take for ever and is left out")
    for inner_name, inner in subschemas(schema):
        _drop_slow_patterns(keywords(inner), ".".join(filter(None, (name, inner_name))), lines)


def _mend(schema: dict[str, Json], name: str, lines: list[str], *, top: bool = False) -> None:
    where = name or "parameters"
    for keyword in [key for key in schema if schema[key] is None and key not in _MAY_BE_NULL]:
        del schema[keyword]
        lines.append(f"{where}: {keyword}, which is null, is left out")
    if "type" in schema:
        _mend_type(schema, where, lines)
    if isinstance(schema.get("items"), list):
        schema["prefixItems"] = schema.pop("items")
        lines.append(f"{where}: a list under items is read as prefixItems")
    _mend_required(schema, where, lines)
    if not top:  # arguments are an object, and nothing beside
        _mend_enum(schema, where, lines)
        _mend_null(schema, where, lines)
        _mend_default(schema, where, lines)
    for inner_name, inner in subschemas(schema):
        if isinstance(inner, dict):
            _mend(keywords(inner), ".".join(filter(None, (name, inner_name))), lines)


def _mend_type(schema: dict[str, Json], where: str, lines: list[str]) -> None:
    declared = schema["type"]
    several = isinstance(declared, list)
    kinds = cast("list[Json]", declared) if several else [declared]
    types: list[str] = []
    for kind in kinds:
        word = _word(str(kind))
        if word in _KNOWN:
            types.append(word)
            continue
        del schema["type"]
        what = "" if word in _ANY else "unknown "
        lines.append(f"{where}: {what}type {kind!r} lets any value pass")
        return
    mended: Json = list(dict.fromkeys(types)) if several else types[0]
    if mended != declared:
        schema["type"] = mended
        lines.append(f"{where}: type {declared!r} is read as {mended!r}")


def _word(kind: str) -> str:
    """A type in the words of JSON Schema, where that has one for it."""
    head = _HEAD.match(kind)
    word = (head[1] if head else kind).strip().casefold()
    return _TYPES.get(word, word)


def _mend_required(schema: dict[str, Json], where: str, lines: list[str]) -> None:
    """Move `"required": true` from a property to its object, as Draft 4 and later have it."""
    if isinstance(schema.get("required"), bool):
        del schema["required"]  # of a property: its object has read it; of the whole: no meaning
        lines.append(f"{where}: required, as true or false, is read as a word to its object")
    for name, inner in keywords(schema.get("properties")).items():
        if keywords(inner).get("required") is True:
            listed = schema.setdefault("required", [])
            if name not in listed:
                listed.append(name)


def _mend_enum(schema: dict[str, Json], where: str, lines: list[str]) -> None:
    """Give the words to choose from to the items of a list, or let them stand beside the type."""
    words, kinds = _listed(schema.get("enum")), _kinds(schema)
    if not kinds or "enum" not in schema or any(_is(word, kinds) for word in words):
        return
    items = schema.get("items", {})
    if not words:
        del schema["enum"]
        lines.append(f"{where}: an empty enum is left out")
    elif "array" in kinds and isinstance(items, dict) and "enum" not in items:
        schema["items"] = items | {"enum": schema.pop("enum")}
        lines.append(f"{where}: its enum, which lists no list, is read as that of its items")
    else:
        default = schema.get("default", words[0])
        more = [] if default in words or _is(default, kinds) else [default]
        del schema["enum"]
        _either(schema, {"enum": [*words, *more]})
        kind = " or ".join(kinds)
        lines.append(f"{where}: its enum, in which there is no {kind}, is let pass beside {kind}")
        lines += [f"{where}: {_passes(default)}" for default in more]


def _mend_null(schema: dict[str, Json], where: str, lines: list[str]) -> None:
    """Let null pass where it is said beside the type that it may."""
    notes = [
        *(["nullable"] if schema.get("nullable") is True else []),
        *(["its default"] if schema.get("default", "") is None else []),
        *(["in its enum"] if None in _listed(schema.get("enum")) else []),
    ]
    if not notes:
        return
    kinds, words = _kinds(schema), _listed(schema.get("enum"))
    closed = bool(kinds) and "null" not in kinds
    if closed:
        schema["type"] = [*kinds, "null"]
    if words and None not in words:
        schema["enum"] = [*words, None]
        closed = True
    if closed:
        lines.append(f"{where}: null, {notes[0]}, is let pass")


def _mend_default(schema: dict[str, Json], where: str, lines: list[str]) -> None:
    """Let the default pass."""
    if (default := schema.get("default")) is None:
        return
    kinds, words = _kinds(schema), _listed(schema.get("enum"))
    if kinds and not _is(default, kinds):
        _either(schema, {"enum": [default]})
    elif words and default not in words:
        schema["enum"] = [*words, default]
    else:
        return
    lines.append(f"{where}: {_passes(default)}")


def _passes(default: Json) -> str:
    return f"its default, {encode(default).decode()}, is let pass"


def _either(schema: dict[str, Json], other: dict[str, Json]) -> None:
    """Make the schema one of two: what it was, or the other."""
    was = {key: schema.pop(key) for key in list(schema) if key not in _SAYS_ONLY}
    schema["anyOf"] = [*was["anyOf"], other] if was.keys() == {"anyOf"} else [was, other]


def _kinds(schema: dict[str, Json]) -> list[str]:
    """The types a schema names; none where it lets any pass."""
    types = schema.get("type", [])
    return [types] if isinstance(types, str) else types


def _listed(value: Json) -> list[Json]:
    return msgspec.convert(value, list[Json]) if isinstance(value, list) else []


def _is(value: Json, kinds: list[str]) -> bool:
    """Whether a value is of one of the types."""
    return not compile_schema({"type": kinds})(value)
