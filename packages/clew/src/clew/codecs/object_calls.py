"""Calls as JSON objects that name a tool and its arguments."""

from bisect import bisect_right
from typing import Any, Final, cast

import msgspec

from clew.codecs.arguments import fields, object_args, tool_named
from clew.codecs.json_repair import UnreadableError, first_value
from clew.codecs.tool_names import distinct
from clew.codecs.written_calls import (
    HALF_CHARACTER,
    ParsedCalls,
    WrittenCall,
    as_declared,
    declared,
)
from clew.core.codec import PromptSpec
from clew.core.values import Json
from clew.support.lazy_regex import Lazy
from clew.support.surrogates import HALF

_OBJECT: Final = Lazy(
    r"[\[{\s]*[\"'](?:name|tool|tool_name|function)[\"']\s*:\s*[\"'](?P<name>[\w./-]{1,64})[\"']\s*,"
    r"\s*[\"'](?:arguments|parameters|args|input|tool_input|action_input)[\"']\s*:"
)

_DOUBLED: Final = Lazy(r'"(?:[^"\\]|\\.)*+"?|\{\{|\}\}')
"""Doubled braces, as some chat templates show them by mistake, and strings, in which they stay."""

_OUTER: Final = ("tool_calls", "tool_call", "function_call", "function")
_NAMES: Final = ("name", "tool", "tool_name", "function", "function_name", "action")
_ARGS: Final = (
    "arguments", "parameters", "args", "params", "input", "tool_input", "action_input", "kwargs",
)  # fmt: skip
_BESIDE: Final = frozenset({"id", "type", "thought", "index", "tool_call_id", "call_id"})


def named_in_object(
    prompt_spec: PromptSpec, text: str, at: int, *, marked: bool
) -> ParsedCalls | None:
    """Objects that name a tool and its arguments, alone or in a list."""
    if text[at : at + 1] not in {"{", "["}:
        return None
    rest, starts = text[at:], [(0, 0)]
    if rest.startswith("{{"):
        rest, starts = _undoubled(rest)
    try:
        prefix = first_value(rest)
    except UnreadableError as error:
        meant = _OBJECT.match(rest)
        if meant is None:
            return None
        name = as_declared(prompt_spec, meant["name"])
        return ParsedCalls([WrittenCall(name, problem=str(error))], len(text))
    calls = _in_value(prompt_spec, prefix.value)
    if calls is None:
        return None
    new, old = starts[bisect_right(starts, (prefix.end, len(text))) - 1]
    half = HALF_CHARACTER if HALF in prefix.repairs else ""
    calls = [msgspec.structs.replace(call, open=half) for call in calls]
    return ParsedCalls(calls, at + old + prefix.end - new)


def _undoubled(text: str) -> tuple[str, list[tuple[int, int]]]:
    """One brace for two, outside of strings; and where each stretch came from."""
    out: list[str] = []
    starts = [(0, 0)]
    at = length = 0
    for match in _DOUBLED.finditer(text):
        if match[0] in {"{{", "}}"}:
            piece = text[at : match.start() + 1]
            out.append(piece)
            length, at = length + len(piece), match.end()
            starts.append((length, at))
    return "".join(out) + text[at:], starts


def _in_value(prompt_spec: PromptSpec, value: Json) -> list[WrittenCall] | None:
    """The calls that a value says; None where it is anything else."""
    calls: list[WrittenCall] = []
    for each in msgspec.convert(value, list[Any]) if isinstance(value, list) else [value]:
        inner = (
            _in_object(prompt_spec, cast("dict[str, Json]", each))
            if isinstance(each, dict)
            else None
        )
        if inner is None:
            return None
        calls += inner
    return calls or None


def _in_object(prompt_spec: PromptSpec, document: dict[str, Json]) -> list[WrittenCall] | None:
    for key in _OUTER:
        if isinstance(document.get(key), (dict, list)) and document.keys() <= {
            key,
            *_BESIDE,
            "content",
        }:
            return _in_value(prompt_spec, document[key])
    if len(document) == 1:
        [(name, args)] = document.items()
        if declared(prompt_spec, name) and isinstance(args, dict):
            own = cast("dict[str, Json]", args)
            return None if _is_data(prompt_spec, name, own) else [WrittenCall(name, own)]
    key = next((key for key in _NAMES if isinstance(document.get(key), str)), "")
    name = str(document.get(key, ""))
    args_key = next((each for each in _ARGS if each in document), "")
    rest = document.keys() - {key, args_key} - _BESIDE
    if not name or (args_key and rest):
        return None
    if not args_key:
        tool = tool_named(prompt_spec, name)
        own = {each: value for each, value in document.items() if each in rest}
        if tool is None or not own or not own.keys() <= fields(tool.parameters).keys():
            return None
        return [WrittenCall(name, own)]
    return _with_args(prompt_spec, as_declared(prompt_spec, name), document[args_key])


def _is_data(prompt_spec: PromptSpec, name: str, args: dict[str, Json]) -> bool:
    """Whether a word that names a tool too stands over keys of which none is a parameter's."""
    tool = tool_named(prompt_spec, name)
    if tool is None or not args or distinct(prompt_spec, name):
        return False
    return args.keys().isdisjoint(fields(tool.parameters))


def _with_args(prompt_spec: PromptSpec, name: str, value: Json) -> list[WrittenCall] | None:
    """A call with what stands for its arguments; no call, where that cannot be arguments."""
    if isinstance(value, dict):
        return [WrittenCall(name, cast("dict[str, Json]", value))]
    if isinstance(value, str) and value.lstrip().startswith("{"):
        return [_with_text(prompt_spec, name, value.strip())]
    return [WrittenCall(name)] if value is None and declared(prompt_spec, name) else None


def _with_text(prompt_spec: PromptSpec, name: str, text: str) -> WrittenCall:
    """A call with its arguments as the text of an object."""
    try:
        args = object_args(tool_named(prompt_spec, name), text)
    except UnreadableError as error:
        return WrittenCall(name, problem=str(error))
    return (
        WrittenCall(name, problem="its arguments are no object")
        if args is None
        else WrittenCall(name, args[0])
    )
