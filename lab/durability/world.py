"""The agent of the storms, and the world its tools change: one file, to which effects are appended.

Each effect is a line "TOOL KEY" in that file, written with one call of the system, so that what a
killed process had done stands there, and a process that was killed before it does not.
"""

import os
import random
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import anyio

from clew import Agent, RunContext, Tool, tool
from clew.core.contents import Reply
from clew.core.models import Model, ModelInfo, OnText
from clew.core.prompts import Prompt
from clew.core.values import Json
from clew.guards import Provenance
from clew.testing.models import Move, ScriptedModel, act, acts, finish

STEPS: Final = 10
"""Steps of a run; the last one is its answer."""

PACE: Final = 0.002
MODEL: Final = 0.004
"""Seconds that a tool and a reply of the model take, about."""

GOAL: Final = "Send, put, post and add."
ANSWER: Final = "all is done"
DEADLINE: Final = 1.0
"""Seconds that a probed call may take: its probe is asked when they have passed."""


class Ledger:
    """The file of the effects that really happened."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "effects"

    def write(self, line: str) -> None:
        """Add a line whole."""
        descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
        try:
            os.write(descriptor, f"{line}\n".encode())
        finally:
            os.close(descriptor)

    def lines(self) -> list[str]:
        """What happened so far."""
        return self.path.read_text("utf-8").splitlines() if self.path.exists() else []

    def counted(self) -> dict[str, Counter[str]]:
        """How often each key's effect happened, by tool."""
        fields: dict[str, Counter[str]] = {}
        for line in self.lines():
            name, _, key = line.partition(" ")
            fields.setdefault(name, Counter())[key] += 1
        return fields


@dataclass(frozen=True)
class Paced:
    """A model that takes its time."""

    inner: Model
    seconds: float

    @property
    def info(self) -> ModelInfo:
        return self.inner.info

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        """Wait, so that runs which began together part, then reply."""
        await anyio.sleep(self.seconds * random.uniform(0.5, 1.5))
        return await self.inner.complete(prompt, on_text)


def tools(ledger: Ledger, pace: float) -> list[Tool]:
    """A tool of each kind; half of `pace` seconds pass before its effect and half after it."""

    async def do(name: str, key: str) -> str:
        await anyio.sleep(pace / 2)
        ledger.write(f"{name} {key}")
        await anyio.sleep(pace / 2)
        return f"{name}: done"

    @tool(effect="unsafe")
    async def send(note: str, ctx: RunContext) -> str:
        """Send a note: what must not happen twice, and cannot be looked up."""
        return await do("send", ctx.key)

    @tool(effect="idempotent")
    async def put(note: str, ctx: RunContext) -> str:
        """Put a note where its key says: the receiver knows a key again."""
        return await do("put", ctx.key)

    async def posted(args: dict[str, Json], key: str) -> str | None:
        """Whether it was posted."""
        return "post: done" if f"post {key}" in ledger.lines() else None

    @tool(effect="unsafe", probe=posted, timeout=DEADLINE)
    async def post(note: str, ctx: RunContext) -> str:
        """Post a note, which can be looked up afterwards."""
        return await do("post", ctx.key)

    @tool(effect="pure")
    async def add(note: str, ctx: RunContext) -> str:
        """Look at a note."""
        return await do("add", ctx.key)

    return [send, put, post, add]


def script(steps: int = STEPS) -> list[Move]:
    """What the model says: each tool in turn, every third step two at once, then the answer."""
    names = ("send", "put", "post", "add")

    def call(step: int, which: int) -> Move:
        return act(names[which % len(names)], note=f"number {step} {which % len(names)}")

    return [
        *(
            acts(call(step, step), call(step, step + 1)) if step % 3 == 2 else call(step, step)
            for step in range(steps - 1)
        ),
        finish(ANSWER),
    ]


def agent(folder: Path, *, pace: float = PACE, model: float = MODEL, steps: int = STEPS) -> Agent:
    """The agent of the storms; its model takes `model` seconds for a reply."""
    return Agent(
        model=Paced(ScriptedModel(script(steps)), model),
        tools=tools(Ledger(folder), pace),
        guards=[Provenance("off")],
    )
