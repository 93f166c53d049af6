"""Letters of other scripts that look like Latin ones."""

from typing import Final

_LOOK_LIKE: Final = {
    "a": "аαɑᴀ", "b": "ьβʙ", "c": "сϲᴄ", "d": "ԁᴅ", "e": "еεᴇ", "f": "ꜰ", "g": "ɡɢց", "h": "һհнʜ",
    "i": "іıιɩɪ", "j": "јᴊ", "k": "кκᴋ", "l": "ӏʟ", "m": "мᴍ", "n": "ոηɴ", "o": "оοօσᴏ", "p": "рρᴘ",
    "q": "ԛ", "r": "гʀ", "s": "ѕꜱ", "t": "тτᴛ", "u": "սυᴜ", "v": "νѵᴠ", "w": "ԝωᴡ", "x": "хχ",
    "y": "уγʏ", "z": "ᴢ",
}  # fmt: skip
"""Folded letters that look like Latin ones: Cyrillic, Greek, Armenian, small capitals."""

LATIN: Final = {ord(other): letter for letter, others in _LOOK_LIKE.items() for other in others}
"""The Latin letters that they look like, as `str.translate` wants them."""


def looks_latin(letter: str) -> bool:
    """Whether a letter of another script looks like a Latin one."""
    return ord(letter.lower()[0]) in LATIN
