"""What the coverage gate measures: `python -m pytest --cov -p tests.gate`, as `make test-all` does.

The gate holds layers 0 to 5 (pyproject.toml), and measuring takes as long as a test itself. So the
tests of what stands above are not measured: those layers have to be covered by tests of their own.
Nor are more than a few cases of a slow table, since all of them run nearly the same lines.
`make coverage` measures everything.
"""

import os
from collections import defaultdict
from collections.abc import Generator, Iterable, Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.shares import ranked

TESTS: Final = Path(__file__).parent
ABOVE: Final = frozenset(
    {
        *("benchmarks", "cli", "durability", "evals", "live", "matrix", "otel", "recordings"),
        *("serve", "strategies", "workers"),
    }
)
"""Folders of tests of layer 6 and above."""


CASES: Final = 8
"""How many cases of a slow table are measured."""

MEASURED: Final = pytest.StashKey[bool]()


def of_layers(item: pytest.Item) -> bool:
    """Whether a test is about layers 0 to 5, and not about the whole project either."""
    folder, *below = item.path.relative_to(TESTS).parts
    return folder not in ABOVE and bool(below)


def drawn(items: Iterable[pytest.Item]) -> Iterator[pytest.Item]:
    """The tests that are measured: all quick ones, and of each slow table its first cases."""
    tables = defaultdict[str, dict[str, pytest.Item]](dict)
    for item in filter(of_layers, items):
        if item.get_closest_marker("slow") is None:
            yield item
        else:
            tables[item.nodeid.partition("[")[0]][item.nodeid] = item
    for table in tables.values():
        yield from (table[name] for name in ranked(table)[:CASES])


@pytest.hookimpl(trylast=True)  # of what `-m` has chosen
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tell pytest-cov."""
    for item in drawn(items):
        item.stash[MEASURED] = True
    for item in items:
        if MEASURED not in item.stash:
            item.add_marker("no_cover")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Take the measuring of processes out of what such a test passes on to those it starts."""
    kept = {name: text for name, text in os.environ.items() if name.startswith("COVERAGE_")}
    if MEASURED in item.stash:
        kept = {}
    for name in kept:
        del os.environ[name]
    try:
        return (yield)
    finally:
        os.environ.update(kept)
