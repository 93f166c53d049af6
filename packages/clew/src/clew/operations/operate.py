"""A worker with what its operators need beside it."""

from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Final, Protocol

import anyio
import anyio.abc

from clew.concurrency.tasks import one_error
from clew.core.entries import Entry
from clew.core.listeners import Listener
from clew.core.trajectory import Trajectory
from clew.operations.figures import Figure, Tally, queue_figures
from clew.operations.health import Health, serve_health
from clew.operations.held_notices import HeldNotices
from clew.operations.json_log import LOG, JsonLog
from clew.operations.receivers import receiver_of
from clew.stores import store_at
from clew.stores.locks import SharedStore, shared
from clew.support.errors import StoreError
from clew.support.settings import check_fields
from clew.workers import OnWorkerEvent, WorkerConfig, WorkerEvent, work
from clew.workers.config import Listen, ignore_event

_REFRESH: Final = 5.0
_SHARE: Final = 20.0  # times what a look took: the least pause to the next


class Telemetry(Protocol):
    """Takes what OpenTelemetry is told: `clew.otel.telemetry.Telemetry`."""

    def __call__(self, record: Trajectory, /) -> Listener:
        """A listener for a run."""
        ...

    def observe(self, read: Callable[[], Iterable[Figure]], /) -> None:
        """Read these figures whenever metrics are collected."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Operations:
    """What runs beside a worker; the fields are options of `clew worker`."""

    health: str = ""
    """Where `/healthz`, `/readyz` and `/metrics` are answered: `PORT` (of this machine alone), or
    `HOST:PORT`."""

    on_held: str = ""
    """A command or URL that is told of held runs: at least once, and with no contents."""

    log: Callable[[str], None] | None = None
    """Takes lines of JSON, one for each event."""

    telemetry: Telemetry | None = None
    """Takes spans and metrics."""

    def __post_init__(self) -> None:
        """Raise `ConfigError` for a value of another type."""
        check_fields(self)


async def operate(
    config: WorkerConfig,
    operations: Operations,
    *,
    on_event: OnWorkerEvent = ignore_event,
    leaving: anyio.Event | None = None,
    on_health: Callable[[int], None] | None = None,
) -> None:
    """Be a worker, as `clew.workers.work` is, with these operations beside it.

    `on_health` is called with the port that answers. Raises as `work` does, and `ConfigError` where
    an address cannot be had, or a notice not be sent.
    """
    async with store_at(config.store) as opened:
        beside = _Beside(shared(opened), config, operations, on_event)
        async with beside.running(leaving or anyio.Event(), on_health) as watched:
            await work(watched, on_event=beside.on_event, leaving=leaving)


class _Beside:
    """What observes one worker."""

    def __init__(
        self, store: SharedStore, config: WorkerConfig, operations: Operations,
        on_event: OnWorkerEvent,
    ) -> None:  # fmt: skip
        self._store = store
        self._config = config
        self._operations = operations
        self._tally = Tally()
        self._on_events = [self._tally.on_event, on_event]
        self._listens: list[Listen] = [self._tally.listen]
        self._log: JsonLog | None = None
        self._queues: Sequence[Figure] = ()
        self._notices: HeldNotices | None = None
        if config.listen is not None:
            self._listens.append(config.listen)
        if operations.log is not None:
            self._log = JsonLog(operations.log, worker=config.name, queue=config.queue)
            self._on_events.append(self._log.on_event)
            self._listens.append(self._log.listen)
        if operations.telemetry is not None:
            self._listens.append(operations.telemetry)
        if operations.on_held:
            receiver = receiver_of(operations.on_held)
            self._notices = HeldNotices(store, {config.queue}, receiver)

    def on_event(self, event: WorkerEvent) -> None:
        """Hand on an event of the worker."""
        for tell in self._on_events:
            tell(event)
        if self._notices is not None and event.what == "ended":
            self._notices.wake()

    @asynccontextmanager
    async def running(
        self, leaving: anyio.Event, on_health: Callable[[int], None] | None
    ) -> AsyncGenerator[WorkerConfig]:
        """Run it all in the context, which has the configuration of the worker that is watched."""
        if self._log is not None:
            LOG.addHandler(self._log)
        try:
            with one_error():
                async with anyio.create_task_group() as group:
                    await self._start(group, leaving, on_health)
                    yield replace(self._config, store=self._store, listen=self._listen)
                    if self._notices is not None:
                        await self._notices.look()  # of what was held last
                    group.cancel_scope.cancel()
        finally:
            if self._log is not None:
                LOG.removeHandler(self._log)

    async def _start(
        self,
        group: anyio.abc.TaskGroup,
        leaving: anyio.Event,
        on_health: Callable[[int], None] | None,
    ) -> None:
        operations = self._operations
        if operations.health:
            health = Health(self._store, self._config.queue, self._tally, leaving)
            port = await group.start(serve_health, operations.health, health)
            if on_health is not None:
                on_health(port)
        if operations.telemetry is not None:
            operations.telemetry.observe(lambda: [*self._queues, *self._tally.figures()])
            group.start_soon(self._refresh)
        if self._notices is not None:
            group.start_soon(self._notices.watch)

    async def _refresh(self) -> None:
        """Keep the figures of the queues fresh for who cannot wait for them."""
        while True:
            began = anyio.current_time()
            try:
                self._queues = await queue_figures(self._store)
            except StoreError as error:
                LOG.info("the figures of the queues are old (%s)", error)
            await anyio.sleep(max(_REFRESH, _SHARE * (anyio.current_time() - began)))

    def _listen(self, record: Trajectory) -> Listener:
        return _Together([listen(record) for listen in self._listens])


class _Together:
    """Several listeners as one. The failure of one keeps nothing from the others."""

    def __init__(self, listeners: Sequence[Listener]) -> None:
        self._listeners = listeners

    def token(self, text: str) -> None:
        """Hand on a piece of a reply."""
        self._tell(lambda listener: listener.token(text))

    def entry(self, entry: Entry) -> None:
        """Hand on an entry."""
        self._tell(lambda listener: listener.entry(entry))

    def _tell(self, tell: Callable[[Listener], None]) -> None:
        for listener in self._listeners:
            try:
                tell(listener)
            except Exception:  # noqa: BLE001 - it only observes
                LOG.exception("a listener failed; the run goes on")
