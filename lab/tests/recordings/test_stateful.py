"""Stateful gold runs: replayed and forked at every step they leave what was observed."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from recordings import stateful
from recordings.data import VARIABLE, document, folder, missing
from recordings.report import failures
from recordings.stateful import GO_ON, Gold, StatefulTally, World, gold
from tests.recordings import gold as own
from tests.recordings.figures import figures

HERE, WHY_NOT = folder(), missing()
"""Where the recordings lie, taken before a test loses the variables of its environment."""


@pytest.fixture
def recordings_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    document.cache_clear()
    own.written(tmp_path, own.RUNS)
    yield tmp_path
    document.cache_clear()


def test_steps_know_what_was_said_and_done_by_then(recordings_path: Path) -> None:
    twice, at_first = map(gold, own.RUNS)
    assert twice.spoken == [1, 1, 1, 2, 2, 2]
    assert twice.done == [0, 1, 1, 2, 3, 3]
    assert at_first.words == ["Dim the light in the hall.", GO_ON, "Thank you."]
    assert at_first.spoken == [1, 1, 2, 2, 2, 3]
    assert at_first.done == [0, 0, 1, 2, 2, 2]


async def test_the_world_answers_only_the_call_that_is_due(recordings_path: Path) -> None:
    world = World(gold(own.RUNS[0]))
    begun = world.state
    assert "out of step" in await world.call("list_doors", {}, "")
    assert world.state == begun
    assert await world.call(*own.OPEN, "") == own.OPENED
    assert world.state != begun
    assert (world.at, world.made) == (1, 2)


def test_every_fork_observes_what_is_recorded(recordings_path: Path) -> None:
    part = stateful.measure(1)
    assert part.met, list(failures([part]))
    assert figures(part) == {
        "gold calls that observe what is recorded": ("5", "5", True),
        "replays in which the world stood still": ("4", "4", True),
        "read tools: forks that observe the same and end in the same state": ("12", "12", True),
        "read tools: calls held because the first run had made them": ("0", "13", True),
        "read tools: of those forks, replayed byte-equal": ("1", "every 10th", True),
        "unsafe tools: forks that observe the same and end in the same state": ("12", "12", True),
        "unsafe tools: calls held because the first run had made them": ("13", "13", True),
        "unsafe tools: of those forks, replayed byte-equal": ("1", "every 10th", True),
        "runs that their own definitions forbid": ("0", "2", True),
        "records that this checker can judge": ("1.0000 (2)", "2", True),
        "records on which clew broke": ("0", "2", True),
    }


@pytest.mark.parametrize(
    ("record", "why"),
    [
        (own.LEFT_OUT, "gold call 1: list_doors is not among its functions"),
        (own.WRONG, "gold call 1: lamp.set: a value of another type"),
    ],
)
async def test_a_run_that_its_own_definitions_forbid_is_told_and_no_miss(
    recordings_path: Path, record: own.Record, why: str
) -> None:
    part = await stateful.measured([record])
    assert part.met
    assert figures(part)["runs that their own definitions forbid"][:2] == ("1", "1")
    assert why in part.misses[0]


class NotPutBack(Gold):
    """A run of which somebody believes that all its calls were made at any time."""

    @property
    def done(self) -> list[int]:
        return [len(self.calls)] * (len(self.calls) + len(self.rounds) + 1)


async def test_a_world_that_is_not_put_back_is_seen(recordings_path: Path) -> None:
    """The state of the world counts: forks in one that went on elsewhere are out of step."""
    twice, tally = gold(own.RUNS[0]), StatefulTally()
    run = NotPutBack(twice.name, twice.tools, twice.calls, twice.words, twice.rounds)
    await stateful.follow(run, tally)
    forks = tally.forks["read"]
    assert forks.same < forks.made
    assert tally.misses


@pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT)
def test_a_sample_of_the_recordings_observes_what_is_recorded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(VARIABLE, str(HERE))
    document.cache_clear()
    part = stateful.measure(90)
    assert part.met, "\n".join(failures([part]))
