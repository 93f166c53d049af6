"""What may be an argument of a call: a value that JSON has, as it stands.

Nothing is turned into another value for it: bytes are no text, a set is no list, and 1 is no key.
Programs in a sandboxed process are held to it by the text of this file, which needs Python alone.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

REFUSED = (
    "what JSON cannot carry: {}; give texts, numbers, True, False, None, lists, or dicts whose "
    "keys are texts"
)
"""What is said of a value that is none."""

DEEPEST = 256
"""Levels of lists and dicts."""


def unfit(value: Any, level: int = 0) -> str:
    """What of a value, or of one within it, JSON cannot carry; "" where it can carry all of it.

    A tuple is a list.
    """
    inner: Any = value
    if isinstance(value, str):
        return "" if value.isascii() or _is_integer(value) else "a text with half a character"
    if isinstance(value, float):
        return "" if value - value == 0 else f"{value}, which is no number of JSON"
    if value is None or isinstance(value, int):
        return ""
    if not isinstance(value, (dict, list, tuple)):
        return f"a value of the type {type(value).__name__}"
    if level == DEEPEST:
        return "what is nested too deeply, or holds itself"
    if isinstance(value, dict):
        for key in inner:
            if not isinstance(key, str):
                return f"a key of the type {type(key).__name__}"
        inner = [*inner, *inner.values()]
    return next(filter(None, (unfit(one, level + 1) for one in inner)), "")


def refused(
    function: str,
    args: Sequence[Any],
    named: Mapping[str, Any],
    check: Callable[[Any], str] = unfit,
) -> str:
    """What is wrong with the arguments of a function's call, with the name of one; "" if nothing.

    `check` says what is wrong with the value of one.
    """
    named_values = [*((str(number), value) for number, value in enumerate(args, 1)), *named.items()]
    for label, value in named_values:
        if problem := unfit(label) or check(value):
            printable = label.encode(errors="replace").decode()
            return f"{function}() got as its argument {printable} {REFUSED.format(problem)}"
    return ""


def _is_integer(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
