"""Whether the passage that speaks of a claim says something else: a not, an opposite, another role.

Names and numbers may all stand in a passage that says the contrary. So each claim is laid beside
the sentence of what it cites that shares most of its words, and what is compared is what changes
the sense of a sentence and not its subject: negations and opposites; words that say how many (only,
all, except); who does it to whom; and one word exchanged for another of its kind. Where no sentence
shares enough, nothing is said.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property, lru_cache
from typing import Final

from clew.evidence.antonyms import (
    ALLOWING,
    BOUNDED,
    BREAKS,
    CONDITIONS,
    CONVERSE,
    DENYING,
    EXCEPT,
    EXCLUSIVE,
    FUNCTION,
    IDIOMS,
    KINDS,
    NEGATIVE,
    OPPOSITES,
    PARTIAL,
    UNIVERSAL,
    UNTIL,
    VERBS,
)  # fmt: skip
from clew.evidence.claims import claims
from clew.evidence.dates import dates
from clew.evidence.numbers import numbers
from clew.evidence.stemming import stem
from clew.evidence.words import Word, flat, words
from clew.support.lazy_regex import Lazy
from clew.support.short_text import one_line

ARTICLES: Final = frozenset({"a", "an", "the"})
LINKS: Final = ARTICLES | {"and", "or", "of"}
NAMES: Final = 3
"""Content words of an answer that may be names and nothing else."""
ENOUGH: Final = 0.4
"""This share of a claim's words must stand in a sentence for both to speak of the same thing."""
ALIKE: Final = 0.5
"""From this share on another verb in the same place is taken for a change of sense."""
SCOPE: Final = 4
"""A negation reaches so many words."""
LONGEST: Final = 80
"""Of a sentence so many words are laid beside another's."""
MAX_QUOTED_CHARS: Final = 120
"""So many characters of a passage are quoted."""

_DENIES: Final = "denies what the passage says"
_ANSWERING: Final = Lazy(
    r"^\W*(?:yes|no|ja|nein|nee|oui|non|s[ií]|sim|n[ãa]o|tak|nie)\s*[,;:.–—-]\s*", re.IGNORECASE
)
_BEING: Final = frozenset({"be", "is", "are", "was", "were", "been"})
_STOPS: Final = frozenset(",;:–()")


@dataclass(frozen=True)
class ComparedSentence:
    """A sentence as it is laid beside another."""

    text: str
    words: Sequence[Word]

    @cached_property
    def stems(self) -> list[str]:
        """The stem of each word; empty for words that only bind others, and for values."""
        plain = flat(self.text)
        values = [(each.start, each.end) for each in numbers(plain)]
        values += [(each.start, each.end) for each in dates(plain)]
        return [
            ""
            if word.key in FUNCTION or any(a <= word.start < b for a, b in values)
            else stem(word.key)
            for word in self.words
        ]

    @cached_property
    def content(self) -> frozenset[str]:
        """The stems of the words that say something."""
        return frozenset(filter(None, self.stems))

    @cached_property
    def keys(self) -> frozenset[str]:
        """The words as they are compared."""
        return frozenset(word.key for word in self.words)

    def denials(self, shared: frozenset[str]) -> int:
        """How many negations reach one of these stems."""
        return sum(self._reaches(index, shared) for index in self.negations)

    @property
    def negated(self) -> bool:
        """Whether it denies anything at all."""
        return next(self.negations, None) is not None

    @property
    def negations(self) -> Iterator[int]:
        """Where it denies something."""
        for index, word in enumerate(self.words):
            after = self.words[index + 1].key if index + 1 < len(self.words) else ""
            short = word.text.lower().endswith(("n't", "n’t"))
            if after not in BOUNDED and (short or word.key in NEGATIVE or word.key in DENYING):
                yield index

    def ends_denial(self, claimed: "ComparedSentence") -> bool:
        """Whether what it denies ends in what another says: not … until, not … unless."""
        indexes = [index for index, word in enumerate(self.words) if word.key in UNTIL]
        return any(not claimed.content.isdisjoint(filter(None, self.stems[at:])) for at in indexes)

    def _reaches(self, index: int, shared: frozenset[str]) -> bool:
        passive = index > 0 and self.words[index - 1].key in _BEING
        if passive and self.words[index].key in DENYING:
            behind = self.stems[max(0, index - SCOPE) : index]
            if not shared.isdisjoint(behind):
                return True
        for ahead in range(index + 1, min(len(self.words), index + SCOPE + 1)):
            between = self.text[self.words[ahead - 1].end : self.words[ahead].start]
            if not _STOPS.isdisjoint(between) or self.words[ahead].key in BREAKS:
                return False
            if self.stems[ahead] in shared:
                return True
        return False


