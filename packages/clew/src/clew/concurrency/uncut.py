"""Waits that no cancellation cuts short: what was begun is seen to its end, and then it counts."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

import anyio

T = TypeVar("T")


class Uncut:
    """Keeps a cancellation that comes while something is waited for; `give_way` raises it later.

    A shielded scope keeps off the scopes around it. `Task.cancel` of asyncio knows no shield: what
    it raises is kept here, so that `asyncio.timeout` and the like find it in the end.
    """

    __slots__ = ("kept",)

    def __init__(self) -> None:
        self.kept: BaseException | None = None

    async def wait(self, wait: Callable[[], Awaitable[T]]) -> T:
        """What `wait` gives; it is called again where a cancellation ended it."""
        while True:
            try:
                with anyio.CancelScope(shield=True):
                    return await wait()
            except anyio.get_cancelled_exc_class() as error:
                self.kept = error

    def raise_kept(self) -> None:
        """Raise the cancellation that was kept."""
        if self.kept is not None:
            kept, self.kept = self.kept, None
            raise kept

    async def give_way(self) -> None:
        """Raise what was kept, or what a scope around has to say by now."""
        self.raise_kept()
        await anyio.lowlevel.checkpoint_if_cancelled()
