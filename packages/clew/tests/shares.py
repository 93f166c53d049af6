"""What the quick check draws, what the full check draws, and what is left to other commands.

`make check` runs a few cases of each quick table; the others are marked `rest`, and the full check
runs them too.

Two things are large because they repeat: the second turn of asynchronous tests, on trio, and tables
of cases of which each starts processes or is long (marked `share`). The full check takes a share of
each, and what is left is marked `long`: `make test-long` runs all of that, `make test-trio` the
whole second turn.

What is drawn depends on names of tests alone, so it is the same each time and in each worker. A
share is taken of each file's second turns and of each table, so that none is without one.
"""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Final

import pytest

TRIO: Final = 8
"""The full check runs one in so many second turns of a file, and all of `both_loops`."""

CASES: Final = 2
"""`make check` runs so many cases of a quick table."""


def draw(names: Iterable[str], one_in: int) -> set[str]:
    """One in so many of these names and at least one: those of the smallest hashes.

    A cryptographic hash, since names that follow each other have checksums that lie together.
    """
    names = ranked(names)
    return set(names[: -(-len(names) // one_in)])


def ranked(names: Iterable[str]) -> list[str]:
    """These names in the order in which they are drawn."""
    return sorted(names, key=lambda name: hashlib.sha256(name.encode()).digest())


def on_trio(item: pytest.Item) -> bool:
    """Whether it is the second of two turns."""
    called = getattr(item, "callspec", None)
    return called is not None and called.params.get("anyio_backend") == "trio"


def mark(items: Iterable[pytest.Item]) -> None:
    """Mark what runs on trio, and what is `long`. Both are `slow`, but where loops are the matter.

    A table marked `share` is drawn whole, whatever loop its cases run on. Of quick tables all but a
    few cases are the `rest`.
    """
    items = list(items)
    groups = defaultdict[tuple[str, int], list[pytest.Item]](list)
    for item in items:
        both = item.get_closest_marker("both_loops") is not None
        if on_trio(item):
            item.add_marker(pytest.mark.trio)
            if not both:
                item.add_marker(pytest.mark.slow)
        if share := item.get_closest_marker("share"):
            groups[item.nodeid.partition("[")[0], share.args[0]].append(item)
        elif on_trio(item) and not both:
            groups[item.nodeid.partition("::")[0], TRIO].append(item)
    for (_, one_in), group in groups.items():
        drawn = draw((item.nodeid for item in group), one_in)
        for item in group:
            if item.nodeid not in drawn:
                item.add_marker(pytest.mark.slow)
                item.add_marker(pytest.mark.long)
    for item in rest(items):
        item.add_marker(pytest.mark.rest)


def rest(items: Iterable[pytest.Item]) -> Iterator[pytest.Item]:
    """Of each quick table all but the cases that `make check` runs."""
    tables = defaultdict[str, dict[str, pytest.Item]](dict)
    for item in items:
        if item.get_closest_marker("slow") is None:
            tables[item.nodeid.partition("[")[0]][item.nodeid] = item
    for table in tables.values():
        yield from (table[name] for name in ranked(table)[CASES:])
