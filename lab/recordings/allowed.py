"""Whether a published definition itself allows a call: a plain reading, with nothing of clew's.

It knows types (of JSON Schema and of the dialects that function sets are written in), required and
declared properties, enums and items. What else a schema may say it lets pass.
"""

from collections.abc import Mapping
from typing import Any, Final

_NUMBER: Final = (int, float)
_TYPES: Final[Mapping[str, tuple[type, ...]]] = {
    **dict.fromkeys(("string", "str", "char"), (str,)),
    **dict.fromkeys(("integer", "int", "long", "short", "byte", "bigint"), (int,)),
    **dict.fromkeys(("number", "float", "double"), _NUMBER),
    **dict.fromkeys(("boolean", "bool"), (bool,)),
    **dict.fromkeys(("array", "tuple", "list", "arraylist", "set"), (list,)),
    **dict.fromkeys(("object", "dict", "hashmap", "map"), (dict,)),
    "null": (type(None),),
}


def forbidden(schema: Any, args: Any) -> str:
    """Why a definition's parameters do not allow these arguments; empty where they do."""
    if not isinstance(schema, dict) or not isinstance(args, dict):
        return "" if isinstance(args, dict) else "the arguments are no object"
    return _object(schema, args, "")


def _object(schema: Mapping[str, Any], value: Mapping[str, Any], location: str) -> str:
    known, required = schema.get("properties"), schema.get("required")
    known = known if isinstance(known, dict) else {}
    for name in required if isinstance(required, list) else ():
        if name not in value:
            return f"an argument that is required is not there: {location}{name}"
    loose = schema.get("additionalProperties", not known and bool(location))
    for name, inner in value.items():
        if name not in known:
            if loose is False:
                return f"an argument that the definition does not have: {location}{name}"
        elif why := _value(known[name], inner, f"{location}{name}"):
            return why
    return ""


def _value(schema: Any, value: Any, location: str) -> str:
    if not isinstance(schema, dict):
        return ""
    enum = schema.get("enum")
    if isinstance(enum, list) and value in enum:
        return ""
    if value is None:
        may = schema.get("nullable") is True or ("default" in schema and schema["default"] is None)
        return "" if may or _any(schema) else f"null where no definition says so: {location}"
    if isinstance(enum, list):
        return f"none of the words of the enum: {location}"
    if not _any(schema) and not any(_is(value, one) for one in _kinds(schema)):
        return f"a value of another type than the definition says: {location}"
    if isinstance(value, dict) and ("properties" in schema or "required" in schema):
        return _object(schema, value, f"{location}.")
    items = value if isinstance(value, list) else []
    results = (_value(schema.get("items"), one, f"{location}[{n}]") for n, one in enumerate(items))
    return next(filter(None, results), "")


def _kinds(schema: Mapping[str, Any]) -> list[str]:
    told = schema.get("type")
    return [str(one).casefold() for one in (told if isinstance(told, list) else [told])]


def _any(schema: Mapping[str, Any]) -> bool:
    """Whether no type that is known here is told."""
    return any(one not in _TYPES for one in _kinds(schema))


def _is(value: Any, kind: str) -> bool:
    if isinstance(value, bool):
        return bool in _TYPES[kind]
    complete = isinstance(value, float) and value.is_integer() and int in _TYPES[kind]
    return complete or isinstance(value, _TYPES[kind])
