"""What a person typed where a value is wanted: the text as it stands, or the JSON that it is."""

from typing import Final, NamedTuple, cast

import msgspec

from clew.core.values import Json, encode
from clew.support.errors import ConfigError
from clew.tools.schema import compile_schema

_WITHIN: Final = ("$defs", "definitions")
"""Where a schema keeps what its parts refer to."""


class TypedText(NamedTuple):
    """A value that a person typed; `note` says how it is read where it could be read otherwise."""

    value: Json
    note: str = ""


def value_of_text(text: str, schema: Json = None) -> TypedText:
    """Read what a person typed by the JSON Schema of what is wanted, or by none.

    A text that is JSON is what fits the schema: `2026` is a text where a text is wanted, and a
    number where that is; where both fit, it is the JSON, and the note says how to give the text.
    A JSON text is what stands between its quotes. What is no JSON is a text. Nothing is checked:
    what fits in neither way comes back as JSON.
    """
    try:
        value: Json = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return TypedText(text)
    if schema is None:
        return TypedText(value)
    fits = compile_schema(_as_schema(schema), "value")
    if isinstance(value, str):
        return TypedText(text if fits(value) and not fits(text) else value)
    if fits(text):
        return TypedText(value)
    if fits(value):
        return TypedText(text)
    quoted = encode(text).decode()
    return TypedText(value, f"{text} is read as JSON: for the text say {quoted}")


def arguments_of_text(text: str, parameters: Json = None) -> dict[str, Json]:
    """The arguments that a person typed as a JSON object, each read by `value_of_text`.

    Raises `ConfigError` for what is no JSON object.
    """
    try:
        typed = msgspec.json.decode(text, type=dict[str, msgspec.Raw])
        msgspec.json.decode(text)  # a raw part need not be JSON: such as a number beyond all
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError) as error:
        message = f"that is no JSON object of arguments: {error}"
        raise ConfigError(message) from error
    schema = _as_schema(parameters)
    parts = {name: schema[name] for name in _WITHIN if name in schema}
    wanted = _as_schema(schema.get("properties"))
    read = dict[str, Json]()
    for name, raw in typed.items():
        own = parts | _as_schema(wanted.get(name)) if name in wanted else None
        read[name] = value_of_text(bytes(raw).decode(), own).value
    return read


def _as_schema(value: Json) -> dict[str, Json]:
    return cast("dict[str, Json]", value) if isinstance(value, dict) else {}
