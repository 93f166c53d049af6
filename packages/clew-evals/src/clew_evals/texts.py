"""Answers as texts, and exact match and F1 as HotpotQA counts them.

The counting is that of the dataset's own evaluation (Yang et al., arXiv 1809.09600,
https://github.com/hotpotqa/hotpot, hotpot_evaluate_v1.py).
"""

import re
import string
from collections import Counter
from collections.abc import Collection
from typing import Final

from clew.citations import citations
from clew.evidence.structured import as_text
from clew.interfaces import Json
from clew.support.short_text import one_line

_ARTICLES: Final = re.compile(r"\b(?:a|an|the)\b")
_PUNCTUATION: Final = str.maketrans("", "", string.punctuation)
_COMPLETE_ANSWERS: Final = frozenset({"yes", "no", "noanswer"})
"""Answers that are right or wrong as a whole: sharing a word with them is worth nothing."""


def answer_text(answer: Json, known: Collection[str] = ()) -> str:
    """An answer as text without its citations; of one that is no text, a line for each value.

    `known` are the ids that its record can cite, beside those that look like ids.
    """
    if answer is None:
        return ""
    text, _ = as_text(answer, known)
    kept, end = "", 0
    for citation in citations(text, known):
        if citation.start >= end:
            kept += text[end : citation.start]
        end = citation.end
    return (kept + text[end:]).strip()


def normal(text: str) -> str:
    """A text as HotpotQA compares it: lower case, no ASCII punctuation, no English articles."""
    bare = text.lower().translate(_PUNCTUATION)
    return one_line(_ARTICLES.sub(" ", bare))


def em(answer: Json, gold: str) -> float:
    """Exact match: 1 where answer and gold are the same in their normal form, else 0."""
    return float(normal(answer_text(answer)) == normal(gold))


def f1(answer: Json, gold: str) -> float:
    """The harmonic mean of precision and recall of the answer's words."""
    mine, right = normal(answer_text(answer)), normal(gold)
    if mine != right and (mine in _COMPLETE_ANSWERS or right in _COMPLETE_ANSWERS):
        return 0.0
    words, wanted = mine.split(), right.split()
    shared = (Counter(words) & Counter(wanted)).total()
    if not shared:
        return 0.0
    precision, recall = shared / len(words), shared / len(wanted)
    return 2 * precision * recall / (precision + recall)
