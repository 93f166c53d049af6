"""Values of a user's own types as the plain ones that JSON has."""

from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from clew.core.events import Json, encode

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
    """What msgspec does not know: subclasses of text and numbers, and pydantic models."""
    based = next((_BASES[kind] for kind in type(value).__mro__ if kind in _BASES), None)
    if based is not None:
        return based(value)
    if not hasattr(value, "model_dump"):
        message = (
            f"{type(value).__name__} is no JSON: return text, numbers, lists, dicts or a model"
        )
        raise TypeError(message)
    return value.model_dump(mode="json")


def text_or_json(value: Json) -> str:
    """A text unchanged, any other value as JSON."""
    return value if isinstance(value, str) else encode(value).decode()
