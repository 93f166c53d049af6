"""What a reply took: as a provider tells it, told in part, or not told.

A figure is told if it is a number that can be right. Zero tokens of a prompt are none, nor are zero
tokens of a reply that says something. What is not told is estimated, and the usage says so: nothing
counts as measured that nobody measured. Usage of another shape than an object tells nothing; the
reply that it came with is none the worse for it.
"""

import math
from typing import Any, Final, cast

import msgspec

from clew.core.contents import RawCall, Usage

BYTES: Final = 4
"""Bytes that are counted as one token."""

MAX_TOKENS: Final = 100_000_000
"""More tokens (or dollars) than that no request of any model can take."""


def possible(value: Any) -> bool:
    """Whether it is a number of tokens or dollars: True, "12", NaN and 1e30 are none."""
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return number and math.isfinite(value) and 0 <= value <= MAX_TOKENS


def count(usage: dict[str, Any], *path: str) -> int:
    """The tokens at the path of keys; 0 where none are told."""
    value: Any = usage
    try:
        for key in path:
            value = value.get(key)
    except AttributeError:  # it stands where an object should
        return 0
    return _tokens(value) or 0


def sum_of(usage: dict[str, Any], *keys: str) -> int:
    """The tokens under the keys together, 0 where one of them cannot be right.

    A key that is missing, or null, adds nothing.
    """
    told = [_tokens(usage[key]) for key in keys if usage.get(key) is not None]
    return sum(filter(None, told)) if None not in told else 0


def _tokens(value: Any) -> int | None:
    """A number of tokens, None where it cannot be right: half a token is none."""
    return int(value) if possible(value) and value == int(value) else None


def paid(usage: dict[str, Any]) -> float | None:
    """What a provider says that the reply cost, in US dollars; 0 only where it counted tokens."""
    cost: Any = usage.get("cost")
    tokens = any(map(_counted, usage.values()))
    return float(cost) if possible(cost) and (cost or tokens) else None


def _counted(value: Any) -> bool:
    return possible(value) and value > 0


def merged(before: dict[str, Any], further: object) -> dict[str, Any]:
    """Usage that was told in several events: of each figure the last counts that can be right.

    Zeros that follow right figures take none of them back; what is no object adds nothing.
    """
    usage = dict(before)
    new = cast("dict[str, Any]", further) if isinstance(further, dict) else {}
    for key, value in new.items():
        old: Any = usage.get(key)
        if isinstance(value, dict):
            combined = cast("dict[str, Any]", old) if isinstance(old, dict) else {}
            usage[key] = merged(combined, cast("dict[str, Any]", value))
        elif _counted(value) or not (_counted(old) or isinstance(old, dict)):
            usage[key] = value
    return usage


def completed(told: Usage, total: int, sent: int, text: str, calls: tuple[RawCall, ...]) -> Usage:
    """Usage with estimates for what was not told; `sent` is the length of the request in bytes.

    `total` are the tokens of prompt and reply together, 0 where they were not told: what is missing
    of one is then the rest.
    """
    rough = estimate(sent, text, calls)
    prompt, reply = told.input, told.output
    estimated = told.estimated
    if not reply and rough.output:
        rest = total - prompt if prompt and total > prompt else 0
        reply, estimated = rest or rough.output, estimated or not rest
    if not prompt:
        rest = total - reply if total > reply else 0
        prompt, estimated = rest or rough.input, estimated or not (rest and told.output)
    cached = min(told.cached, prompt)
    return msgspec.structs.replace(
        told,
        input=prompt,
        output=reply,
        cached=cached,
        written=min(told.written, prompt - cached),
        reasoning=min(told.reasoning, reply),
        estimated=estimated,
    )


def estimate(sent: int, text: str, calls: tuple[RawCall, ...]) -> Usage:
    """Four bytes to a token, of the `sent` bytes and of the reply: rough, and marked as such."""
    written = len(text) + sum(len(call.name) + len(call.arguments or "") for call in calls)
    return Usage(input=sent // BYTES, output=-(-written // BYTES), estimated=True)
