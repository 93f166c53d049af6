"""What a user's part awaits, in a task of its own: its deadline holds even where it ignores it.

A task that was cancelled and does not end is let go: whoever waited goes on. What is shielded then
runs on to its end; what swallows one cancellation after another is not driven any further. A plain
function is called in a thread, without a task: nobody can stop it, so it is only waited for.
"""

import math
import sys
import threading
import time
import types
from collections.abc import Awaitable, Callable, Coroutine, Generator
from contextlib import contextmanager, suppress
from contextvars import Context, copy_context
from functools import partial
from typing import Any, Final, NamedTuple, TypeAlias

import anyio

from clew.concurrency.threads import THREADS, Tell
from clew.concurrency.uncut import Uncut

__all__ = ["one_error"]


class TaskResult(NamedTuple):
    """How work ended: with a value or an error, before its deadline or not.

    `late` says that it was stopped at the deadline. Then it `responded` to that, or ended in its
    own way soon after, or was `left` as it was.
    """

    value: Any = None
    error: BaseException | None = None
    late: bool = False
    responded: bool = True
    left: bool = False


Late = Callable[[TaskResult], None]
"""Hears how work ended that was let go."""

AT_ONCE: Final = 0.0001
"""Seconds for which a thread may hold up the event loop before the loop is given back.

To give it back and be woken by the thread takes as long: two more changes of thread and a turn of
the loop. So a function is waited for in this way where its last call was as quick.
"""

_RUNNING: Final = set[Any]()
"""Tasks, which a loop itself would not keep."""

_STUCK: Final = list[Coroutine[Any, Any, Any]]()
"""Coroutines that would not even be closed: dropped, they would be asked again."""


async def run_with_deadline(
    work: Awaitable[Any],
    seconds: float,
    grace: float,
    late: Late | None = None,
    context: Context | None = None,
    uncut: Uncut | None = None,
) -> TaskResult:
    """Await the work for at most so many seconds, and `grace` more once it is told to stop.

    Whatever it raises is in what comes back, its own cancellation too. Ours stops the work, and is
    raised once that ended, or was let go; unless it gave a value all the same, and a scope will
    raise it at the next occasion: then there is time to keep that value. With `uncut` the work goes
    on to its end, or its deadline, whoever cancels us: that is kept there.
    """
    context = copy_context() if context is None else context
    if isinstance(work, InThread):
        return await _from_thread(work, seconds, context, uncut)
    mine = OwnTask(work)
    mine.start(context)
    over = mine.end.wait if uncut is None else partial(_wait_uncut, uncut, mine.end)
    try:
        if await over(seconds):
            return TaskResult(mine.value, mine.error)
        mine.scope.cancel()
        if await over(grace):
            return TaskResult(
                mine.value, mine.error, late=True, responded=mine.scope.cancelled_caught
            )
    except anyio.get_cancelled_exc_class():
        ended = False
        mine.scope.cancel()
        with anyio.CancelScope(shield=True):
            ended = await mine.end.wait(grace)
        gave = ended and mine.error is None and not mine.scope.cancelled_caught
        if gave and anyio.current_effective_deadline() == -math.inf:
            return TaskResult(mine.value)
        mine.let_go(None)
        raise
    mine.let_go(late)
    return TaskResult(late=True, responded=False, left=True)


async def _wait_uncut(uncut: Uncut, end: "TaskEnd", seconds: float) -> bool:
    """Wait for an end, at most so long, whoever cancels meanwhile; whether it came."""
    until = anyio.current_time() + seconds
    return await uncut.wait(lambda: end.wait(max(0.0, until - anyio.current_time())))


async def _from_thread(
    call: "InThread", seconds: float, context: Context, uncut: Uncut | None = None
) -> TaskResult:
    """As `run_with_deadline`; but what is late, or cancelled, is left at once."""
    await anyio.lowlevel.checkpoint_if_cancelled()  # what is cancelled begins nothing
    end = task_end()
    over = end.wait if uncut is None else partial(_wait_uncut, uncut, end)
    ended = call.begin(context, end.wake_from_thread)
    try:
        if not (ended or await over(seconds)) and call.leave():
            return TaskResult(late=True)
    except anyio.get_cancelled_exc_class():
        if call.leave() or call.error or anyio.current_effective_deadline() != -math.inf:
            raise
    return TaskResult(call.value, call.error)


