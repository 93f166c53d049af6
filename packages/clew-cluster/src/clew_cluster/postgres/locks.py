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

from clew import StoreError
from clew_cluster.postgres.connection import Connection, StoreConnections, explain, lost
from clew_cluster.postgres.schema import key

LOG: Final = logging.getLogger("clew")

PULSE: Final = 1.0
"""Seconds between two looks at whether the connection of the claims is still there."""

_TAKE: Final = "SELECT pg_try_advisory_lock(%s)"
_ASK: Final = """
    SELECT CASE WHEN taking THEN pg_try_advisory_lock(number) ELSE pg_advisory_unlock(number) END
    FROM unnest(%s::bigint[], %s::boolean[]) AS asked (number, taking)"""


class _LockRequest:
    """A lock to take or to let go of, and what the server says to that."""

    __slots__ = ("answer", "name", "number", "taking")

    def __init__(self, number: int, name: str, *, taking: bool) -> None:
        self.number = number
        self.name = name
        self.taking = taking
        self.answer: asyncio.Future[bool] = asyncio.get_running_loop().create_future()

    def tell(self, *, taken: bool) -> None:
        """Wake the task that waits, unless it was cancelled."""
        if not self.answer.done():
            self.answer.set_result(taken)

    def fail(self, error: StoreError) -> None:
        """The same, where the server gave no answer."""
        if not self.answer.done():
            self.answer.set_exception(error)
            self.answer.exception()  # asked for here: the task that waits may be gone


class ClaimedLocks:
    """What one store has claimed.

    What is asked while the server answers goes to it together, so that a worker which begins
    hundreds of runs at once waits for a few answers.
    """

    def __init__(self, link: StoreConnections) -> None:
        self._link = link
        self._held: dict[int, str] = {}
        self._asked: list[_LockRequest] = []
        self._asking: asyncio.Task[None] | None = None
        self._lock = asyncio.Lock()
        self._connection: Connection | None = None
        self._watch: asyncio.Task[None] | None = None

    async def claim(self, name: str) -> bool:
        """Take the lock called so; False where anybody has it, this store too."""
        taken = await self._answered(name, taking=True)
        if taken:
            self._watch = self._watch or asyncio.create_task(self._keep())
        return taken

    async def release(self, name: str) -> None:
        """Let go of a claim of this store; of any other, nothing."""
        await self._answered(name, taking=False)

    async def _answered(self, name: str, *, taking: bool) -> bool:
        asked = _LockRequest(key(self._link.address.schema, name), name, taking=taking)
        self._asked.append(asked)
        if self._asking is None:  # a task begins with the loop's next turn: others come along
            self._asking = asyncio.create_task(self._ask_all())
        with anyio.CancelScope(shield=True):  # a claim is taken and known, or neither
            await asked.answer
        return asked.answer.result()

    async def _ask_all(self) -> None:
        """Ask what waits, in its order. Nobody cancels this task but a loop that ends."""
        try:
            while self._asked:
                async with self._lock:
                    if group := self._next_group():
                        await self._settle(group)
        finally:
            self._asking = None
            left, self._asked = self._asked, []
            for one in left:
                one.answer.cancel()

    def _next_group(self) -> list[_LockRequest]:
        """What goes together: each lock once. What needs no server is answered."""
        group: dict[int, _LockRequest] = {}
        later: list[_LockRequest] = []
        for one in self._asked:
            held = one.number in self._held
            if one.number in group:
                later.append(one)
            elif one.taking and (held or one.answer.cancelled()):
                one.tell(taken=False)
            elif not one.taking and not (held and self._connection):
                self._held.pop(one.number, None)
                one.tell(taken=False)
            else:
                group[one.number] = one
        self._asked = later
        return list(group.values())

    async def _settle(self, group: list[_LockRequest]) -> None:
        """Ask these, and tell each who waits. A claim whose task asyncio cancelled, which knows no
        shield, is given back.
        """
        for one in group:
            if not one.taking:
                self._held.pop(one.number, None)
        try:
            answers = await self._ask_server(group)
        except StoreError as error:
            for one in group:
                one.fail(error)
        except psycopg.Error as error:
            if len(group) == 1:
                group[0].fail(explain(self._link.address, error))
            else:
                await self._one_by_one(group)
        except BaseException:  # the loop ends
            for one in group:
                one.answer.cancel()
            raise
        else:
            for one, taken in zip(group, answers, strict=True):
                self._know(one, taken=taken)

    async def _one_by_one(self, group: list[_LockRequest]) -> None:
        """Ask again: nobody can say which of the locks were taken before an error."""
        for one in group:
            if one.taking:
                await self._settle([_LockRequest(one.number, one.name, taking=False)])
            await self._settle([one])

    def _know(self, one: _LockRequest, *, taken: bool) -> None:
        if one.taking and taken:
            self._held[one.number] = one.name
            if one.answer.cancelled():
                self._asked.insert(0, _LockRequest(one.number, one.name, taking=False))
        one.tell(taken=taken)

    async def close(self) -> None:
        """Let go of everything."""
        watch, self._watch = self._watch, None
        if watch is not None:
            watch.cancel()
            await asyncio.wait([watch])
        while self._asking is not None:
            await asyncio.wait([self._asking])
        async with self._lock:
            self._held.clear()
            if self._connection is not None:
                with suppress(psycopg.Error):  # the server lets go somewhat after it is closed
                    await self._connection.execute("SELECT pg_advisory_unlock_all()")
            await self._drop()

    async def _ask_server(self, group: list[_LockRequest]) -> list[bool]:
        """Ask the server, on a connection that has all that is held."""
        asked = ([one.number for one in group], [one.taking for one in group])
        until = self._link.deadline()
        while True:
            connection = await self._connected(until)
            try:
                rows = await (await connection.execute(_ASK, asked)).fetchall()
                return [bool(row[0]) for row in rows]
            except psycopg.Error as error:
                if not lost(error, connection):
                    raise
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
            with suppress(StoreError, psycopg.Error):  # whoever works on a run says what is wrong
                async with self._lock:
                    await self._ask_server([])

    async def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()


async def listening(link: StoreConnections) -> Connection:
    """A connection that hears of every append and message from now on."""

    async def listen(connection: Connection) -> None:
        await connection.execute(f'LISTEN "{link.address.schema}"'.encode())

    return await link.connect(first=listen)


class NotificationListener:
    """Ids of runs, as the server tells them; a connection that breaks is made anew."""

    def __init__(self, link: StoreConnections, connection: Connection) -> None:
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
