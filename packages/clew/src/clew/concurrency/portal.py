"""The one portal for callers without an event loop: a thread of its own with a loop that stays.

It stays because connections belong to their loop: closed after each call, it would leave them open.
"""

import atexit
import os
import threading
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import wait
from contextlib import AbstractContextManager
from functools import partial, wraps
from typing import Any, ParamSpec, TypeAlias, TypeVar

import anyio

T = TypeVar("T")
P = ParamSpec("P")
Portal: TypeAlias = "anyio.from_thread.BlockingPortal"  # anyio loads it when it is first named

_lock = threading.Lock()
_open: dict[int, tuple[Portal, AbstractContextManager[Portal], int]] = {}
"""The portal of this process, by its id, and its thread: a forked child does not inherit it."""


def portal() -> Portal:
    """This process's portal, started when it is first needed.

    Raises `RuntimeError` on its own thread, which would wait for itself.
    """
    with _lock:
        process = os.getpid()
        if process not in _open:
            starting = anyio.from_thread.start_blocking_portal(name="clew")
            started = starting.__enter__()
            _open[process] = (started, starting, started.call(threading.get_ident))
        opened, _, thread = _open[process]
    if thread == threading.get_ident():
        raise RuntimeError(
            "run_sync and clew.sync cannot be called where a run of theirs is at work: await the "
            "function of clew (such as clew.run), or make the async function a def"
        )
    return opened


def wait_for(function: Callable[..., Awaitable[T]], *args: Any) -> T:
    """Run a coroutine function on the portal to its end.

    Interrupted (Ctrl-C), it cancels the work and waits until it has let go.
    """
    future = portal().start_task_soon(function, *args)
    try:
        return future.result()
    except BaseException:
        if not future.done():
            future.cancel()
            wait([future])
        raise


def twin(function: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, T]:
    """The same function for callers without an event loop (or with one of their own running)."""

    @wraps(function)
    def waiting(*args: P.args, **options: P.kwargs) -> T:
        return wait_for(partial(function, *args, **options))

    return waiting


@atexit.register
def _close() -> None:
    _, starting, _ = _open.pop(os.getpid(), (None, None, 0))
    if starting is not None:
        starting.__exit__(None, None, None)