def spawn(body: Callable[[], Coroutine[Any, Any, None]], context: Context) -> None:
    """Start a task that is nobody's child; `body` must raise nothing."""
    task_end().spawn(body, context)


class Threaded:
    """A plain function, each call of which is made in a thread, at once.

    `late` is told there of a call that ended when nobody waited for it any more: what it returned,
    or else what it raised.
    """

    __slots__ = ("function", "late", "quick")

    def __init__(
        self, function: Callable[..., Any], late: Callable[[Any, BaseException | None], None]
    ) -> None:
        self.function = function
        self.late = late
        self.quick = True
        """Whether the last call ended at once; of a first one that is hoped."""

    def __call__(self, *args: Any) -> "InThread":
        """One call: it begins when it is awaited."""
        return InThread(self, args)


def stoppable(call: object) -> bool:
    """Whether cancelling a call ends its work: nobody can stop a thread.

    What calls other functions says it of them, as its attribute `stoppable`.
    """
    return bool(getattr(call, "stoppable", not isinstance(call, Threaded)))


class InThread:
    """A call of a function in a thread."""

    __slots__ = ("args", "claim", "done", "error", "of", "value", "wake")

    def __init__(self, of: Threaded, args: tuple[Any, ...]) -> None:
        self.of = of
        self.args = args
        self.value: Any = None
        self.error: BaseException | None = None
        self.wake: Tell = _nobody_waits
        self.claim = threading.Lock()  # taken by the thread when it is done, or by who leaves it
        self.done = threading.Lock()
        self.done.acquire()

    def __await__(self) -> Generator[Any, Any, Any]:
        """Wait for what it returns."""
        return self._outcome().__await__()

    async def _outcome(self) -> Any:
        ended = await _from_thread(self, math.inf, copy_context())
        if ended.error is not None:
            raise ended.error
        return ended.value

    def begin(self, context: Context, wake: Tell) -> bool:
        """Begin, and say whether it has ended; if not, the thread calls `wake` once it has."""
        THREADS.start(lambda: context.run(self.work))
        quick = self.done.acquire(timeout=AT_ONCE if self.of.quick else 0)
        self.of.quick = quick  # until it is known how long it takes
        self.wake = wake
        return quick or self.done.acquire(blocking=False)

    def leave(self) -> bool:
        """Wait for it no longer; False where it has just ended."""
        if self.claim.acquire(blocking=False):
            return True
        self.done.acquire()
        return False

    def work(self) -> Tell:
        """What is done in the thread."""
        if (sniffio := sys.modules.get("sniffio")) is not None:  # pragma: no branch - trio loads it
            sniffio.current_async_library_cvar.set(None)  # no loop runs here
        begun = time.perf_counter()
        try:
            self.value = self.of.function(*self.args)
        except BaseException as error:  # noqa: BLE001 - whoever waits gets it
            self.error = error
        self.of.quick = time.perf_counter() - begun < AT_ONCE
        if not self.claim.acquire(blocking=False):
            self.of.late(self.value, self.error)
            return _nobody_waits
        return self.tell

    def tell(self) -> None:
        """From the thread: it is done."""
        self.done.release()
        self.wake()


def _nobody_waits() -> None:
    """Nobody is to be told."""


