"""What a store may offer beside `clew.core.stores.Store`: whoever needs it asks for it.

Nothing here is to be inherited: a store can do what it has the methods of.
"""

from collections.abc import AsyncIterator, Hashable
from contextlib import AbstractAsyncContextManager
from typing import Protocol, runtime_checkable

from clew.core.stores import Line, RunInfo, Store
from clew.stores.labels import Selection
from clew.support.structural import Structural


@runtime_checkable
class Locks(Protocol, metaclass=Structural):
    """A store that workers share: each executes runs that nobody else has claimed.

    A claim is a lock that ends with its holder's process or connection. Nothing is written, so
    nothing can be stale. Claims keep workers apart; the epoch protects the record.
    """

    async def claim(self, name: str) -> bool:
        """Take the lock of that name, a run's id or a worker's name; False if another has it."""
        ...

    async def release(self, name: str) -> None:
        """Release a claim; do nothing if it is not held."""
        ...

    async def due(self) -> list[RunInfo]:
        """Runs whose record does not end in a stop, or whose inbox is not empty, oldest first."""
        ...


@runtime_checkable
class Placed(Protocol, metaclass=Structural):
    """A store that several objects of a process may have open at once."""

    @property
    def location(self) -> Hashable:
        """Where its runs lie: the same for all of these objects, and for no others."""
        ...


@runtime_checkable
class Notifies(Protocol, metaclass=Structural):
    """A store that notifies at once of what any process wrote."""

    def wakes(self) -> AbstractAsyncContextManager[AsyncIterator[str]]:
        """Yield ids of runs that got lines or messages since the context began.

        They are hints: one may come late, twice or never, so also poll now and then.
        """
        ...


@runtime_checkable
class Pages(Protocol, metaclass=Structural):
    """A store that reads a few lines of a run without all that follow them."""

    async def read_page(self, run_id: str, after: int, limit: int) -> list[Line]:
        """The first `limit` of the lines that `Store.read` gives."""
        ...


@runtime_checkable
class Selects(Protocol, metaclass=Structural):
    """A store that finds runs by labels, owner or id without a look at all runs."""

    async def select(
        self, which: Selection, limit: int = 0, after: RunInfo | None = None, status: str = ""
    ) -> list[RunInfo]:
        """Those of `Store.runs` that are selected; `after` is the last of the page before."""
        ...


@runtime_checkable
class Owns(Protocol, metaclass=Structural):
    """A store that knows which lines its user's processes wrote, and which came from outside.

    What tells them apart is in no line, and no export has it.
    """

    async def foreign(self, run_id: str) -> int:
        """The number of the run's last line that came from outside; 0 where none did."""
        ...

    async def adopt(self, run_id: str, last: Line) -> None:
        """Take the run's lines up to `last`, also those it shares, for the user's own.

        Raises `StoreError`, and does nothing, where that line is another.
        """
        ...


@runtime_checkable
class RemembersNotices(Protocol, metaclass=Structural):
    """A store that remembers up to where of a run somebody outside was told (`--on-held`)."""

    async def notified(self, run_id: str) -> int:
        """The number of the entry up to which others were told of the run; 0: of none."""
        ...

    async def set_notified(self, run_id: str, seq: int) -> None:
        """Remember, durably, that others were told up to the entry `seq`."""
        ...


@runtime_checkable
class Deletes(Protocol, metaclass=Structural):
    """A store that can delete runs."""

    async def forget(self, run_id: str) -> None:
        """Delete a run: its lines, its inbox, and the blobs that no other run uses.

        A run uses the blobs of its appends. If another process may be about to record a blob, the
        blob may stay for a day. Raises `StoreError`, and deletes nothing, if the run is unknown or
        a fork shares its lines.
        """
        ...

    async def size(self) -> int:
        """The bytes in use, without those freed but not returned to the disk."""
        ...


@runtime_checkable
class Recovers(Protocol, metaclass=Structural):
    """A store whose intact part can be read if another part is damaged."""

    async def salvage(self) -> tuple[Store, list[str], list[str]] | None:
        """A store to read from, the remaining ids, a line for each loss; None if it is intact."""
        ...


@runtime_checkable
class Witnessed(Protocol, metaclass=Structural):
    """A store that keeps elsewhere what its runs end with, so that lost entries are seen."""

    async def remarks(self) -> list[str]:
        """What is wrong with that, a line each: nothing need be lost of the runs themselves."""
        ...
