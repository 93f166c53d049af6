"""JSON as models write it: read strictly first, mended where what was meant is beyond doubt.

Mending rewrites the text token by token, in one pass, and reads the result strictly; nothing is
guessed that is not there. What was mended is named. Cut JSON is never completed.
"""

import json
import re
from typing import Any, Final

import msgspec

from clew.core.values import Json, encode
from clew.support.surrogates import HALF, mended_json

DEPTH: Final = 64
"""Deeper nesting is refused: no tool needs it, and readers further on may not stand it."""


class UnreadableError(Exception):
    """What is wrong with something the model wrote: one line, for the model."""


class _HalfError(UnreadableError):
    """A string holds half a character, as an escape."""


class JsonPrefix(msgspec.Struct, frozen=True):
    """A JSON value found at the start of a text, where it ends there, and what was mended."""

    value: Json
    end: int
    repairs: tuple[str, ...] = ()


def _object(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    fields: dict[str, Json] = {}
    for key, value in pairs:
        if key in fields:
            raise UnreadableError(f"the key {json.dumps(key)} is given twice")
        fields[key] = value
    return fields


def _number(text: str) -> float:
    if (number := float(text)) in {float("inf"), float("-inf")}:
        raise UnreadableError(f"the number {text[:40]} is too large")
    return number


def _constant(text: str) -> Json:
    raise UnreadableError(f"{text} is no JSON value")


_strict: Final = json.JSONDecoder(
    object_pairs_hook=_object, parse_float=_number, parse_constant=_constant
)


def first_value(text: str) -> JsonPrefix:
    """Read the JSON value that `text` begins with, mending it if need be.

    Raises `UnreadableError` with the strict reader's complaint where mending does not help.
    """
    start = len(text) - len(text.lstrip())
    try:
        return _read(text, start)
    except _HalfError:
        value = first_value(mended_json(text))
        return JsonPrefix(value.value, value.end, (*value.repairs, HALF))
    except ValueError as strict:
        mended, end, repairs = _mend(text, start)
        if not repairs:
            raise UnreadableError(_complaint(text, strict)) from strict
        try:
            return JsonPrefix(_read(mended, 0).value, end, repairs)
        except _HalfError:
            return JsonPrefix(_read(mended_json(mended), 0).value, end, (*repairs, HALF))
        except ValueError as still:
            raise UnreadableError(_complaint(mended, still)) from still


def complete_value(text: str) -> Json:
    """Read a text that is one JSON value and nothing else, strictly. Raises `UnreadableError`."""
    stripped = text.strip()
    try:
        prefix = _read(stripped, 0)
    except ValueError as error:
        raise UnreadableError(_complaint(stripped, error)) from error
    if prefix.end != len(stripped):
        raise UnreadableError("there is text behind the JSON value")
    return prefix.value


def _read(text: str, start: int) -> JsonPrefix:
    try:
        value, end = _strict.raw_decode(text, start)
        _check(value)
    except RecursionError:
        raise UnreadableError("the JSON is nested too deeply") from None
    except (UnicodeEncodeError, msgspec.EncodeError):
        raise _HalfError("a string holds half a character") from None
    return JsonPrefix(value, end)


def _check(value: Json) -> None:
    """Refuse what could not be written into a record."""
    if deep(value):
        raise RecursionError
    encode(value)


def repeated_key(text: str) -> str:
    """The first key that is given twice in an object of a JSON text; "" where none is."""
    if text.count(":") < 2:
        return ""
    try:
        json.loads(text, object_pairs_hook=_object)
    except UnreadableError as error:
        return str(error)
    except (ValueError, RecursionError):
        return ""
    return ""


def deep(value: Json) -> bool:
    """Whether the value nests deeper than `DEPTH`."""
    level: list[Any] = [value]
    for _ in range(DEPTH):
        inner: list[Any] = []
        for item in level:
            if isinstance(item, dict):
                inner += item.values()
            elif isinstance(item, list):
                inner += item
        if not inner:
            return False
        level = inner
    return True


def _complaint(text: str, error: ValueError) -> str:
    if not isinstance(error, json.JSONDecodeError):
        return f"the JSON cannot be read: {error}"  # an integer with thousands of digits
    if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string"):
        return "the JSON ends before it is closed"
    near = text[error.pos : error.pos + 20].partition("\n")[0]
    return f"the JSON is wrong at {json.dumps(near, ensure_ascii=False)}: {error.msg}"


# ------------------------------------------------------------------------------------- mending

_PIECE: Final = re.compile(
    r"""
      (?P<string>"[^"\\]*+(?:\\.[^"\\]*+)*+")
    | (?P<single>'[^'\\]*+(?:\\.[^'\\]*+)*+')
    | (?P<comment>//[^\n]*+|\#[^\n]*+|/\*(?:[^*]++|\*(?!/))*+\*/)
    | (?P<word>[A-Za-z_$][\w$]*+)
    | (?P<number>-?\d[\w.+-]*+)
    | (?P<space>\s++)
    | (?P<mark>[{}\[\]:,])
    """,
    re.VERBOSE | re.DOTALL,
)
_PYTHON: Final = {"True": "true", "False": "false", "None": "null"}
_CONTROL: Final = re.compile(r"[\x00-\x1f]")


def _single(text: str) -> str:
    """A single-quoted string in double quotes."""
    inner = re.sub(r"\\(.)|(\")", _requote, text[1:-1], flags=re.DOTALL)
    return f'"{_control(inner)}"'


def _requote(match: re.Match[str]) -> str:
    if match[2]:
        return '\\"'
    return "'" if match[1] == "'" else match[0]


def _control(text: str) -> str:
    """Raw line breaks and tabs in a string, escaped."""
    return _CONTROL.sub(lambda match: json.dumps(match[0])[1:-1], text)


def _mend(text: str, start: int) -> tuple[str, int, tuple[str, ...]]:
    """Rewrite the first value as strict JSON: (the text, where the value ended, what was mended).

    Stops where brackets are closed, or at the first thing that is no token.
    """
    out: list[str] = []
    repairs: dict[str, None] = {}
    depth = 0
    at = start
    while (match := _PIECE.match(text, at)) is not None:
        kind, piece = str(match.lastgroup), match[0]
        at = match.end()
        if kind == "space":
            continue
        if kind == "mark":
            depth += (piece in "{[") - (piece in "}]")
            if piece in "}]" and out and out[-1] == ",":
                out.pop()
                repairs["trailing comma dropped"] = None
        fixed, repair = _fix(kind, piece, text, at)
        if repair:
            repairs[repair] = None
        out += [fixed] if fixed else []
        if depth <= 0 and out:
            break
    return " ".join(out), at, tuple(repairs)


def _fix(kind: str, piece: str, text: str, end: int) -> tuple[str, str]:
    """One token in strict JSON, and the name of what was mended, if anything."""
    if kind == "single":
        return _single(piece), "single quotes read as JSON"
    if kind == "comment":
        return "", "comment dropped"
    if kind == "string":
        fixed = _control(piece)
        return fixed, "" if fixed == piece else "line breaks in a string escaped"
    if kind == "word" and piece in _PYTHON:
        return _PYTHON[piece], "Python constants read as JSON"
    if kind == "word" and text[end : end + 1] == ":":
        return f'"{piece}"', "bare keys quoted"
    return piece, ""
