"""Tools as others publish them: definitions in JSON, made into tools that one function performs."""

import logging
import re
import unicodedata
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final, TypeAlias

import msgspec

from clew.core.codes import FINISH, Effect, Trust
from clew.core.tools import NO_LABELS, Attempts, Labels, Parameters, Tool
from clew.core.values import Json, encode
from clew.support.errors import ConfigError
from clew.support.schema_parts import keywords
from clew.tools.schema import checked
from clew.tools.schema_cost import MAX_PATTERNS, MAX_WAYS, patterns, ways
from clew.tools.schema_repair import usable

__all__ = ["Published", "published"]

LOG: Final = logging.getLogger("clew")

Perform: TypeAlias = Callable[[str, dict[str, Json], str], Awaitable[Any]]
"""Takes a tool's name and its arguments, both as they were published, and the call's key."""

_NO_LABELS: Final[Mapping[str, Labels]] = MappingProxyType({})
_LONGEST: Final = 64
_NONE: Final[Parameters] = {"properties": {}}
_FORMS: Final = ("parameters", "input_schema", "inputSchema")
_ILLEGAL: Final = re.compile(r"[^A-Za-z0-9_.-]")
_BESIDE: Final = frozenset(
    {
        *("$ref", "allOf", "anyOf", "oneOf", "not", "if", "then", "else", "propertyNames"),
        *("patternProperties", "dependentSchemas", "dependentRequired", "unevaluatedProperties"),
    }
)
"""What may speak of a schema's properties beside `properties`."""

_READ: Final = frozenset({"type", "name", "description", *_FORMS})


class Published(msgspec.Struct, frozen=True):
    """A published definition as a tool.

    `name` is its published name; `renamed` has the published names of renamed arguments; `changes`
    lists each deviation from the definition in one line.
    """

    tool: Tool
    name: str
    renamed: Mapping[str, str]
    changes: tuple[str, ...]


def published(
    definitions: Iterable[Json],
    call: Perform,
    *,
    effect: Effect = "unsafe",
    trust: Trust = "untrusted",
    labels: Mapping[str, Labels] = _NO_LABELS,
    timeout: float = 30.0,
) -> tuple[Published, ...]:
    """Make a tool of each definition; `call` performs them all.

    A definition is a name, a description and a JSON Schema, in the form of OpenAI, Anthropic or
    MCP. `usable` reads the schema. Names that no provider accepts are changed to unique legal ones,
    and `call` gets the published ones. `labels` are those of tools, by their published names; what
    the definitions say stays foreign. Arguments that the schema does not name are refused, unless
    it allows additional ones. A definition that cannot be used is left out, with a warning that
    names it; raises `ConfigError` where none can be used.
    """
    made, left_out = publish(
        definitions, call, effect=effect, trust=trust, labels=labels, timeout=timeout
    )
    if left_out and not made:
        raise ConfigError("; ".join(left_out))
    for line in left_out:
        LOG.warning("left out: %s", line)
    return made


def publish(
    definitions: Iterable[Json],
    call: Perform,
    *,
    effect: Effect = "unsafe",
    trust: Trust = "untrusted",
    labels: Mapping[str, Labels] = _NO_LABELS,
    timeout: float = 30.0,
) -> tuple[tuple[Published, ...], tuple[str, ...]]:
    """The usable definitions as tools, and a line for each other, which names it and says why."""
    known: list[tuple[str, dict[str, Json]]] = []
    left_out: list[str] = []
    for each in definitions:
        try:
            known.append(_fields(each))
        except ConfigError as error:
            left_out.append(str(error))
    names = [name for name, _ in known]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        left_out.append(f"two published tools are called {', '.join(twice)}: leave one out")
        names = [name for name in names if name not in twice]
    legal = _legal(names, taken=(FINISH,))
    made: list[Published] = []
    for name, definition in known:
        if name not in legal:
            continue
        try:
            kind = (effect, trust, replace(labels.get(name, NO_LABELS), foreign=True), timeout)
            made.append(_make(name, legal[name], definition, call, kind))
        except (ConfigError, RecursionError) as error:
            left_out.append(f"published tool {name!r}: {error}")
    return (*made,), (*left_out,)


