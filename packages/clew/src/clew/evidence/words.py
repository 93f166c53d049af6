"""Words as they are compared: one lexer and one folding for claims and passages alike."""

import re
import unicodedata
from functools import lru_cache
from typing import Final, NamedTuple

from clew.support.lazy_regex import Lazy

_WORD: Final = Lazy(
    r"(?:[^\W\d_]\.){2,}(?![^\W_])"  # U.S., J.R.R.
    r"|[^\W_]+(?:['’ʼ‘][^\W_]+)*"
)
_ELIDED: Final = Lazy(r"(?:[cdjlmnst]|qu|dell|nell|all|un)['’ʼ‘](?=\w)", re.IGNORECASE)
_GENITIVE: Final = Lazy(r"(?<=\w)['’ʼ‘][sS]$")
_LETTERS: Final = str.maketrans({
    "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "a", "œ": "o", "ß": "ss", "ı": "i",
    "'": "", "’": "", "ʼ": "", "‘": "", ".": "",
})  # fmt: skip
_UMLAUT: Final = Lazy(r"(?<=[aou])e+")
_SPELLED: Final = Lazy(r"ou+r|tre$")


class Word(NamedTuple):
    """A word and where it stands; `key` is what is compared."""

    text: str
    start: int
    end: int
    key: str

    @property
    def capital(self) -> bool:
        """Whether it begins with a capital letter, or has one after its first letter (iPhone)."""
        return self.text[0].isupper() or any(letter.isupper() for letter in self.text[1:3])


def words(text: str) -> list[Word]:
    """All words of a text in order. Hyphens part words; `'s` and elided articles are left out."""
    listed: list[Word] = []
    for match in _WORD.finditer(text):
        start, end, word = match.start(), match.end(), match[0]
        if elided := _ELIDED.match(word):
            start, word = start + elided.end(), word[elided.end() :]
        if genitive := _GENITIVE.search(word):
            end, word = end - len(genitive[0]), word[: genitive.start()]
        listed.append(Word(word, start, end, key(word)))
    return listed


@lru_cache(maxsize=20_000)
def key(word: str) -> str:
    """A word without case, marks and variants of spelling: Müller, Mueller and MULLER are one.

    So are Harbour and Harbor, Theatre and Theater, O'Brien and OBrien. Done twice it changes
    nothing more.
    """
    bare = word.lower() if word.isascii() and word.isalnum() else _bare(word)
    bare = _UMLAUT.sub("", bare)
    return _SPELLED.sub(lambda match: "ter" if match[0] == "tre" else "or", bare)


def _bare(word: str) -> str:
    folded = unicodedata.normalize("NFKD", word.casefold().translate(_LETTERS)).casefold()
    bare = "".join(letter for letter in folded if not unicodedata.combining(letter))
    return bare.translate(_LETTERS)


_FLAT: Final = {
    **dict.fromkeys(map(ord, "\u00a0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009"
                             "\u200a\u202f\u205f\u3000\t\n\r\v\f"), " "),
    **dict.fromkeys(map(ord, "‐‑−﹣－"), "-"),
    **dict.fromkeys(map(ord, "–—―"), "–"),
    **dict.fromkeys(map(ord, "’ʼ‘′"), "'"),
    **dict.fromkeys(map(ord, "％"), "%"),
}  # fmt: skip
_FOREIGN_DIGIT: Final = Lazy(r"(?![0-9])\d")


def flat(text: str) -> str:
    """The text with plain spaces, hyphens, apostrophes and digits: the same length, for offsets."""
    plain = text.translate(_FLAT)
    return _FOREIGN_DIGIT.sub(lambda match: str(unicodedata.decimal(match[0])), plain)
