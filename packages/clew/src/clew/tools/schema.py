"""JSON Schema for tools: one validator for functions, programs, MCP and schemas written by hand.

Arguments and results are checked by Draft 2020-12 (https://json-schema.org/draft/2020-12). A schema
is never fetched from anywhere: references lead only into the schema itself.
"""

import hashlib
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Final, TypeAlias, TypeVar, cast

import jsonschema_rs
import msgspec

from clew.core.tools import NO_LABELS, Attempts, External, Labels, Parameters, Retry, Tool, ToolSpec
from clew.core.values import Json, encode
from clew.support.errors import ConfigError
from clew.support.linear_patterns import LINEAR
from clew.support.nearest_name import did_you_mean
from clew.support.schema_examples import example, refuse, right_form
from clew.support.settings import check_fields
from clew.tools.similar_names import problems_of_visible
from clew.tools.validation_messages import error_lines

__all__ = [
    "Validator",
    "checked",
    "compile_schema",
    "example",
    "linear_validator",
    "problems",
    "problems_of_visible",
    "right_form",
    "schema_hash",
    "subschemas",
]

Validator: TypeAlias = Callable[[Json], list[str]]
"""Takes a JSON value and says what is wrong with it, a line each; no lines, nothing wrong."""

_LONGEST_WAIT: Final = 100 * 366 * 86_400.0
"""A hundred years: no clock goes on for ever."""

_NAME: Final = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_ordered: Final = msgspec.json.Encoder(order="sorted")

_BOUNDED: Final = jsonschema_rs.FancyRegexOptions(backtrack_limit=10_000)
"""A pattern that looks back or ahead takes no longer than this many steps back."""

_ONE: Final = (
    "items",
    "additionalProperties",
    "unevaluatedProperties",
    "unevaluatedItems",
    "propertyNames",
    "contains",
    "not",
    "if",
    "then",
    "else",
)
_MANY: Final = ("anyOf", "oneOf", "allOf", "prefixItems")
_NAMED: Final = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")


def compile_schema(schema: Parameters, noun: str = "argument") -> Validator:
    """The validator of a schema, made once for equal schemas.

    `noun` is what its messages call a property. Raises `ConfigError` for a schema that is none.
    """
    try:
        body = encode(schema)
    except (TypeError, ValueError) as error:
        message = f"a schema must be JSON: {error}"
        raise ConfigError(message) from error
    return _compiled(body, noun)


def linear_validator(schema: Parameters) -> Validator:
    """The validator of a schema whose patterns take a time linear in the text, for foreign texts.

    A pattern that looks back or ahead has none. Raises `ConfigError` for such a schema, and for one
    that is none.
    """
    return _compiled(encode(schema), "field", linear=True)


def problems(schema: Parameters, value: Json, noun: str = "argument") -> list[str]:
    """What is wrong with a value by a schema: lines that say where, what, and what instead."""
    return compile_schema(schema, noun)(value)


@lru_cache(maxsize=8192)
def _compiled(body: bytes, noun: str, *, linear: bool = False) -> Validator:
    schema = msgspec.json.decode(body)
    options = LINEAR if linear else _BOUNDED
    try:
        validator = jsonschema_rs.Draft202012Validator(
            schema, retriever=refuse, pattern_options=options
        )
    except ValueError as error:
        message = f"this is no JSON Schema (Draft 2020-12): {_first_line(error)}"
        raise ConfigError(message) from error

    def check(value: Json) -> list[str]:
        try:
            if validator.is_valid(value):
                return []
            return error_lines(schema, value, validator.iter_errors(value), noun)
        except ValueError as error:  # lone surrogates, keys that are no strings, foreign objects
            return [f"value: not JSON: {_first_line(error)}"]

    return check


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]


T = TypeVar("T", bound=ToolSpec)


def checked(tool: T) -> T:
    """The same tool, if all it says of itself fits together.

    Raises `ConfigError` for a name providers do not take, no description, a deadline that is none,
    a schema that is none, and examples the schema refuses.
    """
    check_fields(tool, who=f"tool {tool.name}")
    if not _NAME.fullmatch(tool.name):
        message = f"tool {tool.name!r}: use 1 to 64 letters, digits and _ . - in a tool's name"
        raise ConfigError(message)
    if not tool.description.strip():
        message = f"tool {tool.name}: say what it does, in a docstring or as description=…"
        raise ConfigError(message)
    if tool.labels is not NO_LABELS:
        _check_labels(tool)
    if isinstance(tool, Tool):
        _check_attempts(tool)
        if tool.external is not None:
            _check_external(tool)
    if tool.parameters.get("type") != "object":
        message = f'tool {tool.name}: its parameters must be a schema of "type": "object"'
        raise ConfigError(message)
    check = compile_schema(tool.parameters)
    if tool.result is not None:
        compile_schema(tool.result)
    for args in tool.examples:
        if wrong := check(args):
            message = f"tool {tool.name}: its example {encode(args).decode()} is wrong: {wrong[0]}"
            raise ConfigError(message)
    return tool


