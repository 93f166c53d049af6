"""What a server sends, read as messages of JSON-RPC: to the letter, or what is meant as one.

Hand-written servers leave out `"jsonrpc"`, write ids as `1.0`, put a byte order mark or a log line
before a message, or send half a character. What they mean is plain, so it is read; `odd` collects
in which ways it is not to the letter.
"""

import json
import re
from typing import Any, Final, NamedTuple, TypeAlias, cast

import mcp_types as types

from clew.support.schema_parts import keywords

Message: TypeAlias = types.JSONRPCMessage
Answer: TypeAlias = types.JSONRPCResponse | types.JSONRPCError
Number: TypeAlias = int | str
"""The id of a request, in the form that tells it from others: `1`, `1.0` and `"1"` are one."""

DEEPEST: Final = 190
"""So many levels of lists and objects are kept of a message: the SDK reads 200, records more."""

_ANY: Final = types.jsonrpc_message_adapter
_BOM: Final = b"\xef\xbb\xbf"
_HALF: Final = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]")
"""Half of a surrogate pair, as it is encoded where that is let pass."""

_MAX_DIGITS: Final = 4_300
"""Of a whole number, as Python reads it; a longer one is kept as text."""

_CUT: Final = '"(nested too deep to be read)"'
_START: Final = re.compile(r'\{\s*["}]|\[\s*[{\[]')
"""How an object, or a list of some, begins; `[INFO]` and `{'a': 1}` do not."""

_BRACKET: Final = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[\[\]{}]', re.DOTALL)
_PIECE: Final = re.compile(
    r""""(?:[^"\\]|\\.)*+"|'(?:[^'\\]|\\.)*+'|[{}\[\]:,"']|[^\s"'{}\[\]:,]+""", re.DOTALL
)
_LAST_ID: Final = re.compile(r'"id"\s*:\s*("?\d{1,15}"?)\s*\}?\s*$')
_HEAD: Final = 20_000
_TAIL: Final = 200
"""Characters at the beginning and the end of a broken message in which its id is looked for."""


class Frame(NamedTuple):
    """What was found in a piece of text: JSON values, and the text from where it is none.

    `beside` says whether other text stands before or between them, as lines of a log do.
    """

    values: list[Any]
    rest: str
    beside: bool


def exact(body: bytes) -> Message | None:
    """The message that a text is to the letter; most are answers, and a union takes longer."""
    for read in (types.JSONRPCResponse.model_validate_json, _ANY.validate_json):
        try:
            return read(body, by_name=False)
        except ValueError:
            continue
    return None


def bare(body: bytes, odd: list[str]) -> bytes:
    """The text without space and a byte order mark around it."""
    body = body.strip()
    if body.startswith(_BOM):
        odd.append("a byte order mark stands before a message")
        body = body.removeprefix(_BOM).lstrip()
    return body


def frame_of(body: bytes, odd: list[str]) -> Frame:
    """The values in a text; those of a list (a batch) stand for themselves."""
    try:
        text = body.decode()
    except UnicodeDecodeError:
        text = body.decode(errors="replace")
        odd.append("some bytes are no UTF-8")
    text = _shallow(text, odd)
    reader = json.JSONDecoder(strict=False, parse_int=_IntegerReader(odd))
    values: list[Any] = []
    position, beside = 0, False
    while (start := _START.search(text, position)) is not None:
        before = text[position : start.start()].strip()
        if before.startswith("{"):
            break
        beside = beside or bool(before)
        try:
            value, position = reader.raw_decode(text, start.start())
        except (ValueError, RecursionError):
            position = start.start()
            break
        if isinstance(value, list):
            odd.append("messages come as a list")
        values += value if isinstance(value, list) else [value]
    if beside:
        odd.append("other text stands beside a message")
    return Frame(values, text[position:].strip(), beside)


