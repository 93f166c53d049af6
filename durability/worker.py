"""A worker process: serves one store as it is told, and tells a file what it does."""

import importlib
import signal
import time
from pathlib import Path
from typing import Any

import anyio
import msgspec

from clew import Agent, open_store
from clew.core.interfaces import Store
from clew.workers.agents import agents_of
from clew.workers.driver import WorkerEvent
from clew.workers.locks import shared
from clew.workers.worker import Orders as Work
from clew.workers.worker import Worker
from durability import world


class Orders(msgspec.Struct, frozen=True):
    """How a worker is to work: where, for which world, with which driver.

    `news` is the file it tells what it does, a line each: seconds, what, which run. `pace`, `model`
    and `steps` are those of the agent. The worker's clock is `late` by so many seconds.
    """

    store: str
    folder: str
    news: str
    driver: str = "local"
    name: str = ""
    at_once: int = 16
    pace: float = 0.002
    model: float = 0.004
    steps: int = world.STEPS
    late: float = 0.0
    take_over: bool = False
    until_idle: bool = False
    file_limit: int = 0


def work(orders: Orders) -> None:
    """Serve until SIGTERM."""
    anyio.run(_serve, orders, backend="asyncio")


async def _serve(orders: Orders) -> None:
    place = Path(orders.news)

    def tell(news: WorkerEvent) -> None:
        with place.open("a", encoding="utf-8") as file:
            file.write(f"{time.time():.6f}\t{news.what}\t{news.run_id}\t{news.text}\n")

    if orders.late:
        now = time.time_ns  # the clock of this process, as the journal asks it
        time.time_ns = lambda: now() - int(orders.late * 1e9)
    agent = world.agent(
        Path(orders.folder), pace=orders.pace, model=orders.model, steps=orders.steps
    )
    wanted = Work(
        agents_of(agent),
        at_once=orders.at_once,
        name=orders.name,
        until_idle=orders.until_idle,
        take_over=orders.take_over,
        tell=tell,
    )
    leaving = anyio.Event()
    store = open_store(orders.store)
    try:
        await store.runs()
        await anyio.Path(place).touch()  # from now on it waits for a store that is away
        async with anyio.create_task_group() as group:
            group.start_soon(_told_to_leave, leaving)
            driver = driver_of(orders.driver, store, wanted, agent)
            await (Worker(shared(store), wanted).serve if driver is None else driver.work)(leaving)
            group.cancel_scope.cancel()
    finally:
        await store.close()


async def _told_to_leave(leaving: anyio.Event) -> None:
    with anyio.open_signal_receiver(signal.SIGTERM) as signals:
        async for _ in signals:
            leaving.set()


def driver_of(name: str, store: Store, orders: Work, agent: Agent) -> Any:
    """The driver called so; None for the local one. Few parts ask for another."""
    if name == "local":
        return None
    return importlib.import_module(f"durability.with_{name}").driver(store, orders, agent)
