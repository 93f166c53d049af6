"""Whether the values of settings are of their types: said where they are made, by name."""

import math
import types
import typing
from collections.abc import Collection
from functools import cache
from typing import Any, Final, Literal, NamedTuple, Union

from clew.support.errors import ConfigError
from clew.support.json_arguments import unfit
from clew.support.nearest_name import did_you_mean

__all__ = ["check_fields"]

_NOUNS: Final[dict[Any, str]] = {
    bool: "True or False",
    int: "a whole number",
    float: "a number",
    str: "a text",
    type(None): "None",
}
_UNIONS: Final = (Union, types.UnionType)


def check_fields(part: object, signed: Collection[str] = (), who: str = "") -> None:
    """Raise `ConfigError` for a field of settings whose value is not of its type.

    Looked at are switches, numbers, texts and words to choose from: `True` is no number, "false" no
    switch, and NaN nothing that could be meant. Only the fields in `signed` may be below 0.
    `who` is what the part is called, its class by default.
    """
    kind: Any = type(part)
    who = who or kind.__name__
    for name, allowed in _plain_fields(kind).items():
        value = getattr(part, name)
        if isinstance(value, bool):
            fits = bool in allowed.kinds
        elif allowed.numbers and type(value) in (int, float):
            fits = not math.isnan(value)
        else:
            fits = isinstance(value, allowed.kinds) or value in allowed.words
        if not fits:
            message = f"{who}: {name} is {value!r}: {allowed.wanted}"
            raise ConfigError(message, field=name)
        if type(value) in (int, float) and value < 0 and name not in signed:
            message = f"{who}: {name} is {value!r}: give 0 or more"
            raise ConfigError(message, field=name)


def check_text(what: str, value: object) -> None:
    """Raise `ConfigError` for words that are no text, or hold half a character."""
    problem = unfit(value)
    if not isinstance(value, str):
        problem = f"a value of the type {type(value).__name__}"
    if problem:
        message = f"{what} is {problem}: give a text"
        raise ConfigError(message)


def check_minimum(part: object, *names: str, minimum: int = 1, who: str = "") -> None:
    """Raise `ConfigError` where one of these fields is below what can be meant."""
    for name in names:
        if (number := getattr(part, name)) < minimum:
            message = f"{who or type(part).__name__}: {name} is {number}: give {minimum} or more"
            raise ConfigError(message, field=name)


def check_options(what: str, names: Collection[str], known: Collection[str]) -> None:
    """Raise `ConfigError` for options that are not known, with the nearest one that is."""
    for name in names:
        if name not in known:
            hint = did_you_mean(name, known, f"there are {', '.join(known)}")
            message = f"{what} takes no option {name!r}: {hint}"
            raise ConfigError(message, field=name)


class _Allowed(NamedTuple):
    """What a field may be: of one of these kinds, any number, or one of these words."""

    kinds: tuple[type, ...]
    numbers: bool
    words: tuple[str, ...]
    wanted: str


@cache
def _plain_fields(kind: Any) -> dict[str, _Allowed]:
    """What each field may be that is of no other types than those looked at."""
    none: tuple[str, ...] = ()
    names = (
        *getattr(kind, "__struct_fields__", none),
        *getattr(kind, "__dataclass_fields__", none),
    )
    hints = typing.get_type_hints(kind)
    alternatives = {name: _alternatives(hints[name]) for name in names if name in hints}
    return {
        name: _allowed(among)
        for name, among in alternatives.items()
        if all(one in _NOUNS or isinstance(one, str) for one in among)
    }


def _alternatives(kind: Any) -> tuple[Any, ...]:
    """The types and words that a type is a choice of."""
    if typing.get_origin(kind) in _UNIONS:
        return tuple(each for one in typing.get_args(kind) for each in _alternatives(one))
    return typing.get_args(kind) if typing.get_origin(kind) is Literal else (kind,)


def _allowed(alternatives: tuple[Any, ...]) -> _Allowed:
    words = tuple(one for one in alternatives if isinstance(one, str))
    nouns = " or ".join(_NOUNS[one] for one in alternatives if one not in words)
    wanted = f"choose one of {', '.join(words)}" if words else f"give {nouns}"
    kinds = tuple(one for one in alternatives if one is not float and one not in words)
    return _Allowed(kinds, float in alternatives, words, wanted)
