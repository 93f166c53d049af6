"""Formats: how actions are written and parsed.

`by_name` has those that need no more than their name, also of other packages.
`clew.codecs.labelled` makes further dialects of labels.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import Final

from clew.core.codec import Codec
from clew.support import wings
from clew.support.errors import ConfigError
from clew.support.street import names_of
from clew.support.wings import CODECS

_HOMES: Final[Mapping[str, str]] = {
    "native": "native",
    "paper": "react_text",
    "labelled": "labelled",
    "labelled:final": "labelled",
    "labelled:conclusion": "labelled",
    "json": "json_object",
    "native:strict": "native",
}
"""The module of each codec of clew: an agent loads the one that it uses."""


def names() -> tuple[str, ...]:
    """The names that `by_name` knows, also those of packages of ours that are not installed."""
    return tuple(dict.fromkeys((*_HOMES, *names_of(CODECS), *wings.names(CODECS))))


@cache
def by_name(name: str) -> Codec:
    """The codec of that name, without its version.

    Raises `ConfigError` for any other, and where the package that has it is not installed.
    """
    if (home := _HOMES.get(name)) is None:
        codec: Codec | None = wings.find(CODECS, name, f"the codec {name}")
        if codec is None:
            raise ConfigError(f"there is no codec {name!r}; choose one of: {', '.join(names())}")
        if isinstance(codec, type) or not callable(getattr(codec, "parse", None)):
            message = f"{name} of {CODECS} is of type {type(codec).__name__}: name a Codec there"
            raise ConfigError(message)
        return codec
    shipped: Sequence[Codec] = import_module(f"clew.codecs.{home}").SHIPPED
    return next(codec for codec in shipped if codec.name.partition("/")[0] == name)


__all__ = ["by_name", "names"]
