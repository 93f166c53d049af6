"""Half characters: what is left where a text was cut within a character, which no record can hold.

In JSON such a half is an escape of half a pair, in a text of Python a lone surrogate. Each becomes
U+FFFD, and whoever mends it says `HALF`.
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


def mended_json(text: str) -> str:
    """JSON with its half characters mended; as long as it was, so that places stay places."""
    return _ESCAPE.sub(lambda found: r"\ufffd" if found["half"] else found[0], text)


def mended_bytes(data: bytes) -> bytes:
    """JSON as bytes, mended; what is no UTF-8 in it stays."""
    return mended_json(data.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")


def mended(value: Any) -> Any:
    """A value of plain parts with the half characters of all its texts mended."""
    if isinstance(value, str):
        return _LONE.sub("\ufffd", value)
    if isinstance(value, dict):
        return {mended(key): mended(each) for key, each in cast("dict[str, Any]", value).items()}
    if isinstance(value, (list, tuple)):
        return [mended(each) for each in cast("list[object]", value)]
    return value
