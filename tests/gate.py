"""What the coverage gate measures: `python -m pytest --cov -p tests.gate`, as `make test-all` does.

The gate holds layers 0 to 5 (pyproject.toml), and measuring takes as long as a test itself. So the
tests of what stands above are not measured: those layers have to be covered by tests of their own.
`make coverage` measures everything.
"""

import os
from collections.abc import Generator
from pathlib import Path
from typing import Final

import pytest

TESTS: Final = Path(__file__).parent
ABOVE: Final = frozenset(
    {
        *("benchmarks", "cli", "durability", "evals", "live", "matrix", "otel", "recordings"),
        *("serve", "strategies", "workers"),
    }
)
"""Folders of tests of layer 6 and above."""


def unmeasured(item: pytest.Item) -> bool:
    """Whether a test is one of those: in such a folder, or in none, about the whole project."""
    folder, *below = item.path.relative_to(TESTS).parts
    return folder in ABOVE or not below


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tell pytest-cov."""
    for item in filter(unmeasured, items):
        item.add_marker("no_cover")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Take the measuring of processes out of what such a test passes on to those it starts."""
    kept = {name: text for name, text in os.environ.items() if name.startswith("COVERAGE_")}
    if not unmeasured(item):
        kept = {}
    for name in kept:
        del os.environ[name]
    try:
        return (yield)
    finally:
        os.environ.update(kept)
