"""A text as a model may read it: without what hides its letters, and with encodings undone.

Every form keeps where its characters stand in the text as it was given.
"""

import base64
import binascii
import codecs
import html
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import repeat
from typing import Final

from clew.support.lookalikes import LATIN

DEPTH: Final = 2
"""So often an encoding is undone: an encoding within an encoding, and no further."""

_CYRILLIC: Final = str.maketrans("aekmhopctyxbi", "аекмнорстухьі")
_DIGITS: Final = str.maketrans("4@3105$7+98", "aaeiossttgb")
_STROKES: Final = re.compile(r"!(?=[^\W_])|(?<=[^\W_])\|(?=[^\W_])")
_ALPHABET: Final = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_ROT13: Final = str.maketrans(_ALPHABET, codecs.encode(_ALPHABET, "rot13"))
_SPREAD: Final = re.compile(r"(?<!\w)\w([ .*/~-])\w(?:\1\w){0,40}(?!\w)")
_SPREAD_LONG: Final = re.compile(r"(?<!\w)\w([ ._*/~-])\w(?:\1\w){2}")
_HAS_CYRILLIC: Final = re.compile(r"[а-я]")
_HAS_LATIN: Final = re.compile(r"[a-z]")
_LOOKS: Final = re.compile(f"[{''.join(map(chr, LATIN))}]")
_BACKWARDS: Final = re.compile("snoitcurtsni|tpmorp|selur|erongi|dragersid|senilediug")
"""Words of attacks as they stand in a text that is written backwards."""

_SWAPPED: Final = re.compile(r"[a-z][0-9@$!|+]|[0-9@$!|+][a-z]")


@dataclass(frozen=True, slots=True)
class TextForm:
    """A text in one of its forms; `starts` and `ends` say where each character comes from.

    `how` names what was undone.
    """

    text: str
    starts: Sequence[int]
    ends: Sequence[int]
    how: tuple[str, ...] = ()

    def replace(self, text: str, how: str) -> "TextForm":
        """The same places with other characters."""
        return TextForm(text, self.starts, self.ends, (*self.how, how))


def fold(text: str) -> str:
    """Letters as the rules are written in: small, plain, without marks and what cannot be seen."""
    return "".join(map(_folded, text))


@lru_cache(maxsize=4096)
def _folded(character: str) -> str:
    if 0xE0009 <= (code := ord(character)) <= 0xE00FF:  # tags: text that nobody sees
        return _folded(chr(code - 0xE0000))
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", character).casefold())
    return "".join(map(_visible_character, plain))


def _visible_character(character: str) -> str:
    """A character as far as it can be seen: blanks are spaces or line ends."""
    category = unicodedata.category(character)
    if category in {"Zl", "Zp"} or character == "\n":
        return "\n"
    if category == "Zs" or character == "\t":
        return " "
    return "" if category in {"Mn", "Me", "Cf", "Cc"} else character


def decoded_views(text: str) -> Iterator[list[TextForm]]:
    """The text as it may be read; then with the encodings in it undone, once and twice."""
    form = TextForm(text, range(len(text)), range(1, len(text) + 1))
    yield (read := _read(form))
    if _BACKWARDS.search(read[0].text):
        yield [_turned(read[0])]
    for _ in range(DEPTH):
        decoded = form
        for how, pattern, decode in _ENCODINGS:
            decoded = _substituted(decoded, how, pattern, decode)
        if decoded is form:
            return
        form = decoded
        yield _read(form)


def _turned(form: TextForm) -> TextForm:
    """A text that was written backwards, from its end."""
    return TextForm(form.text[::-1], form.starts[::-1], form.ends[::-1], (*form.how, "backwards"))


