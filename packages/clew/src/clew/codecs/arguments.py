"""From what stands in an action to a tool's name and arguments: one set of rules for all formats.

Text is put where it can only belong, and never turned into another type that it does not spell out:
what does not fit is left for strict validation to explain.
"""

import json
import re
from collections.abc import Iterable
from typing import Any, Final

import msgspec

from clew.codecs.json_repair import JsonPrefix, UnreadableError, complete_value, first_value
from clew.core.codec import PromptSpec
from clew.core.codes import FINISH, RUN_CODE
from clew.core.tools import Parameters, ToolSpec
from clew.core.values import Json
from clew.support.schema_examples import right_form
from clew.support.short_text import cut

UNKNOWN_KEY: Final = "input"
"""Where the text for a tool that nobody declared is kept, so that the record shows it."""

_FIRST_KEY: Final = re.compile(r"""\{\s*["']?([^"':\s]{1,64})["']?\s*:""")

_TYPES: Final = {
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
    list: "array",
    dict: "object",
    type(None): "null",
}
_EXAMPLES: Final[dict[str, Json]] = {
    "boolean": True,
    "integer": 1,
    "number": 1.5,
    "array": [],
    "object": {},
    "null": None,
}
_PLAIN: Final = frozenset(
    {
        *("type", "title", "description", "default", "anyOf", "oneOf"),
        *("items", "properties", "additionalProperties", "enum"),
    }
)
"""Keywords that a value of the bare type meets."""
_OUTER: Final = _PLAIN - {"anyOf", "oneOf"} | {"required", "$defs"}


_LOOK_UPS: Final = frozenset({"pure", "read"})


def visible_tools(prompt_spec: PromptSpec) -> tuple[ToolSpec, ...]:
    """The tools to describe, finish last and once."""
    return (*(tool for tool in prompt_spec.tools if tool.name != FINISH), prompt_spec.finish)


def tool_named(prompt_spec: PromptSpec, name: str) -> ToolSpec | None:
    """The declared tool of exactly that name, whether it was shown yet or not."""
    match = next((tool for tool in visible_tools(prompt_spec) if tool.name == name), None)
    return prompt_spec.later.get(name) if match is None else match


def may_act(prompt_spec: PromptSpec, name: str) -> bool:
    """Whether a call of that name may have an effect: by its tool, or because nobody knows it.

    A program has the effects of the tools that it may call.
    """
    if name == RUN_CODE:
        others = (*visible_tools(prompt_spec), *prompt_spec.more)
        return any(one.effect not in _LOOK_UPS for one in others if one.name != FINISH)
    tool = tool_named(prompt_spec, name)
    return name in prompt_spec.known if tool is None else tool.effect not in _LOOK_UPS


def matched(prompt_spec: PromptSpec, written: str) -> tuple[str, bool]:
    """A tool's name as declared, and whether it had to be matched without case and separators.

    A name that matches none, or more than one, stays as it was written.
    """
    names = {*prompt_spec.known, *(tool.name for tool in prompt_spec.tools), FINISH}
    name = written.strip(" \t\r\n`*'\"")
    if name in names:
        return name, False
    alike = [known for known in names if _bare(known) == _bare(name)]
    return (alike[0], True) if len(alike) == 1 else (name, False)


def _bare(name: str) -> str:
    return name.lower().translate({ord(char): None for char in " _-"})


def fields(parameters: Parameters) -> dict[str, Parameters]:
    """The declared parameters of a schema, by name."""
    properties = parameters.get("properties", {})
    return {name: each for name, each in properties.items() if isinstance(each, dict)}


def required(parameters: Parameters) -> list[str]:
    """The names that must be given."""
    return list(parameters.get("required", []))


def text_field(parameters: Parameters) -> str | None:
    """The one parameter that a bare text can be for: the only required one, or the only one."""
    names = required(parameters) or list(fields(parameters))
    return names[0] if len(names) == 1 else None


def types(schema: Parameters) -> frozenset[str]:
    """The JSON types a schema allows, as far as it says so in itself; empty when it does not."""
    kind: Json = schema.get("type")
    if kind is not None:
        return frozenset({kind} if isinstance(kind, str) else kind)
    values: Iterable[Json] = [schema["const"]] if "const" in schema else schema.get("enum", ())
    value_types = {_TYPES[type(value)] for value in values}
    for choice in (*schema.get("anyOf", ()), *schema.get("oneOf", ())):
        value_types |= types(choice)
    return frozenset(value_types)


