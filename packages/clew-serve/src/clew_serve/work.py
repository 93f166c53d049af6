"""Who executes the runs: a worker in this process, or workers elsewhere.

Runs of the server's queue are a worker's. A fork, or a run that a program began, is in no queue:
it is gone on with here, as an application does.
"""

import logging
import secrets
import socket
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

import anyio

from clew import Question, StoreError, serving, start
from clew.concurrency.tasks import one_error
from clew.interfaces import Store
from clew.operations import Tally
from clew.workers import OnWorkerEvent, WorkerConfig, WorkerEvent, agents_for, work
from clew_serve.agents import ServedAgent, WorkingAgents
from clew_serve.config import ServeConfig

LOG: Final = logging.getLogger("clew")

_KEPT: Final = 1_000
"""So many failures of runs are remembered."""


@dataclass
class Work:
    """The work on runs in this process: what it has in hand, and why it could not go on with some.

    `alive` says whether it goes on; without work in this process it is always true.
    """

    works: bool
    store: Store
    accept_change: bool = False
    told: OnWorkerEvent | None = None
    """Who is told of the worker's events too."""
    alive: bool = True
    tally: Tally = field(default_factory=Tally)
    in_hand: set[str] = field(default_factory=set[str])
    failures: dict[str, str] = field(default_factory=dict[str, str])
    """Why a run could not be gone on with, by its id: the worker's last word, in no record."""

    def on_event(self, event: WorkerEvent) -> None:
        """Note what the worker did."""
        self.tally.on_event(event)
        if self.told is not None:
            self.told(event)
        self.alive = self.alive or event.what == "serving"
        if event.what == "taken":
            self.in_hand.add(event.run_id)
            self.failures.pop(event.run_id, None)
            return
        self.in_hand.discard(event.run_id)
        if event.what in {"failed", "refused"} and event.run_id:
            self.failures[event.run_id] = event.text
            while len(self.failures) > _KEPT:
                del self.failures[next(iter(self.failures))]
        elif event.what == "ended":
            self.failures.pop(event.run_id, None)

    async def go_on(
        self, served: ServedAgent, run_id: str, *, say: Question = "", request: str = ""
    ) -> None:
        """Go on, in this process, with a run that is in no queue. Nobody has to wait for it."""
        events = await start(
            served.agent, run_id=run_id, say=say, request=request, store=self.store,
            origin=served.recorded, accept_change=self.accept_change,
        )  # fmt: skip
        await events.aclose()
        events.raise_error()


@asynccontextmanager
async def working(
    config: ServeConfig,
    store: Store,
    agents: Mapping[str, ServedAgent],
    leaving: anyio.Event,
    on_event: OnWorkerEvent | None = None,
) -> AsyncGenerator[Work]:
    """Execute the runs of the queue in the context; at its end each finishes its step."""
    made = Work(config.works, store, config.accept_change, on_event)
    if not config.works:
        yield made
        return
    served = [each.agent for each in agents.values()]
    chosen = WorkerConfig(agents=served, only=True, accept_change=config.accept_change)
    worker = WorkerConfig(
        store=store, agents=WorkingAgents(agents, await agents_for(chosen)), only=True,
        accept_change=config.accept_change,
        queue=config.queue, at_once=config.at_once, listen=made.tally.listen,
        day_cost=config.day_cost, day_tokens=config.day_tokens,
        name=f"serve-{socket.gethostname()}-{secrets.token_hex(6)}",
    )  # fmt: skip
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(
            serving(*served, store=store, accept_change=config.accept_change)
        )
        stack.enter_context(one_error())
        group = await stack.enter_async_context(anyio.create_task_group())
        group.start_soon(_work, worker, made, leaving)
        try:
            yield made
        finally:
            leaving.set()


async def _work(config: WorkerConfig, made: Work, leaving: anyio.Event) -> None:
    """Be a worker until the end; a store that fails is tried again, and the server not ready."""
    while not leaving.is_set():
        try:
            await work(config, on_event=made.on_event, leaving=leaving)
        except StoreError as error:
            made.alive = False
            LOG.error("the server's worker ended, and begins anew: %s", error)  # noqa: TRY400 - its message says what to do
            with anyio.move_on_after(1):
                await leaving.wait()
        else:
            return
