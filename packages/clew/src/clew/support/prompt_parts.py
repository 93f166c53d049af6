"""The parts of a prompt that are a run's steps: they grow at their end, from prompt to prompt.

A prompt of two thousand steps differs from the one before it in the last step. So the prompts of a
run share one list, of which each shows as much as there was, and one memory of what an adapter made
of it: what is written for a prompt is written for its new parts only.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any, Generic, TypeVar, overload

import msgspec

Part = TypeVar("Part")
"""A part of a prompt: nothing is asked of it here."""


class _Joined(msgspec.Struct):
    """The bytes of the first `count` parts, with commas between them."""

    count: int = 0
    data: bytearray = msgspec.field(default_factory=bytearray)


class _Shared(msgspec.Struct):
    """What the prompts of a run have in common."""

    parts: list[Any]
    memory: dict[str, _Joined]


class Parts(Sequence[Part], Generic[Part]):
    """The first parts of a list that only grows; all its prompts share the memory of it."""

    __slots__ = ("_count", "_shared")

    def __init__(self, parts: Sequence[Part] = (), shared: _Shared | None = None) -> None:
        """Show these, or all that is in a shared list now."""
        self._shared = _Shared(list(parts), {}) if shared is None else shared
        self._count = len(self._shared.parts)

    def grown(self, more: Sequence[Part]) -> "Parts[Part]":
        """These and more: the list goes on where this is its end, and is copied where it is not."""
        if len(self._shared.parts) != self._count:
            return Parts((*self, *more))
        self._shared.parts += more
        return Parts(shared=self._shared)

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Part]:
        return islice(self._shared.parts, self._count)

    @overload
    def __getitem__(self, index: int) -> Part: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Part]: ...

    def __getitem__(self, index: int | slice) -> Part | Sequence[Part]:
        parts: list[Part] = self._shared.parts
        if isinstance(index, slice):
            return parts[: self._count][index]
        return parts[range(self._count)[index]]

    def joined(self, key: str, written: Callable[[Part], bytes]) -> bytes:
        """All of them as bytes, with commas between; `key` names the manner of `written`."""
        joined = self._shared.memory.setdefault(key, _Joined())
        if joined.count > self._count:  # an earlier prompt of the run, made again
            joined = _Joined()
        for part in islice(self._shared.parts, joined.count, self._count):
            joined.data += b"," if joined.count else b""
            joined.data += written(part)
            joined.count += 1
        return bytes(joined.data)


def joined(parts: Sequence[Part], key: str, written: Callable[[Part], bytes]) -> bytes:
    """Parts as bytes, with commas between; from memory as far as they are those of a run."""
    if isinstance(parts, Parts):
        return parts.joined(key, written)
    return b",".join(map(written, parts))
