"""What the commands of other packages stand on: options, the store that they name, and signals.

A command is a `click.Command` that an entry point of the group `clew.commands` names. It prints by
`say`. What it raises becomes one line on stderr and an exit code: 2 for `ConfigError`, 5 for any
other `ClewError`. What it returns is the exit code; None is 0.
"""

from collections.abc import Awaitable, Callable, Iterable
from contextlib import AbstractAsyncContextManager
from typing import Final, TypeAlias

import anyio

from clew.cli import options
from clew.cli.errors import ANSWERED, INTERRUPTED
from clew.cli.safe_text import say
from clew.cli.store_option import existing, shared_location
from clew.cli.worker import store_of
from clew.cli.worker_signals import finish_on_signals
from clew.interfaces import Store
from clew.support.printable import inert
from clew.support.short_text import one_line
from clew.workers import OnWorkerEvent, WorkerEvent

__all__ = [
    "at_once_option",
    "debug_option",
    "existing_store",
    "queue_option",
    "say",
    "serve_until_signal",
    "shared_store",
    "store_option",
]

store_option: Final = options.STORE
"""`--store`, as `store: str | None`; None is what `CLEW_STORE` or the platform names."""

debug_option: Final = options.DEBUG
"""`--debug`: tracebacks of errors. The command takes no argument for it."""

queue_option: Final = options.QUEUE
"""`--queue`, as `queue: str`."""

at_once_option: Final = options.AT_ONCE
"""`--at-once`, as `at_once: int`, which is 1 or more."""

Serve: TypeAlias = Callable[[anyio.Event, OnWorkerEvent], Awaitable[None]]


def existing_store(store: str | None) -> AbstractAsyncContextManager[Store]:
    """The store that `--store` names, open in the context. Raises `ConfigError` if there is none.

    So a command that only reads makes no empty store.
    """
    return existing(store)


def shared_store(store: str | None, agents: Iterable[str] = ()) -> str:
    """The location that `--store` names, else agent files, else the default.

    Raises `ConfigError` if the files disagree, and for a store in memory: no other process sees it.
    """
    return shared_location(store or store_of(agents))


async def serve_until_signal(serve: Serve) -> int:
    """Call `serve` with an event that Ctrl-C or SIGTERM sets, and a listener; the exit code.

    `serve` has to return soon after the event is set. The listener takes the events of a worker:
    runs that fail are reported on stderr. A second Ctrl-C cancels `serve`: the code is then 130.
    """
    working = set[str]()

    def on_event(event: WorkerEvent) -> None:
        if event.what == "taken":
            working.add(event.run_id)
        else:
            working.discard(event.run_id)
        if event.what in {"failed", "refused", "lost"}:
            text = one_line(inert(event.text))
            say(f"clew: run {inert(event.run_id)} {event.what}: {text}", err=True)

    async def work(leaving: anyio.Event) -> None:
        await serve(leaving, on_event)

    return ANSWERED if await finish_on_signals(work, working) else INTERRUPTED
