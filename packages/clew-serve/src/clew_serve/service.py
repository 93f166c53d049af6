"""What all handlers share: the store, the agents, who executes runs, and what is counted."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

import anyio

from clew.interfaces import Store
from clew.stores import store_at
from clew.workers import OnWorkerEvent
from clew_serve.agents import ServedAgent, load_agents
from clew_serve.config import ServeConfig
from clew_serve.live.feeds import Feeds, feeding
from clew_serve.metrics import Counts
from clew_serve.notices import notifying
from clew_serve.work import Work, working

HEALTH_PATHS: Final = frozenset({"/healthz", "/readyz"})


@dataclass
class Service:
    """A server's parts, while it is served. `leaving` is set when it is to end."""

    config: ServeConfig
    store: Store
    agents: Mapping[str, ServedAgent]
    work: Work
    feeds: Feeds
    leaving: anyio.Event
    counts: Counts = field(default_factory=Counts)

    def is_open(self, path: str) -> bool:
        """Whether a path is answered without a token, since the config says so."""
        return self.config.open_health and path in HEALTH_PATHS


@asynccontextmanager
async def open_service(
    config: ServeConfig,
    leaving: anyio.Event | None = None,
    on_event: OnWorkerEvent | None = None,
) -> AsyncGenerator[Service]:
    """Open the store and the agents, and execute runs, as long as the context lasts.

    `on_event` is told what the worker here does. At the end each run finishes its step. Raises
    `ConfigError` for an agent that cannot be made, `StoreError` for a store that cannot be opened.
    """
    leaving = leaving or anyio.Event()
    async with store_at(config.store) as store:
        await store.runs(1)  # a store that cannot be read is told now, in a line
        agents = await load_agents(config.agents)
        async with (
            notifying(config, store),
            working(config, store, agents, leaving, on_event) as work,
            feeding(store) as feeds,
        ):
            yield Service(config, store, agents, work, feeds, leaving)
