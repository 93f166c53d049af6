"""Work that a signal ends in order: Ctrl-C, an operator, a terminal that is closed."""

import signal
import sys
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

import anyio
import anyio.abc

T = TypeVar("T")


def unless_interrupted(work: Callable[[], Awaitable[T]]) -> Awaitable[T | None]:
    """The result of `work`; None if a signal cancelled it. A second Ctrl-C does not wait.

    It is cancelled through a scope, so that a write in progress is completed.
    """

    def cancel(number: int, scope: anyio.CancelScope) -> None:
        del number
        scope.cancel()

    # Ctrl-C, an operator, a terminal that is closed (not under nohup)
    hangup = [] if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN else [signal.SIGHUP]
    return on_signals([signal.SIGINT, signal.SIGTERM, *hangup], cancel, work)


async def on_signals(
    signals: Sequence[signal.Signals],
    on_signal: Callable[[int, anyio.CancelScope], None],
    work: Callable[[], Awaitable[T]],
) -> T | None:
    """The result of `work`; `on_signal` is called at each signal. None if it cancelled the work."""
    if sys.platform == "win32":  # its event loop takes no signals; KeyboardInterrupt ends the run
        return await work()
    results: list[T] = []
    errors: list[BaseException] = []
    async with anyio.create_task_group() as group:

        async def listen(task_status: anyio.abc.TaskStatus[None]) -> None:
            with anyio.open_signal_receiver(*signals) as received:
                task_status.started()
                async for number in received:
                    on_signal(number, group.cancel_scope)

        await group.start(listen)
        try:
            results.append(await work())
        except anyio.get_cancelled_exc_class():
            raise
        except BaseException as error:  # noqa: BLE001 - it is raised below, and not in a group
            errors.append(error)
        group.cancel_scope.cancel()
    if errors:
        raise errors[0]
    return results[0] if results else None
