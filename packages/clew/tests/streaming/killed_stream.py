"""Works on runs, each in a fork of this process, and tells a browser of them on standard output.

A line of standard input says of which run, in which format, behind which place, and before which
piece of the model's replies the fork ends itself with SIGKILL (0: it does not).
"""

import json
import os
import signal
import sys
from dataclasses import dataclass, field
from typing import Any

import anyio

from clew import Agent, SqliteStore, start
from clew.testing import act, finish
from tests.streaming.pieces import Stepwise
from tests.streaming.runs import look_up

TOWN = {"name": "Vienna", "people": 2_000_000, "text": "It lies on the Danube."}


@dataclass
class Town:
    """The answer."""

    name: str
    people: int
    text: str


@dataclass
class Pieces:
    """It lets what is told be taken before each piece, and ends the process before one."""

    end_at: int
    came: int = field(default=0)

    async def step(self) -> None:
        """The next piece."""
        self.came += 1
        for _ in range(20):
            await anyio.lowlevel.checkpoint()
        if self.came == self.end_at:
            os.kill(os.getpid(), signal.SIGKILL)


async def work(path: str, codec: str, after: str, end_at: int) -> None:
    """Begin the run, or go on with it, and tell of it."""
    tools, pieces = [look_up()], Pieces(end_at)
    script = [act("look", thought="I look."), finish(TOWN)]
    model = Stepwise(script, codec=codec, tools=tools, answer=Town, step=pieces.step)
    agent = Agent(model, tools, codec=codec, answer=Town)
    store = SqliteStore(path)
    goal: dict[str, Any] = {} if await store.ids("r") else {"goal": "Tell."}
    events = await start(agent, run_id="r", store=store, after=after, **goal)
    async for told in events.sse():
        sys.stdout.write(json.dumps(told) + "\n")
        sys.stdout.flush()
    await store.close()


def main() -> None:
    """Work until standard input ends; a line without a text says how a fork ended."""
    for line in sys.stdin:
        if not (child := os.fork()):
            anyio.run(work, *json.loads(line))
            os._exit(0)
        _, status = os.waitpid(child, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
