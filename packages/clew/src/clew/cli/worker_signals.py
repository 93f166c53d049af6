"""Ctrl-C and SIGTERM for commands that work on many runs: finish the current steps, then leave."""

import signal
from collections.abc import Awaitable, Callable, Collection
from typing import Final

import anyio

from clew.cli.run_here import on_signals
from clew.cli.safe_text import say

WAITS: Final = (
    "clew: only calls with an effect are waited for; Ctrl-C once more ends the process, and leaves "
    "what became of them unknown"
)


async def finish_on_signals(
    work: Callable[[anyio.Event], Awaitable[None]], working: Collection[str]
) -> bool:
    """Call `work` with an event that Ctrl-C or SIGTERM sets; False if a second Ctrl-C cancels it.

    Cancelled or not, a call with an effect that is in flight is waited for; a third Ctrl-C, which
    Python handles, ends the process and leaves its outcome unknown. `working` are the runs that
    have to finish their step, for the message.
    """
    leaving = anyio.Event()

    def on_signal(number: int, scope: anyio.CancelScope) -> None:
        if leaving.is_set():
            if number == signal.SIGINT:
                scope.cancel()
                if working:
                    say(WAITS, err=True)
            return
        leaving.set()
        if working:
            message = f"clew: leaving when {len(working)} run(s) have ended their step"
            say(f"{message}; Ctrl-C breaks them off", err=True)

    async def finished() -> bool:
        await work(leaving)
        return True

    return bool(await on_signals([signal.SIGINT, signal.SIGTERM], on_signal, finished))
