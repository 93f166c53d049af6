"""Claims as advisory locks of the server, and its notifications as wake-ups.

Claims are held by one connection of their own: with it they end, whether it was closed, its process
killed or its host lost. A store whose connection breaks makes a new one and takes its claims again.
One that another worker was faster with is lost, and that is told in the log: the worker that had it
is fenced off by the run's epoch as soon as the other takes the run up.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import suppress
from typing import Any, Final

import anyio
import msgspec
import psycopg

from clew.errors import StoreError
from clew.stores.postgres_link import Connection, Link, explain, lost
from clew.stores.postgres_tables import key

LOG: Final = logging.getLogger("clew")

PULSE: Final = 1.0
"""Seconds between two looks at whether the connection of the claims is still there."""

_TAKE: Final = "SELECT pg_try_advisory_lock(%s)"
_LET_GO: Final = "SELECT pg_advisory_unlock(%s)"


class Claims:
    """What one store has claimed."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._held: dict[int, str] = {}
        self._lock = asyncio.Lock()
        self._connection: Connection | None = None
        self._watch: asyncio.Task[None] | None = None

    async def claim(self, name: str) -> bool:
        """Take the lock called so; False where anybody has it, this store too."""
        number = key(self._link.address.schema, name)
        with anyio.CancelScope(shield=True):  # a claim is taken and known, or neither
            async with self._lock:
                if number in self._held:
                    return False
                try:
                    taken = await self._done(_TAKE, number)
                except asyncio.CancelledError:  # by asyncio itself, which knows no shield
                    await self._done(_LET_GO, number)
                    raise
                if not taken:
                    return False
                self._held[number] = name
                self._watch = self._watch or asyncio.create_task(self._keep())
        return True

    async def release(self, name: str) -> None:
        """Let go of a claim of this store; of any other, nothing."""
        number = key(self._link.address.schema, name)
        with anyio.CancelScope(shield=True):
            async with self._lock:
                if self._held.pop(number, None) is None or self._connection is None:
                    return
                try:
                    await self._done(_LET_GO, number)
                except asyncio.CancelledError:
                    await self._done(_LET_GO, number)
                    raise

    async def close(self) -> None:
        """Let go of everything."""
        watch, self._watch = self._watch, None
        if watch is not None:
            watch.cancel()
            await asyncio.wait([watch])
        async with self._lock:
            self._held.clear()
            if self._connection is not None:
                with suppress(psycopg.Error):  # the server lets go somewhat after it is closed
                    await self._connection.execute("SELECT pg_advisory_unlock_all()")
            await self._drop()

    async def _done(self, query: str, number: int) -> bool:
        """Ask the server, on a connection that has all that is held."""
        until = self._link.deadline()
        while True:
            connection = await self._connected(until)
            try:
                row = await (await connection.execute(query.encode(), (number,))).fetchone()
                return row == (True,)
            except psycopg.Error as error:
                if not lost(error, connection):
                    raise explain(self._link.address, error) from error
                await self._drop()

    async def _connected(self, until: float) -> Connection:
        """The connection; a new one takes again what the lost one held."""
        if self._connection is None:
            self._connection = await self._link.connect(until, self._take_again)
        return self._connection

    async def _take_again(self, connection: Connection) -> None:
        for number, name in list(self._held.items()):
            row = await (await connection.execute(_TAKE, (number,))).fetchone()
            if row != (True,):
                del self._held[number]
                LOG.warning("the claim of %s was lost: another worker has it now", name)

    async def _keep(self) -> None:
        """Look now and then whether the connection is there, so that claims are taken again."""
        while True:
            await asyncio.sleep(PULSE)
            with suppress(StoreError):  # the server is away: whoever works on a run says so
                async with self._lock:
                    await self._done("SELECT true WHERE %s IS NOT NULL", 0)

    async def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()


async def listening(link: Link) -> Connection:
    """A connection that hears of every append and message from now on."""

    async def listen(connection: Connection) -> None:
        await connection.execute(f'LISTEN "{link.address.schema}"'.encode())

    return await link.connect(first=listen)


class Ears:
    """Ids of runs, as the server tells them; a connection that breaks is made anew."""

    def __init__(self, link: Link, connection: Connection) -> None:
        self._link = link
        self._connection = connection

    async def ids(self) -> AsyncGenerator[str]:
        """What is heard, without end. Raises `StoreError` when the server stays away."""
        while True:
            try:
                async for notice in self._connection.notifies(stop_after=1):
                    for run_id in _ids(notice.payload):
                        yield run_id
            except psycopg.Error:
                await self._connection.close()
                self._connection = await listening(self._link)

    async def close(self) -> None:
        """Hear no more."""
        await self._connection.close()


def _ids(payload: str) -> list[Any]:
    """The ids in a notification; anyone may send one, so that it may be anything."""
    with suppress(msgspec.DecodeError):
        return msgspec.json.decode(payload, type=list[str])
    return []
