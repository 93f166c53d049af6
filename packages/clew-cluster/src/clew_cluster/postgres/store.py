"""A store in a PostgreSQL database, which many processes and machines can share.

An append is one call of a function in the database (`postgres_tables`), together with the appends
of other runs that are ready with it (`postgres_commits`). It is made in the run's row, whose epoch
and last line must be those that the append says. So the server does all of it, or nothing, without
ever waiting for the client, and a client may be frozen, killed or cut off at any moment.

Needs the extra `postgres`, and asyncio.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final, LiteralString, Self

import anyio
from psycopg.errors import UniqueViolation

from clew import StoreError
from clew.interfaces import Append, Base, Line, RunInfo
from clew.stores.listing import Selection
from clew.stores.refusals import (
    changed_since,
    known_run,
    missing_blob,
    no_base,
    still_shared,
    unknown_run,
)
from clew.support.settings import check_fields
from clew_cluster.postgres.address import Address, parse
from clew_cluster.postgres.connection import Connection, StoreConnections
from clew_cluster.postgres.group_commit import Commits, wakes
from clew_cluster.postgres.listing import (
    BEGIN,
    CHOSEN,
    DUE,
    END,
    FEWEST,
    LAST,
    MANY,
    PAGE,
    RUNS,
    SELECTED,
)
from clew_cluster.postgres.locks import ClaimedLocks, NotificationListener, listening
from clew_cluster.postgres.schema import key

# From a run to the one that wrote a line, and the new run after it, unless the line is not there.
_FORK: Final = """
    WITH RECURSIVE up (number, base, shared, root, head, depth) AS (
        SELECT number, base, shared, root, head, 0 FROM runs WHERE run_id = %(base)s
        UNION ALL
        SELECT runs.number, runs.base, runs.shared, runs.root, runs.head, depth + 1
        FROM up JOIN runs ON runs.number = up.base WHERE up.shared >= %(seq)s
    )
