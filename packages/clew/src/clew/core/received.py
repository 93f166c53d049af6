"""The arguments of a call as its tool receives them: one effect may be written in several ways.

A default may be left out or spelled out, 1.0 be written as 1, an accent as a character of its own.
The tool gets the same, and does the same. So does another tool that the call is handed on to.
"""

import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, time, timedelta
from typing import Any, Final, cast
from uuid import UUID

import msgspec

from clew.core.actions import Action, Done
from clew.core.codes import EFFECTFUL
from clew.core.redaction import redact
from clew.core.tools import FallbackTool, ToolSpec
from clew.core.trajectory import Call, Trajectory, args_hash
from clew.core.values import Json, encode
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
    return [
        (each.name, received_hash(each, received))
        for each, received in [*_reached(tool, args)][1:]
        if each.effect in EFFECTFUL
    ]


def as_recorded(trajectory: Trajectory, call: Call) -> Call:
    """The call that is to be made, without a secret that its record does not keep.

    Effects are told as records have them, and a replay knows no other arguments.
    """
    if not trajectory.call(call.key).redacted:
        return call
    return Call(call.key, Action(call.action.name, redact(call.args)))


def repetitions(
    trajectory: Trajectory, call: Call, tool: ToolSpec | None, effects: Iterable[Done]
) -> Iterator[tuple[Done, str]]:
    """Those of the effects that a call may have again, each with the name of the tool that would.

    A call repeats one that was written like it, and one of which the tool that had it receives the
    same again: the call's own `tool`, or another that the call may be handed on to. Secrets that
    the record does not keep are all the same.
    """
    call = as_recorded(trajectory, call)
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


def is_certain(trajectory: Trajectory, call: Call, tool: ToolSpec | None, done: Done) -> bool:
    """Whether an effect that a call repeats is known to be done, and not an attempt before it.

    Of such an attempt nobody saw the end; the call then was made with other arguments.
    """
    if done.outcome == "unknown":
        return False
    call = as_recorded(trajectory, call)
    same = {call.hash, received_hash(tool, call.args) if tool is not None else call.hash}
    return done.tool != call.action.name or not same.isdisjoint({done.hash, done.received})


def _reached(tool: ToolSpec, args: dict[str, Json]) -> Iterator[tuple[ToolSpec, dict[str, Json]]]:
    """The tool and those that its call may be handed on to, each with what it then gets."""
    yield tool, args
    if isinstance(tool, FallbackTool):
        yield from [*_reached(tool.first, args)][1:]
        yield from _reached(tool.other, renamed(args, tool.names))


def renamed(args: Mapping[str, Json], names: Mapping[str, str | None]) -> dict[str, Json]:
    """The arguments for a tool that calls them otherwise, or lacks those whose name is None."""
    return {to: value for name, value in args.items() if (to := names.get(name, name)) is not None}


def _filled(schema: Json, value: Json, root: Json) -> Json:
    """The value with the defaults that the schema declares for what is left out."""
    forms = _forms(schema, value, root)
    if isinstance(value, list):
        items, first = _declared(forms, "items"), _declared(forms, "prefixItems")
        each_of = cast("Sequence[Any]", first) if isinstance(first, list) else ()
        received = cast("Sequence[Any]", value)
        told = [*each_of, *[items] * len(received)]
        filled = [_filled(one, each, root) for one, each in zip(told, received, strict=False)]
        return sorted(filled, key=encode) if _declared(forms, "uniqueItems") is True else filled
    if not isinstance(value, dict):
        return _in_one_form(_declared(forms, "format"), value)
    named, others = (
        keywords(_declared(forms, "properties")),
        _declared(forms, "additionalProperties"),
    )
    properties = {name: keywords(one) for name, one in named.items()}
    defaults = {name: one["default"] for name, one in properties.items() if "default" in one}
    known = defaults | cast("dict[str, Json]", value)
    return {name: _filled(named.get(name, others), each, root) for name, each in known.items()}


def _in_one_form(named: Json, value: Json) -> Json:
    """A value of a format of JSON Schema as every other spelling of it is written too."""
    try:
        match named:
            case "uuid":
                return str(UUID(str(value)))
            case "time":
                return time.fromisoformat(str(value).upper()).isoformat()
            case "date-time":
                at = datetime.fromisoformat(str(value).upper())  # a small z too
                return (at if at.tzinfo is None else at.astimezone(UTC)).isoformat()
            case "duration":
                lasts = msgspec.convert(value, timedelta)
                return f"PT{lasts.total_seconds()}S"
            case _:
                return value
    except (ValueError, OverflowError):
        return value


def _forms(schema: Json, value: Json, root: Json) -> list[dict[str, Json]]:
    """A schema, and of the forms that it allows those that the value may be of."""
    alternatives = _led_to(schema, root)
    options = alternatives.get("anyOf", alternatives.get("oneOf"))
    others: Sequence[Any] = cast("Sequence[Any]", options) if isinstance(options, list) else ()
    return [alternatives, *(one for each in others if _fits(one := _led_to(each, root), value))]


def _fits(schema: dict[str, Json], value: Json) -> bool:
    """Whether nothing that names the form of a value, such as a tag, says that it is another."""
    if not isinstance(value, dict):
        return True
    fields = cast("Mapping[str, Any]", value)
    properties = {name: keywords(one) for name, one in keywords(schema.get("properties")).items()}
    tags = {
        name: one.get("enum", [one.get("const")])
        for name, one in properties.items()
        if _is_tag(one)
    }
    return all(fields.get(name, options[0]) in options for name, options in tags.items())


def _is_tag(schema: dict[str, Json]) -> bool:
    return "const" in schema or isinstance(schema.get("enum"), list)


def _declared(forms: Sequence[dict[str, Json]], keyword: str) -> Json:
    """What is said under a keyword; of several forms, if only one says anything."""
    declared = [one[keyword] for one in forms if keyword in one]
    return declared[0] if len(declared) == 1 else None


def _led_to(schema: Json, root: Json) -> dict[str, Json]:
    """The keywords of a schema, or of the one that it refers to."""
    target_schema = keywords(schema)
    return (
        keywords(target(target_schema["$ref"], root)) if "$ref" in target_schema else target_schema
    )


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
