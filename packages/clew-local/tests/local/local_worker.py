"""A worker of a local model that dies, as by `kill -9`, when the first token of a reply is there.

python -m tests.local.local_worker MODEL STORE CACHE

With the folder of a prompt cache (else "") it dies once what it has read is in that folder.
"""

import os
import signal
import sys
from pathlib import Path

import anyio

import clew
from clew_local import LocalSettings, local_model

STEPS = 4


async def never(answer: object, trajectory: clew.Trajectory) -> str:
    """A check that no answer passes: the run has all its steps."""
    return "guess again"


@clew.tool(effect="read")
def search(query: str) -> str:
    """Search the shelves."""
    return "nothing"


def made(file: Path, cache: str = "") -> clew.Agent[str]:
    """The agent, the same in every process."""
    take = LocalSettings(context=60_000, slots=1, threads=1, cache=cache)
    model = local_model(str(file), take=take, settings=clew.ModelSettings(max_tokens=200))
    return clew.Agent(
        model, [search], codec="json", checks=[never], tries=100,
        limits=clew.Limits(steps=STEPS, tokens=10**9),
    )  # fmt: skip


class Dies:
    """Ends its process at the first token, once the folder of the cache, if any, has a file."""

    def __init__(self, cache: str) -> None:
        self._cache = cache

    def token(self, text: str) -> None:
        """A piece of a reply."""
        if not self._cache or list(Path(self._cache).rglob("*.bin")):
            os.kill(os.getpid(), signal.SIGKILL)

    def entry(self, entry: clew.Entry) -> None:
        """An entry."""


async def main(file: Path, store: Path, cache: str = "") -> None:
    """Begin the run."""
    await clew.run(
        made(file, cache), "How many?", store=clew.SqliteStore(store), run_id="killed",
        listener=Dies(cache),
    )  # fmt: skip


if __name__ == "__main__":
    from tests.local.local_worker import main as begin  # its parts are named after the module

    given, kept = map(Path, sys.argv[1:3])
    anyio.run(begin, given, kept, sys.argv[3])
