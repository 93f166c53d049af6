"""Functions of a program: the calls that they stand for, and what these give."""

from collections import Counter
from collections.abc import Mapping
from typing import Any, cast

import msgspec

from clew import Call
from clew.interfaces import Action, Json, ToolSpec
from clew.support.json_arguments import refused
from clew_code.codec.functions import parameter_names
from clew_code.programs.interface import PendingCall, Raised, Returned
from clew_code.programs.value_size import LARGEST, too_large


def action(known: Mapping[str, ToolSpec], asked: PendingCall) -> Action:
    """The call that a function stands for. Raises `TypeError` for arguments that none has."""
    tool = known[asked.name]
    names = parameter_names(tool)
    if len(asked.args) > len(names):
        takes = ", ".join(names) or "none"
        message = f"{asked.name}() got {len(asked.args)} arguments without a name; it has: {takes}"
        raise TypeError(message)
    pairs = [*zip(names.values(), asked.args, strict=False)]
    pairs += [(names.get(name, name), value) for name, value in asked.kwargs.items()]
    named = dict(pairs)
    if len(named) < len(pairs):
        twice = sorted(
            name for name, times in Counter(name for name, _ in pairs).items() if times > 1
        )
        raise TypeError(f"{asked.name}() got {', '.join(twice)} twice")
    if too_large([asked.args, asked.kwargs]):
        raise TypeError(f"{asked.name}() got over {LARGEST:,} characters or values")
    args: dict[str, Json] = _inside(named)
    if problem := refused(asked.name, (), args):
        raise TypeError(problem)
    return Action(tool.name, args)


def _inside(value: Any) -> Any:
    """A value of a program with instances of its classes as objects of their attributes."""
    if isinstance(value, dict):
        return {name: _inside(inner) for name, inner in cast("dict[object, object]", value).items()}
    if isinstance(value, list | tuple):
        return [_inside(inner) for inner in cast("list[object]", value)]
    attributes: object = getattr(value, "attributes", None)
    return _inside(attributes) if isinstance(attributes, dict) else value


def result(call: Call) -> Returned | Raised:
    """What a call gives to the program: its content, or an exception that says why it has none."""
    seen = call.observation
    if seen is None or seen.ok:
        return Returned(None if seen is None else seen.content)
    plain = seen.code in {"", "tool_error", "unknown_tool"}
    return Raised("RuntimeError", seen.words if plain else f"{seen.code}: {seen.words}")


def same(one: Action, other: Action) -> bool:
    """Whether two calls are the same, as far as the record knows their arguments."""
    unknown = one.redacted or other.redacted
    return one.name == other.name and (unknown or _sorted(one.args) == _sorted(other.args))


def _sorted(args: dict[str, Json]) -> bytes:
    return msgspec.json.encode(args, order="sorted")