@lru_cache(maxsize=512)
def sentences(text: str) -> tuple[ComparedSentence, ...]:
    """The sentences of a passage."""
    return tuple(_sentence(claim.text) for claim in claims(text))


def _sentence(text: str) -> ComparedSentence:
    return ComparedSentence(text, words(text)[:LONGEST])


def contrast(claim: str, passages: Sequence[str]) -> str:
    """What the passages say otherwise, with their words; empty where they do not."""
    claimed = _sentence(claim)
    beside = [each for passage in passages for each in sentences(passage)]
    shares = [_share(claimed, each) for each in beside]
    best = max(shares, default=0.0)
    if best < ENOUGH:
        return ""
    problem = ""
    for share, each in zip(shares, beside, strict=True):
        if share == best:
            why = next((why for test in _TESTS if (why := test(claimed, each))), "")
            why = "" if why == _DENIES and _denied_elsewhere(claimed, each, beside) else why
            if not why:
                return ""
            problem = problem or f"{why}: “{one_line(each.text, MAX_QUOTED_CHARS)}”"
    return problem


def without_answer(claim: str) -> str:
    """The claim without the yes or no that it answers with."""
    return _ANSWERING.sub("", claim)


def overlap(claim: str, passages: Sequence[str]) -> float:
    """The share of a claim's words that stand in the passages; 1 for a claim without any."""
    content = _sentence(claim).content
    held = {each for passage in passages for one in sentences(passage) for each in one.content}
    return len(content & held) / len(content) if content else 1.0


def _share(claimed: ComparedSentence, other: ComparedSentence) -> float:
    return len(claimed.content & other.content) / len(claimed.content) if claimed.content else 0.0


def _polarity(claimed: ComparedSentence, other: ComparedSentence) -> str:
    """A not or an opposite too many, or too few: two of them undo each other."""
    turned = {
        word.key: sorted(there)
        for word in claimed.words
        if word.key not in other.keys
        and (there := OPPOSITES.get(word.key, frozenset()) & other.keys - claimed.keys)
        and other.keys.isdisjoint(OPPOSITES[min(there)])
    }
    reach = claimed.content & other.content
    reach |= {stem(key) for mine, there in turned.items() for key in (mine, *there)}
    mine, theirs = claimed.denials(reach), other.denials(reach)
    if mine and not theirs and other.negated:
        return ""
    if (mine + theirs + len(turned)) % 2 == 0:
        return ""
    if not turned and not mine and _names_only(claimed):
        return ""
    if turned:
        word, opposed = next(iter(turned.items()))
        return f"says {word!r} where the passage says {opposed[0]!r}"
    if mine < theirs and other.ends_denial(claimed):
        return ""
    return _DENIES if mine > theirs else "says what the passage denies"


def _denied_elsewhere(
    claimed: ComparedSentence, best: ComparedSentence, beside: Sequence[ComparedSentence]
) -> bool:
    """Whether another sentence denies something of which the best one does not speak."""
    return any(
        each.negated
        and len(claimed.content & each.content) > 1
        and (claimed.content & each.content) - best.content
        for each in beside
    )


def _names_only(claimed: ComparedSentence) -> bool:
    """Whether it is a few names without a verb, as an answer to "which?": it asserts no deed."""
    return len(claimed.content) <= NAMES and not (claimed.keys & FUNCTION) - LINKS


