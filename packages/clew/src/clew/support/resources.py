"""What tools hold open while their run goes on: connections, processes, browsers.

Whoever owns a run (`clew.run`, a worker, a chat) enters `resources()` around it. Where an engine
calls a worker in tasks that are none of its own (DBOS, Ray), it says in each of them whose they are
(`Resources.owned`). A tool asks for a
resource with `hold_open`: it is entered when it is first asked for, is the same for all runs of
that owner, and is left when the owner leaves. Each resource lives in a task of its own, from its
first line to its last: libraries that keep cancel scopes open demand that one task enters and
leaves them. That task is nobody's child, so a resource that dies takes no run with it.

An agent that somebody has open (`async with agent`) owns what all its runs of that event loop hold
open, in whichever task they are: requests of a web server are in none of the application's.
"""

from collections.abc import AsyncGenerator, Callable, Generator, Hashable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from contextvars import Context, ContextVar, copy_context
from typing import Any, Final, TypeVar, cast

import anyio
from anyio.lowlevel import current_token

from clew.concurrency.tasks import one_error, spawn
from clew.support.errors import ToolError

T = TypeVar("T")

GRACE: Final = 5.0
"""Seconds that a resource has to close once its owner leaves; then it is cancelled."""


class _Held:
    """One resource, in its task."""

    def __init__(self, make: Callable[[], AbstractAsyncContextManager[Any]]) -> None:
        self.make = make
        self.value: Any = None
        self.error: BaseException | None = None
        self.entered = anyio.Event()
        self.leaving = anyio.Event()
        self.ended = anyio.Event()
        self.scope = anyio.CancelScope()

    async def live(self) -> None:
        """Enter it, wait until it is to be left, and leave it; nothing is raised into the loop."""
        try:
            with one_error(), self.scope:
                async with self.make() as self.value:
                    self.entered.set()
                    await self.leaving.wait()
        except BaseException as error:  # noqa: BLE001 - whatever it is, whoever waits gets it
            self.error = error
        self.ended.set()
        self.entered.set()

    async def close(self) -> None:
        """Leave it, within `GRACE` seconds."""
        self.leaving.set()
        with anyio.move_on_after(GRACE):
            await self.ended.wait()
        if not self.ended.is_set():
            self.scope.cancel()
            with anyio.move_on_after(GRACE):
                await self.ended.wait()


class Resources:
    """The resources of one owner, by key."""

    def __init__(self) -> None:
        self.context: Context = copy_context()  # not that of the call which asks first
        self.held: dict[Hashable, _Held] = {}
        self.entered = 0

    async def get(self, key: Hashable, make: Callable[[], AbstractAsyncContextManager[T]]) -> T:
        held = self.held.get(key)
        if held is None or held.ended.is_set() or held.leaving.is_set():
            held = self.held[key] = _Held(make)
            spawn(held.live, self.context)
        if not held.entered.is_set():  # to wait all the same would give it time to end
            await held.entered.wait()
        if not held.ended.is_set():
            return cast("T", held.value)
        self.held.pop(key, None)
        if isinstance(held.error, Exception):
            raise held.error
        message = f"what this tool holds open ended at once: {held.error!r}"
        raise ToolError(message) from held.error

    @contextmanager
    def owned(self) -> Generator[None]:
        """What tools open inside, in this task, belongs to this owner."""
        before = _HERE.set(self)
        try:
            yield
        finally:
            _HERE.reset(before)

    async def close(self) -> None:
        """Leave all of them at once: none waits for another."""
        with anyio.CancelScope(shield=True):
            while self.held:
                held, self.held = list(self.held.values()), {}
                async with anyio.create_task_group() as group:
                    for each in held:
                        group.start_soon(each.close)


_HERE: Final[ContextVar[Resources | None]] = ContextVar("clew.resources", default=None)


_OPENED: Final[dict[tuple[int, object], Resources]] = {}
"""What is held for an object that somebody has open, by its identity and the event loop."""


@asynccontextmanager
async def resources(owner: object = None) -> AsyncGenerator[Resources]:
    """Own what tools open inside; an owner within another one shares what that holds.

    It is that of `owner`, such as the agent of a run, where that is open in this event loop.
    """
    if (outer := _HERE.get()) is not None:
        yield outer
        return
    if _OPENED and (opened := _OPENED.get((id(owner), current_token()))) is not None:
        with opened.owned():
            yield opened
        return
    mine = Resources()
    try:
        with mine.owned():
            yield mine
    finally:
        if mine.held:
            await mine.close()


def keep_open(owner: object) -> None:
    """Have `owner` hold what is opened for it, in any task of this event loop, until `let_go`."""
    _OPENED.setdefault((id(owner), current_token()), Resources()).entered += 1


async def let_go(owner: object) -> bool:
    """End one `keep_open`. The last one closes what was held, and returns True."""
    key = (id(owner), current_token())
    held = _OPENED[key]
    held.entered -= 1
    if held.entered:
        return False
    del _OPENED[key]
    await held.close()
    return True


def without_resources() -> None:
    """Let nothing that is opened from here on belong to whoever owns resources here."""
    _HERE.set(None)


async def hold_open(key: Hashable, make: Callable[[], AbstractAsyncContextManager[T]]) -> T:
    """Return the owner's resource of this key, which `make` makes when it is first asked for.

    It stays open until the owner leaves. If it has ended by itself, or was closed, it is made anew.
    Raises what entering it raised, and `ToolError` where nobody owns resources.
    """
    if (here := _HERE.get()) is None:
        message = "nobody holds connections open here: make the call in a run"
        raise ToolError(message)
    return await here.get(key, make)


async def close_resource(key: Hashable) -> None:
    """Close the owner's resource of this key, if there is one: the next call opens it anew."""
    here = _HERE.get()
    held = None if here is None else here.held.pop(key, None)
    if held is not None:
        with anyio.CancelScope(shield=True):
            await held.close()