, made AS (
        INSERT INTO runs (run_id, base, shared, head, root)
        SELECT %(run_id)s, number, %(seq)s, %(seq)s, coalesce(root, number) FROM up
        WHERE (SELECT head FROM up WHERE depth = 0) >= %(seq)s
        ORDER BY depth DESC LIMIT 1
        RETURNING number, root, epoch
    ), labelled AS (
        INSERT INTO labels (digest, number)
        SELECT digest, made.number FROM made JOIN labels ON labels.number = made.root
    ) SELECT epoch FROM made"""
_CREATE: Final = "INSERT INTO runs (run_id) VALUES (%(run_id)s) RETURNING epoch"
_NOTIFIED: Final = (
    "SELECT coalesce(upto, 0) FROM runs LEFT JOIN notices USING (number) WHERE run_id = %s"
)
_SET_NOTIFIED: Final = """
    INSERT INTO notices (number, upto) SELECT number, %s FROM runs WHERE run_id = %s
    ON CONFLICT (number) DO UPDATE SET upto = excluded.upto RETURNING number"""
_BUMP: Final = "UPDATE runs SET epoch = epoch + 1 WHERE run_id = %s RETURNING epoch"
_BUMP_EMPTY: Final = (
    "UPDATE runs SET epoch = epoch + 1 WHERE run_id = %s AND head = shared RETURNING epoch"
)
# As `_PARTS`, of those parts alone that have lines behind one.
_PARTS_AFTER: Final = """
    WITH RECURSIVE part (number, base, shared, upto) AS (
        SELECT number, base, shared, head FROM runs WHERE run_id = %(run_id)s
        UNION ALL
        SELECT runs.number, runs.base, runs.shared, part.shared
        FROM part JOIN runs ON runs.number = part.base
        WHERE part.shared > %(after)s AND part.upto > part.shared
    )"""
# A row for a run that is there, whatever it has. A fork without a line of its own has none.
_READ: Final = f"""{_PARTS_AFTER}
    SELECT seq, at, epoch, body, hash FROM part
    LEFT JOIN entries ON entries.number = part.number AND seq > %(after)s AND seq <= upto
    ORDER BY seq"""  # noqa: S608 - it is put together from constants
# The first of these lines: of each run that wrote some, no more are looked at.
_PAGE_OF_LINES: Final = f"""{_PARTS_AFTER}
    SELECT seq, at, epoch, body, hash FROM part LEFT JOIN LATERAL (
        SELECT * FROM entries
        WHERE entries.number = part.number AND seq > %(after)s AND seq <= upto
        ORDER BY seq LIMIT %(limit)s
    ) AS line ON true
    ORDER BY seq LIMIT greatest(%(limit)s, 1)"""  # noqa: S608 - it is put together from constants
# The lines of a run that stand in its own rows, and in those of the runs whose lines it shares.
_PARTS: Final = """
    WITH RECURSIVE part (number, base, shared, upto) AS (
        SELECT number, base, shared, head FROM runs WHERE run_id = %(run_id)s
        UNION ALL
        SELECT runs.number, runs.base, runs.shared, least(part.upto, part.shared)
        FROM part JOIN runs ON runs.number = part.base
    )"""
_FOREIGN: Final = f"""{_PARTS}
    SELECT coalesce(max(seq), 0) FROM part
    JOIN entries ON entries.number = part.number AND seq <= upto WHERE outside
    HAVING EXISTS (SELECT FROM part)"""  # noqa: S608 - it is put together from constants
_ADOPT: Final = f"""{_PARTS},
    wanted AS (
        SELECT FROM part JOIN entries USING (number)
        WHERE seq = %(seq)s AND hash = %(hash)s AND seq <= upto
    ),
    done AS (
        UPDATE entries SET outside = false FROM part
        WHERE entries.number = part.number AND seq <= least(upto, %(seq)s) AND outside
            AND EXISTS (SELECT FROM wanted)
    )
    SELECT EXISTS (SELECT FROM wanted)"""  # noqa: S608 - the same
_POST: Final = """
    WITH put AS (
        INSERT INTO inbox (number, body) SELECT number, %s FROM runs WHERE run_id = %s RETURNING id
    ) SELECT id, pg_notify(%s, %s) FROM put"""
_INBOX: Final = """
    SELECT inbox.id, inbox.body FROM runs LEFT JOIN inbox USING (number)
    WHERE run_id = %s ORDER BY inbox.id"""
_SIZE: Final = """
    SELECT coalesce((SELECT sum(pg_column_size(runs.*)) FROM runs), 0)
        + coalesce((SELECT sum(pg_column_size(entries.*)) FROM entries), 0)
        + coalesce((SELECT sum(pg_column_size(blobs.*)) FROM blobs), 0)
        + coalesce((SELECT sum(pg_column_size(refs.*)) FROM refs), 0)
        + coalesce((SELECT sum(pg_column_size(inbox.*)) FROM inbox), 0)"""


def _page(limit: int, after: RunInfo | None, status: str) -> dict[str, Any]:
    """What stands for the parameters of a page."""
    return {
        "at": LAST if after is None else after.last.at,
        "run_id": "" if after is None else after.run_id,
        "none": LAST if after is None else 0,
        "most": limit or None,
        "status": status,
    }


@dataclass(slots=True)
class _Open:
    """What a store has open in one event loop."""

    link: StoreConnections
    commits: Commits
    claims: ClaimedLocks


@dataclass(slots=True)
class _Begin:
    """Begins a run, also in a second try, after one whose end nobody heard."""

    run_id: str
    query: LiteralString
    params: Mapping[str, Any]
    tries: int = 0

    async def __call__(self, connection: Connection) -> int | None:
        """The run's epoch; None where there is nothing to begin from."""
        self.tries += 1
        cursor = connection.cursor(binary=True)
        try:
            await cursor.execute(self.query, self.params, prepare=True)
        except UniqueViolation as error:
            if self.tries == 1:
                raise known_run(self.run_id) from error
            await cursor.execute(_BUMP_EMPTY, (self.run_id,), prepare=True)
            if not cursor.rowcount:
                raise known_run(self.run_id) from error
        row = await cursor.fetchone()
        return None if row is None else int(row[0])


