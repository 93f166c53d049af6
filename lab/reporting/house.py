"""How big the house is: `python -m reporting.house PART` prints rooms, packages or the walk.

A room is a folder of `clew`, or a module beside them. Its closure is all that is imported with it.
"""

import argparse
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

from benchmarks.walk import WALKS, walked
from live.tables import table
from reporting.commands import ROOT
from tests.closure import graph, lines, room, rooms


def of_rooms() -> Iterator[str]:
    """Each room of clew: its own size, its closure, and who imports it."""
    edges = graph()
    rows: list[list[str]] = []
    for name, complete in rooms(edges).items():
        own = {module for module in edges if room(module) == name}
        importers = {module for module, used in edges.items() if used & own} - own
        sizes = (len(own), lines(own), len(complete), lines(complete), len(importers))
        others = len({room(module) for module in complete} - {name})
        last = len({room(module) for module in importers})
        rows.append([f"`{name}`", *(f"{size:,}" for size in (*sizes, others, last))])
    heads = (
        "room", "files", "lines", "files of its closure", "lines of its closure",
        "modules that import it", "rooms it needs", "rooms that import it",
    )  # fmt: skip
    yield table(heads, rows)


def of_packages() -> Iterator[str]:
    """Each package, and the lab: what is shipped, and what tests it."""
    rows: list[list[str]] = []
    for house in sorted((ROOT / "packages").iterdir()):
        if (house / "pyproject.toml").exists():
            sizes = (*_sizes(house / "src"), *_sizes(house / "tests"))
            rows.append([f"`{house.name}`", *(f"{size:,}" for size in sizes)])
    tests = _sizes(ROOT / "lab" / "tests")
    every = _sizes(ROOT / "lab")
    own = (every[0] - tests[0], every[1] - tests[1])
    rows.append(["`lab` (not shipped)", *(f"{size:,}" for size in (*own, *tests))])
    heads = ("package", "files", "lines", "files of its tests", "lines of its tests")
    yield table(heads, rows)


def _sizes(folder: Path) -> tuple[int, int]:
    """How many modules, and lines in them."""
    texts = [path.read_text("utf-8") for path in folder.rglob("*.py")]
    return len(texts), sum(len(text.splitlines()) for text in texts)


def of_walk() -> Iterator[str]:
    """What is passed through on the way of one question, asked by a command and by a program."""
    rows = [
        [
            f"`{name}`: from {row['from']}",
            *(f"{many:,}" for many in (len(row["files"]), row["functions"], row["calls"])),
        ]
        for name, ready in WALKS.items()
        for row in walked(ready)
    ]
    yield table(("stretch", "files", "functions", "calls"), rows)


PARTS: Final[Mapping[str, Callable[[], Iterator[str]]]] = {
    "rooms": of_rooms,
    "packages": of_packages,
    "walk": of_walk,
}


if __name__ == "__main__":
    options = argparse.ArgumentParser(prog="python -m reporting.house", description=__doc__)
    options.add_argument("part", choices=PARTS)
    print(*PARTS[options.parse_args().part](), sep="\n")
