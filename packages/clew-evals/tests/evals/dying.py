"""A process that plays the game of the lamp in a store and kills itself in its second move."""

import os
import signal
import sys

import anyio

from clew import run
from tests.evals.games import Lamp, lamps, player


class Deadly(Lamp):
    """Dies with its process at the second move, when it is already made."""

    def moved(self, command: str) -> tuple[str, float]:
        move = super().moved(command)
        if len(self.log) == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        return move


async def play(store: str) -> None:
    """Play until death."""
    _, there = lamps(Deadly, timeout=3)
    async with there.open(there.cases[0]) as episode:
        agent = player(episode, "take lamp", "go to hall")
        await run(agent, there.cases[0].question, store=store, run_id="r")


if __name__ == "__main__":
    anyio.run(play, sys.argv[1])
