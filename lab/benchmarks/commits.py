"""FULL commits: what a step with an effect must pay whatever else it does.

Two a call, as large as those of a run: the attempt before it, and the observation after it. Bare
SQLite, nothing of clew. Run as a program, it makes them alone: of the kind `full` one after the
other, of the kind `waiting` with a wait before each two, as a run waits for its model. The kind
`wait` only waits, so that what waiting takes can be taken off.
"""

import asyncio
import sqlite3
import tempfile
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from benchmarks.clock import measure, parser, tell
from benchmarks.script import Script

ATTEMPT: Final = 120
"""Bytes of an attempt; those of an observation are its content's and this much more."""

WAIT: Final = 0.002
"""Seconds; a model takes longer, and the longer the wait, the more a commit takes after it."""

Commit = Callable[[int], None]
"""Commits so many bytes beside those of an `ATTEMPT`."""


@contextmanager
def commits() -> Generator[Commit]:
    """A file of its own to commit to, each time with `synchronous=FULL`."""
    with tempfile.TemporaryDirectory() as folder:
        connection = sqlite3.connect(Path(folder) / "commits.sqlite", isolation_level=None)
        connection.execute("PRAGMA page_size = 512")  # as the store has it
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("CREATE TABLE entries (key INTEGER PRIMARY KEY, body BLOB)")

        def commit(size: int) -> None:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("INSERT INTO entries (body) VALUES (?)", (bytes(ATTEMPT + size),))
            connection.execute("COMMIT")

        yield commit
        connection.close()


async def main() -> None:
    args = parser().parse_args()
    with commits() as commit:

        async def run(script: Script) -> str:
            for _ in range(script.steps):
                if args.kind != "full":
                    time.sleep(WAIT)  # noqa: ASYNC251 - nothing else runs here
                if args.kind != "wait":
                    commit(0)
                    commit(args.size)
            return script.answer

        tell(await measure(args.plan, run))


if __name__ == "__main__":
    asyncio.run(main())
