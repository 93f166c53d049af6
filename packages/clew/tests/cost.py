"""What each test costs: `make costs`, or `python -m pytest -p tests.cost …` for some of them.

A report and no test: it prints the CPU time of `make check` and of what is `slow`, which folders
and functions take most, each test that is over the limit without being marked, and each function
that is marked and costs little.
CPU time, of the test's process and of all that it started, is the same on a busy machine, nearly.
"""

import os
from collections import defaultdict
from collections.abc import Callable, Generator, Mapping
from operator import itemgetter
from pathlib import Path
from typing import Final

import pytest

LIMIT: Final = 1.0
"""Seconds of CPU from which on a test is `slow` (pyproject.toml says what else makes one so)."""

MOST: Final = 40
"""How many of the dearest functions are listed."""

STARTED: Final = pytest.StashKey[float]()
PROCESSES: Final = Path("/proc")
TICKS: Final = os.sysconf("SC_CLK_TCK")

reports: list[pytest.TestReport] = []


def used() -> float:
    """Seconds of CPU that this process and those below it have used; on Linux, living ones too."""
    children = defaultdict[int, list[int]](list)
    ticks: dict[int, int] = {}
    for place in PROCESSES.glob("[0-9]*/stat"):
        try:
            after_name = place.read_text().rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        pid = int(place.parent.name)
        children[int(after_name[1])].append(pid)
        ticks[pid] = sum(map(int, after_name[11:15]))  # its own, and of those it has waited for
    total, below = 0, children[os.getpid()]
    while below:
        pid = below.pop()
        total += ticks[pid]
        below += children[pid]
    return sum(os.times()[:4]) + total / TICKS


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Take the time before all fixtures of a test …"""
    item.stash[STARTED] = used()
    return (yield)


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """… and after them; the report brings it from a worker."""
    report = yield
    if call.when == "teardown":
        report.user_properties.append(("cpu", used() - item.stash[STARTED]))
    return report


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Keep what a test has cost."""
    if report.when == "teardown":
        reports.append(report)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say what was found."""
    fast, slow = defaultdict[str, list[float]](list), defaultdict[str, list[float]](list)
    for report in reports:
        cost = next((float(str(cpu)) for name, cpu in report.user_properties if name == "cpu"), 0.0)
        (slow if "slow" in report.keywords else fast)[report.nodeid].append(cost)
    write = terminalreporter.write_line
    terminalreporter.section("costs")
    for name, group in (("fast", fast), ("slow", slow)):
        write(f"{name}: {len(group)} tests, {sum(map(sum, group.values())):.0f} s of CPU")
    dearest(write, {**fast, **slow})
    over = [(sum(costs), name) for name, costs in fast.items() if sum(costs) >= LIMIT]
    for cost, name in sorted(over, reverse=True):
        write(f"{cost:6.1f} s, over {LIMIT:g} and not marked slow: {name}")
    most = defaultdict[str, float](float)
    for name, costs in slow.items():
        function = name.partition("[")[0]
        most[function] = max(most[function], *costs)
    for function, cost in most.items():
        if cost < LIMIT / 2:
            write(f"{cost:6.1f} s at most, and marked slow: {function}")


def dearest(write: Callable[[str], None], costs: Mapping[str, list[float]]) -> None:
    """List what takes most, all of its tests together: each folder, and the first functions."""
    folders, functions = defaultdict[str, float](float), defaultdict[str, float](float)
    for name, its in costs.items():
        path, _, rest = name.partition("::")
        folders["/".join(path.split("/")[:2])] += sum(its)
        functions[f"{path}::{rest.partition('[')[0]}"] += sum(its)
    for title, group, most in (("folder", folders, None), ("function", functions, MOST)):
        for name, cost in sorted(group.items(), key=itemgetter(1), reverse=True)[:most]:
            write(f"{cost:6.1f} s in all, {title}: {name}")