def typed(text: str, schema: Parameters) -> Json:
    """A bare text as a value for a schema.

    Where text is allowed it is that text. Otherwise it is read as JSON if it is, to the letter, a
    value of an allowed type, and else stays text, for validation to refuse. Raises
    `UnreadableError` where only broken JSON can be meant.
    """
    allowed = types(schema)
    if "string" in allowed:
        return text
    if allowed and allowed <= {"array", "object"}:
        return _value_alone(text) if text[:1] in {"{", "["} else text
    try:
        value = complete_value(text)
    except UnreadableError:
        return text
    kind = _TYPES[type(value)]
    if not allowed:  # a reference, or anything: only what cannot be mistaken for words is taken
        return value if kind in {"array", "object"} else text
    fits = kind in allowed or (kind == "integer" and "number" in allowed)
    return value if fits else text


def _value_alone(text: str) -> Json:
    """The JSON that a text is, mended if need be. Raises `UnreadableError`."""
    prefix = first_value(text)
    if text[prefix.end :].strip():
        raise UnreadableError("there is text behind the JSON value")
    return prefix.value


def bare(tool: ToolSpec | None, text: str) -> dict[str, Json]:
    """Arguments from a text that is no JSON object. Raises `UnreadableError`.

    Nothing at all is only enough where nothing is required; but to finish with nothing is an answer
    too, which the checks may refuse.
    """
    if tool is None:
        return {UNKNOWN_KEY: text} if text else {}
    names = fields(tool.parameters)
    if not text and not (tool.name == FINISH and text_field(tool.parameters)):
        if required(tool.parameters):
            missing = ", ".join(required(tool.parameters))
            raise UnreadableError(f"{tool.name} needs {missing}, and nothing was given")
        return {}
    if not names:
        raise UnreadableError(f"{tool.name} takes no arguments, and {_short(text)} was given")
    if (name := text_field(tool.parameters)) is None:
        raise UnreadableError(
            f"{tool.name} takes {', '.join(names)}: give one JSON object, not {_short(text)}"
        )
    return {name: typed(text, names.get(name, {}))}


def object_args(tool: ToolSpec | None, text: str) -> tuple[dict[str, Json], JsonPrefix] | None:
    """Arguments written as the JSON object that `text` begins with, and how it was read.

    None where the braces hold something else: the value of the tool's only parameter, or a text.
    Raises `UnreadableError` where arguments are meant and cannot be read: when the tool has several
    parameters, or the first key is one of its own.
    """
    if not text.startswith("{"):
        return None
    names = fields(tool.parameters) if tool is not None else {}
    only = text_field(tool.parameters) if tool is not None else None
    key = _FIRST_KEY.match(text)
    meant = tool is not None and (only is None or (key is not None and key[1] in names))
    try:
        prefix = first_value(text)
    except UnreadableError:
        if meant:
            raise
        return None
    takes = types(names.get(only, {})) if only is not None else {"string"}
    foreign = not prefix.value.keys() <= names.keys()
    if foreign and (prefix.repairs or not takes or "object" in takes) and only is not None:
        return None
    return prefix.value, prefix


def _short(text: str) -> str:
    return json.dumps(cut(text.split("\n", 1)[0], 40), ensure_ascii=False)


def example(tool: ToolSpec) -> dict[str, Json]:
    """Arguments to show: the tool's own first example, or a value for each required parameter.

    Names stand for texts where they may; otherwise a value is one that the schema takes.
    """
    if tool.examples:
        return tool.examples[0]
    names, schema = fields(tool.parameters), tool.parameters
    told = {name: _sample(name, names.get(name, {})) for name in required(schema)}
    if schema.keys() <= _OUTER and all(_is_plain(names.get(name)) for name in told):
        return told
    form = right_form(schema, told)
    return msgspec.convert(form, dict[str, Json]) if isinstance(form, dict) else told


def _sample(name: str, schema: Parameters) -> Json:
    for value in (*schema.get("examples", ()), *schema.get("enum", ())):
        return value
    kinds = types(schema)
    if not kinds or "string" in kinds:
        return f"<{name}>"
    return next(value for kind, value in _EXAMPLES.items() if kind in kinds)


def _is_plain(schema: Json) -> bool:
    """Whether a schema asks for no more than a type, or for one of several such."""
    if not isinstance(schema, dict):
        return True
    document = msgspec.convert(schema, dict[str, Any])
    ways = (*document.get("anyOf", ()), *document.get("oneOf", ()))
    return document.keys() <= _PLAIN and all(map(_is_plain, ways))
