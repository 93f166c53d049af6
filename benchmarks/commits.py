"""FULL commits alone: what a step with an effect must pay whatever else it does.

Two a step, as large as those of a run: the attempt before the call, and the observation after it.
Bare SQLite, nothing of clew.
"""

import sqlite3
import tempfile
import time
from pathlib import Path
from typing import Final

from benchmarks.clock import parser, tell

ATTEMPT: Final = 120
"""Bytes of an attempt; those of an observation are its content's and this much more."""


def main() -> None:
    args = parser().parse_args()
    with tempfile.TemporaryDirectory() as folder:
        connection = sqlite3.connect(Path(folder) / "commits.sqlite", isolation_level=None)
        connection.execute("PRAGMA page_size = 16384")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("CREATE TABLE entries (key INTEGER PRIMARY KEY, body BLOB)")
        found: dict[str, dict[str, float]] = {}
        for section in args.plan.split(","):
            steps, times = map(int, section.split("x"))
            cpu, wall = time.process_time(), time.perf_counter()
            for _ in range(steps * times):
                for size in (ATTEMPT, ATTEMPT + args.size):
                    connection.execute("BEGIN IMMEDIATE")
                    connection.execute("INSERT INTO entries (body) VALUES (?)", (bytes(size),))
                    connection.execute("COMMIT")
            scale = 1000 / steps / times
            found[str(steps)] = {
                "cpu_ms": (time.process_time() - cpu) * scale,
                "wall_ms": (time.perf_counter() - wall) * scale,
            }
        connection.close()
        tell(found)


if __name__ == "__main__":
    main()
