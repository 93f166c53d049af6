"""Values of a program that are too large to leave it: one can hold itself many times over."""

from collections.abc import Mapping
from typing import Any, Final, cast

LARGEST: Final = 1_000_000
"""Characters of texts, and values in values, that the arguments of a call may have together."""

LONGEST_ERROR: Final = 4_000
"""Characters of an error that are kept: a program decides how long its text and its lines are."""


def too_large(value: object, max_bytes: int = LARGEST) -> bool:
    """Whether a value has more parts, with the characters of its texts, than `max_bytes`.

    A part that is there many times counts each time, as it would be written each time. It takes no
    more than `max_bytes` steps to say so.
    """
    left, waiting = max_bytes, [value]
    while waiting:
        one = waiting.pop()
        left -= 1
        if isinstance(one, str | bytes):
            left -= len(one)
        elif isinstance(one, int):
            left -= one.bit_length() // 3
        elif (inner := parts_of(one)) is not None:
            if len(inner) + len(waiting) > left:
                return True
            waiting += inner
        if left < 0:
            return True
    return False


def shortened(text: str, max_chars: int = LONGEST_ERROR) -> str:
    """The beginning and the end of a text that is longer than `max_chars`."""
    half = max_chars // 2
    return text if len(text) <= max_chars else f"{text[:half]}\n[…]\n{text[-half:]}"


def parts_of(value: object) -> list[object] | None:
    """The values that a value holds; None if it holds none."""
    if isinstance(value, dict):
        named: Mapping[object, object] = value  # pyright: ignore[reportUnknownVariableType] - whatever it has, it is an object
        return [*named, *named.values()]
    if isinstance(value, list | tuple | set | frozenset):
        return list(cast("list[Any]", value))
    attributes = getattr(value, "attributes", None)  # an instance of a class of the program
    return [cast("object", attributes)] if isinstance(attributes, dict) else None
