"""How much may be asked of a model in a time, as a user writes it: in Python, or in an agent file.

`clew.models.http.rate_limit` keeps it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, cast

import msgspec

from clew.support.errors import ConfigError
from clew.support.parts import short_repr
from clew.support.settings import check_fields
from clew.support.short_text import one_line

_WORDS: Final = re.compile(r"([\d_]+) (requests|tokens)(?:, (?:and )?| and )?")


@dataclass(frozen=True)
class Rate:
    """At most this many requests and tokens (in and out) in any `seconds`; None means no limit."""

    requests: int | None = None
    tokens: int | None = None
    seconds: float = 60.0

    def __post_init__(self) -> None:
        """Refuse a rate under which nothing could ever be asked."""
        check_fields(self)
        for name, number in (("requests", self.requests), ("tokens", self.tokens)):
            if number is not None and number < 1:
                raise ConfigError(f"a rate of {number} {name}: give 1 or more, or leave it out")
        if not 0 < self.seconds < float("inf"):
            raise ConfigError(f"a rate for {self.seconds:g} seconds: give more than 0")


class _Fields(msgspec.Struct, forbid_unknown_fields=True):
    """A rate as a file of settings has it."""

    requests: int | None = None
    tokens: int | None = None
    seconds: float = 60.0


GivenRate: TypeAlias = Rate | Mapping[str, Any] | str
"""A rate, its fields, or words such as "60 requests, 100000 tokens" (a minute)."""


def read_rate(own_rate: GivenRate | None) -> Rate | None:
    """The rate that is meant. Raises `ConfigError` where it cannot be read."""
    if own_rate is None or isinstance(own_rate, Rate):
        return own_rate
    if isinstance(own_rate, str):
        words = one_line(own_rate)
        words_read = _WORDS.findall(words)
        if not words_read or _WORDS.sub("", words):
            raise ConfigError(
                f"{own_rate!r} is no rate: write '60 requests, 100000 tokens' (a minute)"
            )
        return Rate(**{name: int(number.replace("_", "")) for number, name in words_read})
    if not isinstance(cast("object", own_rate), Mapping):
        message = f"rate is {short_repr(own_rate)}: give a Rate, a text, or requests and tokens"
        raise ConfigError(message)
    try:
        fields = msgspec.convert(dict(own_rate), _Fields)
    except msgspec.ValidationError as error:
        raise ConfigError(f"that is no rate ({error}): give requests, tokens, or both") from error
    return Rate(fields.requests, fields.tokens, fields.seconds)
