"""Values that stand together in a person's words: "10 to DE11 and 900 to DE22"."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from clew.core.events import Json
from clew.guards.provenance.values import is_number, numbers_in, stands_in

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
    for text in words:
        yield from filter(str.strip, _BETWEEN.split(text))


def are_crossed(one: Json, other: Json, where: Sequence[str]) -> bool:
    """Whether casefolded clauses have both values, each only beside another one of the kind.

    Where something is said of each or all of them it is not asked.
    """
    if not (of_one := _at(one, where)) or not (of_other := _at(other, where)):
        return False
    if of_one & of_other or any(map(_EACH.search, where)):
        return False
    return all(has_like(other, where[it]) for it in of_one) and all(
        has_like(one, where[it]) for it in of_other
    )


def _at(value: Json, where: Sequence[str]) -> set[int]:
    return {at for at, clause in enumerate(where) if has_value(value, clause)}


def has_value(value: Json, clause: str) -> bool:
    """Whether a clause has the value as a whole."""
    if is_number(value):
        return float(value) in numbers_in(clause)
    return isinstance(value, str) and bool(value) and stands_in(value.casefold(), clause)


def has_like(value: Json, clause: str) -> bool:
    """Whether a clause has a value of the kind."""
    if is_number(value):
        return _NUMBER.search(clause) is not None
    folded = str(value).casefold()
    kind = next((it for it in _KINDS if it.fullmatch(folded)), _QUOTED)
    return kind.search(clause) is not None
