"""A process that works on one run and kills itself at a given write of the journal.

    python -m tests.core.worker STORE FOLDER SCENARIO KILL_AT WHEN

KILL_AT counts appends of this process from 1 (0: never); WHEN is "before" or "after" the append is
committed. Prints the result's status and answer.
"""

import os
import signal
import sys
from functools import partial
from pathlib import Path
from typing import Any

import anyio

from clew import StoreError, open_store
from clew.journal import load
from clew.protocols import Append, Store
from tests.core.play import go_on, play
from tests.core.scenarios import by_name


class Killing:
    """A store that ends the process at an append, as a power cut or `kill -9` would."""

    def __init__(self, store: Store, kill_at: int, when: str) -> None:
        self._store = store
        self._left = kill_at
        self._when = when

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def append(self, append: Append) -> None:
        """Commit, or die before or after it."""
        self._left -= 1
        if self._left == 0 and self._when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        await self._store.append(append)
        if self._left == 0:
            os.kill(os.getpid(), signal.SIGKILL)


async def main(place: str, folder: str, name: str, kill_at: str, when: str) -> None:
    """Start the run, or go on with it where it has begun."""
    scenario = by_name(name)
    store: Any = Killing(open_store(place), int(kill_at), when)
    try:
        begun = len(await load(store, "run")) > 0
    except StoreError:
        begun = False
    if begun:
        found = await go_on(scenario, scenario.agent(Path(folder)), store)
    else:
        found = await play(scenario, Path(folder), store)
    sys.stdout.write(f"{found.status} {found.answer}")
    await store.close()


if __name__ == "__main__":
    anyio.run(partial(main, *sys.argv[1:]))
