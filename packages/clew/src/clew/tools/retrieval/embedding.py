"""Embeddings: any function from texts to vectors."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeAlias, runtime_checkable

from clew.support.structural import Structural

Embed: TypeAlias = Callable[[Sequence[str]], Any]
"""Returns a vector for each text: rows of numbers, as lists or as a NumPy array.

Texts with similar meaning have vectors in similar directions. It is called in a worker thread.
"""


@runtime_checkable
class CachedEmbedding(Protocol, metaclass=Structural):
    """An embedding that is the same in every process; its vectors of tools are kept on disk."""

    @property
    def model(self) -> str:
        """Model and version; vectors of another name are never used."""
        ...

    def __call__(self, texts: Sequence[str]) -> Any:
        """A vector for each text."""
        ...
