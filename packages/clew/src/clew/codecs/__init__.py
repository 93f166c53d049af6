"""Formats: how actions are written and parsed.

`by_name` has those that need no more than their name. `clew.codecs.labelled` makes further dialects
of labels, `clew.codecs.commands` forms that you declare.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import Final

from clew.core.codec import Codec
from clew.support.errors import ConfigError

_HOMES: Final[Mapping[str, str]] = {
    "native": "native",
    "paper": "react_text",
    "labelled": "labelled",
    "labelled:final": "labelled",
    "labelled:conclusion": "labelled",
    "json": "json_object",
    "code": "code",
    "native:strict": "native",
}
"""The module of each codec: an agent loads the one that it uses."""


def names() -> tuple[str, ...]:
    """The names that `by_name` knows."""
    return tuple(_HOMES)


@cache
def by_name(name: str) -> Codec:
    """The codec of that name, without its version. Raises `ConfigError` for any other."""
    if (home := _HOMES.get(name)) is None:
        raise ConfigError(f"there is no codec {name!r}; choose one of: {', '.join(_HOMES)}")
    shipped: Sequence[Codec] = import_module(f"clew.codecs.{home}").SHIPPED
    return next(codec for codec in shipped if codec.name.partition("/")[0] == name)


__all__ = ["by_name", "names"]