def _amount(claimed: ComparedSentence, other: ComparedSentence) -> str:
    """Only, all and always, where the passage has no only, or an exception, or some."""
    around = zip([None, *claimed.words], claimed.words, [*claimed.words[1:], None], strict=False)
    for before, word, after in around:
        counted = after is not None and (after.text[0].isdigit() or _ruled(after, other))
        if before is not None and before.key in NEGATIVE:
            continue
        if word.key in EXCLUSIVE and not other.keys & EXCLUSIVE and not counted:
            return f"says {word.text!r}, which the passage does not"
    sure = {
        word.key
        for before, word in zip([None, *claimed.words], claimed.words, strict=False)
        if word.key in UNIVERSAL and (before is None or before.key not in IDIOMS)
    }
    if sure and other.keys & EXCEPT and not claimed.keys & EXCEPT:
        return "leaves out the exception"
    if sure and other.keys & PARTIAL - claimed.keys and not other.keys & UNIVERSAL:
        return f"says {min(sure)!r} where the passage says {min(other.keys & PARTIAL)!r}"
    return ""


def _ruled(after: Word, other: ComparedSentence) -> bool:
    """Whether an `only` before this word repeats the condition of a rule."""
    return after.key in CONDITIONS and bool(other.keys & (ALLOWING | UNTIL))


def _kind(claimed: ComparedSentence, other: ComparedSentence) -> str:
    """Another word of one kind: a colour, a weekday, a trade."""
    theirs = {kind: word for word in other.words if (kind := KINDS.get(word.key))}
    for word in claimed.words:
        kind = KINDS.get(word.key)
        if kind is None or kind in theirs or stem(word.key) in other.content:
            continue
        for (table, _), there in theirs.items():
            if table == kind[0] and there.key not in claimed.keys:
                if {word.key, there.key} in CONVERSE:
                    continue
                return f"says {word.text!r} where the passage says {there.text!r}"
    return ""


def _roles(claimed: ComparedSentence, other: ComparedSentence) -> str:
    """Who does it to whom: two names around one verb, in the passage the other way round."""
    mine, theirs = _acts(claimed), _acts(other)
    for (first, verb, last), passive in mine.items():
        turned = theirs.get((last, verb, first))
        if turned is not None and (first, verb, last) not in theirs and turned == passive:
            return "turns round who does it to whom"
        same = theirs.get((first, verb, last))
        if same is not None and same != passive and (last, verb, first) not in theirs:
            return "turns round who does it to whom"
    return ""


def _acts(sentence: ComparedSentence) -> dict[tuple[str, str, str], bool]:
    """Name, a word between, next name; and whether a `by` makes it passive.

    What an article stands before is no deed: "a smuggler in The Ninth Tide".
    """
    acts: dict[tuple[str, str, str], bool] = {}
    first, between, passive, before = "", list[str](), False, ""
    for word, base in zip(sentence.words, sentence.stems, strict=True):
        named, before = before in ARTICLES, word.key
        if base and word.capital:
            if first:
                acts.update({(first, verb, word.key): passive for verb in between})
            first, between, passive = word.key, [], False
        elif base and not named:
            between.append(base)
        else:
            passive = passive or word.key in {"by", "von", "por", "par", "da"}
    return acts


def _exchanged(claimed: ComparedSentence, other: ComparedSentence) -> str:
    """One deed for another in sentences that are otherwise alike."""
    if _share(claimed, other) < ALIKE:
        return ""
    mine = [(word, base) for word, base in zip(claimed.words, claimed.stems, strict=True) if base]
    theirs = [(word, base) for word, base in zip(other.words, other.stems, strict=True) if base]
    steps = SequenceMatcher(
        None, [base for _, base in mine], [base for _, base in theirs], autojunk=False
    ).get_opcodes()
    for index, (what, i, j, k, m) in enumerate(steps):
        if what == "replace" and index > 0:
            for word, _ in mine[i:j]:
                for there, _ in theirs[k:m]:
                    if _other_deed(word.key, there.key, claimed, other):
                        return f"says {word.text!r} where the passage says {there.text!r}"
    return ""


def _other_deed(key: str, there: str, claimed: ComparedSentence, other: ComparedSentence) -> bool:
    """Whether both are verbs of different deeds, and neither deed is in the other sentence."""
    mine, theirs = VERBS.get(key), VERBS.get(there)
    if mine is None or theirs is None or mine == theirs:
        return False
    deeds = {VERBS.get(each) for each in other.keys}
    return mine not in deeds and theirs not in {VERBS.get(each) for each in claimed.keys}


_TESTS: Final[tuple[Callable[[ComparedSentence, ComparedSentence], str], ...]] = (
    _polarity, _amount, _kind, _roles, _exchanged,
)  # fmt: skip
