"""Where two values of JSON first differ, in one line for people."""

from collections.abc import Iterator
from typing import Final, cast

_CHARS: Final = 80
_BEFORE: Final = 20
"""So many characters before the first that differs are shown with it."""

_MISSING: Final = object()


def first_difference(recorded: object, now: object) -> str:
    """The path of the first value that differs, what it was and what it is; "" for none."""
    was, has = dict(_leaves(recorded, "")), dict(_leaves(now, ""))
    for path in was | has:
        one, other = was.get(path, _MISSING), has.get(path, _MISSING)
        if one != other:
            skip = _same_start(one, other)
            return f"{path} was {_short(one, skip)}, and is {_short(other, skip)}"
    return ""


def _leaves(value: object, path: str) -> Iterator[tuple[str, object]]:
    """Each value that holds no other, with its path."""
    if isinstance(value, dict) and value:
        for name, each in cast("dict[str, object]", value).items():
            yield from _leaves(each, f"{path}.{name}" if path else name)
    elif isinstance(value, list) and value:
        for number, each in enumerate(cast("list[object]", value)):
            yield from _leaves(each, f"{path}[{number}]")
    else:
        yield path, value


def _same_start(one: object, other: object) -> int:
    """How many characters to pass over at the start of two texts, since they are alike."""
    if not isinstance(one, str) or not isinstance(other, str):
        return 0
    pairs = zip(one, other, strict=False)
    same = next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))
    return max(0, same - _BEFORE)


def _short(value: object, skip: int) -> str:
    if value is _MISSING:
        return "missing"
    text = repr(value[skip:] if isinstance(value, str) else value)
    before = "…" if skip else ""
    return before + (text if len(text) <= _CHARS else f"{text[:_CHARS]}…")
