"""Runs that clients began: begin, watch, find, list and cancel them in the store.

No run state is kept here. The only thing in memory, the worker's last failures, can be lost.
"""

import secrets
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

import anyio

from clew import ConfigError, Entry, Question, StoreError, Trajectory, follow, read, submit
from clew.agent.approvals import cancel
from clew.concurrency.tasks import one_error
from clew.core.inbox import words_in
from clew.interfaces import Cancel, RunInfo, Started, Store, decode
from clew.support.run_ids import new_run_id
from clew.workers import WorkerEvent, queue_of
from clew_mcp.serve.agents import ServedAgent

QUEUE: Final = "mcp"
"""The queue of runs that clients began."""

LONGEST: Final = 100_000
"""The most characters of a question."""

_PAGE: Final = 100
_REST: Final = 0.5  # seconds

OnEntry = Callable[[Entry], Awaitable[None]]


@dataclass
class ClientRuns:
    """The runs of one queue of a store, for the agents that are served."""

    store: Store
    agents: Mapping[str, ServedAgent]
    queue: str = QUEUE
    longest: int = LONGEST
    store_location: str = ""
    """The value of `--store` for commands shown to a person; empty for the default store."""
    _trouble: dict[str, str] = field(default_factory=dict[str, str])
    _news: anyio.Event = field(default_factory=anyio.Event)

    async def begin(self, name: str, question: Question) -> str:
        """Create a run for the worker, on disk, and return its id.

        The id is hard to guess, since anyone who knows it may ask for the answer.
        """
        served = self.agents[name]
        return await submit(
            served.agent,
            question,
            store=self.store,
            queue=self.queue,
            run_id=f"{new_run_id()}{secrets.token_hex(12)}",
            origin={**served.origin, "mcp": {"tool": name}},  # as `tool_of` reads it
            trust="trusted" if served.trusted else "untrusted",
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
        """Wait until the run stops or fails for now, and return why it failed, or "".

        Passes each entry after `seen` to `on_entry`. A held run has stopped, unless a ruling is in
        its inbox.
        """
        with one_error():
            async with anyio.create_task_group() as group:
                group.start_soon(self._await_trouble, run_id, group.cancel_scope)
                async with follow(run_id, after=seen, store=self.store) as items:
                    async for item in items:
                        if isinstance(item, Entry):
                            await on_entry(item)
                group.cancel_scope.cancel()
        return self._trouble.get(run_id, "")

    async def _await_trouble(self, run_id: str, scope: anyio.CancelScope) -> None:
        while run_id not in self._trouble:
            await self._news.wait()
        scope.cancel()

    def trouble(self, run_id: str) -> str:
        """Why the run cannot continue now, by the worker's last event; empty if it can."""
        return self._trouble.get(run_id, "")

    async def wait_for_news(self) -> None:
        """Wait for the next event of the worker, at most half a second."""
        with anyio.move_on_after(_REST):
            await self._news.wait()

    def on_worker_event(self, event: WorkerEvent) -> None:
        """Record an event of the worker."""
        if event.what in {"failed", "refused"} and event.run_id:
            self._trouble[event.run_id] = event.text
        else:
            self._trouble.pop(event.run_id, None)
        news, self._news = self._news, anyio.Event()
        news.set()

    async def cancel(self, run_id: str) -> None:
        """Ask the run to stop; the request is on disk when this returns."""
        await cancel(run_id, why="the client cancelled it", store=self.store)

    async def cancelled(self, record: Trajectory) -> bool:
        """Whether somebody asked the run to stop, or interrupted it."""
        if record.stop is not None and record.stop.status == "interrupted":
            return True
        if any(isinstance(entry.event, Cancel) for entry in record.entries):
            return True
        words = await words_in(self.store, record.run_id)
        return any(isinstance(word, Cancel) for word in words)

    async def has_message(self, run_id: str) -> bool:
        """Whether the run's inbox has an unread message, such as a ruling."""
        return bool(await self.store.inbox(run_id))

    async def page_after(self, after: str, limit: int) -> tuple[list[RunInfo], str]:
        """A page of the queue's runs, last written first: at most `limit`, after the run `after`.

        Also returns the `after` of the next page; empty if this is the last.
        """
        infos: list[RunInfo] = []
        last: RunInfo | None = None
        passed = not after
        while page := await self.store.runs(_PAGE, last):
            for info in page:
                if passed and queue_of(info) == self.queue and tool_of(info) in self.agents:
                    if len(infos) == limit:
                        return infos, infos[-1].run_id
                    infos.append(info)
                passed = passed or info.run_id == after
            last = page[-1]
        return infos, ""


def tool_of(info: RunInfo) -> str:
    """The tool whose call began a run; empty if none did, or the record cannot be read."""
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
