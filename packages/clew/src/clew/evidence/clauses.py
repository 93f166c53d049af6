"""The clauses of a text: what stands between commas, semicolons and words such as while and but."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from clew.evidence.contradiction import ComparedSentence, sentences
from clew.evidence.words import Word
from clew.support.lazy_regex import Lazy

SHORTEST: Final = 3
"""A piece of fewer words is a part of the clause before it."""

_BREAK: Final = Lazy(
    r"[,;:–]\s|\s(?=(?:but|while|whereas|although|though|aber|während|jedoch|sondern|mais|tandis"
    r"|pero|mientras|aunque|ma|mentre|mas|enquanto|maar|terwijl)\s)",
)


@dataclass(frozen=True)
class Clause(ComparedSentence):
    """A clause, and the words of the whole sentence that it is in."""

    sentence_keys: frozenset[str] = frozenset()
    sentence_content: frozenset[str] = frozenset()


@lru_cache(maxsize=512)
def clauses(text: str) -> tuple[Clause, ...]:
    """The clauses of a text in order."""
    return tuple(clause for sentence in sentences(text) for clause in _parts(sentence))


def clauses_of(claim: str) -> Sequence[Clause]:
    """The claim in one piece, as a clause."""
    return [Clause(each.text, each.words, each.keys, each.content) for each in sentences(claim)]


def _parts(sentence: ComparedSentence) -> Iterator[Clause]:
    start = 0
    starts = [match.start() for match in _BREAK.finditer(sentence.text)]
    for end in (*starts, len(sentence.text)):
        inside = [word for word in sentence.words if start <= word.start < end]
        if len(inside) < SHORTEST and end < len(sentence.text):
            continue
        if inside:
            yield Clause(
                sentence.text[start:end],
                [Word(w.text, w.start - start, w.end - start, w.key) for w in inside],
                sentence.keys,
                sentence.content,
            )
        start = end
