"""The door for embeddings: any function from texts to vectors."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeAlias, runtime_checkable

Embed: TypeAlias = Callable[[Sequence[str]], Any]
"""Takes texts and gives for each a vector: rows of numbers, as lists or as a NumPy array.

Texts with like meaning have vectors in like directions. It is called in a worker thread.
"""


@runtime_checkable
class Lasting(Protocol):
    """An embedding that is the same in every process: its vectors of tools are kept on the disk."""

    @property
    def model(self) -> str:
        """Model and version; vectors of another name are never taken for its own."""
        ...

    def __call__(self, texts: Sequence[str]) -> Any:
        """A vector for each text."""
        ...
