"""A worker process of a driver, told by its input what to do, telling what it does.

Its argument is a JSON object: the address of the `store`, the `driver`, the `folder` of the ledger,
and what else its `WorkerConfig` says. With `hold`, every run waits in its second and fourth step
until "go" is read; "leave" ends the worker after the steps at hand. Each piece of news is a line.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

import anyio

from clew import Agent, Tool, open_store
from clew.support.errors import ConfigError
from clew.testing.models import ScriptedModel, act, acts, finish
from clew.tools import Attempts
from clew.workers import WorkerConfig, WorkerEvent, work
from tests.core.scenarios import Ledger

NOTHING = {"type": "object", "properties": {}, "additionalProperties": False}


def agent_of(folder: Path, gate: anyio.Event | None = None) -> Agent:
    """An agent with one effect of each kind; between them it waits for the gate."""
    ledger = Ledger(folder / "effects")

    def effect(name: str) -> Any:
        async def call(args: dict[str, Any], key: str) -> str:
            ledger.write(f"{name} {key}")
            return "done"

        return call

    async def happened(args: dict[str, Any], key: str) -> str | None:
        return "done" if f"post {key}" in ledger.lines() else None

    async def wait(args: dict[str, Any], key: str) -> str:
        told(WorkerEvent("taken", key.partition(":")[0], "waits"))
        if gate is not None:
            await gate.wait()
        return "waited"

    tools = [
        Tool("send", "Send it.", NOTHING, effect("send")),
        Tool("put", "Put it.", NOTHING, effect("put"), effect="idempotent"),
        Tool("post", "Post it.", NOTHING, effect("post"), attempts=Attempts(probe=happened)),
        Tool("wait", "Wait.", NOTHING, wait, effect="read", attempts=Attempts(timeout=60)),
    ]
    script = [
        acts(act("send"), act("put"), act("post")),
        act("wait"),
        acts(act("send"), act("put"), act("post")),
        act("wait"),
        finish("done"),
    ]
    return Agent(model=ScriptedModel(script), tools=tools)


def told(news: WorkerEvent) -> None:
    """Print it."""
    sys.stdout.write(json.dumps([news.what, news.run_id, news.text]) + "\n")
    sys.stdout.flush()


async def main() -> None:
    """Serve as the argument says."""
    said = json.loads(sys.argv[1])
    store, folder = open_store(said.pop("store")), Path(said.pop("folder"))
    gate = anyio.Event() if said.pop("hold", False) else None
    agent, leaving = agent_of(folder, gate=gate), anyio.Event()

    async def listen() -> None:
        while True:
            await anyio.wait_readable(sys.stdin)
            orders = os.read(sys.stdin.fileno(), 1000).split()
            if b"go" in orders and gate is not None:
                gate.set()
            if b"leave" in orders or not orders:
                leaving.set()
            if not orders:
                return

    async with anyio.create_task_group() as together:
        together.start_soon(listen)
        try:
            config = WorkerConfig(store=store, agents=[agent], only=True, **said)
            await work(config, on_event=told, leaving=leaving)
        except ConfigError as error:
            told(WorkerEvent("failed", text=str(error)))
        await store.close()
        together.cancel_scope.cancel()


if __name__ == "__main__":
    anyio.run(main)
