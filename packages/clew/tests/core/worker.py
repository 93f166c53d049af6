"""Processes that work on one run and kill themselves at a given write of the journal.

Each line of the input starts one: a JSON list of STORE, FOLDER, SCENARIO, KILL_AT and WHEN. They
are forked from this process before it has done anything, so that only it needs time to import.
KILL_AT counts appends of the process from 1 (0: never); WHEN is "before" or "after" the append is
committed. The process prints the result's status and answer, this one its exit status after that.
"""

import json
import os
import signal
import sys
from functools import partial
from pathlib import Path
from typing import Any

import anyio

from clew import StoreError, open_store
from clew.core.journal import load
from clew.core.stores import Append, Store
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

    async def append(self, append: Append) -> bool:
        """Commit, or die before or after it."""
        self._left -= 1
        if self._left == 0 and self._when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        quiet = await self._store.append(append)
        if self._left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return quiet


async def work(place: str, folder: str, name: str, kill_at: int, when: str) -> None:
    """Start the run, or go on with it where it has begun."""
    scenario = by_name(name)
    store: Any = Killing(open_store(place), kill_at, when)
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


def main() -> None:
    """Fork a process for each line, until there are no more."""
    for line in sys.stdin:
        child = os.fork()
        if not child:
            anyio.run(partial(work, *json.loads(line)))
            return
        _, status = os.waitpid(child, 0)
        sys.stdout.write(f"\t{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
