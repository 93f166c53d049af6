"""What the coverage gate measures: the tests marked `measured`, in a run of their own.

The gate holds clew but for its upper floors (pyproject.toml), and a test takes twice as long under
measurement, from its import on. So `make test-all` runs the tests of what stands above without it:
what the gate holds has to be covered by tests of its own. Nor does it measure more than a few cases
of a slow table, since all of them run nearly the same lines. `make coverage` measures everything.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.shares import ranked

TESTS: Final = Path(__file__).parent
TOGETHER: Final = TESTS.parents[2] / "lab" / "tests" / "together"
"""What features of clew do beside those of other packages."""
ABOVE: Final = frozenset(
    {
        *("cli", "otel", "wording", "workers"),
    }
)
"""Folders of tests of what the gate does not hold."""

BESIDE: Final = frozenset({"test_agent_files.py", "test_extras.py", "test_wings.py"})
"""Files of tests of clew's own rooms that stand elsewhere: agent files of other packages, wings."""

CASES: Final = 8
"""How many cases of a slow table are measured."""


def of_layers(item: pytest.Item) -> bool:
    """Whether a test is about clew below the command line, and not about the whole project."""
    if item.path.name in BESIDE:
        return True
    if not item.path.is_relative_to(TESTS):
        return item.path.is_relative_to(TOGETHER)
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


def mark(items: Iterable[pytest.Item]) -> None:
    """Mark what is measured, after `tests.shares` has marked what is slow."""
    for item in list(drawn(items)):
        item.add_marker(pytest.mark.measured)