def _read(form: TextForm) -> list[TextForm]:
    """A text as it is, folded, and with its letters put back where others stand in for them.

    All of them have the same places, so that what stands around a phrase can be read in the first.
    """
    plain = _fold(form)
    readings = [plain]
    if _LOOKS.search(plain.text):
        readings.append(plain.replace(plain.text.translate(LATIN), "look-alikes"))
        if _HAS_CYRILLIC.search(plain.text) and _HAS_LATIN.search(plain.text):
            readings.append(plain.replace(plain.text.translate(_CYRILLIC), "look-alikes"))
    for one in tuple(readings):
        if _SWAPPED.search(one.text):
            letters = _STROKES.sub("i", one.text).translate(_DIGITS)
            readings.append(one.replace(letters, "digits for letters"))
    if _HAS_LATIN.search(plain.text):
        rotated = TextForm(
            form.text.translate(_ROT13), form.starts, form.ends, (*form.how, "rot13")
        )
        readings.append(_fold(rotated))
    return readings


def _fold(form: TextForm) -> TextForm:
    """A text in small plain letters, those of spread words put together again."""
    if form.text.isascii() and form.text.replace("\n", "").isprintable():
        folded = TextForm(form.text.lower(), form.starts, form.ends, form.how)
    else:
        pieces = [_folded(character) for character in form.text]
        folded = TextForm(
            "".join(pieces),
            [at for at, piece in zip(form.starts, pieces, strict=True) for _ in piece],
            [at for at, piece in zip(form.ends, pieces, strict=True) for _ in piece],
            form.how,
        )
    if not _SPREAD_LONG.search(folded.text):
        return folded
    return _substituted(folded, "spacing", _SPREAD, lambda run: run[::2])


# ------------------------------------------------------------------------------- encodings


def _readable(data: bytes) -> str | None:
    """The bytes as text, if they are some."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    return text if all(c.isprintable() or c in "\n\r\t" for c in text) else None


def _base64(run: str) -> str | None:
    letters = "".join(run.split()).rstrip("=").replace("-", "+").replace("_", "/")
    if len(letters) % 4 == 1:
        return None
    return _readable(base64.b64decode(letters + "=" * (-len(letters) % 4)))


def _hex(run: str) -> str | None:
    digits = re.sub(r"\\x|0x|[^0-9a-f]", "", run.lower())
    return _readable(binascii.unhexlify(digits))


def _percent(run: str) -> str | None:
    return _readable(binascii.unhexlify(run.replace("%", "")))


def _binary(run: str) -> str | None:
    bits = "".join(run.split())
    return _readable(bytes(int(bits[at : at + 8], 2) for at in range(0, len(bits), 8)))


def _escapes(run: str) -> str | None:
    pairs = "".join(chr(int(digits, 16)) for digits in re.findall(r"[0-9a-fA-F]{4}", run))
    return pairs.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


_ENCODINGS: Final[tuple[tuple[str, re.Pattern[str], Callable[[str], str | None]], ...]] = (
    ("URL encoding", re.compile(r"(?:%[0-9a-fA-F]{2})+"), _percent),
    ("HTML entities", re.compile(r"&#?\w{2,8};"), html.unescape),
    ("escapes", re.compile(r"(?:\\u[0-9a-fA-F]{4})+"), _escapes),
    ("hex", re.compile(r"(?:(?:\\x|0x)?[0-9a-fA-F]{2}[ :,]?){8,}"), _hex),
    ("binary", re.compile(r"(?:[01]{8}\s?){7,}[01]{8}"), _binary),
    ("base64", re.compile(r"[A-Za-z0-9+/_-]{16,}(?:\r?\n[A-Za-z0-9+/_-]{4,})*"), _base64),
)


def _substituted(
    form: TextForm, how: str, pattern: re.Pattern[str], decode: Callable[[str], str | None]
) -> TextForm:
    """The form with every run of the encoding that is readable put into plain text."""
    text: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    last = 0

    def keep(to: int) -> None:
        text.append(form.text[last:to])
        starts.extend(form.starts[last:to])
        ends.extend(form.ends[last:to])

    for run in pattern.finditer(form.text):
        plain = decode(run[0])
        if not plain or plain == run[0]:
            continue
        keep(run.start())
        text.append(plain)
        starts.extend(repeat(form.starts[run.start()], len(plain)))
        ends.extend(repeat(form.ends[run.end() - 1], len(plain)))
        last = run.end()
    if not last:
        return form
    keep(len(form.text))
    return TextForm("".join(text), starts, ends, (*form.how, how))
