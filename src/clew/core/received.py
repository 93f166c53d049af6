"""The arguments of a call as its tool receives them: one effect may be written in several ways.

A default may be left out or spelled out, 1.0 be written as 1, an accent as a character of its own.
The tool gets the same, and does the same. So does another tool that the call is handed on to.
"""

import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, cast

from clew.core.events import EFFECTFUL, Action, Done, Json
from clew.core.interfaces import ToolSpec
from clew.core.trajectory import Call, Trajectory, args_hash
from clew.support.redaction import redact
from clew.support.schema_parts import keywords, target

_EXACT: Final = 2**53
"""Below it each whole number is a float of its own."""


def received_hash(tool: ToolSpec, args: dict[str, Json]) -> str:
    """Identify what the tool receives: as `args_hash`, and the same for all ways to write it.

    It goes by what the tool's schema declares, which a record has too: a replay comes to the same.
    """
    filled: Any = _filled(tool.parameters, args, tool.parameters)
    return args_hash(tool.name, _one_spelling(filled))


def handed_hashes(tool: ToolSpec, args: dict[str, Json]) -> list[tuple[str, str]]:
    """The other tools with an effect that a call may be handed on to, and what they then receive.

    Each has its name, and the hash of its arguments as `received_hash` has it.
    """
    others = [pair for each in tool.fallbacks for pair in _reached(each.tool, each.args(args))]
    return [
        (each.name, received_hash(each, given))
        for each, given in others
        if each.effect in EFFECTFUL
    ]


def as_recorded(so_far: Trajectory, call: Call) -> Call:
    """The call that is to be made, without a secret that its record does not keep.

    Effects are told as records have them, and a replay knows no other arguments.
    """
    if not so_far.call(call.key).redacted:
        return call
    return Call(call.key, Action(call.action.name, redact(call.args)))


def repetitions(
    so_far: Trajectory, call: Call, tool: ToolSpec | None, effects: Iterable[Done]
) -> Iterator[tuple[Done, str]]:
    """Those of the effects that a call may have again, each with the name of the tool that would.

    A call repeats one that was written like it, and one of which the tool that had it receives the
    same again: the call's own `tool`, or another that the call may be handed on to. Secrets that
    the record does not keep are all the same.
    """
    call = as_recorded(so_far, call)
    again: dict[str, str] | None = None
    for done in effects:
        if done.hash == call.hash:
            yield done, call.action.name
        elif tool is not None and (had := {done.received, *done.handed} - {""}):
            if again is None:
                again = {received_hash(tool, call.args): call.action.name}
                again |= {hash_: name for name, hash_ in handed_hashes(tool, call.args)}
            if not had.isdisjoint(again):
                yield done, next(name for hash_, name in again.items() if hash_ in had)


def _reached(tool: ToolSpec, args: dict[str, Json]) -> Iterator[tuple[ToolSpec, dict[str, Json]]]:
    """The tool and those that its call may be handed on to, each with what it then gets."""
    yield tool, args
    for each in tool.fallbacks:
        yield from _reached(each.tool, each.args(args))


def _filled(schema: Json, value: Json, root: Json) -> Json:
    """The value with the defaults that the schema declares for what is left out."""
    if isinstance(value, list):
        items = _declared(schema, "items", root)
        return [_filled(items, each, root) for each in cast("Sequence[Any]", value)]
    if not isinstance(value, dict):
        return value
    named = keywords(_declared(schema, "properties", root))
    said = {name: keywords(one) for name, one in named.items()}
    defaults = {name: one["default"] for name, one in said.items() if "default" in one}
    known = defaults | cast("dict[str, Json]", value)
    return {name: _filled(named.get(name), each, root) for name, each in known.items()}


def _declared(schema: Json, keyword: str, root: Json) -> Json:
    """What a schema says under a keyword; of several that it allows, if only one says anything."""
    given = _led_to(schema, root)
    options = given.get("anyOf")
    others: Sequence[Any] = cast("Sequence[Any]", options) if isinstance(options, list) else ()
    among = [given, *(_led_to(one, root) for one in others)]
    found = [one[keyword] for one in among if keyword in one]
    return found[0] if len(found) == 1 else None


def _led_to(schema: Json, root: Json) -> dict[str, Json]:
    """The keywords of a schema, or of the one that it refers to."""
    given = keywords(schema)
    return keywords(target(given["$ref"], root)) if "$ref" in given else given


def _one_spelling(value: Any) -> Any:
    """The value as any other that is equal to it is written too."""
    match value:
        case str():
            return unicodedata.normalize("NFC", value)
        case float() if value.is_integer() and abs(value) < _EXACT:
            return int(value)
        case list():
            return [_one_spelling(each) for each in cast("Sequence[Any]", value)]
        case dict():
            inner = cast("Mapping[str, Any]", value)
            return {_one_spelling(name): _one_spelling(each) for name, each in inner.items()}
        case _:
            return value
