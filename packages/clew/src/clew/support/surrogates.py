"""Half characters: what is left where a text was cut within a character, which no record can hold.

In JSON such a half is an escape of half a pair, in a text of Python a lone surrogate. Each becomes
U+FFFD, and whoever mends it says `HALF`. Where the other half may come with the next piece of a
text, a stand-in for each is kept until all came: a character of a plane for private use.
"""

from typing import Any, Final, cast

from clew.support.lazy_regex import Lazy

HALF: Final = "half a character replaced by U+FFFD"

_ESCAPE: Final = Lazy(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"  # a whole one
    r"|(?P<half>\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
    r"|\\."
)
_LONE: Final = Lazy("[\ud800-\udfff]")
_PRIVATE: Final = 0x100000
"""What is added to half a character to have its stand-in."""

_STAND_INS: Final = Lazy("[\U0010d800-\U0010dbff][\U0010dc00-\U0010dfff]|[\U0010d800-\U0010dfff]")


def mended_json(text: str) -> str:
    """JSON with its half characters mended; as long as it was, so that places stay places."""
    return _ESCAPE.sub(lambda match: r"\ufffd" if match["half"] else match[0], text)


def keep_halves(data: bytes) -> bytes:
    """JSON as bytes with a stand-in for each half; what is no UTF-8 in it stays."""
    text = data.decode("utf-8", "surrogateescape")
    kept = _ESCAPE.sub(lambda match: _stand_in(match["half"]) or match[0], text)
    return kept.encode("utf-8", "surrogateescape")


def join_halves(text: str) -> str:
    """The text with the characters whose two halves are side by side; other halves are mended."""
    return _STAND_INS.sub(lambda match: _character(*match[0]), text)


def without_open_half(text: str) -> tuple[str, str]:
    """A text without the first half at its end, and that half."""
    ends = "\U0010d800" <= text[-1:] <= "\U0010dbff"
    return (text[:-1], text[-1:]) if ends else (text, "")


def _stand_in(escape: str | None) -> str:
    return chr(_PRIVATE + int.from_bytes(bytes.fromhex(escape[2:]))) if escape else ""


def _character(first: str, second: str = "") -> str:
    if not second:
        return "\ufffd"
    high, low = ord(first) - _PRIVATE, ord(second) - _PRIVATE
    return chr(0x10000 + ((high - 0xD800) << 10) + low - 0xDC00)


def mended(value: Any) -> Any:
    """A value of plain parts with the half characters of all its texts mended."""
    if isinstance(value, str):
        return _LONE.sub("\ufffd", value)
    if isinstance(value, dict):
        return {mended(key): mended(each) for key, each in cast("dict[str, Any]", value).items()}
    if isinstance(value, (list, tuple)):
        return [mended(each) for each in cast("list[object]", value)]
    return value
