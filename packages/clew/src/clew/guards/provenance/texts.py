"""Texts that a call only carries: is each sentence made of words that trusted sources gave?"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from clew.guards.provenance.languages import is_foreign, is_unspaced
from clew.guards.provenance.values import words_in

_FILLERS: Final = frozenset(
    words_in(
        "a about above after all also am an and any are as at be been before best below both "
        "but by can could day dear did do does each for from had has have he hello her here hi "
        "him his how i if in into is it its just kind know later let like ll me more most my "
        "next of on one only or other our out over please re regards s see she should sincerely "
        "so some soon such t than thank thanks that the their them then there these they this "
        "those to today too under until up us ve was we well were what when where which while "
        "who will with would you your yours morning afternoon evening hope "
    )
)
"""Words that say too little by themselves to change what a text says; "not" is none of them."""
_NEW_WORDS: Final = 5
"""One word in so many may be new, in a sentence that is otherwise made of known words."""
_TITLE: Final = 2
"""A text of so few words may be the model's own, where nothing that was read has them."""
_DEMAND: Final = re.compile(
    r"\b(?:must|ha(?:ve|s) to|required? to|needs? to|password\w*|urgent\w*|immediately|at once)\b"
    r"|^\W*(?:please\W+)?(?:click|call|contact|send|pay|transfer|reset|visit|open|download|install|"
    r"run|update|confirm|verify|reply|forward|log in|sign in|change|delete|share|ignore|use)\b"
    r"|\b(?:import|eval|exec|sudo|curl|rm -\w+|<\w+)\s*[\w(]|\w\(.{0,500}\)"
    r"|[;{}]\s*\w.{0,500}[({=]|`",
    re.IGNORECASE,
)
"""A sentence that tells its readers what to do, or code: the like may be meant for them."""
_SENTENCE: Final = re.compile(r"(?:[^.!?\n]|[.!?](?=\S))+[.!?]*")


@dataclass
class Vocabulary:
    """The words that trusted sources gave, casefolded."""

    own: frozenset[str] = frozenset()
    """Those of the configuration."""
    words: set[str] = field(default_factory=set[str])
    _texts: list[str] = field(default_factory=list[str])
    """Texts that are still to be cut into words: most runs ask for none."""

    def learn(self, text: str) -> None:
        """Add those of a text."""
        self._texts.append(text)

    def doubtful(self, text: str, was_read: Callable[[str], bool], source: str) -> list[str]:
        """The sentences of a text with words that are neither known nor in its source.

        Some may be new in a sentence, and all of a title, unless untrusted text has them
        (`was_read`). A demand or code is not known for standing in the source.
        """
        self.words.update(words_in("\n".join(self._texts).casefold()))
        self._texts = []
        more = frozenset(words_in(source.casefold()))
        is_title = len(words_in(text)) <= _TITLE and not is_unspaced(text)
        return [
            sentence
            for sentence in map(str.strip, _SENTENCE.findall(text))
            if self._is_doubtful(sentence, was_read, more, is_title=is_title)
        ]

    def _is_doubtful(
        self,
        sentence: str,
        was_read: Callable[[str], bool],
        more: frozenset[str],
        *,
        is_title: bool,
    ) -> bool:
        folded = sentence.casefold()
        words = words_in(folded)
        new = [word for word in words if not self.has(word)]
        few = len(words) // _NEW_WORDS
        if len(new) > few and not more.isdisjoint(new):
            is_demand = _DEMAND.search(sentence) is not None or is_foreign(folded)
            new = new if is_demand else [word for word in new if word not in more]
        if len(new) <= few:
            return False
        return not is_title or any(not word.isalpha() or was_read(word) for word in new)

    def has(self, word: str) -> bool:
        """Whether a casefolded word is known, or says nothing by itself."""
        if word in _FILLERS or word in self.words or word in self.own:
            return True
        stem = word.removesuffix("s")  # without the ending of a plural
        return stem in self.words or stem in self.own


@lru_cache(maxsize=16)
def words_of(config: str) -> frozenset[str]:
    """The words of a configuration, casefolded: all runs of an agent have the same."""
    return frozenset(words_in(config.casefold()))
