"""What items of a stream become for those who watch: bytes, the same for all of them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeAlias

from clew import Dropped, Entry, Nested, Withdrawn
from clew.interfaces import Store, encode

Encode: TypeAlias = Callable[[Any, str], bytes]
"""Makes the event of an item, behind which a stream has this position; empty where it has none."""


class Form(Protocol):
    """How a run is shown. Those with the same `name` share what was encoded."""

    @property
    def name(self) -> str:
        """A name for all who see the same."""
        ...

    def mark(self, item: Any, position: str) -> str:
        """The place behind an item where a viewer can go on; "" where it is none."""
        ...

    def seq(self, mark: str) -> int:
        """The number of the run's own entry at a mark."""
        ...

    def own(self) -> Encode:
        """An encoder for one viewer."""
        ...

    async def shared(self, store: Store, run_id: str, seq: int) -> Encode:
        """An encoder for all viewers, of what comes behind entry `seq`."""
        ...

    def forget(self, mark: str) -> bytes:
        """The event that takes back the words of the reply under way; empty where there is none."""
        ...

    def dropped(self, mark: str) -> bytes:
        """The event that says that words were left out."""
        ...

    def failure(self, text: str) -> bytes:
        """The event that says what ended the work on the run."""
        ...


@dataclass(frozen=True)
class AllEvents:
    """Every item as it is: what `Stream.sse("all")` gives."""

    name: str = "all"

    def mark(self, item: Any, position: str) -> str:
        """A place that names the runs below too."""
        return position if is_recorded(item) else ""

    def seq(self, mark: str) -> int:
        """The number before those of the runs below."""
        return int(mark.partition(",")[0])

    def own(self) -> Encode:
        """Nothing is kept from one item to the next."""
        return _event

    async def shared(self, store: Store, run_id: str, seq: int) -> Encode:
        """The same for all."""
        del store, run_id, seq
        return _event

    def forget(self, mark: str) -> bytes:
        """`Withdrawn`, at the place that was seen."""
        return _event(Withdrawn(), mark)

    def dropped(self, mark: str) -> bytes:
        """`Dropped`, at the place that was seen."""
        return _event(Dropped(), mark)

    def failure(self, text: str) -> bytes:
        """`Error`, which has no id."""
        return b"event: Error\ndata: %s\n\n" % encode({"error": text})


ALL: Final = AllEvents()


def is_recorded(item: Any) -> bool:
    """Whether an item is an entry, of the run or of one below."""
    return isinstance(item.item if isinstance(item, Nested) else item, Entry)


def _event(item: Any, position: str) -> bytes:
    head = f"id: {position}\nevent: {type(item).__name__}\ndata: "
    return b"%s%s\n\n" % (head.encode(), encode(item.to_json()))
