"""What of a text can be searched for.

SQLite's tokenizer takes words as they are spelled between spaces and punctuation, without accents,
cut to their stems by the Porter algorithm (made for English). Chinese, Japanese, Korean, Thai and
Lao have no such gaps: their words are indexed beside it as pairs of neighbouring characters, as are
words that `caseless` spells otherwise.
"""

from collections.abc import Iterator
from typing import Final

from clew.support.lazy_regex import Lazy
from clew.support.text_folding import caseless

_RUN: Final = (
    r"[\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u0edc-\u0edf"
    r"\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    r"\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]"
)
_UNSPACED: Final = Lazy(_RUN)
_WORD: Final = Lazy(r"[^\W_]+")
_PIECE: Final = Lazy(rf"{_RUN}+|(?:(?!{_RUN})[^\W_])+")
_COMMON: Final = """
a about after all also am an and any are as at be because been before being but by can could did
do does for from had has have he her hers him his how i if in into is it its me more most my no
not of on or our she should so some such than that the their them then there these they this
those to was we were what when where which while who whom whose why will with would you your s t
d ll m o re ve
"""
_STOP: Final = frozenset(_COMMON.split())


def grams(text: str) -> str:
    """The words of a text that its spaces do not show, or not as they are searched for.

    Words that hold unspaced script are taken apart as `terms` takes them apart; words in another
    form than `caseless` gives them (`Straße`, full width, with invisible characters) get that form.
    """
    if text.isascii():
        return ""
    known = set(_WORD.findall(text.lower()))
    pieces: list[str] = []
    for word in _WORD.findall(caseless(text)):
        if _UNSPACED.search(word):
            pieces += _pairs(word, last=True)
        elif word not in known:
            pieces.append(word)
    return " ".join(pieces)


def terms(query: str) -> list[str]:
    """The distinct terms of a query, each a full-text expression that holds no operator.

    Very common English words count only where there is no other.
    """
    words = _WORD.findall(caseless(query))
    telling = [word for word in words if word not in _STOP] or words
    pairs = dict.fromkeys(piece for word in telling for piece in _pairs(word, last=False))
    single = {piece for piece in pairs if len(piece) == 1 and _UNSPACED.match(piece)}
    # A lone character is the first of a pair, or the last of its word.
    return [f'"{piece}"*' if piece in single else f'"{piece}"' for piece in pairs]


def _pairs(word: str, *, last: bool) -> Iterator[str]:
    """A word's pieces of spaced script whole, of unspaced script as overlapping pairs."""
    for piece in _PIECE.findall(word):
        if not _UNSPACED.match(piece):
            yield piece
            continue
        yield from (piece[index : index + 2] for index in range(len(piece) - 1))
        if last or len(piece) == 1:
            yield piece[-1]
