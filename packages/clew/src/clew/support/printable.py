"""Text of others as a person may read it: what cannot be seen, or passes for something else, shows.

A person decides by what stands before them. So control characters, marks that turn the direction of
text, characters without a shape and foreign letters that imitate Latin ones are shown as codes.
"""

import re
from typing import Final

from clew.support.lazy_regex import Lazy
from clew.support.lookalikes import looks_latin

SHAPELESS: Final = (
    "\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff"
)
_JOINERS: Final = (  # they join emoji, and letters of some scripts, but hide among Latin ones
    "(?<![^\x00-\x7f])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\x7f])"
)
_VARIANTS: Final = "(?<![^\x00-\x7f]|[0-9#*])[\ufe00-\ufe0f]|(?<=[\ufe00-\ufe0f])[\ufe00-\ufe0f]"
"""Marks of how a sign is drawn, where none stands: a row of them spells a text that nobody sees."""
_HIDDEN: Final = Lazy(
    f"[\x00-\x08\x0b-\x1f\x7f-\x9f{SHAPELESS}\ud800-\udfff]|{_JOINERS}|{_VARIANTS}"
)
_WORD: Final = Lazy(r"[^\W_]+")
_ADDRESS: Final = Lazy(r"[^\s\"'<>(){}\[\],;=]*[^\W_][.@][^\W_][^\s\"'<>(){}\[\],;=]*")
_LATIN: Final = Lazy(r"[A-Za-z]")


def printable(text: str) -> str:
    """The text with characters that act on a terminal, or cannot be seen, as their codes."""
    return _HIDDEN.sub(lambda match: _named(match[0]), text.replace("\r\n", "\n"))


def inert(text: str) -> str:
    """The text with what cannot be seen, or imitates Latin letters, shown as its codes."""
    visible = printable(text)
    if visible.isascii():
        return visible
    return _ADDRESS.sub(_address, _WORD.sub(_word, visible))


def _named(letter: str) -> str:
    number = ord(letter)
    if number < 0x100:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def _word(match: re.Match[str]) -> str:
    """A word of Latin letters in which others pass for some."""
    word = match[0]
    return _reveal(word) if not word.isascii() and _LATIN.search(word) else word


def _address(match: re.Match[str]) -> str:
    """An address in which a whole word of other letters passes for a Latin one."""
    address = match[0]
    if address.isascii() or not _LATIN.search(address):
        return address
    return _WORD.sub(
        lambda word: _reveal(word[0]) if all(map(looks_latin, word[0])) else word[0], address
    )


def _reveal(word: str) -> str:
    return "".join(_named(letter) if looks_latin(letter) else letter for letter in word)
