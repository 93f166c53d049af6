"""Whether what a public function is given is of the right kind: said at its door, in one line."""

from typing import Final

from clew.support.errors import ConfigError
from clew.support.parts import short_repr

NONE: Final = type(None)
"""The type of an argument that may be left out."""


def check_argument(name: str, value: object, kinds: type | tuple[type, ...], wanted: str) -> None:
    """Raise `ConfigError` for an argument that is of none of these types; `wanted` says what is."""
    if not isinstance(value, kinds):
        message = f"{name} is {short_repr(value)}: give {wanted}"
        raise ConfigError(message, field=name)


def check_callable(name: str, value: object, wanted: str) -> None:
    """Raise `ConfigError` for an argument that is neither None nor can be called."""
    if value is not None and not callable(value):
        message = f"{name} is {short_repr(value)}: give {wanted}, or None"
        raise ConfigError(message, field=name)


def check_number(name: str, value: object, minimum: int | None = None) -> None:
    """Raise `ConfigError` for what is no whole number, or less than `minimum`."""
    if type(value) is not int or (minimum is not None and value < minimum):
        wanted = "a whole number" if minimum is None else f"{minimum} or more"
        message = f"{name} is {value!r}: give {wanted}"
        raise ConfigError(message)
