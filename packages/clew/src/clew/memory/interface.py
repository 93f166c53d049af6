"""What a memory is, and what keeps memories offers."""

from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from clew.core.codes import Trust

Kind: TypeAlias = Literal["fact", "preference"]
"""What is the case, or how somebody wants things done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemorySource:
    """Where a memory comes from: an entry of a run, a person, other memories.

    `by` says who said it, such as "person" or the name of a tool. A memory that was made from other
    `memories` names their ids: it is forgotten with them, and trusted only if all of them are.
    """

    run: str = ""
    seq: int = 0
    by: str = ""
    memories: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """Something that later runs may be told. `at` is in milliseconds since 1970.

    One that was corrected has `superseded_by`, the id of the memory that holds in its place. No
    search finds it.
    """

    id: str
    text: str
    kind: Kind = "fact"
    trust: Trust = "untrusted"
    source: MemorySource = MemorySource()
    at: int = 0
    superseded_by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tombstone:
    """What is left of a memory that was forgotten: that there was one, and when it went."""

    id: str
    at: int


class Memories(Protocol):
    """A place where memories lie. Calls block for milliseconds, and may come from any thread.

    An id that is not there raises `ConfigError`; a place that cannot be used raises `StoreError`.
    """

    def add(
        self,
        text: str,
        *,
        kind: Kind = "fact",
        trust: Trust = "untrusted",
        source: MemorySource = MemorySource(),
        at: int | None = None,
    ) -> Memory:
        """Remember a text. Where a memory says so already, that one is returned.

        It is untrusted if it was made from a memory that is. A trusted text takes the place of an
        untrusted memory that says the same.
        """
        ...

    def correct(
        self,
        memory_id: str,
        text: str,
        *,
        trust: Trust = "untrusted",
        source: MemorySource = MemorySource(),
        at: int | None = None,
    ) -> Memory:
        """Put a text in the place of a memory, which stays in the history and is found no more.

        Raises `ConfigError` where the memory was corrected before, or where an untrusted text
        would take the place of a trusted one.
        """
        ...

    def forget(self, memory_id: str) -> tuple[str, ...]:
        """Remove a memory for good, and return the ids of all that went with it.

        These are the memories that it corrected, those that corrected it, and those made from any
        of them. No trace of their texts is left at the place; a tombstone is.
        """
        ...

    def get(self, memory_id: str) -> Memory:
        """The memory with this id, also one that was corrected."""
        ...

    def list(self, *, history: bool = False) -> tuple[Memory, ...]:
        """All memories, the oldest first; with `history` those that were corrected too."""
        ...

    def tombstones(self) -> tuple[Tombstone, ...]:
        """What was forgotten, the oldest first."""
        ...

    def search(self, query: str, k: int = 5) -> tuple[Memory, ...]:
        """At most `k` memories that fit the query, the best first."""
        ...

    def runs(self, query: str, k: int = 5) -> tuple[str, ...]:
        """At most `k` runs whose memories fit the query, the best first."""
        ...
