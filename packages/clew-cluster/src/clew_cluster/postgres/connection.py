"""Connections of a PostgreSQL store: made, found broken, made again, and errors in plain words."""

import asyncio
import logging
import os
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, LiteralString, TypeAlias, TypeVar

import psycopg
from psycopg.adapt import Dumper
from psycopg.conninfo import conninfo_to_dict
from psycopg.pq import Format
from psycopg_pool import AsyncConnectionPool, PoolClosed, PoolTimeout

from clew import StoreError
from clew.stores import StoreBusyError, StoreUnreachableError
from clew.stores.refusals import NO_ROOM
from clew.support.error_text import message_of
from clew_cluster.postgres.address import Address
from clew_cluster.postgres.schema import bring_up

T = TypeVar("T")
Connection: TypeAlias = psycopg.AsyncConnection[tuple[Any, ...]]
First: TypeAlias = Callable[[Connection], Awaitable[object]]
"""What is done with a new connection before anything else; if it fails, so did the connecting."""

logging.getLogger("psycopg.pool").addHandler(logging.NullHandler())  # we say what it would warn of

READERS: Final = 4
"""Connections for all but appends: reading, and the small commits of a run's beginning."""

# So that a host which is gone is noticed by either side within some ten seconds.
_ALIVE: Final = {"keepalives_idle": 4, "keepalives_interval": 2, "keepalives_count": 3}
SESSION: Final[Sequence[tuple[str, str]]] = (
    ("tcp_keepalives_idle", "4"),
    ("tcp_keepalives_interval", "2"),
    ("tcp_keepalives_count", "3"),
    ("tcp_user_timeout", "10000"),
    ("default_transaction_isolation", "read committed"),
    ("idle_in_transaction_session_timeout", "10000"),
    ("enable_seqscan", "off"),  # plans made while the tables were small stay good when they grow
    ("enable_bitmapscan", "off"),
    ("enable_hashjoin", "off"),
    ("enable_mergejoin", "off"),
    ("jit", "off"),
    ("max_parallel_workers_per_gather", "0"),
)

_STARTING: Final = "57P03"
_FULL: Final = "53300"
_LOCKED: Final = "55P03"
_AGAIN: Final = frozenset({"40001", "40P01", "23503"})
"""A group of appends that met another transaction: it is made again."""

_MEANING: Final = {
    "28P01": "does not accept the user or the password: check both, or PGPASSWORD and ~/.pgpass",
    "28000": "does not let this user in from here: check the user, or the server's pg_hba.conf",
    "3D000": "does not exist on that server: create it (createdb), or name another",
    "53100": NO_ROOM,
    "53200": "is out of memory: give the server more, or a larger max_locks_per_transaction",
    "25006": "may only be read: name the primary server, or a user that may write",
    "42501": "does not let this user read or write the tables: grant it that, or name another user",
    "42P01": "has lost tables of clew: restore them from a copy",
    _LOCKED: "is kept locked by another session: end the one that hangs, then resume",
    "57014": "broke the work off (statement_timeout): raise that setting, then resume",
    "26000": "does not keep prepared statements (a pooler): name a session pool or the server",
}
# Before a session there is no code, only the server's words.
_WORDS: Final = (
    ("password authentication failed", "28P01"),
    ("no password supplied", "28P01"),
    ("pg_hba.conf", "28000"),
    ("is not permitted to log in", "28000"),
    ('database "', "3D000"),
    ('role "', "28000"),
    ("starting up", _STARTING),
    ("shutting down", _STARTING),
    ("not yet accepting connections", _STARTING),
    ("too many clients", _FULL),
    ("connection slots", _FULL),
)


class Packed(bytes):
    """An argument in the server's own binary form; its type is that of its place."""

    __slots__ = ()


class _RawBytes(Dumper):
    format = Format.BINARY

    def dump(self, obj: Any) -> bytes:
        return bytes(obj)


def code(error: Exception) -> str:
    """The server's code of an error, read from its words where it has none; "" if it says none."""
    sqlstate: str | None = getattr(error, "sqlstate", None)
    if sqlstate:
        return sqlstate
    text = str(error)
    return next((state for words, state in _WORDS if words in text), "")


