"""`python -m live.strategies.recount RECORDS`: count again what outcomes took, from their records.

Nothing is asked. An outcome whose runs are not in the store stays as it is.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import anyio
import msgspec

from clew import SqliteStore
from clew.core.journal import load
from live.strategies.ask import MAX_RUNS
from live.strategies.counting import counts
from live.strategies.outcomes import FOLDER, Answered, add, read


async def recount(records: Path, folder: Path) -> int:
    """How many outcomes were counted otherwise before."""
    changed = 0
    store = SqliteStore(records)
    try:
        for one in read(folder):
            new = await _counted(store, one)
            if new != one:
                add(new, folder)
                changed += 1
    finally:
        await store.close()
    return changed


async def _counted(store: SqliteStore, one: Answered) -> Answered:
    names = await store.ids(one.run_id, MAX_RUNS)
    if not names:
        return one
    results = counts([await load(store, name) for name in names])
    return msgspec.structs.replace(
        one,
        runs=results.runs,
        calls=results.calls,
        prompt=results.usage.input,
        cached=results.usage.cached,
        written=results.usage.output,
        made=dict(results.made),
        faults=results.faults,
        once=True,
    )


def main(texts: Sequence[str] | None = None) -> int:
    options = argparse.ArgumentParser(prog="python -m live.strategies.recount", description=__doc__)
    options.add_argument("records", type=Path, help="the store that the runs were recorded to")
    options.add_argument("--outcomes", type=Path, default=FOLDER, help="where outcomes are kept")
    args = options.parse_args(texts)
    if not args.records.is_file():
        print(f"there is no store {args.records}", file=sys.stderr)
        return 2
    print(f"{anyio.run(recount, args.records, args.outcomes)} outcomes were counted otherwise")
    return 0


if __name__ == "__main__":
    sys.exit(main())