def mended(value: dict[str, Any], odd: list[str]) -> Message | None:
    """The message that is meant by an object, or None; an answer without an id gets the id 0."""
    message: dict[str, Any] = {"jsonrpc": "2.0"}
    if value.get("jsonrpc") != "2.0":
        odd.append('a message lacks "jsonrpc": "2.0"')
    if isinstance(value.get("id"), float):
        odd.append("an id is written with a fraction")
    if "method" in value:
        message |= {key: value[key] for key in ("method", "params") if value.get(key) is not None}
        if "id" in value:
            message["id"] = number_of(value["id"])
    else:
        message["id"] = number_of(value.get("id")) or 0
        result, error = value.get("result"), value.get("error")
        if result is None and error is not None:
            message["error"] = _error(error, odd)
        else:
            message["result"] = {} if result is None and "result" in value else result
    text = json.dumps(message, ensure_ascii=False).encode("utf-8", "surrogatepass")
    text, halves = _HALF.subn("\ufffd".encode(), text)
    if halves:
        odd.append("there is half a character")
    try:
        return _ANY.validate_json(text, by_name=False)
    except ValueError:
        return None


def _error(error: Any, odd: list[str]) -> dict[str, Any]:
    """An error as the protocol has it; one of another kind keeps what it says."""
    fields = keywords(error)
    code, message = fields.get("code"), fields.get("message")
    fits = isinstance(code, int) and not isinstance(code, bool) and isinstance(message, str)
    if fits:
        return fields
    odd.append("an error is not an object with a code and a message")
    if not isinstance(message, str):
        message = error if isinstance(error, str) else json.dumps(error, ensure_ascii=False)
    try:
        code = int(cast("Any", code))
    except (TypeError, ValueError, OverflowError):
        code = types.INTERNAL_ERROR
    return {"code": code, "message": message}


def number_of(value: object) -> Number | None:
    """An id as a `Number`; None for what can be none."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str) and value.isdecimal() and len(value) <= _TAIL:
        return int(value)
    return value if isinstance(value, int | str) and not isinstance(value, bool) else None


def outline(text: str) -> tuple[set[str], Number | None]:
    """The keys of an object that is no JSON, as far as they can be told, and its id."""
    keys: dict[str, str] = {}
    depth, name, after_colon = 0, "", False
    for piece in _PIECE.finditer(text, max(text.find("{"), 0), _HEAD):
        part = piece[0]
        if part in {'"', "'"}:  # a text that does not end: nothing behind it is certain
            break
        if part in {"{", "["}:
            depth += 1
        elif part in {"}", "]"}:
            depth -= 1
        elif depth != 1:
            continue
        elif part == ":":
            after_colon = True
            keys.setdefault(name, "")
        elif part == ",":
            after_colon = False
        elif after_colon:
            keys[name] = part
        else:
            name = part.strip("\"'")
    last = _LAST_ID.search(text, max(len(text) - _TAIL, 0))
    if "id" not in keys and last is not None:
        keys["id"] = last[1]
    try:
        number = number_of(json.loads(keys.get("id", "")))
    except ValueError:
        number = None
    return {*keys}, number


class _IntegerReader:
    """Reads a whole number; one with more digits than Python reads stays a text."""

    def __init__(self, odd: list[str]) -> None:
        self._odd = odd

    def __call__(self, digits: str) -> int | str:
        if len(digits) <= _MAX_DIGITS:
            return int(digits)
        self._odd.append(f"a number of more than {_MAX_DIGITS:,} digits is kept as text")
        return digits


def _shallow(text: str, odd: list[str]) -> str:
    """The text without what lies in more than `DEEPEST` levels of lists and objects."""
    if text.count("[") + text.count("{") <= DEEPEST:
        return text
    kept: list[str] = []
    depth, start = 0, 0
    for token in _BRACKET.finditer(text):
        if token[0] in {"[", "{"}:
            depth += 1
            if depth == DEEPEST + 1:
                kept += [text[start : token.start()], _CUT]
        elif token[0] in {"]", "}"}:
            if depth == DEEPEST + 1:
                start = token.end()
            depth -= 1
    if not kept or depth > DEEPEST:
        return text
    odd.append(f"what lies deeper than {DEEPEST} levels is left out")
    return "".join([*kept, text[start:]])
