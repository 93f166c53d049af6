"""JSON values, and values of a user's own types as the plain ones that JSON has."""

import math
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias, cast

import msgspec

from clew.support.pydantic_classes import adapter_of

Json: TypeAlias = Any
"""A JSON value: None, bool, int, float, str, list or dict with str keys."""

JsonValue: TypeAlias = "bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None"
"""The same, which type checkers do not take for anything that is asked of it."""

DEEPEST: Final = 256
"""Levels of a result: a record is also read where the stack is half full."""

_encode: Final = msgspec.json.Encoder().encode

_BASES: Final[Mapping[type, Callable[[Any], object]]] = {
    str: str.__str__,
    int: int.__int__,
    float: float.__float__,
    bytes: bytes.__bytes__,
}
"""A text or a number of a kind of its own is recorded as the text or number that it is."""


def builtins_of(value: Any) -> Any:
    """Dataclasses, structs and pydantic models as objects, sets as lists, keys as texts.

    Raises `TypeError` for what is no JSON.
    """
    return msgspec.to_builtins(value, enc_hook=encode_other, str_keys=True)


def encode_other(value: Any) -> Any:
    """What msgspec does not know: subclasses of text and numbers, and what pydantic writes."""
    based = next((_BASES[kind] for kind in type(value).__mro__ if kind in _BASES), None)
    if based is not None:
        return based(value)
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json", by_alias=True)  # as its schema has them
    kind: Any = value.__class__
    try:
        return adapter_of(kind).dump_python(value, mode="json")
    except (TypeError, ValueError) as error:  # pydantic's is a ValueError
        message = f"{kind.__name__} is no JSON: return text, numbers, lists, dicts or a model"
        raise TypeError(message) from error


def text_or_json(value: Json) -> str:
    """A text unchanged, any other value as JSON."""
    return value if isinstance(value, str) else _encode(value).decode()


def plain(value: Any) -> Json:
    """A result as JSON: dataclasses, structs and pydantic models as objects, sets as lists.

    Keys become strings, dates ISO 8601, bytes base64. Raises `ValueError` with one line for what a
    record cannot carry: other objects, NaN and infinity, halves of surrogate pairs, and keys that
    are the same as text.
    """
    if type(value) is str and value.isascii():  # as most results: nothing can be wrong with it
        return value
    try:
        keyed: Json = msgspec.to_builtins(value, enc_hook=encode_other)
        as_builtins: Json = msgspec.to_builtins(keyed, str_keys=True)
        _refuse(keyed)
        _encode(as_builtins)
    except RecursionError:
        message = "it holds itself, or is nested too deeply"
        raise ValueError(message) from None
    except TypeError as error:
        raise ValueError(str(error)) from error
    return as_builtins


def _refuse(value: Json) -> None:
    """Raise for numbers that JSON does not have, for keys that are the same as text, and for more
    than `DEEPEST` levels.
    """
    level = [value]
    for _ in range(DEEPEST):
        deeper: list[Json] = []
        for each in level:
            if isinstance(each, float) and not math.isfinite(each):
                message = f"JSON has no {each}: return None, or say it in words"
                raise ValueError(message)
            if isinstance(each, dict):
                _refuse_same_keys(cast("dict[object, Json]", each))
                deeper += each.values()
            elif isinstance(each, (list, tuple)):
                deeper += cast("list[Json]", each)
        if not deeper:
            return
        level = deeper
    raise RecursionError


def _refuse_same_keys(keyed: dict[object, Json]) -> None:
    """Raise where two keys of a dict become one as text: 1 and "1"."""
    if all(type(key) is str for key in keyed):
        return
    texts = [next(iter(msgspec.to_builtins({key: None}, str_keys=True))) for key in keyed]
    if len(set(texts)) < len(texts):
        same = next(text for text in texts if texts.count(text) > 1)
        message = f"two keys of a dict are {same!r} as text: give each key once"
        raise ValueError(message)
