"""A run with an unsafe tool in a process that is killed in the midst of it: killed.py FOLDER."""

import os
import signal
import sys
from pathlib import Path

from clew import Agent, run_sync, tool
from clew.guards import Provenance
from clew.testing import ScriptedModel, act, say

SENT = 4
"""So many letters are sent before the process is killed, within the last call."""


def agent(folder: Path, *, killed: bool = False) -> Agent[str]:
    """Sends six letters, each a line of a file."""

    @tool(effect="unsafe")
    def send(n: int) -> str:
        """Send a letter."""
        with (folder / "letters").open("a") as file:
            file.write(f"{n}\n")
        if killed and n == SENT:
            os.kill(os.getpid(), signal.SIGKILL)
        return "sent"

    letters = [act("send", n=number) for number in range(1, 7)]
    return Agent(
        model=ScriptedModel([*letters, say("done")]), tools=[send], guards=[Provenance("off")]
    )


if __name__ == "__main__":
    place = Path(sys.argv[1])
    run_sync(agent(place, killed=True), "Send them.", store=place / "s.sqlite", run_id="r")
