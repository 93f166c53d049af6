"""A worker process: serves one store as it is told, and tells a file what it does."""

import signal
import time
from pathlib import Path

import anyio
import msgspec

from clew import open_store
from clew.workers import WorkerConfig, WorkerEvent, work
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


def serve(orders: Orders) -> None:
    """Serve until SIGTERM."""
    anyio.run(_serve, orders, backend="asyncio")


async def _serve(orders: Orders) -> None:
    path = Path(orders.news)

    def tell(news: WorkerEvent) -> None:
        with path.open("a", encoding="utf-8") as file:
            file.write(f"{time.time():.6f}\t{news.what}\t{news.run_id}\t{news.text}\n")

    if orders.late:
        now = time.time_ns  # the clock of this process, as the journal asks it
        time.time_ns = lambda: now() - int(orders.late * 1e9)
    agent = world.agent(
        Path(orders.folder), pace=orders.pace, model=orders.model, steps=orders.steps
    )
    store = open_store(orders.store)
    config = WorkerConfig(
        store=store,
        agents=[agent],
        only=True,
        driver=orders.driver,
        at_once=orders.at_once,
        name=orders.name,
        until_idle=orders.until_idle,
        take_over=orders.take_over,
    )
    leaving = anyio.Event()
    try:
        await store.runs()
        await anyio.Path(path).touch()  # from now on it waits for a store that is away
        async with anyio.create_task_group() as group:
            group.start_soon(_told_to_leave, leaving)
            await work(config, on_event=tell, leaving=leaving)
            group.cancel_scope.cancel()
    finally:
        await store.close()


async def _told_to_leave(leaving: anyio.Event) -> None:
    with anyio.open_signal_receiver(signal.SIGTERM) as signals:
        async for _ in signals:
            leaving.set()