def _fields(definition: Json) -> tuple[str, dict[str, Json]]:
    """The name of a definition and what it says."""
    fields = keywords(definition)
    if isinstance(fields.get("function"), dict):
        fields = keywords(fields["function"])
    name = fields.get("name")
    if not isinstance(name, str) or not name:
        message = f"a published tool has no name: {encode(definition).decode()[:80]}"
        raise ConfigError(message)
    return name, fields


def _make(
    name: str,
    legal: str,
    fields: dict[str, Json],
    call: Perform,
    kind: tuple[Effect, Trust, Labels, float],
) -> Published:
    changes = [f"name: {name!r} is called {legal!r}"] if legal != name else []
    changes += [f"{field}: not read" for field in fields if field not in _READ]
    if not (description := str(fields.get("description") or "").strip()):
        description = name
        changes.append("description: there is none, so the name stands for it")
    schema = next((fields[form] for form in _FORMS if fields.get(form) is not None), None)
    if schema is None:
        schema = _NONE
        changes.append("parameters: there are none, so it takes no arguments")
    parameters, mended = usable(schema)
    if ways(parameters) > MAX_WAYS or patterns(parameters) > MAX_PATTERNS:
        message = "its schema branches too often: a check might take for ever"
        raise ConfigError(message)
    changes += mended
    renamed = dict[str, str]()
    if _is_list_of_arguments(parameters):
        changes += _close(parameters)
        renamed = _rename(parameters)
        changes += [f"{old}: is called {new!r}" for new, old in renamed.items()]

    async def perform(args: dict[str, Json], key: str) -> Any:
        return await call(name, {renamed.get(arg, arg): args[arg] for arg in args}, key)

    effect, trust, labels, timeout = kind
    attempts = Attempts(timeout=timeout)
    made = Tool(
        legal, description, parameters, perform, effect=effect, trust=trust, labels=labels,
        attempts=attempts,
    )  # fmt: skip
    return Published(checked(made), name, MappingProxyType(renamed), tuple(changes))


def _is_list_of_arguments(schema: Parameters) -> bool:
    """Whether its properties are all that it says of its arguments."""
    return "properties" in schema and not schema.keys() & _BESIDE


def _close(schema: Parameters) -> list[str]:
    """Refuse other arguments than those named, where nothing is said of them."""
    properties = keywords(schema["properties"])
    lines: list[str] = []
    for name in schema.get("required", ()):
        if name not in properties:
            properties[name] = {}
            lines.append(f"{name}: required and not described, any value passes")
    if "additionalProperties" not in schema:
        schema["additionalProperties"] = False
        lines.append("parameters: other arguments are refused")
    return lines


def _rename(schema: Parameters) -> dict[str, str]:
    """Make the arguments' names legal; gives the published name of each that had to be changed."""
    names = list(keywords(schema["properties"]))
    legal = _legal(names)
    schema["properties"] = {legal[name]: inner for name, inner in schema["properties"].items()}
    if "required" in schema:
        schema["required"] = [legal[name] for name in schema["required"]]
    return {new: old for old, new in legal.items() if new != old}


def _legal(names: Sequence[str], taken: Iterable[str] = ()) -> dict[str, str]:
    """Each name as every provider takes it, unlike the others and those taken.

    Accents go, what is no letter, digit, `_`, `.` or `-` becomes `_`, and the rest is cut off.
    """
    used = set(taken)
    legal = {name: name for name in names if _bare(name) == name and name not in used}
    used |= legal.keys()
    for name in (name for name in names if name not in legal):
        one, number = _bare(name), 2
        while one in used:
            one = f"{_bare(name)[: _LONGEST - 1 - len(str(number))]}_{number}"
            number += 1
        used.add(one)
        legal[name] = one
    return legal


def _bare(name: str) -> str:
    """The name in signs that are taken, and no longer than is taken."""
    letters = unicodedata.normalize("NFKD", name)
    plain = "".join(sign for sign in letters if not unicodedata.combining(sign))
    return _ILLEGAL.sub("_", plain)[:_LONGEST] or "_"
