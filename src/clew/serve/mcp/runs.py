"""Runs that clients began, as their store has them: begin, watch, find, cancel.

Nothing of a run is kept here. What is in memory is lost without harm: the last trouble of a worker.
"""

import secrets
from collections.abc import Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Final

import anyio

from clew.api import read
from clew.approvals import cancel
from clew.concurrency.tasks import one_error
from clew.core.errors import ConfigError, StoreError
from clew.core.events import Cancel, Entry, Started, decode
from clew.core.inbox import words_in
from clew.core.interfaces import RunInfo, Store
from clew.core.journal import new_run_id
from clew.core.trajectory import Trajectory
from clew.serve.mcp.agents import ServedAgent
from clew.workers import WorkerEvent, queue_of
from clew.workers.queue import follow, submit

QUEUE: Final = "mcp"
"""The queue of runs that clients began."""

LONGEST: Final = 100_000
"""The characters that a question may have."""

_PAGE: Final = 100
_REST: Final = 0.5  # seconds

OnEntry = Callable[[Entry], Awaitable[None]]


@dataclass
class Runs:
    """The runs of one queue of a store, for the agents that are served."""

    store: Store
    agents: Mapping[str, ServedAgent]
    queue: str = QUEUE
    longest: int = LONGEST
    place: str = ""
    """What `--store` is to be in a command that is shown; empty for the usual place."""
    _trouble: dict[str, str] = field(default_factory=dict[str, str])
    _news: anyio.Event = field(default_factory=anyio.Event)

    async def begin(self, name: str, question: str) -> str:
        """Create a run for the worker and return its id; it is on disk then.

        The id is hard to guess, since whoever has it may ask for the answer.
        """
        served = self.agents[name]
        return await submit(
            served.agent,
            question,
            store=self.store,
            queue=self.queue,
            run_id=f"{new_run_id()}{secrets.token_hex(12)}",
            origin={**served.origin, "mcp": {"tool": name}},  # as `tool_of` reads it
        )

    async def find(self, run_id: str) -> tuple[Trajectory, ServedAgent]:
        """A run that a client of this server began. Raises `ConfigError` for any other id."""
        try:
            record = await read(run_id, store=self.store)
        except StoreError as error:
            raise ConfigError(f"there is no task {run_id[:_PAGE]}") from error
        served = self.agents.get(tool_of_record(record))
        if served is None or queue_of(record) != self.queue:
            raise ConfigError(f"there is no task {run_id[:_PAGE]}")
        return record, served

    async def wait(self, run_id: str, on_entry: OnEntry, seen: int = 0) -> str:
        """Wait until the run stops, or cannot go on now: then why. Entries after `seen` are told.

        A run that is held has stopped, unless a ruling is on its way.
        """
        with one_error():
            async with anyio.create_task_group() as group:
                group.start_soon(self._await_trouble, run_id, group.cancel_scope)
                async with aclosing(follow(run_id, store=self.store)) as entries:
                    async for entry in entries:
                        if entry.seq > seen:
                            await on_entry(entry)
                group.cancel_scope.cancel()
        return self._trouble.get(run_id, "")

    async def _await_trouble(self, run_id: str, scope: anyio.CancelScope) -> None:
        while run_id not in self._trouble:
            await self._news.wait()
        scope.cancel()

    def trouble(self, run_id: str) -> str:
        """Why the run cannot go on now, as the worker said last; empty where nothing is wrong."""
        return self._trouble.get(run_id, "")

    async def rest(self) -> None:
        """Wait until the worker has news, or half a second."""
        with anyio.move_on_after(_REST):
            await self._news.wait()

    def heard(self, event: WorkerEvent) -> None:
        """Take an event of the worker."""
        if event.what in {"failed", "refused"} and event.run_id:
            self._trouble[event.run_id] = event.text
        else:
            self._trouble.pop(event.run_id, None)
        news, self._news = self._news, anyio.Event()
        news.set()

    async def cancel(self, run_id: str) -> None:
        """Ask the run to stop; the word is on disk when this returns."""
        await cancel(run_id, why="the client cancelled it", store=self.store)

    async def cancelled(self, record: Trajectory) -> bool:
        """Whether somebody asked the run to stop, or interrupted it."""
        if record.stop is not None and record.stop.status == "interrupted":
            return True
        if any(isinstance(entry.event, Cancel) for entry in record.entries):
            return True
        words = await words_in(self.store, record.run_id)
        return any(isinstance(word, Cancel) for word in words)

    async def spoken_to(self, run_id: str) -> bool:
        """Whether a word for the run waits to be read, such as a ruling."""
        return bool(await self.store.inbox(run_id))

    async def listed(self, after: str, most: int) -> tuple[list[RunInfo], str]:
        """The runs of the queue behind the run `after`, last written first: `most` of them.

        Also what `after` is to be for the next ones; empty where there are none.
        """
        found: list[RunInfo] = []
        last: RunInfo | None = None
        passed = not after
        while page := await self.store.runs(_PAGE, last):
            for info in page:
                if passed and queue_of(info) == self.queue and tool_of(info) in self.agents:
                    if len(found) == most:
                        return found, found[-1].run_id
                    found.append(info)
                passed = passed or info.run_id == after
            last = page[-1]
        return found, ""


def tool_of(info: RunInfo) -> str:
    """The tool whose call began a run; empty where none did, or the record cannot be read."""
    try:
        return _tool_of(decode(info.first.body))
    except (ValueError, RecursionError):  # of a newer clew, or damaged
        return ""


def tool_of_record(record: Trajectory) -> str:
    """The same, of a record."""
    return _tool_of(record.started)


def _tool_of(event: object) -> str:
    match event:
        case Started(origin={"mcp": {"tool": str(name)}}):
            return name
        case _:
            return ""
