"""How much of a query a text contains: the score for sources that give none."""

import unicodedata
from typing import Final

from clew.tools.search_words import terms

_STEM: Final = 4
_ENDING: Final = 3


def share(query: str, text: str) -> float:
    """The share of the query's distinct words that occur in the text, from 0 to 1.

    Very common English words count only where there is no other; case and accents do not. Two words
    are the same where one begins with the other, has at least four letters of it, and at most three
    more (discover, discovered). Chinese, Japanese and Korean count in pairs of characters. It is no
    probability, and nothing that sources can move by the order in which they answer.
    """
    asked, there = _pieces(query), _pieces(text)
    if not asked:
        return 0.0
    matching = sum(
        piece in there or any(_alike(piece, other) for other in there) for piece in asked
    )
    return round(matching / len(asked), 3)


def _pieces(text: str) -> set[str]:
    bare = "".join(
        sign for sign in unicodedata.normalize("NFKD", text) if not unicodedata.combining(sign)
    )
    return {term.strip('"*') for term in terms(bare)}


def _alike(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    return (
        len(short) >= _STEM and len(long) - len(short) <= _ENDING and long.startswith(short)
    ) or (len(one) == 1 and not one.isascii() and one in other)