@dataclass(slots=True)
class PostgresStore:
    """Keeps all runs in the database at `address`, in a schema that is created if it is missing.

    `postgresql://USER:PASSWORD@HOST:PORT/DATABASE?schema=clew&patience=10`; you may omit whatever
    libpq finds elsewhere. It waits up to `patience` seconds for an absent server, and then
    completes what was under way: nothing twice, nothing lost. An instance belongs to the event loop
    that first uses it, until it is closed. Raises `StoreError` if the database cannot be used; no
    message contains a password.
    """

    address: str = field(repr=False)
    database: Address = field(init=False)
    _opened: _Open | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        check_fields(self)
        self.database = parse(self.address)

    def _at(self) -> _Open:
        """What is open in this event loop."""
        opened = self._here()
        if opened is None:
            link = StoreConnections(self.database)
            opened = self._opened = _Open(link, Commits(link), ClaimedLocks(link))
        return opened

    def _here(self) -> _Open | None:
        """The same, if anything is."""
        try:
            asyncio.get_running_loop()
        except RuntimeError as error:
            raise StoreError(
                "a PostgreSQL store needs asyncio: run without trio, or name another store"
            ) from error
        opened = self._opened
        if opened is None or opened.link.is_stale:
            return None
        if not opened.link.here:
            raise StoreError(
                f"{self.database.redacted} is open in another event loop: close it there, or "
                "open the store once more here"
            )
        return opened

    async def create(self, run_id: str, base: Base | None = None) -> int:
        link = self._at().link
        if base is None:
            epoch = await link.using(_Begin(run_id, _CREATE, {"run_id": run_id}))
            return 1 if epoch is None else epoch
        params = {"run_id": run_id, "base": base.run_id, "seq": base.seq}
        if base.seq > 0 and (epoch := await link.using(_Begin(run_id, _FORK, params))) is not None:
            return epoch
        rows = await link.ask("SELECT head FROM runs WHERE run_id = %s", (base.run_id,))
        raise no_base(base, rows[0][0]) if rows else unknown_run(base.run_id)

    async def open(self, run_id: str) -> int:
        rows = await self._at().link.ask(_BUMP, (run_id,))
        if not rows:
            raise unknown_run(run_id)
        return int(rows[0][0])

    async def epoch(self, run_id: str) -> int:
        rows = await self._at().link.ask("SELECT epoch FROM runs WHERE run_id = %s", (run_id,))
        if not rows:
            raise unknown_run(run_id)
        return int(rows[0][0])

    async def append(self, append: Append) -> bool:
        return await self._at().commits.append(append)

    async def read(self, run_id: str, after: int = 0) -> list[Line]:
        return await self._lines(_READ, run_id, {"after": max(after, 0)})

    async def read_page(self, run_id: str, after: int, limit: int) -> list[Line]:
        params = {"after": max(after, 0), "limit": max(limit, 0)}
        return await self._lines(_PAGE_OF_LINES, run_id, params)

    async def blob(self, digest: str) -> bytes:
        rows = await self._at().link.ask("SELECT body FROM blobs WHERE digest = %s", (digest,))
        if not rows:
            raise missing_blob(digest)
        return bytes(rows[0][0])

    async def post(self, run_id: str, body: bytes) -> None:
        (wake, *_) = (*wakes([run_id]), b"[]")
        params = (body, run_id, self.database.schema, wake.decode())
        if not await self._at().link.ask(_POST, params, once=True):
            raise unknown_run(run_id)

    async def inbox(self, run_id: str) -> list[tuple[int, bytes]]:
        rows = await self._at().link.ask(_INBOX, (run_id,))
        if not rows:
            raise unknown_run(run_id)
        return [(id_, bytes(body)) for id_, body in rows if id_ is not None]

    async def runs(
        self, limit: int = 0, after: RunInfo | None = None, status: str = ""
    ) -> list[RunInfo]:
        if not (limit or after or status):
            return await self._listed(RUNS)
        return await self._listed(PAGE, _page(limit, after, status))

    async def select(
        self, which: Selection, limit: int = 0, after: RunInfo | None = None, status: str = ""
    ) -> list[RunInfo]:
        digests = which.digests
        params = _page(limit, after, status) | {"digests": digests, "named": which.run_id}
        if limit and not which.run_id:
            ((fewest,),) = await self._at().link.ask(FEWEST, (MANY + 1, digests))
            if fewest > MANY:
                return await self._listed(SELECTED, params)
        return await self._listed(CHOSEN, params)

    async def ids(self, part: str, limit: int = 20) -> list[str]:
        params = {"part": part, "most": limit}
        link = self._at().link
        rows = await link.ask(BEGIN, params) or await link.ask(END, params)
        return [run_id for (run_id,) in rows]

    async def due(self) -> list[RunInfo]:
        return await self._listed(DUE)

    async def claim(self, name: str) -> bool:
        return await self._at().claims.claim(name)

    async def release(self, name: str) -> None:
        await self._at().claims.release(name)

    @asynccontextmanager
    async def wakes(self) -> AsyncGenerator[AsyncIterator[str]]:
        link = self._at().link
        ears = NotificationListener(link, await listening(link))
        try:
            async with aclosing(ears.ids()) as ids:
                yield ids
        finally:
            await ears.close()

    async def forget(self, run_id: str) -> None:
        link = self._at().link
        turn = key(self.database.schema, "\0forget")
        if await link.ask("SELECT forget(%s, %s)", (run_id, turn)) != [(True,)]:
            rows = await link.ask(
                "SELECT fork.run_id FROM runs LEFT JOIN runs AS fork ON fork.base = runs.number"
                " WHERE runs.run_id = %s LIMIT 1",
                (run_id,),
            )
            raise still_shared(run_id, rows[0][0]) if rows else unknown_run(run_id)

    async def foreign(self, run_id: str) -> int:
        rows = await self._at().link.ask(_FOREIGN, {"run_id": run_id})
        if not rows:
            raise unknown_run(run_id)
        return int(rows[0][0])

    async def adopt(self, run_id: str, last: Line) -> None:
        params = {"run_id": run_id, "seq": last.seq, "hash": last.hash}
        if await self._at().link.ask(_ADOPT, params) != [(True,)]:
            raise changed_since(run_id)

    async def notified(self, run_id: str) -> int:
        rows = await self._at().link.ask(_NOTIFIED, (run_id,))
        if not rows:
            raise unknown_run(run_id)
        return int(rows[0][0])

    async def set_notified(self, run_id: str, seq: int) -> None:
        if not await self._at().link.ask(_SET_NOTIFIED, (seq, run_id)):
            raise unknown_run(run_id)

    async def size(self) -> int:
        rows = await self._at().link.ask(_SIZE)
        return int(rows[0][0])

    async def __aenter__(self) -> Self:
        """Itself; `async with` closes it in the end."""
        return self

    async def __aexit__(self, *error: object) -> None:
        """Close it, whoever cancels that meanwhile."""
        with anyio.CancelScope(shield=True):
            await self.close()

    async def close(self) -> None:
        """Close the connections, which releases the claims."""
        opened = self._here()
        self._opened = None
        if opened is not None:
            await opened.commits.close()
            await opened.claims.close()
            await opened.link.close()

    async def _lines(
        self, query: LiteralString, run_id: str, params: Mapping[str, int]
    ) -> list[Line]:
        rows = await self._at().link.ask(query, {"run_id": run_id, **params})
        if not rows:
            raise unknown_run(run_id)
        return [Line(*row) for row in rows if row[0] is not None]

    async def _listed(
        self, query: LiteralString, params: Mapping[str, Any] | None = None
    ) -> list[RunInfo]:
        return [
            RunInfo(
                run_id,
                (last := Line(*lines[5:])).seq,
                Line(*lines[:5]),
                last,
                None if parent is None else Base(parent, shared),
            )
            for run_id, parent, shared, *lines in await self._at().link.ask(query, params or {})
        ]
