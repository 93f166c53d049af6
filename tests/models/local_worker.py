"""A worker of a local model that dies, as by `kill -9`, when the first token of a reply is there.

python -m tests.models.local_worker MODEL STORE
"""

import os
import signal
import sys
from pathlib import Path

import anyio

import clew
from clew.models.local import LocalSettings, local_model

SETTINGS = LocalSettings(context=60_000, slots=1, threads=1)


@clew.tool(effect="read")
def search(query: str) -> str:
    """Search the shelves."""
    return "nothing"


def made(file: Path) -> clew.Agent[str]:
    """The agent, the same in every process."""
    model = local_model(str(file), take=SETTINGS, params={"max_tokens": 6_000})
    return clew.Agent(model, [search], codec="json", limits=clew.Limits(steps=3, tokens=10**9))


class Dies:
    """Ends its process at the first token."""

    def token(self, text: str) -> None:
        """A piece of a reply."""
        os.kill(os.getpid(), signal.SIGKILL)

    def entry(self, entry: clew.Entry) -> None:
        """An entry."""


async def main(file: Path, store: Path) -> None:
    """Begin the run."""
    await clew.run(
        made(file), "How many?", store=clew.SqliteStore(store), run_id="killed", listener=Dies()
    )


if __name__ == "__main__":
    anyio.run(main, Path(sys.argv[1]), Path(sys.argv[2]))
