"""Numbers whose digits got lost when they were read, where a decimal is asked for.

JSON and Python read 12345678901234567.89 as the nearest float, 12345678901234568. For a float that
is what is meant; a decimal would be another one, and nobody would see it.
"""

import re
from collections.abc import Iterator
from copy import deepcopy
from decimal import Decimal
from typing import Any, Final, TypeAlias

import msgspec

from clew.core.actions import Action
from clew.core.codec import Parsed, PromptSpec
from clew.core.contents import Reply
from clew.core.tools import Parameters
from clew.core.values import Json
from clew.tools.schema import problems

_Path: TypeAlias = tuple[str | int, ...]

_NUMBER: Final = re.compile(
    r"(?:[0-9][0-9_]{0,999}+\.?[0-9_]{0,999}+|\.[0-9][0-9_]{0,999}+)(?:[eE][+-]?[0-9]{1,3}+)?"
)
LONG_NUMBER: Final = re.compile(r"[0-9._]{16}|[eE]-[0-9]{3}")
"""A text without it loses no digits: a float keeps 15, of what is nearly nothing fewer."""
_OTHERS: Final[tuple[Json, ...]] = ("no number", True)


def with_all_digits(prompt_spec: PromptSpec, reply: Reply, parsed: Parsed) -> Parsed:
    """What was read, where no decimal in it lacks a digit; else with the fault that says so.

    Only the arguments of calls are looked at: in a program a number is what Python makes of it.
    """
    lossy = _lossy("\n".join([reply.text, *(call.arguments or "" for call in reply.calls)]))
    if not lossy:
        return parsed
    actions = tuple(_with_lost_digits(prompt_spec, action, lossy) for action in parsed.actions)
    return msgspec.structs.replace(parsed, actions=actions)


def _with_lost_digits(prompt_spec: PromptSpec, action: Action, lossy: dict[float, str]) -> Action:
    declared = (*prompt_spec.tools, prompt_spec.finish, *prompt_spec.more)
    tool = next((tool for tool in declared if tool.name == action.name), None)
    if tool is None:
        return action
    for path, value in _floats(action.args):
        text = lossy.get(abs(value), "")
        if text and _is_decimal(tool.parameters, action.args, path, text):
            label = ".".join(map(str, path))
            written = f"-{text}" if value < 0 else text
            fault = (
                f"{label}: the number {written} has more digits than can be read of a number: "
                f'write it as a text, in quotes: "{written}"'
            )
            return Action(action.name, fault=fault)
    return action


def _lossy(written: str) -> dict[float, str]:
    """The numbers in a text that are not what is read of them, by what is read, without signs."""
    lossy: dict[float, str] = {}
    for match in _NUMBER.finditer(written):
        text = match[0].replace("_", "")
        read = float(text)
        if read != float("inf") and Decimal(text) != Decimal(repr(read)):
            lossy[read] = text
    return lossy


def _floats(value: Json, path: _Path = ()) -> Iterator[tuple[_Path, float]]:
    """The numbers with a fraction in a value, each with where it lies."""
    inside: Any = value
    if isinstance(value, float):
        yield path, value
    elif isinstance(value, dict):
        for key, inner in inside.items():
            yield from _floats(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(inside):
            yield from _floats(inner, (*path, index))


def _is_decimal(schema: Parameters, args: dict[str, Json], path: _Path, text: str) -> bool:
    """Whether a number may stand there as a text, and not just anything.

    The schema that pydantic makes of a decimal is that of a number or any text.
    """
    wrong = problems(schema, args)
    return problems(schema, _with(args, path, text)) == wrong and any(
        problems(schema, _with(args, path, other)) != wrong for other in _OTHERS
    )


def _with(args: dict[str, Json], path: _Path, value: Json) -> dict[str, Json]:
    """The arguments with another value at a place."""
    changed = deepcopy(args)
    inner: Any = changed
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value
    return changed
