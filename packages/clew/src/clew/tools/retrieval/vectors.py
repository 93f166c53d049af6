"""Texts ranked by the angle between vectors; those of tools are kept on the disk. Needs NumPy."""

import logging
import random
import time
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from clew.support.errors import ConfigError
from clew.tools.retrieval.embedding import CachedEmbedding, Embed
from clew.tools.retrieval.vector_store import VectorStore

LOG: Final = logging.getLogger("clew")

PORTION: Final = 64
"""So many texts are embedded and kept at a time."""
FIRST_WORD, FURTHER_WORD = 3.0, 10.0
"""After so many seconds it is told how far the work is."""


class Sum:
    """What is to be chosen from, by several embeddings: nearness is added.

    Each reads so many of the texts of a thing. Where two disagree, a thing that both find near is
    seldom wrong.
    """

    def __init__(self, parts: Sequence[tuple[Embed, int]], texts: Sequence[Sequence[str]]) -> None:
        self._parts = [Vectors(embed, [own[:reads] for own in texts]) for embed, reads in parts]

    def near(self, texts: Sequence[str]) -> list[list[float]]:
        """How near each is to each text: the sum, in standard deviations of each embedding."""
        summed: Any = sum(part.near(texts) for part in self._parts)
        rows: list[list[float]] = summed.tolist()
        return rows


class Vectors:
    """What is to be chosen from, each by all its texts, embedded once."""

    def __init__(self, embed: Embed, texts: Sequence[Sequence[str]]) -> None:
        self._embed = embed
        each = list(dict.fromkeys(text for own in texts for text in own))
        rows = (
            _embed_cached(embed, each)
            if isinstance(embed, CachedEmbedding)
            else embedded(embed, each)
        )
        known = dict(zip(each, unit(rows), strict=True))
        self._rows = np.stack([np.mean([known[text] for text in own], axis=0) for own in texts])

    def near(self, texts: Sequence[str]) -> Any:
        """How near each is to each text, in standard deviations from the mean of all.

        Embeddings differ in how near two texts are that have nothing to do with each other.
        """
        asked = unit(embedded(self._embed, texts))
        if asked.shape[1] != self._rows.shape[1]:
            message = f"the embedding gave vectors of {asked.shape[1]} numbers, then of others"
            raise ConfigError(message)
        # Without BLAS: so little work is done before its threads have found each other.
        similarities = np.einsum("id,jd->ij", asked, self._rows)
        spread = similarities.std(axis=1, keepdims=True)
        return (similarities - similarities.mean(axis=1, keepdims=True)) / np.where(
            spread > 0, spread, 1
        )


def embedded(embed: Embed, texts: Sequence[str]) -> Any:
    """A matrix with a row for each text. Raises `ConfigError` where the embedding gave none."""
    try:
        rows = np.asarray(embed(texts), dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise ConfigError(f"the embedding gave no rows of numbers: {error}") from error
    if rows.ndim != 2 or len(rows) != len(texts) or not np.isfinite(rows).all():
        raise ConfigError(
            f"the embedding gave an array of the shape {rows.shape} for {len(texts)} texts: it "
            "must give a row of finite numbers for each"
        )
    return rows


def _embed_cached(embed: CachedEmbedding, texts: Sequence[str]) -> Any:
    """The same, made only for texts that are not on the store yet."""
    store = VectorStore.of(embed.model)
    known = store.read(texts)
    if len({len(vector) for vector in known.values()}) > 1:
        known = {}  # not of one model, whatever its name says
    if missing := [text for text in texts if text not in known]:
        known |= _made(embed, missing, store)
    return np.stack([np.frombuffer(known[text], dtype=np.float32) for text in texts])


def _made(embed: CachedEmbedding, texts: Sequence[str], store: VectorStore) -> dict[str, bytes]:
    """Vectors made and kept, portion by portion: a process that is killed loses only the last.

    Texts of like length share a portion (little of it is padding). Portions come in random order:
    processes that began together find what the others made meanwhile.
    """
    made, progress = dict[str, bytes](), EmbeddingProgress(len(texts))
    ordered = sorted(texts, key=len)
    portions = [ordered[start : start + PORTION] for start in range(0, len(ordered), PORTION)]
    for portion in random.sample(portions, len(portions)):
        size = len(next(iter(made.values()))) if made else 0
        there = {text: row for text, row in store.read(portion).items() if len(row) == size}
        if new := [text for text in portion if text not in there]:
            rows = embedded(embed, new)
            fresh = {text: row.tobytes() for text, row in zip(new, rows, strict=True)}
            store.write(fresh)
            there |= fresh
        made |= there
        progress.tell(len(made))
    return made


class EmbeddingProgress:
    """Tells how far long work has come, and how long it will take."""

    def __init__(self, total: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._total, self._clock = total, clock
        self._begun = clock()
        self._next = self._begun + FIRST_WORD

    def tell(self, done: int) -> None:
        """So many are done: a line at times, and none of work that is over soon."""
        now = self._clock()
        if now < self._next or done >= self._total:
            return
        left = (now - self._begun) / done * (self._total - done)
        LOG.warning(
            "tools are embedded, once: %d of %d texts, about %.0f s left", done, self._total, left
        )
        self._next = now + FURTHER_WORD


def unit(rows: Any) -> Any:
    """The rows with length 1; one of nothing but zeros stays as it is."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(lengths == 0, 1, lengths)
