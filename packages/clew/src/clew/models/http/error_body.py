"""What an error's body says, whatever its shape: an object, a list of them, text, HTML, JSON in it.

Gateways wrap the error of the server behind them: in a list (Google's OpenAI door), in `detail`
(FastAPI, Mistral), in `metadata.raw` as JSON in a string (OpenRouter), in `param` (MiMo).
"""

import html
import json
import re
from collections.abc import Iterator
from typing import Any, Final, cast

from clew.support.short_text import one_line

NEST: Final = 12
"""So deep a body is read."""

LONGEST: Final = 20_000
"""So many characters of all its texts are looked at."""

_MESSAGE: Final = ("message", "msg", "error_message", "error_msg", "errorMessage", "Message")
"""Keys of a sentence about what was wrong, the usual one first."""

_ECHOED: Final = frozenset({"input", "failed_generation"})
"""Keys under which a server sends back what it was sent, or what a model wrote."""

_MARKUP: Final = re.compile(r"<(script|style)\b.*?</\1\s*>|<[^>]*>", re.IGNORECASE | re.DOTALL)
_WAIT_KEY: Final = re.compile(r"retry_?-?(?:delay|after|in)(_?-?ms|_?milliseconds)?", re.IGNORECASE)
_WAIT_IN_TEXT: Final = re.compile(
    r"(?:try again|retry|wait|available)\b[^.;\n]{0,40}?(?:in|after|for)\s+"
    r"((?:\d+(?:\.\d+)?\s*(?:milliseconds?|ms|minutes?|mins?|m|hours?|h|seconds?|secs?|s)(?![a-z])\s*)+)",
    re.IGNORECASE,
)
_AMOUNT: Final = re.compile(r"(\d+(?:\.\d+)?)\s*([a-z]+)", re.IGNORECASE)
_DURATION: Final = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(ms|s|m)?\s*")


def unwrapped(body: object) -> Any:
    """The error itself: out of `error` or `detail`, a list of one, or JSON in a text."""
    told: Any = body
    for _ in range(NEST):
        if isinstance(told, str):
            inner = _parsed(told)
            if inner is None:
                return told
            told = inner
        elif isinstance(told, list):
            told = next((one for one in _array(told) if one), "")
        elif isinstance(told, dict):
            known = cast("dict[str, Any]", told)
            key = next((key for key in ("error", "errors", "detail") if known.get(key)), "")
            if not key or (isinstance(known[key], str) and _sentence(known)):
                return known
            told = known[key]
        else:
            break
    return told


def message_in(error: object) -> str:
    """What an error says, in its own words; all of it where it has no sentence.

    Of a gateway's error, what the server behind it said is part of it.
    """
    if not isinstance(error, dict):
        return without_markup(str(error or ""))
    known = cast("dict[str, Any]", error)
    message = _sentence(known) or str(known.get("message") or known.get("error") or known)
    metadata: Any = known.get("metadata")
    raw = cast("dict[str, Any]", metadata).get("raw") if isinstance(metadata, dict) else None
    param: Any = known.get("param")
    behind = message_in(unwrapped(raw)) if raw else ""
    beside = param if isinstance(param, str) and " " in param else ""
    return ": ".join(filter(None, [message, behind, beside]))


def _sentence(known: dict[str, Any]) -> str:
    texts = (known.get(key) for key in _MESSAGE)
    return next((text for text in texts if isinstance(text, str) and text), "")


def without_markup(text: str) -> str:
    """A page's words; other text as it is."""
    if not re.search(r"<(?:!doctype|html|head|body|title|h1)\b", text[:2000], re.IGNORECASE):
        return text
    return one_line(html.unescape(_MARKUP.sub(" ", text[:LONGEST])))


def all_messages(body: object) -> str:
    """All texts of a body in one, those in JSON in a text too: where a complaint is looked for."""
    return "\n".join(text for _, text in _texts("", body, 0))[:LONGEST]


def wait_in(body: object) -> float | None:
    """The seconds a body asks to wait (`retryDelay`, `retry_after`, "try again in 6.5s"), or None.

    Google's delay is a text with its unit; the sentence is OpenAI's and Groq's.
    """
    for key, text in _texts("", body, 0):
        if match := _WAIT_KEY.fullmatch(key):
            if told := _DURATION.fullmatch(text):
                unit = told[2] or ("ms" if match[1] else "s")
                return float(told[1]) * _UNITS[unit]
        elif written_wait := _WAIT_IN_TEXT.search(text):
            return sum(
                float(amount) * _unit(unit)
                for amount, unit in _AMOUNT.findall(written_wait[1].lower())
            )
    return None


_UNITS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


def _unit(word: str) -> float:
    if word.startswith(("ms", "milli")):
        return 0.001
    return _UNITS.get(word[0], 1.0)


def _texts(key: str, value: object, depth: int) -> Iterator[tuple[str, str]]:
    """All texts and numbers in a value, each with its key."""
    if depth > NEST:
        return
    if isinstance(value, dict):
        for name, inner in cast("dict[str, Any]", value).items():
            if name in _ECHOED:
                continue
            yield from _texts(str(name), inner, depth + 1)
    elif isinstance(value, list):
        for inner in _array(value):
            yield from _texts(key, inner, depth + 1)
    elif isinstance(value, str):
        inner = _parsed(value)
        if inner is None:
            yield key, without_markup(value[:LONGEST])
        else:
            yield from _texts(key, inner, depth + 1)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield key, str(value)


def _array(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []  # pyright: ignore[reportUnknownVariableType] # mypy calls the cast that helps pyright redundant


def _parsed(text: str) -> Any:
    """The object or the list that a text is in JSON, or None."""
    if not text.lstrip().startswith(("{", "[")) or len(text) > LONGEST:
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
