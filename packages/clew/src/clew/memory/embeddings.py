"""Memories ranked by meaning, beside words: what a text is cut into, and how both are fused."""

import re
import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol, cast

from clew.memory.tokens import COMMON
from clew.tools.retrieval import Embed
from clew.tools.retrieval.load_extra import embed_by_name, load

FIRST: Final = 100
"""So many memories have a share by meaning: from 1 for the nearest down to 0 for the last."""

FLOOR: Final = 0.3
"""The cosine below which a memory does not have the meaning of a query: that of "minilm".

docs/long-runs.md says how it was measured. An embedding of another scale says its own as `floor`.
"""

_WEIGHT: Final = 0.6
"""Of meaning, where the best by words has 1 (between 0.5 and 0.9 little changes)."""

_SHARE: Final = 5
"""A word that a fifth of the memories have says little of what a question means …"""

_FEW: Final = 20
"""… unless there are so few."""

_MAX_PIECES: Final = 16
_LABEL: Final = re.compile(r"^[^\W\d_][^:\n.!?]{0,30}:\s+")
_SENTENCE: Final = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])|\n+")
_WORD: Final = re.compile(r"\S+")
_PLAIN: Final = re.compile(r"[^\W_]+")


class MemoryVectors(Protocol):
    """The vectors of a file of memories."""

    def near(self, connection: sqlite3.Connection, query: str) -> dict[int, float]:
        """The nearest memories by their places, with their shares."""
        ...


def vectors(embed: Embed | str) -> MemoryVectors:
    """Vectors of this embedding. Raises `ConfigError` where it cannot be used here."""
    made: Any = load("clew.memory.vectors").MemoryEmbeddings(embed_by_name(embed))
    return cast("MemoryVectors", made)


def pieces(text: str) -> list[str]:
    """What of a memory has a vector: each of its sentences, and of several the whole too.

    Who said it ("Ada: …") is left out: what Ada says is not nearer to whatever is asked of Ada.
    """
    text = _LABEL.sub("", text) or text
    sentences = [part.strip() for part in _SENTENCE.split(text) if part.strip()]
    return [text, *sentences][:_MAX_PIECES] if len(sentences) > 1 else [text]


def telling(query: str, numbers_of: Mapping[str, Sequence[int]], total: int) -> str:
    """The query as it is worded, without words that a fifth of the memories have.

    Such as the name of whom they are all about, to whom every memory is near.
    """
    if total < _FEW:
        return query
    max_matches = min(total // _SHARE, COMMON - 1)
    common = {
        term.strip('"*') for term, numbers in numbers_of.items() if len(numbers) > max_matches
    }
    kept = [
        word
        for word in _WORD.findall(query)
        if not common.intersection(_PLAIN.findall(word.casefold())[:1])
    ]
    return " ".join(kept) or query


def fused(by_words: Mapping[int, float], near: Mapping[int, float]) -> dict[int, float]:
    """Two scores as one: by words as a share of the best, and by meaning."""
    best = max(by_words.values(), default=1.0)
    return {
        number: by_words.get(number, 0.0) / best + _WEIGHT * near.get(number, 0.0)
        for number in {*by_words, *near}
    }
