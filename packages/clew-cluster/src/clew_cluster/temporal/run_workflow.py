"""The workflow of a run: asks a worker to advance it, and waits, until it is over.

It is deterministic and knows nothing but how the run stands. It may be terminated at any time: the
next worker that looks around begins another.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Final

from temporalio import workflow
from temporalio.common import RetryPolicy, SearchAttributeKey, SearchAttributeUpdate
from temporalio.workflow import ActivityHandle

from clew.workers.backoff import FIRST, MAX_DELAY
from clew_cluster.temporal.messages import (
    ADVANCE,
    CANCEL,
    DUE,
    WORKFLOW,
    Due,
    Order,
    Standing,
    Task,
)

STATUS: Final = SearchAttributeKey.for_keyword("ClewStatus")

HEARTBEAT: Final = timedelta(seconds=10)
"""So long nothing is heard of a worker until Temporal gives its run to another."""

LOOK: Final = 600.0
"""Seconds after which a run that waits is looked at though nobody told of it."""

_BUSY: Final = 60.0  # seconds at most from one try at a run that another has to the next
_NO_END: Final = timedelta(days=3650)  # a run takes as long as its own limits say
_AGAIN: Final = RetryPolicy(
    initial_interval=timedelta(seconds=FIRST), maximum_interval=timedelta(seconds=MAX_DELAY)
)


@workflow.defn(name=WORKFLOW)
class RunWorkflow:
    """One run, from its first step to its end."""

    def __init__(self) -> None:
        self._queue = ""
        self._words = 0
        self._unclaimed = False
        self._over = False
        self._tries = 0
        self._displayed = ""

    @workflow.signal(name=DUE)
    def due(self, news: Due) -> None:
        """Hear that the run is due."""
        self._queue = news.queue
        self._over = self._over or news.over
        if news.words:
            self._words += 1
        else:
            self._unclaimed = True

    @workflow.run
    async def run(self, order: Order) -> str:
        """The status of the run's stop. Whoever cancels the workflow cancels the run."""
        self._queue = self._queue or order.queue
        try:
            return await self._until_over(order)
        except asyncio.CancelledError:
            await workflow.execute_activity(
                CANCEL, order.run_id, start_to_close_timeout=timedelta(minutes=1),
                retry_policy=_AGAIN,
            )  # fmt: skip
            self._words += 1
            if (status := await self._until_over(order)) == "interrupted":
                raise
            return status

    async def _until_over(self, order: Order) -> str:
        while True:
            words = self._words
            standing = await self._advanced(order)
            if standing.after == "over":
                return standing.status  # a worker that sees later words begins another workflow
            self._display(order, standing)
            if (seconds := self._pause(standing)) > 0:
                await self._rest(seconds, words, standing)
            if workflow.info().is_continue_as_new_suggested():
                workflow.continue_as_new(Order(order.run_id, self._queue, order.attributes))

    async def _advanced(self, order: Order) -> Standing:
        """Ask a worker that has the agent, until it answers or another is to be asked."""
        task, self._over, self._unclaimed = Task(order.run_id, self._over), False, False
        asked: ActivityHandle[Standing] = workflow.start_activity(
            ADVANCE, task, result_type=Standing, task_queue=self._queue,
            start_to_close_timeout=_NO_END, heartbeat_timeout=HEARTBEAT, retry_policy=_AGAIN,
        )  # fmt: skip
        try:
            await workflow.wait_condition(lambda: asked.done() or self._unclaimed)
            if asked.done():
                return await asked
            return Standing("superseded")
        finally:
            if not asked.done():
                asked.cancel()  # if it is at work all the same, its claim keeps the next away
                await workflow.wait([asked])

    async def _rest(self, seconds: float, words: int, standing: Standing) -> None:
        """Wait so long, or until somebody tells that the run is due."""

        def woken() -> bool:
            return self._words > words or (self._unclaimed and standing.after != "failed")

        with suppress(asyncio.TimeoutError):
            await workflow.wait_condition(woken, timeout=seconds)

    def _pause(self, standing: Standing) -> float:
        """For how many seconds a run is left alone that is not over."""
        after, tries = standing.after, min(self._tries, 16)
        if after in {"failed", "claimed"}:
            self._tries = 1 if standing.moved else tries + 1
            max_seconds = MAX_DELAY if after == "failed" else _BUSY
            return min(FIRST * 2.0 ** (self._tries - 1), max_seconds)
        self._tries = 0
        if after == "held" and standing.wake:
            due_in = standing.wake / 1000 - workflow.now().timestamp()
            return min(max(due_in, 0.1), LOOK)
        return LOOK if after in {"held", "refused"} else 0.0

    def _display(self, order: Order, standing: Standing) -> None:
        """Have Temporal show how the run stands, where that has changed."""
        if (now := standing.status or standing.after) == self._displayed or now == "superseded":
            return
        self._displayed = now
        workflow.upsert_memo({"status": now})
        if order.attributes:
            updates: Sequence[SearchAttributeUpdate[str]] = [STATUS.value_set(now)]
            workflow.upsert_search_attributes(updates)  # pyright: ignore[reportUnknownMemberType] - Temporal leaves it open
