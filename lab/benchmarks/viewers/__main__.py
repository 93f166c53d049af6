"""What it costs to look at runs: `clew view` on long, many, live and much-watched ones.

    python -m benchmarks.viewers

Each server is a process of its own, asked over HTTP on this machine; its memory is what the kernel
says of it. Entries are written by this process, as another worker would. `CLEW_INSPECT` names a
Python that has `inspect-ai`; without it Inspect's viewer is left out, and so is the browser where
there is no Chromium.
"""

import argparse
import asyncio
import sys
import tempfile
from pathlib import Path
from typing import Final

from benchmarks.viewers.crowd import crowd
from benchmarks.viewers.live import live_run, reconnects, steady
from benchmarks.viewers.records import long_list, long_record
from benchmarks.viewers.rows import HEADS, TINY, Sizes
from live.tables import table

PARTS: Final = {
    each.__name__: each for each in (long_record, long_list, live_run, steady, reconnects, crowd)
}


async def measure(sizes: Sizes, parts: list[str]) -> int:
    """Measure these parts, and print a table; how much was lost, came twice or was wrong."""
    rows, wrong = list[list[str]](), 0
    with tempfile.TemporaryDirectory() as folder:
        for name in parts:
            print(f"{name} …", file=sys.stderr)
            async for row in PARTS[name](Path(folder), sizes):
                rows.append([row.what, row.figure, row.aim, row.beside])
                wrong += row.wrong
    print(table(HEADS, rows))
    return wrong


def main() -> int:
    """Measure; 1 where anything was lost, came twice or was answered wrongly."""
    options = argparse.ArgumentParser(prog="python -m benchmarks.viewers", description=__doc__)
    options.add_argument("--tiny", action="store_true", help="only show that nothing is lost")
    options.add_argument("--parts", default="", help=f"some of {', '.join(PARTS)}; without: all")
    args = options.parse_args()
    parts = args.parts.split(",") if args.parts else [*PARTS]
    return 1 if asyncio.run(measure(TINY if args.tiny else Sizes(), parts)) else 0


if __name__ == "__main__":
    sys.exit(main())
