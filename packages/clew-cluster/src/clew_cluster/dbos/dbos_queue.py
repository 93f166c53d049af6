"""DBOS's workflows, seen as tickets: each says that a run is to be worked on, and who does.

A ticket holds a run's id and nothing of what happens in the run. Losing one, or having two, does no
harm: the record says what is due, and its epoch keeps two workers apart.
"""

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Self, TypeVar
from urllib.parse import urlsplit

import anyio
import anyio.to_thread
import psycopg.errors
import sqlalchemy.exc
from dbos import DBOSClient, DBOSPortableJSONSerializer, EnqueueOptions, WorkflowStatus

from clew import StoreError
from clew_cluster.postgres.address import parse

APPLICATION: Final = "clew"
WORKFLOW: Final = "advance"
_OPEN: Final = ("ENQUEUED", "DELAYED", "PENDING")
_OVER: Final = ("SUCCESS", "ERROR", "CANCELLED", "MAX_RECOVERY_ATTEMPTS_EXCEEDED")

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class DbosDatabase:
    """Where DBOS keeps its tables: the database in the words of SQLAlchemy, and the schema."""

    url: str = field(repr=False)
    schema: str


def dbos_database_of(address: str) -> DbosDatabase:
    """The place that belongs to a store: its database, and a schema beside that of the store.

    Raises `StoreError` for an address that SQLAlchemy, which DBOS is made with, does not read.
    """
    parsed = parse(address)
    if "," in urlsplit(parsed.conninfo).netloc:
        raise StoreError(
            f"DBOS takes one host, and {parsed.redacted} names several: name one of them"
        )
    url = parsed.conninfo.replace("postgres://", "postgresql://", 1)
    return DbosDatabase(url, f"{parsed.schema}_dbos")


_HALF_SET_UP: Final = (psycopg.errors.UndefinedTable, psycopg.errors.UndefinedColumn)
"""What tables miss that nobody has made yet, or that another worker is just making."""


class NotSetUpError(StoreError):
    """DBOS has no tables in the database yet: the first worker makes them."""


@dataclass(frozen=True, slots=True)
class Workflow:
    """A workflow of DBOS: `run_id/seq.number`, with what DBOS says of it."""

    id: str
    status: str
    executor: str = ""
    version: str = ""

    @property
    def run_id(self) -> str:
        """The run that it is for."""
        return self.id.rpartition("/")[0]

    @property
    def seq(self) -> int:
        """The number of the run's last entry when it was written."""
        return int(self.id.rpartition("/")[2].partition(".")[0])

    @property
    def held(self) -> bool:
        """Whether a worker has it at hand, or had when it died."""
        return self.status == "PENDING"

    @property
    def open(self) -> bool:
        """Whether it waits or is being worked on."""
        return self.status in _OPEN


class Tickets:
    """The tickets of one queue, as anybody sees and writes them; serving is another matter."""

    def __init__(self, database: DbosDatabase, queue: str) -> None:
        """Name the database; nothing is connected yet."""
        self.queue = queue
        self._client = DBOSClient(
            system_database_url=database.url,
            dbos_system_schema=database.schema,
            serializer=DBOSPortableJSONSerializer(),  # its default would be pickle
            application_name=APPLICATION,
            system_database_pool_size=4,
            lazy=True,
            retry_connection_errors=False,
        )

    async def limit(self, at_once: int, together: int | None, poll: float) -> None:
        """Say how many tickets a worker, and all of them, may have in hand, and how often to ask.

        DBOS keeps this for the queue: it holds for all its workers, as the last one said.
        """
        await self._ask(
            self._client.register_queue,
            self.queue,
            worker_concurrency=at_once,
            global_concurrency=together,
            polling_interval_sec=poll,
            on_conflict="always_update",
        )

    async def open(self) -> list[Workflow]:
        """All tickets of the queue that wait or are being worked on, oldest first."""
        return await self._list(queue_name=self.queue, status=list(_OPEN))

    async def of(self, run_id: str) -> list[Workflow]:
        """All tickets of a run, those that are over included."""
        workflows = await self._list(workflow_id_prefix=f"{run_id}/")  # and "a/" begins "a/b/"
        return [ticket for ticket in workflows if ticket.run_id == run_id]

    async def written(self, first: Mapping[str, int]) -> dict[str, Workflow]:
        """Of these runs, the first ticket at the entry named, open or over, where there is one."""
        ids = [f"{run_id}/{seq}.0" for run_id, seq in first.items()]
        workflows = await self._list(workflow_ids=ids) if ids else []
        return {ticket.run_id: ticket for ticket in workflows}

    async def write(
        self,
        run_id: str,
        seq: int,
        *,
        version: str = "",
        tries: int = 0,
        pause: float = 0.0,
        beside: str = "",
        new: bool = False,
    ) -> bool:
        """Write a ticket for a run, unless it has an open one beside the one named; say whether.

        Its number follows from those before it, so that two who write at once write the same one.
        With `new` it is known to have none at this entry, and the others are not looked at again.
        Without a `version` it is for the workers of the version that DBOS calls the latest.
        """
        known = [] if new else await self.of(run_id)
        if any(ticket.open and ticket.id != beside for ticket in known):
            return False
        number = sum(ticket.seq == seq for ticket in known)
        options: EnqueueOptions = {
            "workflow_name": WORKFLOW,
            "queue_name": self.queue,
            "workflow_id": f"{run_id}/{seq}.{number}",
        }
        if version:
            options["app_version"] = version
        if pause:
            options["delay_seconds"] = pause
        await self._ask(self._client.enqueue, options, run_id, tries)
        return True

    async def withdraw(self, tickets: Sequence[Workflow]) -> None:
        """Withdraw tickets that nobody can be counted on to honour."""
        if tickets:
            await self._ask(self._client.cancel_workflows, [ticket.id for ticket in tickets])

    async def forget(self, before: str, max_tickets: int = 1000) -> None:
        """Delete tickets that were over before a time, in ISO 8601."""
        old = await self._list(status=list(_OVER), completed_before=before, limit=max_tickets)
        if old:
            await self._ask(self._client.delete_workflows, [ticket.id for ticket in old])

    async def __aenter__(self) -> Self:
        """Open; connections are made when they are needed."""
        return self

    async def __aexit__(self, *raised: object) -> None:
        """Let go of the connections."""
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(self._client.destroy)

    async def _list(self, **which: Any) -> list[Workflow]:
        workflows: list[WorkflowStatus] = await self._ask(
            self._client.list_workflows,
            name=WORKFLOW,
            application_name=APPLICATION,
            load_input=False,
            load_output=False,
            **which,
        )
        return [
            Workflow(it.workflow_id, it.status, it.executor_id or "", it.app_version or "")
            for it in workflows
        ]

    async def _ask(self, what: Callable[..., T], *args: Any, **named: Any) -> T:
        try:
            return await anyio.to_thread.run_sync(functools.partial(what, *args, **named))
        except sqlalchemy.exc.DBAPIError as error:
            why = str(error.orig).strip().partition("\n")[0]  # which names no password
            if isinstance(error.orig, _HALF_SET_UP):
                raise NotSetUpError(f"DBOS is not set up here yet: {why}") from None
            raise StoreError(f"DBOS cannot reach its tables: {why}") from error
