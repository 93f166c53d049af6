"""Recorded runs driven anew: as recorded, otherwise for a reason, and never otherwise without."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

import clew
from recordings import redrive
from recordings.data import VARIABLE, folder, missing
from recordings.redrive_runs import Redriven, prepared
from recordings.redrive_runs import redrive as driven
from recordings.redrive_sources import FEVER, FIREACT, REFLEXION, SOURCES, WEBSHOP, Source
from recordings.report import failures
from tests.recordings import redriven as own
from tests.recordings.figures import figures

HERE, WHY_NOT = folder(), missing()
"""Where the recordings lie, taken before a test loses the variables of its environment."""

PLAIN = [
    *((FEVER, record) for record in [*own.FEVER, own.READ_AT_ONCE]),
    *((WEBSHOP, record) for record in own.WEBSHOP),
    *((FIREACT, record) for record in own.FIREACT),
    *((REFLEXION, record) for record in own.REFLEXION),
]


async def drive(source: Source, record: own.Record) -> Redriven:
    return await driven(source, record, clew.MemoryStore())


@pytest.mark.parametrize(("source", "record"), PLAIN, ids=[record["id"] for _, record in PLAIN])
async def test_a_run_comes_out_as_it_was_recorded(source: Source, record: own.Record) -> None:
    result = await drive(source, record)
    assert result.same, str(result)
    assert not result.replay
    assert result.success == source.succeeded(record)


ENDS = [
    (FEVER, own.FEVER[0], "answered"),
    (FEVER, own.FEVER[2], "steps"),
    (WEBSHOP, own.WEBSHOP[0], "bought"),
    (WEBSHOP, own.WEBSHOP[2], "steps"),
    (FIREACT, own.FIREACT[0], "answered"),
    (REFLEXION, own.REFLEXION[2], "steps"),
    (REFLEXION, own.REFLEXION[3], "prompt"),
]


@pytest.mark.parametrize(("source", "record", "end"), ENDS)
async def test_it_ends_as_its_loop_ended(source: Source, record: own.Record, end: str) -> None:
    assert (await drive(source, record)).ended == end


ODD = [
    (FEVER, own.CUT, "neither can read the reply", {"steps"}),
    (FEVER, own.CHANGED_MIND, "the original could not, and took another", {"answer"}),
    (FEVER, own.REFUSED, "clew reads the action", {"answer", "steps", "end"}),
    (WEBSHOP, own.CUT_CLICK, "the action's bracket is never closed, and click changes", set[str]()),
    (FIREACT, own.SEVERAL, "several calls in the reply", set[str]()),
    (FIREACT, own.ANSWERED_TWICE, "several calls in the reply", {"answer"}),
    (FIREACT, own.NO_TOOL, "no such tool", set[str]()),
    (REFLEXION, own.ONE_LINE, "several calls in the reply", set[str]()),
]


@pytest.mark.parametrize(("source", "record", "why", "ends"), ODD, ids=[o[1]["id"] for o in ODD])
async def test_what_comes_out_otherwise_has_a_reason(
    source: Source, record: own.Record, why: str, ends: set[str]
) -> None:
    result = await drive(source, record)
    assert not result.same
    assert result.explained, str(result)
    assert why in str(result)
    assert result.otherwise.keys() == ends
    assert not result.replay


async def test_an_answer_that_is_read_at_last_may_be_right() -> None:
    result = await drive(FEVER, own.REFUSED)
    assert (result.answer, result.success) == ("REFUTES", True)
    assert not FEVER.succeeded(own.REFUSED)


async def test_a_shop_that_was_asked_for_something_else_says_nothing_of_success() -> None:
    assert not (await drive(WEBSHOP, own.CUT_CLICK)).success


def test_two_replies_of_a_step_are_one_behind_their_labels() -> None:
    lines, _ = prepared(REFLEXION, own.REFLEXION[0])
    assert lines[0].text == "Thought 1: I go on.\nAction 1: Search[Po]"


def changed(record: own.Record, index: int, **turn: object) -> own.Record:
    """The record with one of its turns told otherwise."""
    turns = list(record["turns"])
    turns[index] = {**turns[index], **turn}
    return {**record, "turns": turns}


SPOILED = {
    "another answer": (FEVER, {**own.FEVER[0], "final_answer": "REFUTES"}, "instead of “REFUTES”"),
    "a turn too few": (WEBSHOP, {**own.WEBSHOP[0], "turns": own.LAMP}, "the script is over"),
    "a turn too many": (
        WEBSHOP,
        {**own.WEBSHOP[0], "turns": own.WEBSHOP[0]["turns"] * 2},
        "4 steps instead of 8",
    ),
    "another end": (
        REFLEXION,
        {**own.REFLEXION[1], "outcome": {"status": "halted"}},
        "instead of “prompt”",
    ),
}


@pytest.mark.parametrize(("source", "record", "text"), SPOILED.values(), ids=SPOILED)
async def test_a_difference_without_a_reason_is_none_of_the_known(
    source: Source, record: own.Record, text: str
) -> None:
    result = await drive(source, record)
    assert not result.same
    assert text in str(result)
    assert not result.explained


PLAINLY = {
    "another call": (changed(own.FEVER[0], 0, actions=own.call("search", "x")), "plainly says"),
    "no call": (changed(own.FEVER[0], 0, actions=[]), "plainly says"),
    "cut argument": (changed(own.FEVER[0], 0, actions=own.call("lookup", "delt")), "plainly says"),
    "prose": (changed(own.FEVER[0], 0, raw="I think so."), "plainly holds no call"),
}


@pytest.mark.parametrize(("record", "text"), PLAINLY.values(), ids=PLAINLY)
async def test_where_the_recording_says_otherwise_than_the_reply_it_is_no_measure(
    record: own.Record, text: str
) -> None:
    result = await drive(FEVER, record)
    assert not result.same
    assert result.explained
    assert result.odd
    assert text in str(result)


# ---------------------------------------------------------------- the part


def placed(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    kinds: Mapping[str, Sequence[own.Record]],
    prefix: str = "own",
) -> None:
    own.written(tmp_path, dict(kinds), prefix)
    monkeypatch.setenv(VARIABLE, str(tmp_path))


async def test_the_part_counts_and_lists_what_is_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    placed(tmp_path, monkeypatch, own.KINDS)
    part = await redrive.measured(1)
    assert part.met, list(failures([part]))
    assert figures(part)["FEVER: successes as recorded, found anew"] == ("4", "7", True)
    assert figures(part)["FEVER: recorded failures that are none here"] == ("1", "3", True)
    assert figures(part)["WebShop: successes as recorded, found anew"] == ("3", "5", True)
    assert figures(part)["all: not as recorded, for a known reason"] == ("6", "22", True)
    assert figures(part)["all: not as recorded, and nobody knows why"] == ("0", "22", True)
    assert [line.partition(":")[0] for line in part.misses] == [
        "cut", "refused", "several", "answered twice", "no tool", "one line",
    ]  # fmt: skip


async def test_the_part_fails_where_a_run_is_otherwise_without_a_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spoiled = [SPOILED["another answer"][1], *own.FEVER[1:]]
    placed(tmp_path, monkeypatch, {**own.KINDS, "react-fever": spoiled})
    part = await redrive.measured(1)
    missed = [line.partition(": ")[2] for line in failures([part])]
    assert missed == [
        "FEVER, nothing odd: same answer, number of steps and end: 3 of 4 (4)",
        "all: not as recorded, and nobody knows why: 1 of 19 (0)",
    ]


async def test_files_are_judged_alike_whatever_they_are_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    placed(
        tmp_path, monkeypatch, {kind: records[:2] for kind, records in own.KINDS.items()}, "visible"
    )
    part = await redrive.measured(1)
    assert list(failures([part])) == []
    assert figures(part)["FEVER: successes as recorded, found anew"] == ("1", "2", True)


@pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT)
def test_a_sample_of_the_recordings_is_driven_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(HERE))
    part = redrive.measure(25)
    assert part.met, "\n".join(failures([part]))
    assert len(part.figures) == 4 * len(SOURCES) + 6
