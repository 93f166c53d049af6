"""References of a planned call to results of others: `#E1`, `#E1.name`, `#E1['a name']`, `#E1[0]`.

A text among the arguments is read whole: what looks like a reference and cannot be read as one is a
fault of the plan, never a value. An effect must not get `{"email": "a@b"}.0.email`.
"""

import re
import unicodedata
from collections.abc import Callable, Collection, Iterator
from typing import Any, Final

import msgspec

from clew.interfaces import Json
from clew.support.json_values import text_or_json

_ID: Final = re.compile(r"E[0-9]+")
_PATH: Final = r"(?:\.(?:[^\W\d]\w*|[0-9]+)|\[-?[0-9]+\]|\['[^']*'\]|\[\"[^\"]*\"\])*"
_REFERENCE: Final = re.compile(rf"#(E[0-9]+)(?!\w)({_PATH})")
_PART: Final = re.compile(
    r"\.([^\W\d]\w*)|\.([0-9]+)|\[(-?[0-9]+)\]|\['([^']*)'\]|\[\"([^\"]*)\"\]"
)
_GOES_ON: Final = re.compile(r"\w|\.[^\s.,;:!?\"')\]}]|[\[(]|\s\.\w|\?\.\w|->|::|:[^\W\d]")
"""What stands behind a reference and would go on with it, in one language or another."""
_WRAPS: Final = re.compile(r"[{\\]$")
_LOOSE: Final = re.compile(
    r"[#$@%\\]\s?[{<(\[]?\s?E_?0*([0-9]+)|[{<]\s?E_?0*([0-9]+)\s?(?=[.\[}>])|^E0*([0-9]+)(?=[.\[])",
    re.IGNORECASE,
)
"""What other systems and hasty models write for `#E1`."""
_COLOUR: Final = re.compile(r"#(?:[0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})(?!\w)", re.IGNORECASE)
_LOOKALIKES: Final = str.maketrans({"Е": "E", "е": "e", "Ε": "E"})  # Cyrillic and Greek


class NoValueError(Exception):
    """A reference has no value; the message says which."""


def is_id(text: str) -> bool:
    """Whether a call of a plan may have this id."""
    return _ID.fullmatch(text) is not None


def referred(args: Json) -> set[str]:
    """The ids of the calls whose results the arguments refer to."""
    return {match[1] for text in _texts(args) for match in _REFERENCE.finditer(text)}


def unread(args: Json, ids: Collection[str]) -> str:
    """A part of the arguments that seems to refer to a call of these ids in other words, or ""."""
    numbers = {id_[1:] for id_ in ids}
    for text in _texts(args):
        for match in _REFERENCE.finditer(text):
            around = _WRAPS.search(text[: match.start()]) or _GOES_ON.match(text, match.end())
            if around and match[1] in ids:
                return _excerpt(text, match.start())
        rest = _REFERENCE.sub(lambda match: " " * len(match[0]), text)
        rest = _COLOUR.sub(lambda match: " " * len(match[0]), rest)
        plain = unicodedata.normalize("NFKC", rest).translate(_LOOKALIKES)
        for match in _LOOSE.finditer(plain):
            if (match[1] or match[2] or match[3]) in numbers:
                return _excerpt(plain, match.start())
    return ""


def replaced(args: Any, value_of: Callable[[str], Json], *, values: bool) -> Any:
    """The arguments with the values of what they refer to in place of the references.

    Within a text a value is text. A text that is nothing but a reference becomes the value itself
    if `values`. `value_of` gives the result of a call by its id. Raises `NoValueError`.
    """
    if isinstance(args, str):
        reference = _REFERENCE.fullmatch(args)
        if values and reference is not None:
            return _value(reference, value_of)
        return _REFERENCE.sub(lambda match: text_or_json(_value(match, value_of)), args)
    if isinstance(args, dict):
        fields = msgspec.convert(args, dict[str, Any])
        return {
            replaced(key, value_of, values=False): replaced(each, value_of, values=values)
            for key, each in fields.items()
        }
    if isinstance(args, list):
        return [
            replaced(each, value_of, values=values) for each in msgspec.convert(args, list[Any])
        ]
    return args


def _value(reference: re.Match[str], value_of: Callable[[str], Json]) -> Json:
    """The result that a reference names, or its field or item. Raises `NoValueError` without."""
    value: Any = value_of(reference[1])
    for part in _PART.finditer(reference[2]):
        name = next(each for each in part.groups() if each is not None)
        if isinstance(value, dict):
            value = msgspec.convert(value, dict[str, Any]).get(name)
        elif isinstance(value, list) and (part[2] or part[3]):
            items, index = msgspec.convert(value, list[Any]), int(name)
            value = items[index] if -len(items) <= index < len(items) else None
        elif part[2] and value is not None:
            value = f"{text_or_json(value)}.{name}"  # a full stop, or a decimal point
        else:
            value = None
    if value is None or (isinstance(value, str) and not value.strip()):
        raise NoValueError(f"{reference[0]} has no value")
    return value


def _texts(value: Any) -> Iterator[str]:
    """All texts within a value, names of fields too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, each in msgspec.convert(value, dict[str, Any]).items():
            yield key
            yield from _texts(each)
    elif isinstance(value, list):
        for each in msgspec.convert(value, list[Any]):
            yield from _texts(each)


def _excerpt(text: str, start: int) -> str:
    return text[start : start + 40]
