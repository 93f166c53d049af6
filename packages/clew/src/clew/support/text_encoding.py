"""Which encoding the bytes of a text are in, and whether that is certain.

A text that is not Unicode does not say what it is. `detect` weighs the usual encodings by the
characters that they make of it, and says how sure it is; nothing is decoded with replacements.
"""

import codecs
import re
import unicodedata
from dataclasses import dataclass
from itertools import pairwise
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
    "gb18030", "big5", "shift_jis", "euc_jp", "euc_kr", "cp1251", "koi8-r", "iso8859-5", "cp1253",
    "cp874", "cp1252",
)  # fmt: skip
_CYRILLIC: Final = frozenset({"cp1251", "koi8-r", "iso8859-5"})
_ALPHABETS: Final = _CYRILLIC | {"cp1253"}
_FEW: Final = 3
_VOWELS: Final = 0.3
_ENOUGH: Final = 10
"""So many syllables that Chinese text would hardly have all of them in the part of Korean."""

CONTROLS: Final = "clew.controls"
"""The error handler that reads bytes which are no windows-1252 as browsers do."""

_WRONG: Final = "U+FFFD"
_HEAD: Final = 1024
_META: Final = re.compile(rb"<meta\b[^>]*?\bcharset\s*=\s*[\"']?\s*([\w.:-]+)", re.IGNORECASE)
_XML: Final = re.compile(rb"\s*<\?xml\b[^>]*?\bencoding\s*=\s*[\"']([\w.:-]+)")
_COMMENT: Final = re.compile(rb"<!--.*?-->", re.DOTALL)

_DROPPING: Final = {
    "utf-8": "utf-8-sig",
    "utf-16-le": "utf-16",
    "utf-16-be": "utf-16",
    "utf-32-le": "utf-32",
    "utf-32-be": "utf-32",
}
"""Codecs that leave the byte order mark out of the text."""

_WIDER: Final = {"shift_jis": "cp932", "euc_kr": "cp949", "big5": "big5hkscs"}
"""What Windows made of an encoding, which reads all of it and more."""

_WEB: Final = {
    **dict.fromkeys(
        ("ascii", "us-ascii", "iso-8859-1", "iso8859-1", "latin1", "latin-1", "l1", "cp1252",
         "windows-1252", "x-cp1252", "ansi_x3.4-1968", "cp819", "ibm819"),
        "cp1252",
    ),
    **dict.fromkeys(("iso-8859-9", "iso8859-9", "latin5", "windows-1254"), "cp1254"),
    **dict.fromkeys(("tis-620", "iso-8859-11", "iso8859-11", "dos-874", "windows-874"), "cp874"),
    **dict.fromkeys(("gb2312", "gbk", "x-gbk", "gb_2312-80", "chinese", "gb18030"), "gb18030"),
    **dict.fromkeys(("big5", "big5-hkscs", "cn-big5", "x-x-big5"), "big5hkscs"),
    **dict.fromkeys(("shift_jis", "shift-jis", "sjis", "x-sjis", "ms_kanji"), "cp932"),
    **dict.fromkeys(("windows-31j", "ms932"), "cp932"),
    **dict.fromkeys(("euc-kr", "euc_kr", "ks_c_5601-1987", "ksc5601", "korean"), "cp949"),
    **dict.fromkeys(("windows-949", "ks_c_5601", "ks_c_5601-1989"), "cp949"),
    **dict.fromkeys(("iso-8859-8-i", "logical"), "iso8859-8"),
    **dict.fromkeys(("utf-16", "unicode", "utf-16le", "utf-16-le", "ucs-2"), "utf-16-le"),
    **dict.fromkeys(("x-mac-roman", "macintosh"), "mac-roman"),
    **dict.fromkeys(("koi8", "koi", "cskoi8r"), "koi8-r"),
    **dict.fromkeys(("unicode-1-1-utf-8", "x-unicode20utf8", "unicode11utf8"), "utf-8"),
}  # fmt: skip
"""Labels that the standard of the web reads otherwise than Python, or that Python does not know."""

