"""Whether a claim says more surely, or of more, than its passage does.

A hedge that is dropped, a quantity made to hold of all, a cause that nobody named, and a deed that
the passage denies, promises or makes an exception of, in words that it uses nowhere else.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from clew.evidence.antonyms import (
    DENYING,
    EXCEPT,
    EXCLUSIVE,
    IDIOMS,
    NEGATIVE,
    OPPOSITES,
    UNIVERSAL,
    UNTIL,
)
from clew.evidence.clauses import Clause, clauses, clauses_of
from clew.evidence.stemming import stem
from clew.evidence.tone import ABOUT, ALL, BECAUSE, CAUSES, HEDGES, WITHOUT
from clew.support.short_text import one_line

TARGETS: Final = 2
"""So many words behind a denial are what it denies; before it, where fewer follow."""

_DENIALS: Final = frozenset(map(stem, NEGATIVE | DENYING))
_IN: Final = frozenset({"in", "of"})
_THEM: Final = frozenset({"them", "us", "you", "those"})
ENOUGH: Final = 0.5
"""So great a share of a claim's words stands in the clause that speaks of the same."""


def overstated(claim: str, passages: Sequence[str]) -> str:
    """How the claim goes beyond its passages; empty if nothing shows that it does."""
    claimed = clauses_of(claim)
    there = [clause for passage in passages for clause in clauses(passage)]
    for test in (_all, _sure, _caused, _denied):
        if why := test(claimed, there):
            return why
    return ""


def _keys(many: Sequence[Clause]) -> frozenset[str]:
    return frozenset(key for clause in many for key in clause.keys)


def _content(many: Sequence[Clause]) -> frozenset[str]:
    return frozenset(each for clause in many for each in clause.content)


def _all(claimed: Sequence[Clause], there: Sequence[Clause]) -> str:
    """All, always, every: where the passage says nothing of the kind."""
    known = _keys(there)
    if known & (UNIVERSAL | ALL):
        return ""
    for clause in claimed:
        for before, word, after in zip(
            [None, *clause.words], clause.words, [*clause.words[1:], None], strict=False
        ):
            counting = before is not None and before.key in _THEM
            if counting or (word.key == "all" and after is not None and after.key in _IN):
                continue
            if word.key in ALL and (before is None or before.key not in IDIOMS | NEGATIVE):
                return f"says {word.text!r}, which the passage does not"
    return ""


def _sure(claimed: Sequence[Clause], there: Sequence[Clause]) -> str:
    """May, might, is believed to: left out."""
    if _keys(claimed) & (HEDGES | CAUSES | ABOUT):
        return ""
    best = _best(claimed, there)
    if best is None or not (hedges := best.keys & HEDGES):
        return ""
    return f"leaves out {min(hedges)!r}, which the passage says"


def _best(claimed: Sequence[Clause], there: Sequence[Clause]) -> Clause | None:
    content = _content(claimed)
    shared = [(len(content & each.content), each) for each in there]
    max_shared = max((count for count, _ in shared), default=0)
    if not content or max_shared < ENOUGH * len(content):
        return None
    return next(each for count, each in shared if count == max_shared)


def _caused(claimed: Sequence[Clause], there: Sequence[Clause]) -> str:
    """Because: where the passage names no cause in what it says of it."""
    for clause in claimed:
        because = next((n for n, word in enumerate(clause.words) if word.key in BECAUSE), None)
        if because is None:
            continue
        cause = frozenset(filter(None, clause.stems[because:]))
        about = [each for each in there if cause & each.content]
        if not any(each.sentence_keys & CAUSES for each in about):
            return f"names a cause ({clause.words[because].text!r}) that the passage does not"
    return ""


def _denied(claimed: Sequence[Clause], there: Sequence[Clause]) -> str:
    """What the passage speaks of only to deny it."""
    keys = _keys(claimed)
    if keys & (NEGATIVE | DENYING | EXCLUSIVE | EXCEPT | UNTIL) or any(c.negated for c in claimed):
        return ""
    denials = [each for each in there if _denies(each)]
    denied = {each for clause in denials for each in _targets(clause)}
    spoken = {each for clause in there if clause not in denials for each in clause.content}
    only = (denied - spoken) & _content(claimed)
    turned = frozenset(
        other for each in denials for key in each.keys for other in OPPOSITES.get(key, ())
    )
    if not only or turned & keys:
        return ""
    clause = next(each for each in denials if only & each.content)
    return f"says what the passage denies: “{one_line(clause.text)}”"


def _targets(clause: Clause) -> Iterator[str]:
    """What the denials of a clause are about: no names, and not what else it speaks of."""
    targets = [
        (index, base)
        for index, (word, base) in enumerate(zip(clause.words, clause.stems, strict=True))
        if base and not word.capital and base not in _DENIALS
    ]
    for index in clause.negations:
        after = [base for at, base in targets if at > index][:TARGETS]
        yield from after
        if len(after) < TARGETS:
            yield from [base for at, base in targets if at < index][-TARGETS:]


def _denies(clause: Clause) -> bool:
    """Whether a clause says that something is not so, on no condition."""
    keys = clause.keys
    asks = clause.text.rstrip().endswith("?")
    if asks or keys & (UNTIL | EXCEPT | EXCLUSIVE) or not clause.negated:
        return False
    short = any(word.text.lower().endswith(("n't", "n’t")) for word in clause.words)
    return short or bool(keys & (NEGATIVE - WITHOUT))
