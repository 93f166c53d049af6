"""Worker processes of a driver: told what to do, heard of, killed (`worker_program`)."""

import json
import os
import sys
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread

from clew.workers import WorkerEvent
from tests import warm
from tests.patience import PATIENCE

PATH = os.pathsep.join(sys.path)  # the tests of each package are a part of `tests`


@dataclass
class Worker:
    """A worker's process: what it is told, and what it tells."""

    process: warm.Process
    orders: int
    news: anyio.abc.ObjectReceiveStream[WorkerEvent]

    def tell(self, order: str) -> None:
        os.write(self.orders, f"{order}\n".encode())

    async def hear(self, *wanted: str) -> Counter[str]:
        """Wait until each of these was told as often as it stands here; give their runs."""
        left, runs = Counter(wanted), Counter[str]()
        while left.total():
            news = await self.news.receive()
            for word in (news.what, news.text):
                if left[word]:
                    left[word] -= 1
                    runs[news.run_id] += 1
        return runs


@asynccontextmanager
async def working(driver: str, store: str, folder: Path, **orders: Any) -> AsyncGenerator[Worker]:
    """A worker of a driver in a process of its own, which is ended with the context."""
    said = json.dumps({"store": store, "folder": str(folder), "driver": driver, **orders})
    theirs_in, mine_in = os.pipe()
    mine_out, theirs_out = os.pipe()
    process = warm.Process(
        ["-m", "tests.cluster.worker_program", said], os.environ | {"PYTHONPATH": PATH},
        stdin=theirs_in, stdout=theirs_out,
    )  # fmt: skip
    os.close(theirs_in)
    os.close(theirs_out)
    send, receive = anyio.create_memory_object_stream[WorkerEvent](1000)

    async def listen() -> None:
        with os.fdopen(mine_out) as lines, send:
            while line := await anyio.to_thread.run_sync(lines.readline, abandon_on_cancel=True):
                send.send_nowait(WorkerEvent(*json.loads(line)))

    with receive:
        async with anyio.create_task_group() as together:
            together.start_soon(listen)
            try:
                with anyio.fail_after(PATIENCE):
                    yield Worker(process, mine_in, receive)
            finally:
                process.kill()
                process.wait(PATIENCE)
                sys.stderr.write(process.said[2])  # is shown if the test fails
                os.close(mine_in)
