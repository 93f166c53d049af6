"""Somebody outside is told of held runs, if the settings name one."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio

from clew.interfaces import Store
from clew.operations import HeldNotices, receiver_of
from clew_serve.config import ServeConfig


@asynccontextmanager
async def notifying(config: ServeConfig, store: Store) -> AsyncGenerator[None]:
    """Tell of held runs of the queue, and of those that the server goes on with itself.

    Raises `ConfigError` where nobody can be told.
    """
    if not config.on_held:
        yield
        return
    notices = HeldNotices(store, {config.queue, ""}, receiver_of(config.on_held))
    async with anyio.create_task_group() as group:
        group.start_soon(notices.watch)
        try:
            yield
        finally:
            group.cancel_scope.cancel()
