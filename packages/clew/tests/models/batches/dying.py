"""A process whose children each do a named batch, and kill themselves at a write of a database.

Each line on stdin is a job; for each, one line says how the child ended, and how many writes it
made. Writes are commits: those of the ledger of batches, and those of the store. The providers'
clients are imported before any child begins: that takes longer than a whole batch.
"""

import json
import os
import signal
import sqlite3
import sys
from pathlib import Path
from typing import Any

import anyio

from clew import Agent, batch
from clew.models.batches import Batched
from clew.models.resolve import resolve
from tests.models.batches.bench import NAMES, price

GOALS = ["What is bread in shop 1?", "What is bread in shop 2?"]


class Writes:
    """Counts commits, of all databases together; the process dies right before one of them."""

    def __init__(self, kill_at: int) -> None:
        self.number = 0
        self._kill_at = kill_at
        self._connect = sqlite3.connect

    def connect(self, *args: Any, **options: Any) -> sqlite3.Connection:
        database: sqlite3.Connection = self._connect(*args, **options)
        database.set_trace_callback(self._count)
        return database

    def _count(self, statement: str) -> None:
        if statement.strip().lower().startswith("commit"):
            self.number += 1
            if self.number == self._kill_at:
                os.kill(os.getpid(), signal.SIGKILL)


async def work(service: Any, url: str, folder: Path) -> list[str]:
    """Do the batch, or go on with it."""
    ledger = folder / "batches.sqlite"
    fast: dict[str, Any] = {"gather": 0.02, "poll": 0.01, "settle": 0.0, "ledger": ledger}
    model = Batched(NAMES[service], base_url=url, api_key="key", **fast)
    agent = Agent(model, tools=[price])
    results = await batch(agent, GOALS, name="shops", store=folder / "runs.sqlite")
    await model.close()
    return [result.status for result in results]


def one(service: Any, url: str, folder: str, kill_at: int) -> str:
    """A child that does a job: its status, writes and what it came to."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        writes = Writes(kill_at)
        sqlite3.connect = writes.connect  # type: ignore[assignment]  # it takes and gives the same
        statuses = anyio.run(work, service, url, Path(folder))
        os.write(writing, json.dumps([writes.number, statuses]).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as told:
        text = told.read().decode()
    _, status = os.waitpid(child, 0)
    return json.dumps([os.waitstatus_to_exitcode(status), json.loads(text or "[0, []]")])


if __name__ == "__main__":
    for name in NAMES.values():
        resolve(name, api_key="key")
    for line in sys.stdin:
        sys.stdout.write(f"{one(*json.loads(line))}\n")
        sys.stdout.flush()
