"""Formats: how actions are written and parsed.

`clew.codecs.commands` has one more, with forms that you declare.
"""

from typing import Final

from clew.codecs.code import Code
from clew.codecs.json_object import JsonObject
from clew.codecs.labelled import DIALECTS, Dialect, Labelled
from clew.codecs.native import Native
from clew.codecs.react_text import Paper
from clew.core.codec import Codec
from clew.support.errors import ConfigError

_SHIPPED: Final[tuple[Codec, ...]] = (
    Native(),
    Paper(),
    *map(Labelled, DIALECTS),
    JsonObject(),
    Code(),
    Native(spellings=False),
)
_CODECS: Final = {codec.name.partition("/")[0]: codec for codec in _SHIPPED}


def names() -> tuple[str, ...]:
    """The names that `by_name` knows."""
    return tuple(_CODECS)


def by_name(name: str) -> Codec:
    """The codec of that name, without its version. Raises `ConfigError` for any other."""
    if (codec := _CODECS.get(name)) is None:
        raise ConfigError(f"there is no codec {name!r}; choose one of: {', '.join(_CODECS)}")
    return codec


__all__ = [
    "Code",
    "Dialect",
    "JsonObject",
    "Labelled",
    "Native",
    "Paper",
    "by_name",
    "names",
]