class OwnTask:
    """Work in a task of its own, which is nobody's child; `value` or `error` is what came of it."""

    def __init__(self, work: Awaitable[Any]) -> None:
        self.coroutine: Coroutine[Any, Any, Any] = (
            work if isinstance(work, types.CoroutineType) else _awaiting(work)
        )
        self.scope = anyio.CancelScope()
        self.value: Any = None
        self.error: BaseException | None = None
        self.left = False
        self.late: Late | None = None
        self.end = task_end()

    def start(self, context: Context) -> None:
        """Start the task."""
        self.end.spawn(self.body, context)

    async def body(self) -> None:
        """Do the work and leave what came of it; nothing is raised into the loop."""
        try:
            with self.scope:
                self.value = await self._driven()
        except BaseException as error:  # noqa: BLE001 - whatever it is, whoever waits gets it
            self.error = error
        self.end.wake()
        if self.late is not None and not self.scope.cancelled_caught:
            self.late(TaskResult(self.value, self.error, late=True, responded=False))

    async def stop(self) -> None:
        """Cancel it and wait until it has ended, whoever cancels us meanwhile."""
        self.scope.cancel()
        uncut = Uncut()
        await _wait_uncut(uncut, self.end, math.inf)
        uncut.raise_kept()

    def let_go(self, late: Late | None) -> None:
        """Wait for it no longer."""
        self.left, self.late = True, late
        if late is None:
            self.end.cancel()

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


def _on_trio() -> bool:
    return "trio" in sys.modules and anyio.get_cancelled_exc_class().__module__.startswith("trio")


def task_end() -> "TaskEnd":
    """An end of work, to be waited for in this event loop."""
    return _OnTrio() if _on_trio() else _OnAsyncio()


class _OnAsyncio:
    """The end of work, to be waited for: asyncio's own futures and timers take half the time of the
    portable ones.
    """

    def __init__(self) -> None:
        self.loop = sys.modules["asyncio"].get_running_loop()
        self.ended = False
        self.waiter: Any = None
        self.task: Any = None

    def spawn(self, body: Callable[[], Coroutine[Any, Any, None]], context: Context) -> None:
        """Start a task."""
        self.task = self.loop.create_task(body(), context=context)
        _RUNNING.add(self.task)
        self.task.add_done_callback(_RUNNING.discard)

    def cancel(self) -> None:
        """Cancel the task once more: the loop may be about to end, and would wait for it."""
        self.task.cancel()

    async def wait(self, seconds: float) -> bool:
        """Wait for the end, at most so long; whether it came."""
        if not self.ended:
            self.waiter = self.loop.create_future()
            timer = self.loop.call_later(seconds, self._look_up)
            try:
                await self.waiter
            finally:
                timer.cancel()
        return self.ended

    def wake(self) -> None:
        """It has ended."""
        self.ended = True
        self._look_up()

    def wake_from_thread(self) -> None:
        """It has ended, in another thread."""
        with suppress(RuntimeError):  # the loop too
            self.loop.call_soon_threadsafe(self.wake)

    @property
    def alive(self) -> bool:
        """Whether its event loop is still there; from any thread."""
        return not self.loop.is_closed()

    def _look_up(self) -> None:
        if self.waiter is not None and not self.waiter.done():
            self.waiter.set_result(None)


class _OnTrio:
    """The same on trio, whose system tasks no nursery waits for but that of the loop itself."""

    def __init__(self) -> None:
        self.lowlevel = sys.modules["trio"].lowlevel
        self.token = self.lowlevel.current_trio_token()
        self.event = anyio.Event()

    def spawn(self, body: Callable[[], Coroutine[Any, Any, None]], context: Context) -> None:
        """Start a task."""
        self.lowlevel.spawn_system_task(body, context=context)

    def cancel(self) -> None:
        """What was cancelled stays cancelled here."""

    async def wait(self, seconds: float) -> bool:
        """Wait for the end, at most so long; whether it came."""
        with anyio.move_on_after(seconds):
            await self.event.wait()
        return self.event.is_set()

    def wake(self) -> None:
        """It has ended."""
        self.event.set()

    def wake_from_thread(self) -> None:
        """It has ended, in another thread."""
        with suppress(RuntimeError):  # the loop too
            self.token.run_sync_soon(self.wake)

    @property
    def alive(self) -> bool:
        """True: before its loop ends, trio ends all tasks and generators, and so what they hold."""
        return True


TaskEnd: TypeAlias = _OnAsyncio | _OnTrio


async def _awaiting(work: Awaitable[Any]) -> Any:
    return await work


@contextmanager
def one_error() -> Generator[None]:
    """Let tasks that ran together fail with one error, the first, not with a tree of groups."""
    try:
        yield
    except BaseExceptionGroup as group:
        with one_error():  # the first may be a group itself
            raise group.exceptions[0] from group
