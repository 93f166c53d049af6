"""Which encoding the bytes of a text are in, and whether that is certain.

A text that is not Unicode does not say what it is. `detect` weighs the usual encodings by the
characters that they make of it, and says how sure it is; nothing is decoded with replacements.
"""

import unicodedata
from dataclasses import dataclass
from typing import Final

MARKS: Final = (
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe\x00\x00", "utf-32-le"),
    (b"\x00\x00\xfe\xff", "utf-32-be"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)
"""Byte order marks and the encoding that each stands for, the longer ones first."""

MIXED: Final = "utf-8 with invalid bytes"
"""The name of a text that is UTF-8 for the most part."""

_SAMPLE: Final = 200_000
_SURE: Final = 0.15
"""By how much the best encoding must be ahead of the next."""

_CANDIDATES: Final = (
    "gb18030", "big5", "shift_jis", "euc_jp", "euc_kr", "cp1251", "koi8-r", "cp1253", "cp1252",
)  # fmt: skip

_ALIKE: Final = {
    "cp1252": ("cp1252", "cp1250", "cp1254", "iso8859-1", "iso8859-2", "iso8859-15"),
    "shift_jis": ("shift_jis", "cp932"),
    "euc_kr": ("euc_kr", "cp949"),
}
"""Encodings that `detect` does not tell apart."""


@dataclass(frozen=True, slots=True)
class Encoding:
    """An encoding by its name for Python, the byte order mark, and whether it is certain.

    `name` is "" if none fits. One that is not `sure` may be shown, and nothing be written in it.
    """

    name: str
    mark: bytes = b""
    sure: bool = True


def detect(data: bytes) -> Encoding:
    """The encoding of a text; of bytes that are no text, whatever they look like most."""
    for mark, name in MARKS:
        if data.startswith(mark) and _decodes(data[len(mark) :], name):
            return Encoding(name, mark)
    if _decodes(data, "utf-8"):
        return Encoding("utf-8")
    if _mostly_utf8(data):
        return Encoding(MIXED, sure=False)
    scores = sorted(
        ((_score(data, name), name) for name in _CANDIDATES if _decodes(data, name)), reverse=True
    )
    if not scores or scores[0][0] <= 0:
        return Encoding("", sure=False)
    (best, name), *others = scores
    ahead = best - (others[0][0] if others else 0.0)
    return Encoding(name, sure=best >= 0.6 and ahead >= _SURE)


def is_same_in_all(character: str, name: str) -> bool:
    """Whether the encodings that `detect` calls by this name have one way to write a character."""
    try:
        return len({character.encode(one) for one in _ALIKE.get(name, (name,))}) == 1
    except UnicodeEncodeError:
        return False


def _decodes(data: bytes, name: str) -> bool:
    try:
        data.decode(name)
    except UnicodeDecodeError:
        return False
    return True


def _mostly_utf8(data: bytes) -> bool:
    """Whether at least as many characters are valid UTF-8 beyond ASCII as bytes are not."""
    text = data.decode("utf-8", "surrogateescape")
    wrong = sum("\udc80" <= one <= "\udcff" for one in text)
    right = sum(one > "\x7f" and not "\udc80" <= one <= "\udcff" for one in text)
    return right >= wrong > 0


def _score(data: bytes, name: str) -> float:
    """How usual the characters beyond ASCII are in texts of an encoding: up to 1."""
    whole = data[:_SAMPLE].decode(name, "ignore")
    text = [one for one in whole if one > "\x7f"]
    if not text:
        return 0.0
    if name in {"gb18030", "big5"}:
        usual = sum(_first_level(one, name) for one in text)
        return usual / len(text)
    if name in {"shift_jis", "euc_jp"}:
        kana = sum("\u3040" <= one <= "\u30ff" or one in "、。「」ー・" for one in text)
        kanji = sum("\u4e00" <= one <= "\u9fff" for one in text)
        halfwidth = sum("\uff61" <= one <= "\uff9f" for one in text)
        return min(1.0, (2 * kana + kanji / 2) / len(text)) - 2 * halfwidth / len(text)
    if name == "euc_kr":
        return sum("\uac00" <= one <= "\ud7a3" or one in "、。·" for one in text) / len(text)
    if name in {"cp1251", "koi8-r"}:
        return _letters(text, "\u0410", "\u044f", "ёЁ«»–—№") * (1 - _mixed(whole))
    if name == "cp1253":
        return _letters(text, "\u0386", "\u03ce", "«»–—") * (1 - _mixed(whole))
    return _western(whole, text)


def _first_level(one: str, name: str) -> bool:
    """Whether a character is one of the usual ones of GB 2312 or Big5."""
    if one in "，。、；：？！（）《》“”‘’—…　":
        return True
    try:
        code = one.encode("gb2312" if name == "gb18030" else "big5")
    except UnicodeEncodeError:
        return False
    low, high = (b"\xb0\xa1", b"\xd7\xf9") if name == "gb18030" else (b"\xa4\x40", b"\xc6\x7e")
    return low <= code <= high


def _letters(text: list[str], first: str, last: str, more: str) -> float:
    """The share of letters of an alphabet, most of which are small ones in a text."""
    inside = [one for one in text if first <= one <= last or one in more]
    small = sum(one.islower() for one in inside)
    return len(inside) / len(text) * (small / len(inside) if inside else 0)


def _western(whole: str, text: list[str]) -> float:
    """Western European: small letters beyond ASCII among ASCII ones, and a few signs."""
    letters = sum(unicodedata.category(one) == "Ll" for one in text)
    usual = sum(one in "ÄÖÜÉÈÀÇÑ€£§°«»„“”‘’–—…¿¡" for one in text)
    return (letters + usual) / len(text) * max(_mixed(whole), 1.0 if not letters else 0.0)


def _mixed(whole: str) -> float:
    """The share of letters beyond ASCII that stand beside an ASCII letter."""
    pairs = zip(f" {whole[:-1]}", whole, f"{whole[1:]} ", strict=True)
    beyond = [(before, after) for before, one, after in pairs if one > "\x7f" and one.isalpha()]
    mixed = sum(
        (before.isascii() and before.isalpha()) or (after.isascii() and after.isalpha())
        for before, after in beyond
    )
    return mixed / len(beyond) if beyond else 0.0
