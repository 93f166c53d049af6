"""Values that stand together in a person's words: "10 to DE11 and 900 to DE22"."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain
from typing import Final

from clew.core.values import Json
from clew.guards.provenance.values import has_digit, is_number, numbers_in, stands_in

_BETWEEN: Final = re.compile(r"[,;.!?](?=\s|$)|\n|\s(?:and|then)\s")
_KINDS: Final = (
    re.compile(r"[^\s@]+@[^\s@]+\w"),
    re.compile(r"(?<![\w.@])[\w-]+\.[a-z]{2,5}(?![\w@])"),
    re.compile(r"(?<![\w.@])(?=[\w-]*\d)(?=[\w-]*[a-z])[\w-]+(?![\w@])"),
)
"""Mail addresses, files, and names with digits."""
_NUMBER: Final = re.compile(r"(?<![\w.,@-])\d[\d,.]*(?![\w@-])")
_EACH: Final = re.compile(r"\b(?:each|both|all|every)\b")
_QUOTED: Final = re.compile(r"(?<!\w)['\"‘“].+?['\"’”](?!\w)")


def clauses(words: Sequence[str]) -> Iterator[str]:
    """The clauses of a person's words."""
    return chain.from_iterable(map(_clauses_of, words))


@lru_cache(maxsize=64)
def _clauses_of(text: str) -> tuple[str, ...]:
    return tuple(filter(str.strip, _BETWEEN.split(text)))


def crossed_in(
    values: Sequence[tuple[str, Json]], where: Sequence[str]
) -> Sequence[tuple[str, Json]]:
    """Arguments' values that casefolded clauses cross with that of another argument.

    They have both, each only beside another value of the kind. Where something is said of each or
    all of them nothing is crossed.
    """
    mentions = [
        (name, value, having) for name, value in values if (having := _clauses_with(value, where))
    ]
    if len(mentions) < 2 or any(map(_EACH.search, where)):
        return []
    return [
        (name, value)
        for name, value, having in mentions
        if any(
            having.isdisjoint(others)
            and all(has_like(other, clause) for clause in having)
            and all(has_like(value, clause) for clause in others)
            for argument, other, others in mentions
            if argument != name
        )
    ]


def has_value(value: Json, clause: str) -> bool:
    """Whether a clause has the value as a whole."""
    return bool(_clauses_with(value, (clause,)))


def _clauses_with(value: Json, where: Sequence[str]) -> set[str]:
    """Those of the clauses that have the value as a whole."""
    if isinstance(value, str):
        folded = value.casefold()
        return {it for it in where if folded in it and stands_in(folded, it)} if folded else set()
    if not is_number(value):
        return set()
    return {it for it in where if has_digit(it) and float(value) in numbers_in(it)}


def has_like(value: Json, clause: str) -> bool:
    """Whether a clause has a value of the kind."""
    if is_number(value):
        return _NUMBER.search(clause) is not None
    folded = str(value).casefold()
    kind = next((it for it in _KINDS if it.fullmatch(folded)), _QUOTED)
    return kind.search(clause) is not None