def lost(error: Exception, connection: Connection) -> bool:
    """Whether the connection is gone, so that nobody knows what became of the statement."""
    ended = code(error)[:3] == "57P" or code(error)[:2] == "08"
    return ended or connection.closed or connection.broken


def can_retry(error: Exception) -> bool:
    """Whether the same statement may succeed when it is made again."""
    return code(error) in _AGAIN


def explain(address: Address, error: psycopg.Error | UnicodeError) -> StoreError:
    """Turn an error of psycopg into ours, with what to do about it."""
    if isinstance(error, UnicodeError):
        return StoreError(f"{address.redacted} cannot hold a text with half a character: mend it")
    meaning = _MEANING.get(code(error))
    if meaning is None:
        message = message_of(error)[:300]
        meaning = f"cannot be used ({message}): see to the server, then resume"
    kind = StoreBusyError if code(error) == _LOCKED else StoreError
    return kind(f"{address.redacted} {meaning}")


def unreachable(address: Address, error: Exception) -> StoreUnreachableError:
    """The server did not answer for as long as one waits for it."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    message = (lines[0] if lines else type(error).__name__).rpartition("failed: ")[2]
    return StoreUnreachableError(
        f"{address.redacted} cannot be reached ({message[:200]}): start the server or check the "
        "address, then resume; nothing recorded is lost"
    )


async def _answers(connection: Connection) -> None:
    """Find out whether a connection that was made for somebody else is still there."""
    await connection.execute("SELECT 1")


class StoreConnections:
    """The connections of one store in one event loop."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self.loop = asyncio.get_running_loop()
        self.process = os.getpid()
        self._known = False
        self._opening = asyncio.Lock()
        self._pool: AsyncConnectionPool[Connection] | None = None
        self._spare: Connection | None = None

    @property
    def here(self) -> bool:
        """Whether this is the loop it belongs to."""
        return self.loop is asyncio.get_running_loop() and self.process == os.getpid()

    @property
    def is_stale(self) -> bool:
        """Whether its loop has ended, or is that of the process which this one was forked from."""
        return self.loop.is_closed() or self.process != os.getpid()

    def deadline(self) -> float:
        """Until when to wait for the server, on the monotonic clock."""
        return time.monotonic() + self.address.patience

    async def connect(self, until: float | None = None, first: First = _answers) -> Connection:
        """A new connection, with which `first` was done. Raises `StoreError`; waits for a server
        that is away when it has been there before, or says that it is starting.
        """
        spare, self._spare = self._spare, None
        if spare is not None:
            with suppress(psycopg.Error):
                await first(spare)
                return spare
            await spare.close()
        until = self.deadline() if until is None else until
        pause = 0.02
        while True:
            try:
                return await self._connected(max(1, round(until - time.monotonic())), first)
            except (psycopg.Error, OSError) as error:
                state = code(error)
                waits = self._known or state in {_STARTING, _FULL}
                if state in _MEANING or not (waits and isinstance(error, psycopg.OperationalError)):
                    raise self._as_store_error(error) from None
                if time.monotonic() + pause > until:
                    raise unreachable(self.address, error) from None
            await asyncio.sleep(pause)
            pause = min(2 * pause, 0.5)

    def _as_store_error(self, error: psycopg.Error | OSError) -> StoreError:
        if isinstance(error, psycopg.ProgrammingError) and not code(error):
            return StoreError(
                "the database's address has a part that is not known: beside schema and patience "
                "it takes libpq's options"
            )
        if isinstance(error, psycopg.Error) and code(error):
            return explain(self.address, error)
        return unreachable(self.address, error)

    async def _connected(self, timeout: int, first: First) -> Connection:
        options = self._options()
        options.setdefault("connect_timeout", timeout)
        connection = await psycopg.AsyncConnection[tuple[Any, ...]].connect(**options)
        try:
            await self._settle(connection)
            await first(connection)
        except BaseException:
            await connection.close()
            raise
        return connection

    def _options(self) -> dict[str, Any]:
        """What libpq is told: the address, and whatever that does not say itself."""
        wait = max(1, round(self.address.patience)) * 1000
        ours = {**_ALIVE, "tcp_user_timeout": wait, "application_name": "clew"}
        conninfo = conninfo_to_dict(self.address.conninfo)
        return {**ours, **conninfo, "client_encoding": "UTF8", "autocommit": True}

    async def _settle(self, connection: Connection) -> None:
        """Prepare a new connection; the first one looks after the tables."""
        connection.adapters.register_dumper(Packed, _RawBytes)
        settings = (
            *SESSION,
            ("search_path", self.address.schema),
            ("lock_timeout", str(round(self.address.patience * 1000))),
        )
        # A server that is told not to wait for its disk waits all the same where we ask it to.
        query = (
            "SELECT set_config('synchronous_commit', 'on', false)"
            " WHERE current_setting('synchronous_commit') = 'off'"
            " UNION ALL SELECT set_config(name, value, false)"
            " FROM unnest(%s::text[], %s::text[]) AS asked (name, value)"
        )
        names, values = zip(*settings, strict=True)
        await connection.execute(query, (list(names), list(values)))
        if not self._known:
            await bring_up(connection, self.address)
            self._known = True

    async def ask(
        self,
        query: LiteralString,
        arguments: Sequence[Any] | Mapping[str, Any] = (),
        *,
        once: bool = False,
    ) -> list[tuple[Any, ...]]:
        """The rows of a statement. A lost connection is made anew and the statement made again,
        but for one that may be made only `once`. Raises `StoreError`.
        """

        async def work(connection: Connection) -> list[tuple[Any, ...]]:
            cursor = connection.cursor(binary=True)
            await cursor.execute(query, arguments, prepare=True)
            return await cursor.fetchall() if cursor.description else []

        return await self.using(work, once=once)

    async def using(self, work: Callable[[Connection], Awaitable[T]], *, once: bool = False) -> T:
        """Do `work` on a connection for readers."""
        until = self.deadline()
        while True:
            pool = await self._readers(until)
            try:
                connection = await pool.getconn(max(0.1, until - time.monotonic()))
            except PoolTimeout as error:
                await self._abandon_pool(pool)
                raise unreachable(self.address, error) from error
            except PoolClosed:  # somebody else has found that it was lost
                continue
            try:
                return await work(connection)
            except (psycopg.Error, UnicodeError) as error:
                gone = lost(error, connection)
                if gone:
                    await self._abandon_pool(pool)
                if once and gone:
                    raise self.unsure() from error
                if not (gone or can_retry(error)) or time.monotonic() > until:
                    raise explain(self.address, error) from error
            finally:
                await pool.putconn(connection)

    def unsure(self) -> StoreError:
        """The connection broke in the middle of a commit, and nobody can say what became of it."""
        return StoreError(
            f"{self.address.redacted} was lost in the middle of a commit, which may or may not "
            "have been made: look at the run before you do it again"
        )

    async def _readers(self, until: float) -> AsyncConnectionPool[Connection]:
        """The pool. Before it a connection is made by hand, which waits for the server as we do and
        whose errors can be told; whoever needs one of its own gets that.
        """
        async with self._opening:
            if self._pool is None:
                self._spare = await self.connect(until)
                pool = AsyncConnectionPool[Connection](
                    "",
                    kwargs=self._options(),
                    min_size=0,
                    max_size=READERS,
                    configure=self._settle,
                    reset=None,
                    open=False,
                    timeout=self.address.patience,
                )
                await pool.open()
                self._pool = pool
            return self._pool

    async def _abandon_pool(self, pool: AsyncConnectionPool[Connection]) -> None:
        """Give up a pool of which a connection was lost: the others are lost as well, or soon."""
        async with self._opening:
            if self._pool is not pool:
                return
            self._pool = None
        await self._close_spare()
        await pool.close()

    async def _close_spare(self) -> None:
        spare, self._spare = self._spare, None
        if spare is not None:
            await spare.close()

    async def close(self) -> None:
        """Let go of all connections of readers."""
        await self._close_spare()
        if self._pool is not None:
            await self._abandon_pool(self._pool)
