"""Recorded trials of Reflexion: as many as there were, judged as they were, told what was said."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from recordings import trials
from recordings.data import VARIABLE
from recordings.part import Part
from recordings.report import failures
from tests.recordings.redriven import (
    FIRST,
    LEARNT,
    LOST,
    SECOND,
    TO_THE_PO,
    TO_THE_RHINE,
    Record,
    trial,
    written,
)

UNSAID = [
    trial(1, TO_THE_RHINE, "incorrect", task="unsaid"),
    trial(2, TO_THE_RHINE, "incorrect", FIRST, task="unsaid"),
    trial(3, TO_THE_RHINE, "incorrect", FIRST, task="unsaid"),
    trial(4, TO_THE_PO, "correct", FIRST, SECOND, task="unsaid"),
]
NEVER = [
    trial(n, TO_THE_RHINE, "incorrect", *[f"Plan {m}." for m in range(1, n)], task="never")
    for n in range(1, 8)
]
CUT = [trial(1, LOST, "halted", task="cut"), trial(2, TO_THE_RHINE, "incorrect", FIRST, task="cut")]
GAP = [
    trial(1, TO_THE_RHINE, "incorrect", task="gap"),
    trial(3, TO_THE_PO, "correct", FIRST, task="gap"),
]


@pytest.fixture
def measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> "Measured":
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    return Measured(tmp_path)


class Measured:
    """The part, over records of a test."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def __call__(self, *chains: Sequence[Record]) -> Part:
        written(self._folder, {trials.KIND: [one for chain in chains for one in chain]})
        return await trials.measured(1)


async def test_all_trials_are_made_again_and_end_as_they_did(measured: Measured) -> None:
    part = await measured(LEARNT, UNSAID, NEVER, CUT)
    assert not list(failures([part]))
    assert {figure.what: (figure.got, figure.of) for figure in part.figures[:5]} == {
        trials.SAME: ("4", "4"),
        "questions that ended in an answer, and do": ("2", "2"),
        "questions that ended without one, and do": ("2", "2"),
        "trials that answer as recorded": ("16", "16"),
        "trials that are told all reflections on those before them": ("16", "16"),
    }


async def test_a_question_with_a_gap_in_its_trials_is_left_out(measured: Measured) -> None:
    part = await measured(LEARNT, GAP)
    assert part.figures[0].of == "1"


async def test_a_verdict_that_the_gold_does_not_bear_out_is_missed(measured: Measured) -> None:
    lucky = [*LEARNT[:2], {**LEARNT[2], "outcome": {"status": "incorrect"}}]
    part = await measured(lucky)
    assert [line.partition(": ")[2] for line in failures([part])] == [
        f"{trials.SAME}: 0 of 1 (1)",
        "questions that ended without one, and do: 0 of 1 (1)",
    ]
    assert any("passed [False, False, True]" in line for line in part.misses)