_ALIKE: Final = {
    "cp1252": ("cp1252", "cp1250", "cp1254", "iso8859-1", "iso8859-2", "iso8859-15"),
    "shift_jis": ("shift_jis", "cp932"),
    "euc_kr": ("euc_kr", "cp949"),
    "koi8-r": ("koi8-r", "koi8-u"),
    "cp1253": ("cp1253", "iso8859-7"),
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
    if b"\x1b$" in data and data.isascii():
        for name in ("iso2022_jp", "iso2022_kr"):
            if _decodes(data, name):
                return Encoding(name)
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


@dataclass(frozen=True, slots=True)
class TextDecoding:
    """How to decode a text to show it: `name` and `errors` are a codec and its error handler.

    `note` names what is not plain UTF-8 ("" otherwise), and says so if it is not `sure`.
    """

    name: str
    errors: str = "strict"
    note: str = ""
    sure: bool = True


@dataclass(frozen=True, slots=True)
class DecodedText:
    """A decoded text, with the note of its `TextDecoding`."""

    text: str
    note: str = ""
    sure: bool = True


def mark_of(data: bytes) -> str:
    """The codec that a byte order mark stands for and that drops it; "" without a mark."""
    return next((_DROPPING[name] for mark, name in MARKS if data.startswith(mark)), "")


def reading(data: bytes) -> TextDecoding:
    """How to show a text that says nothing of its encoding, by the whole of it or a sample."""
    detected = detect(data)
    if detected.mark:
        return TextDecoding(_DROPPING[detected.name])
    if detected.name == "utf-8":
        return TextDecoding("utf-8", "replace")
    if detected.name == MIXED:
        note = f"not valid UTF-8: the bytes that are wrong are shown as {_WRONG}"
        return TextDecoding("utf-8", "replace", note, sure=False)
    plain = detected.name
    if not plain or (plain in _ALPHABETS and _is_among_ascii(data)):
        plain = "cp1252"
    name = _WIDER.get(plain, plain)
    sure = detected.sure and plain == detected.name and _no_other_reads(data[:_SAMPLE], plain)
    return TextDecoding(name, _handler(name), _read_as(name, sure=sure), sure=sure)


def _is_among_ascii(data: bytes) -> bool:
    """Whether there are so few bytes beyond ASCII that they say nothing of an alphabet."""
    beyond = sum(byte > 0x7F for byte in data)
    return beyond < _FEW and sum(map(str.isalpha, data.decode("ascii", "ignore"))) > beyond


def _no_other_reads(data: bytes, name: str) -> bool:
    """Whether encodings that `detect` does not tell apart make the same of it, or no text."""
    text = data.decode(name, _handler(name))
    if name in _CYRILLIC and not _is_cyrillic(text):
        return False
    for other in _ALIKE.get(name, ()):
        read = data.decode(other, "replace")
        if read != text and not any(one == "\ufffd" or "\x80" <= one <= "\x9f" for one in read):
            return False
    return True


def _is_cyrillic(text: str) -> bool:
    """Whether it has the vowels, and capitals where words begin.

    Hebrew read so has few vowels; what Macintosh wrote has a capital in place of a letter.
    """
    letters = [one for one in text if "\u0400" <= one <= "\u04ff"]
    vowels = sum(one in "аеиоуыэюяёіїєАЕИОУЫЭЮЯЁІЇЄ" for one in letters)
    rising = sum(one.islower() and after.isupper() for one, after in pairwise(text))
    return vowels >= _VOWELS * len(letters) and 100 * rising <= len(letters)


def _handler(name: str) -> str:
    return CONTROLS if name == "cp1252" else "replace"


def _read_as(name: str, *, sure: bool) -> str:
    plain = next((one for one, wider in _WIDER.items() if wider == name), name)
    return f"{'not UTF-8' if sure else 'encoding not certain'}: read as {plain}"


def declared(label: str) -> str:
    """The codec for the name of an encoding by the standard of the web; "" for no known name.

    https://encoding.spec.whatwg.org/#names-and-labels: browsers read what calls itself ISO-8859-1
    or ASCII as windows-1252, GB 2312 as GB 18030, Shift_JIS as Windows reads it, and so on.
    """
    plain = label.strip(" \t\r\n\f\"'").lower()
    if plain in _WEB:
        return _WEB[plain]
    try:
        name = codecs.lookup(plain).name
    except (LookupError, ValueError):
        return ""
    return _WEB.get(name, name) if _is_for_text(name) else ""


def decoded(data: bytes, *, charset: str = "", html: bool = False) -> DecodedText:
    """The text of some bytes, by the first of these that there is, which is the standard's rule.

    A byte order mark; `charset`, as a header says it; in HTML, what the page says of itself in its
    first 1,024 bytes; what `reading` finds. Bytes that are wrong are shown as U+FFFD, and noted.
    """
    encoding = mark_of(data) or declared(charset) or (_by_itself(data) if html else "")
    if not encoding:
        decoding = reading(data)
        return DecodedText(
            data.decode(decoding.name, decoding.errors), decoding.note, decoding.sure
        )
    try:
        text = data.decode(encoding, CONTROLS if encoding == "cp1252" else "strict")
    except UnicodeDecodeError:
        note = f"said to be {encoding}, which it is not: bytes that are wrong are shown as {_WRONG}"
        return DecodedText(data.decode(encoding, "replace"), note, sure=False)
    return DecodedText(text, "" if encoding.startswith("utf") else _read_as(encoding, sure=True))


def _by_itself(data: bytes) -> str:
    """What a page of HTML says of its encoding, in a `meta` tag or an XML declaration."""
    head = data[:_HEAD]
    match = _XML.match(head) or _META.search(_COMMENT.sub(b"", head))
    name = declared(match[1].decode("ascii", "replace")) if match else ""
    # It was read as ASCII: it cannot be UTF-16.
    return "utf-8" if name.startswith("utf-16") else name


def _is_for_text(name: str) -> bool:
    try:
        b"a".decode(name)
    except (LookupError, UnicodeError, ValueError):
        return name.startswith(("utf-16", "utf-32"))
    return name not in {"utf-7", "idna", "punycode", "unicode-escape", "raw-unicode-escape"}


def _to_control(error: UnicodeError) -> tuple[str, int]:
    """Five bytes of windows-1252 mean nothing to Python; browsers read them as controls."""
    if not isinstance(error, UnicodeDecodeError):  # pragma: no cover - it is for decoding only
        raise error
    return "".join(map(chr, error.object[error.start : error.end])), error.end


codecs.register_error(CONTROLS, _to_control)


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
    decoded_text = data[:_SAMPLE].decode(name, "ignore")
    text = [one for one in decoded_text if one > "\x7f"]
    if not text:  # pragma: no cover - nothing that is ASCII is scored, and no candidate drops all
        return 0.0
    if name in {"gb18030", "big5"}:
        usual = sum(_first_level(one, name) for one in text) / len(text)
        return usual / 2 if name == "gb18030" and _is_korean(text) else usual
    if name in {"shift_jis", "euc_jp"}:
        kana = sum("\u3040" <= one <= "\u30ff" or one in "、。「」ー・" for one in text)
        kanji = sum("\u4e00" <= one <= "\u9fff" for one in text)
        halfwidth = sum("\uff61" <= one <= "\uff9f" for one in text)
        return min(1.0, (2 * kana + kanji / 2) / len(text)) - 2 * halfwidth / len(text)
    if name == "euc_kr":
        return sum("\uac00" <= one <= "\ud7a3" or one in "、。·" for one in text) / len(text)
    if name in _CYRILLIC:
        return _letters(text, "\u0410", "\u044f", "ёЁ«»–—№") * (1 - _mixed(decoded_text))
    if name == "cp874":
        return _thai(decoded_text, len(text))
    if name == "cp1253":
        # This sigma ends a word; the byte is one of the most frequent letters in Russian.
        inside = sum(one == "ς" and after.isalpha() for one, after in pairwise(decoded_text))
        letters = _letters(text, "\u0386", "\u03ce", "«»–—") * (1 - _mixed(decoded_text))
        return max(0.0, letters - 8 * inside / len(text))
    return _western(decoded_text, text)


def _is_korean(text: list[str]) -> bool:
    """Whether all characters of GB 18030 are where EUC-KR has its syllables, 60% of the usual."""
    signs = {one for one in text if "\u4e00" <= one <= "\u9fff"}
    return len(signs) >= _ENOUGH and all(one.encode("gb18030")[0] <= 0xC8 for one in signs)


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
    rising = sum(one.islower() and after.isupper() for one, after in pairwise(text))
    usual = max(0.0, 1 - 4 * rising / len(text))
    return len(inside) / len(text) * (small / len(inside) if inside else 0) * usual


def _thai(decoded_text: str, beyond: int) -> float:
    """Thai: letters, some of them with marks, which nothing but a letter or a mark carries."""
    letters = sum("\u0e01" <= one <= "\u0e5b" for one in decoded_text)
    marks = sum(_is_thai_mark(one) for one in decoded_text)
    odd = sum(one in "ฃฅฆฌฎฏฐฑฒฤฦฺ๎๏๚๛" or "\u0e50" <= one <= "\u0e59" for one in decoded_text)
    astray = sum(
        _is_thai_mark(one) and not ("\u0e01" <= before <= "\u0e2e" or _is_thai_mark(before))
        for before, one in pairwise(f" {decoded_text}")
    )
    return max(0.0, (letters - 4 * odd - 8 * astray) / beyond) if marks else 0.0


def _is_thai_mark(one: str) -> bool:
    return one == "\u0e31" or "\u0e34" <= one <= "\u0e3a" or "\u0e47" <= one <= "\u0e4e"


def _western(decoded_text: str, text: list[str]) -> float:
    """Western European: small letters beyond ASCII among ASCII ones, and a few signs."""
    letters = sum(unicodedata.category(one) == "Ll" for one in text)
    usual = sum(one in "ÄÖÜÉÈÀÇÑ€£§°«»„“”‘’–—…¿¡" for one in text)
    return (letters + usual) / len(text) * max(_mixed(decoded_text), 1.0 if not letters else 0.0)


def _mixed(decoded_text: str) -> float:
    """The share of letters beyond ASCII that stand beside an ASCII letter."""
    pairs = zip(f" {decoded_text[:-1]}", decoded_text, f"{decoded_text[1:]} ", strict=True)
    beyond = [(before, after) for before, one, after in pairs if one > "\x7f" and one.isalpha()]
    mixed = sum(
        (before.isascii() and before.isalpha()) or (after.isascii() and after.isalpha())
        for before, after in beyond
    )
    return mixed / len(beyond) if beyond else 0.0
