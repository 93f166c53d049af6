"""What a user's part awaits, in a task of its own: its deadline holds even where it ignores it.

A task that was cancelled and does not end is let go: whoever waited goes on. What is shielded then
runs on to its end; what swallows one cancellation after another is not driven any further.
"""

import math
import sys
import types
from collections.abc import Awaitable, Callable, Coroutine, Generator
from contextvars import Context, copy_context
from typing import Any, Final, NamedTuple

import anyio


class Ended(NamedTuple):
    """How work ended: with a value or an error, before its deadline or not.

    `late` says that it was stopped at the deadline. Then it ended by that, or, where it `heeded` it
    not, in its own way soon after; or it was `left` as it was.
    """

    value: Any = None
    error: BaseException | None = None
    late: bool = False
    heeded: bool = True
    left: bool = False


Late = Callable[[Ended], None]
"""Hears how work ended that was let go."""

_RUNNING: Final = set[Any]()
"""Tasks, which a loop itself would not keep."""

_STUCK: Final = list[Coroutine[Any, Any, Any]]()
"""Coroutines that would not even be closed: dropped, they would be asked again."""


async def settle(
    work: Awaitable[Any],
    seconds: float,
    grace: float,
    late: Late | None = None,
    context: Context | None = None,
) -> Ended:
    """Await the work for at most so many seconds, and `grace` more once it is told to stop.

    Whatever it raises is in what comes back, its own cancellation too. Ours stops the work, and is
    raised once that ended, or was let go; unless it gave a value all the same, and a scope will
    raise it at the next occasion: then there is time to keep that value.
    """
    mine = (_OnTrio if _on_trio() else _OnAsyncio)(work)
    mine.start(copy_context() if context is None else context)
    try:
        if await mine.over(seconds):
            return Ended(mine.value, mine.error)
        mine.scope.cancel()
        if await mine.over(grace):
            return Ended(mine.value, mine.error, late=True, heeded=mine.scope.cancelled_caught)
    except anyio.get_cancelled_exc_class():
        over = False
        mine.scope.cancel()
        with anyio.CancelScope(shield=True):
            over = await mine.over(grace)
        gave = over and mine.error is None and not mine.scope.cancelled_caught
        if gave and anyio.current_effective_deadline() == -math.inf:
            return Ended(mine.value)
        mine.let_go(None)
        raise
    mine.let_go(late)
    return Ended(late=True, heeded=False, left=True)


def _on_trio() -> bool:
    return "trio" in sys.modules and anyio.get_cancelled_exc_class().__module__.startswith("trio")


class _Work:
    """Work in a task of its own, on any loop."""

    def __init__(self, work: Awaitable[Any]) -> None:
        self.coroutine: Coroutine[Any, Any, Any] = (
            work if isinstance(work, types.CoroutineType) else _awaiting(work)
        )
        self.scope = anyio.CancelScope()
        self.value: Any = None
        self.error: BaseException | None = None
        self.ended = False
        self.left = False
        self.late: Late | None = None

    async def body(self) -> None:
        """Do the work and leave what came of it; nothing is raised into the loop."""
        try:
            with self.scope:
                self.value = await self._driven()
        except BaseException as error:  # noqa: BLE001 - whatever it is, whoever waits gets it
            self.error = error
        self.ended = True
        self.wake()
        if self.late is not None and not self.scope.cancelled_caught:
            self.late(Ended(self.value, self.error, late=True, heeded=False))

    def let_go(self, late: Late | None) -> None:
        """Wait for it no longer."""
        self.left, self.late = True, late

    def wake(self) -> None:
        """Tell whoever waits that it ended."""

    @types.coroutine
    def _driven(self) -> Generator[Any, Any, Any]:
        """Await as usual; but once it was let go, no further than to the next cancellation."""
        value: Any = None
        error: BaseException | None = None
        while True:
            try:
                if error is None:
                    wanted = self.coroutine.send(value)
                else:
                    wanted = self.coroutine.throw(error)
            except StopIteration as end:
                return end.value
            swallowed = getattr(value, "error", None) if error is None else error  # trio's way
            if self.left and isinstance(swallowed, anyio.get_cancelled_exc_class()):
                self._drop()
                raise swallowed
            try:
                value, error = (yield wanted), None
            except BaseException as thrown:  # noqa: BLE001 - it is thrown on
                value, error = None, thrown

    def _drop(self) -> None:
        try:
            self.coroutine.close()
        except BaseException:  # noqa: BLE001 - nothing that it does now is of any use
            _STUCK.append(self.coroutine)


class _OnAsyncio(_Work):
    """On asyncio, whose own futures and timers take half the time of the portable ones."""

    def start(self, context: Context) -> None:
        """Start the task."""
        self.loop = sys.modules["asyncio"].get_running_loop()
        self.waiter: Any = None
        self.task = self.loop.create_task(self.body(), context=context)
        _RUNNING.add(self.task)
        self.task.add_done_callback(_RUNNING.discard)

    async def over(self, seconds: float) -> bool:
        """Wait for the end, at most so long; whether it came."""
        if not self.ended:
            self.waiter = self.loop.create_future()
            timer = self.loop.call_later(seconds, self.wake)
            try:
                await self.waiter
            finally:
                timer.cancel()
        return self.ended

    def wake(self) -> None:
        if self.waiter is not None and not self.waiter.done():
            self.waiter.set_result(None)

    def let_go(self, late: Late | None) -> None:
        super().let_go(late)
        if late is None:  # the loop may be about to end, and would wait for it
            self.task.cancel()


class _OnTrio(_Work):
    """On trio: a system task, which no nursery waits for but that of the loop itself."""

    def start(self, context: Context) -> None:
        """Start the task."""
        self.event = anyio.Event()
        sys.modules["trio"].lowlevel.spawn_system_task(self.body, context=context)

    async def over(self, seconds: float) -> bool:
        """Wait for the end, at most so long; whether it came."""
        with anyio.move_on_after(seconds):
            await self.event.wait()
        return self.ended

    def wake(self) -> None:
        self.event.set()


async def _awaiting(work: Awaitable[Any]) -> Any:
    return await work
