"""Killed in strategies: only which of the workers at once came first may differ unseen."""

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from durability.strategies import End, StrategyTally, compare

FIRST = [("run-2.1:2.1", "send", "send(a)"), ("run-2.1:2.2", "put", "put(a)")]
OTHER = [("run-2.2:2.1", "send", "send(a)"), ("run-2.1:2.2", "put", "put(a)")]
HAD = Counter({"add run-2.1:1.1": 1, "add run-2.2:1.1": 1})


def end(told: list[tuple[str, str, str]]) -> End:
    """What is left of a run in which these calls came first, and others were told of them."""
    made = repr(told)
    return End(
        records=frozenset({("run-2.1", (b"asked", made.encode()))}),
        prompts=frozenset({"a prompt", made}),
        effects=HAD + Counter(f"{tool} {key}" for key, tool, _ in told),
        doubted=[],
        told=frozenset(told),
        before=frozenset({("run-2.1", (b"asked",))}),
        text="held: None",
        replays="",
    )


@pytest.mark.parametrize("name", ["orchestrator", "routing"])
def test_another_worker_may_come_first(name: str) -> None:
    tally = StrategyTally()
    compare(tally, f"{name}, killed after write 3", end(FIRST), end(OTHER))
    assert (tally.overtaken, tally.same, tally.misses) == (1, 0, [])


@pytest.mark.parametrize(
    "other",
    [
        {"before": frozenset({("run-2.1", (b"asked otherwise",))})},
        {"before": frozenset[Any]()},
        {"effects": end(OTHER).effects + Counter(["send run-2.3:2.1"])},
        {"effects": end(OTHER).effects - Counter(["add run-2.1:1.1"])},
        {"effects": end(OTHER).effects - Counter(["send run-2.2:2.1"])},
        {"effects": end(FIRST).effects},
        {"told": frozenset({*OTHER[:1], ("run-2.1:2.2", "put", "put(b)")})},
        {"told": frozenset(OTHER[:1])},
        {"told": frozenset[Any]()},
        {"told": frozenset(FIRST)},
    ],
    ids=range(10),
)
def test_no_other_difference_hides_behind_that(other: dict[str, Any]) -> None:
    tally = StrategyTally()
    compare(tally, "orchestrator, killed after write 3", end(FIRST), replace(end(OTHER), **other))
    assert (tally.overtaken, tally.same, len(tally.misses)) == (0, 0, 1)
