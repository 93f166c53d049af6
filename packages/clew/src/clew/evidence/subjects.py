"""Whether a claim says of one what its passage says of another.

The clause of the passage that shares most with what the claim says of its subject is about somebody
or something else, and the subject of the claim stands elsewhere in the passage.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from clew.evidence.antonyms import FUNCTION
from clew.evidence.clauses import Clause, clauses, clauses_of
from clew.evidence.common import STOP
from clew.evidence.tone import PRONOUNS
from clew.support.lazy_regex import Lazy
from clew.support.short_text import one_line

ALIKE: Final = 0.5
"""So great a share of what is said must stand in the clause,"""
MIN_SHARED: Final = 2
"""so many words at least,"""
SHARED: Final = 3
"""and so many words, where the subject is no name."""

_PART: Final = Lazy(
    r",\s|\s(?:and|y|et|und|e|en)\s(?=[A-ZÀ-Ý])"
    r"|\s(?:while|whereas|mientras que|tandis que|während|mentre)\s"
)
_RELATIVE: Final = frozenset({"where", "which", "who", "donde", "wo", "dove"})
_PERSONS: Final = frozenset(
    {"it", "he", "she", "they", "il", "elle", "er", "sie", "es", "el", "ella", "lui", "lei", "zij",
     "hij", "ze", "his", "her", "its", "their"}
)  # fmt: skip


def reassigned(claim: str, passages: Sequence[str]) -> str:
    """Of whom a passage says it, with its words; empty if nothing shows that it is another."""
    parts = [each for piece in _PART.split(claim) for each in clauses_of(piece)]
    for passage in passages:
        there = clauses(passage)
        named = _named(there)
        for claimed in parts:
            if len(claimed.words) > 2 and (best := _of_another(claimed, there, named)):
                return f"says of another what the passage says: “{one_line(best.text)}”"
    return ""


def _named(there: Sequence[Clause]) -> frozenset[str]:
    """The words that a passage writes with a capital alone."""
    small = {word.key for each in there for word in each.words if word.text.islower()}
    return frozenset(
        word.key
        for each in there
        for word in each.words
        if word.capital and word.key not in small and word.key not in FUNCTION | STOP
    )


def _of_another(claimed: Clause, there: Sequence[Clause], named: frozenset[str]) -> Clause | None:
    names = _run(claimed, named)
    if names:
        best = _closest(frozenset(_stems(claimed, but=named)), there)
        if best and _has_its_own(best, names, claimed.keys, named):
            return best
    content = [*_stems(claimed)]
    if len(content) <= SHARED:
        return None
    subject, deed = content[0], frozenset(content[1:]) - {content[0]}
    best = _closest(deed, there)
    if best is None or "://" in best.text:
        return None
    if len(deed & best.content) < SHARED or best.words[0].key in PRONOUNS:
        return None
    elsewhere = [each for each in there if subject in each.content]
    apart = not any(each.sentence_content & deed for each in elsewhere)
    first = next(filter(None, best.stems), "")
    return best if elsewhere and apart and first not in content else None


def _run(claimed: Clause, named: frozenset[str]) -> list[str]:
    """The words of the name that a claim begins with."""
    names = list[str]()
    for word in claimed.words:
        if word.key not in named or not word.capital:
            break
        names.append(word.key)
    return names


def _has_its_own(
    best: Clause, names: Sequence[str], claimed: frozenset[str], named: frozenset[str]
) -> bool:
    """Whether a clause is about a name that the claim does not begin with, or does not have."""
    others = [word.key for word in best.words if word.key in named]
    if not others or set(others) <= claimed or best.words[0].key in _PERSONS or "://" in best.text:
        return False
    opens = best.words[0].key == others[0] or best.words[0].key in _RELATIVE
    within = best.keys if opens else best.sentence_keys
    return within.isdisjoint(names)


def _stems(claimed: Clause, but: frozenset[str] = frozenset()) -> Iterator[str]:
    return (
        stem
        for word, stem in zip(claimed.words, claimed.stems, strict=True)
        if stem and word.key not in but and word.key not in STOP
    )


def _closest(deed: frozenset[str], there: Sequence[Clause]) -> Clause | None:
    """The clause that shares most with what is said, if it shares enough."""
    best = max(there, key=lambda each: len(deed & each.content), default=None)
    if best is None or not deed:
        return None
    return best if len(deed & best.content) >= max(MIN_SHARED, ALIKE * len(deed)) else None
