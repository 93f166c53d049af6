"""Texts ranked by the angle between vectors; those of tools are kept on the disk. Needs NumPy."""

import logging
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from clew.core.errors import ConfigError
from clew.tools.retrieval.embedding import Embed, Lasting
from clew.tools.retrieval.vector_store import VectorStore

LOG: Final = logging.getLogger("clew")


class Vectors:
    """What is to be chosen from, each by all its texts, embedded once."""

    def __init__(self, embed: Embed, texts: Sequence[Sequence[str]]) -> None:
        self._embed = embed
        each = list(dict.fromkeys(text for own in texts for text in own))
        rows = _embed_cached(embed, each) if isinstance(embed, Lasting) else embedded(embed, each)
        known = dict(zip(each, unit(rows), strict=True))
        self._rows = np.stack([np.mean([known[text] for text in own], axis=0) for own in texts])

    def near(self, texts: Sequence[str]) -> list[list[float]]:
        """How near each is to each text, in standard deviations from the mean of all.

        Embeddings differ in how near two texts are that have nothing to do with each other.
        """
        asked = unit(embedded(self._embed, texts))
        if asked.shape[1] != self._rows.shape[1]:
            said = f"the embedding gave vectors of {asked.shape[1]} numbers, then of others"
            raise ConfigError(said)
        found = asked @ self._rows.T
        spread = found.std(axis=1, keepdims=True)
        scaled = (found - found.mean(axis=1, keepdims=True)) / np.where(spread > 0, spread, 1)
        rows: list[list[float]] = scaled.tolist()
        return rows


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


def _embed_cached(embed: Lasting, texts: Sequence[str]) -> Any:
    """The same, made only for texts that are not on the store yet."""
    store = VectorStore.of(embed.model)
    known = store.read(texts)
    if len({len(vector) for vector in known.values()}) > 1:
        known = {}  # not of one model, whatever its name says
    missing = list(dict.fromkeys(text for text in texts if text not in known))
    if missing:
        LOG.info("embedding %d tools with %s, once", len(missing), embed.model)
        made = {
            text: row.tobytes() for text, row in zip(missing, embedded(embed, missing), strict=True)
        }
        store.write(made)
        known |= made
    return np.stack([np.frombuffer(known[text], dtype=np.float32) for text in texts])


def unit(rows: Any) -> Any:
    """The rows with length 1; one of nothing but zeros stays as it is."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(lengths == 0, 1, lengths)
