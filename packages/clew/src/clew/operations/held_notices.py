"""Tells somebody outside of runs that are held: at least once for each hold, and durably.

What is held stands in the store, and so does up to where of a run others know: a worker that is
killed in between tells again. Several workers of a queue tell of a hold once, since one claims it.
"""

import logging
from collections.abc import Collection
from datetime import UTC, datetime
from typing import Final

import anyio

from clew.concurrency.tasks import one_error
from clew.core.events import Stop
from clew.core.journal import load
from clew.core.pending import pending_here
from clew.core.stores import RunInfo, Store
from clew.core.trajectory import Trajectory
from clew.core.values import encode
from clew.operations.receivers import Receiver
from clew.stores.interface import RemembersNotices
from clew.stores.locks import queue_of, release_quietly, shared
from clew.support.errors import ConfigError, StoreError
from clew.support.short_text import counted
from clew.workers.backoff import Backoff

LOG: Final = logging.getLogger("clew")

TRIES: Final = 8
"""So often a notice is tried by one process, each time after twice as long: two minutes in all."""

_LOOK: Final = 1.0
_SHARE: Final = 20.0  # times what a look took: the least pause to the next
_AT_ONCE: Final = 8


class HeldNotices:
    """Notices of the runs of some `queues` that are held; "" stands for runs in none."""

    def __init__(
        self, store: Store, queues: Collection[str], receiver: Receiver, *, tries: int = TRIES
    ) -> None:
        if not isinstance(store, RemembersNotices):
            message = (
                "this store does not remember who was told of what: use SQLite or PostgreSQL, or "
                "leave on_held (--on-held) out"
            )
            raise ConfigError(message)
        self._store = shared(store)
        self._notices: RemembersNotices = store
        self._queues = frozenset(queues)
        self._receiver = receiver
        self._max_tries = tries
        self._known: dict[str, int] = {}
        """Of each held run, the number of the entry up to which nothing is left to tell."""
        self._tries: dict[str, int] = {}
        self._pauses = Backoff()
        self._wake = anyio.Event()
        self._looks = anyio.Lock()

    def wake(self) -> None:
        """Look soon: a run may have been held."""
        self._wake.set()

    async def watch(self) -> None:
        """Look for held runs until cancelled."""
        while True:
            began = anyio.current_time()
            try:
                await self.look()
            except StoreError as error:
                LOG.info("held runs are not looked for now (%s)", error)
            with anyio.move_on_after(max(_LOOK, _SHARE * (anyio.current_time() - began))):
                await self._wake.wait()
            self._wake = anyio.Event()

    async def look(self) -> None:
        """Tell of all holds that nobody was told of, some at a time. Raises `StoreError`.

        It waits for a look of this process that is under way.
        """
        async with self._looks:
            await self._look()

    async def _look(self) -> None:
        held = [
            info
            for info in await self._store.runs(status="held")
            if queue_of(info) in self._queues and info.entries > self._known.get(info.run_id, 0)
        ]
        now, room = anyio.current_time(), anyio.CapacityLimiter(_AT_ONCE)
        with one_error():
            async with anyio.create_task_group() as group:
                for info in held:
                    if not self._pauses.rests(info.run_id, now, info.entries):
                        group.start_soon(self._tell, info, room)

    async def _tell(self, info: RunInfo, room: anyio.CapacityLimiter) -> None:
        async with room:
            lock = f"notice:{info.run_id}"
            if not await self._store.claim(lock):
                return
            try:
                await self._tell_claimed(info)
            except StoreError as error:
                LOG.warning("run %s: nobody is told that it is held now (%s)", info.run_id, error)
                self._pauses.failed(info.run_id, anyio.current_time())
            finally:
                await release_quietly(self._store, lock)

    async def _tell_claimed(self, info: RunInfo) -> None:
        run_id = info.run_id
        record = await load(self._store, run_id)
        stops = [entry for entry in record.entries if isinstance(entry.event, Stop)]
        if not stops or record.stop is None or record.stop.status != "held":
            return  # it went on meanwhile
        seq = stops[-1].seq
        if await self._notices.notified(run_id) < seq:
            notice_id = f"{run_id}:{seq}"
            why = await self._receiver.deliver(notice_id, _notice(record, notice_id, stops[-1].at))
            if why:
                self._failed(info, why)
                return
            await self._notices.set_notified(run_id, seq)
        self._settle(info)

    def _failed(self, info: RunInfo, why: str) -> None:
        tries = self._tries[info.run_id] = self._tries.get(info.run_id, 0) + 1
        if tries >= self._max_tries:
            self._settle(info)
            LOG.error(
                "run %s: nobody was told that it is held, after %s: %s", info.run_id,
                counted(tries, "try", "tries"), why,
            )  # fmt: skip
            return
        seconds = self._pauses.failed(info.run_id, anyio.current_time())
        LOG.warning(
            "run %s: nobody was told that it is held: %s (again in %.0f s)", info.run_id, why,
            seconds,
        )  # fmt: skip

    def _settle(self, info: RunInfo) -> None:
        """Leave a hold alone: it was told, or this process gave up."""
        self._known[info.run_id] = info.entries
        self._tries.pop(info.run_id, None)
        self._pauses.forget(info.run_id)


def _notice(record: Trajectory, notice_id: str, at: int) -> bytes:
    """What is told: which calls wait and for what, and nothing that a model or tool wrote."""
    calls = [
        {"call": each.call, "tool": each.tool, "wants": each.wants} for each in pending_here(record)
    ]
    return encode(
        {
            "type": "run.held", "id": notice_id, "run_id": record.run_id,
            "queue": record.started.queue, "at": datetime.fromtimestamp(at / 1000, UTC).isoformat(),
            "calls": calls,
        }
    )  # fmt: skip