def _check_labels(tool: ToolSpec) -> None:
    """Raise `ConfigError` for labels that are none, or of an argument that there is not."""
    labels = cast("object", tool.labels)  # whatever a user gave
    if not isinstance(labels, Labels):
        raise ConfigError(f"tool {tool.name}: labels is {labels!r}: give Labels(trusted=(…), …)")
    names = tool.parameters.get("properties", {})
    if unknown := [name for name in labels.content if name not in names]:
        hint = did_you_mean(unknown[0], names, f"it has {', '.join(names) or 'none'}")
        message = (
            f"tool {tool.name}: content names {unknown[0]}, which is no argument of it: {hint}"
        )
        raise ConfigError(message, field="content")


def _check_attempts(tool: Tool) -> None:
    """Raise `ConfigError` for a deadline or retries that are none."""
    attempts = cast("object", tool.attempts)  # whatever a user gave
    if not isinstance(attempts, Attempts):
        message = f"tool {tool.name}: attempts is {attempts!r}: give Attempts(timeout=…)"
        raise ConfigError(message)
    timeout = attempts.timeout
    if type(timeout) not in (int, float):
        message = f"tool {tool.name}: timeout is {timeout!r}: give a number"
        raise ConfigError(message, field="timeout")
    if not 0 < timeout < math.inf:
        message = f"tool {tool.name}: timeout is {timeout}; give seconds above 0, and an end"
        raise ConfigError(message, field="timeout")
    retry = cast("object", attempts.retry)
    if not isinstance(retry, Retry):
        message = f"tool {tool.name}: retry is {retry!r}: give Retry(times=…)"
        raise ConfigError(message)


def _check_external(tool: Tool) -> None:
    """Raise `ConfigError` for a tool performed elsewhere that says what can only hold for calls
    made here, or whose wait has no end that it can have.
    """
    external = cast("object", tool.external)  # whatever a user gave
    who = f"tool {tool.name}"
    if not isinstance(external, External):
        raise ConfigError(f"{who}: external is {external!r}: give External(timeout=…)")
    if tool.attempts != Attempts():
        message = f"{who} is performed elsewhere, where nothing can retry, probe or stop a call"
        raise ConfigError(f"{message}: give its wait as External(timeout=…)", field="attempts")
    timeout, fallback = external.timeout, external.fallback
    if timeout is not None and not 0 < timeout <= _LONGEST_WAIT:
        message = f"{who}: timeout is {timeout!r}: give seconds above 0, or None"
        raise ConfigError(message, field="timeout")
    if fallback is not None and timeout is None:
        raise ConfigError(f"{who}: a fallback needs a timeout after which it counts")
    wrong = [] if fallback is None or not tool.result else problems(tool.result, fallback)
    if wrong:
        raise ConfigError(f"{who}: its fallback does not fit its result: {wrong[0]}")


def own_labels(labels: Labels) -> list[Labels]:
    """What the author of a tool says of it; nothing, where that is all as usual."""
    own = replace(labels, foreign=False)
    return [] if own == NO_LABELS else [own]


def schema_hash(tool: ToolSpec) -> str:
    """Sixteen hex digits over what a model is told of a tool and what the tool is trusted with."""
    parts = [
        tool.name,
        tool.description,
        tool.parameters,
        tool.effect,
        tool.trust,
        *([] if tool.labels is NO_LABELS else own_labels(tool.labels)),
        tool.result,
        tool.examples,
        tool.hidden,
    ]
    return hashlib.blake2b(_ordered.encode(parts), digest_size=8).hexdigest()


def subschemas(schema: dict[str, Json]) -> Iterator[tuple[str, Json]]:
    """The schemas directly inside a schema, each with the name it has there ("" where none)."""
    for keyword in _ONE:
        if keyword in schema:
            yield "", schema[keyword]
    for keyword in _MANY:
        if isinstance(schema.get(keyword), list):
            yield from (("", inner) for inner in schema[keyword])
    for keyword in _NAMED:
        if isinstance(schema.get(keyword), dict):
            yield from schema[keyword].items()
