"""No progress: what is a loop by the recording alone, and what the detector does about it."""

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from recordings import loops
from recordings.data import VARIABLE, folder, missing
from recordings.loops import judge
from recordings.loops_cases import CASES
from recordings.loops_runs import Called, Loop, Run, Step, barren, run
from recordings.loops_runs import loops as loops_in
from recordings.part import Part
from recordings.report import failures
from tests.recordings.figures import figures

HERE, WHY_NOT = folder(), missing()
"""Where the recordings lie, taken before a test loses the variables of its environment."""

Record: TypeAlias = dict[str, Any]


def test_calls_that_observe_nothing_new_are_found_whatever_they_ask() -> None:
    words = [Called(f"tool_{n % 3}", {"n": n}, "nothing") for n in range(12)]
    run = Run(
        "said", [Step((words[0],), matches=True), *(Step((one,)) for one in words[1:])], False
    )
    assert barren(Run("same", [Step((one,)) for one in words], False)) == [Loop(1, 12, 1)]
    assert barren(run) == [Loop(1, 12, 1)]
    assert barren(steps("abcdefghijklmn")) == []
    assert barren(steps("abcabcabcabc")) == []
    assert barren(steps("abcabcabcabc"), 9) == [Loop(3, 12, 1)]


def calls(letters: str) -> list[Called]:
    """A call for each letter; a capital's result is another one."""
    return [Called("look", {"at": one.lower()}, f"a {one}") for one in letters]


def steps(letters: str, *, success: bool = False) -> Run:
    """A call a step; at a full stop a person speaks."""
    told = [Step((), matches=True) if one == "." else Step((*calls(one),)) for one in letters]
    return Run(letters, told, success)


LOOPS = [
    ("aaaa", []),
    ("aaaaa", [Loop(0, 5, 1)]),
    ("xaaaaaay", [Loop(1, 7, 1)]),
    ("aaaAa", []),
    ("ababababab", [Loop(0, 10, 2)]),
    ("xababababab", [Loop(1, 11, 2)]),
    ("ababababa", []),
    ("abcdefabcdefabcdefabcdefabcdef", [Loop(0, 30, 6)]),
    ("aaa.aaa", []),
    ("b.aaaaa.aaaaa", [Loop(1, 6, 1), Loop(6, 11, 1)]),
    ("aaaaabcbcbcbcbc", [Loop(0, 5, 1), Loop(5, 15, 2)]),
    ("", []),
]


@pytest.mark.parametrize(("letters", "loops"), LOOPS, ids=[one[0] or "none" for one in LOOPS])
def test_a_loop_is_what_comes_five_times_with_the_same_results(
    letters: str, loops: list[Loop]
) -> None:
    assert loops_in(steps(letters)) == loops


JUDGED = [
    ("aaaa", (), False, 0),
    ("aaaaa", (4,), False, 1),
    ("aaaaaaaaa", (4, 5), True, 5),
    ("aaaaab", (4,), False, 1),
    ("xababababababab", (9, 10), True, 6),
    ("aaa.aaa.aaa", (), False, 0),
    ("aaaaaa.b", (4, 5), True, 3),
    ("abcdabcdabcdabcdabcd", (), False, 0),
]


@pytest.mark.parametrize(("letters", "refused", "landed", "saved"), JUDGED)
async def test_the_fifth_is_refused_and_insisting_ends_the_run(
    letters: str, refused: tuple[int, ...], landed: bool, saved: int
) -> None:
    judged = await judge(steps(letters))
    assert (judged.refused, judged.landed, judged.saved) == (refused, landed, saved)
    assert judged.disturbed == bool(refused)
    stopped = [judged.stopped(loop) for loop in loops_in(judged.run)]
    assert stopped == [letters[:4] != "abcd"] * len(stopped)


async def test_calls_of_one_reply_cannot_be_stopped_by_their_results() -> None:
    judged = await judge(Run("at once", [Step((*calls("aaaaaa"),))], success=None))
    assert [judged.stopped(loop) for loop in loops_in(judged.run)] == [False]


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
async def test_useful_repeats_are_let_be(case: Run) -> None:
    judged = await judge(case)
    assert not judged.disturbed
    assert judged.saved == 0


# ---------------------------------------------------------------- recordings of every form


def text_turn(name: str, arg: str, seen: str | None, **more: object) -> Record:
    actions = [{"name": name, "arg": arg}] if name else []
    turn = {"raw": arg, "thought": None, "actions": actions, "observation": seen, "flags": []}
    return {**turn, **more}


def record(id_: str, turns: Sequence[Record], **outcome: object) -> Record:
    return {"id": id_, "turns": list(turns), "outcome": outcome}


TEXT = record(
    "text",
    [
        text_turn("Search", "herons", "Herons are birds."),
        text_turn("", "I look again.", "OK.", thought="I look again."),
        text_turn("", "hmm", "Invalid action!", flags=["original_parse_failure"]),
        text_turn("Finish", "birds", "Episode finished"),
    ],
    em=1,
)
NATIVE = record(
    "native",
    [
        {"actions": [], "inbound": [{"role": "user", "content": "Go on."}]},
        {
            "actions": [{"name": "find", "args": {"n": 1}}, {"name": "find", "args_text": "{}"}],
            "observations": [{"content": "one"}, {"content": "none"}],
        },
        {
            "actions": [{"name": "find", "args_text": "{n: 1}"}],
            "observations": [{"content": "Error: no JSON"}],
        },
        {"actions": [], "user_reply": "Thanks."},
    ],
    reward=0.0,
)
GOLD = {
    "id": "gold",
    "turns": [{"gold_calls": [{"name": "open", "args": {}, "observation": "open"}]}],
}


def test_runs_of_all_forms_are_read() -> None:
    assert run(TEXT).steps == [
        Step((Called("Search", {"arg": "herons"}, "Herons are birds."),)),
        Step((Called("think", {"arg": "I look again."}, "OK."),)),
        Step((Called("(no action)", {"arg": "hmm"}, "Invalid action!"),)),
    ]
    assert run(NATIVE).steps == [
        Step((), matches=True),
        Step((Called("find", {"n": 1}, "one"), Called("find", {}, "none"))),
        Step((Called("find", {"arg": "{n: 1}"}, "Error: no JSON"),)),
        Step((), matches=True),
    ]
    assert run(GOLD).steps == [Step((Called("open", {}, "open"),)), Step((), matches=True)]


@pytest.mark.parametrize(
    ("outcome", "success"),
    [
        ({"em": True, "reward": False}, True),
        ({"em": 0}, False),
        ({"success": True}, True),
        ({"reward": 1.0}, True),
        ({"reward": 0.5}, False),
        ({"status": "correct"}, True),
        ({"status": "halted"}, False),
        ({"status": "completed"}, None),
        ({"exit_status": "submitted"}, None),
    ],
)
def test_success_is_what_the_recording_says(outcome: Record, success: bool | None) -> None:
    assert run(record("r", [], **outcome)).success is success


def measured(path: Path, monkeypatch: pytest.MonkeyPatch, records: Sequence[Record]) -> Part:
    with gzip.open(path / "own-react-fever.jsonl.gz", "wt", encoding="utf-8") as lines:
        lines.writelines(f"{json.dumps(one)}\n" for one in records)
    monkeypatch.setenv(VARIABLE, str(path))
    return loops.measure(1)


STUCK = [text_turn("Search", "herons", "nothing") for _ in range(9)]
ROUND = [text_turn("Search", one, f"nothing of {one}") for one in ("a", "b", "c", "d")]


def test_the_part_counts_what_was_disturbed_and_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    part = measured(tmp_path, monkeypatch, [TEXT, record("stuck", STUCK, em=0), NATIVE, GOLD])
    assert part.met, list(failures([part]))
    assert figures(part)["runs and the calls in them"][:2] == ("4", "16 calls")
    assert figures(part)["of them run in a loop"][:2] == ("1", "4")
    assert figures(part)["other runs with a call refused, or landed"][:2] == ("1", "2")
    assert figures(part)["calls saved, of those in these runs"][:2] == ("5", "9")


def test_a_successful_run_that_is_disturbed_is_a_regression(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    news = text_turn("Search", "herons", "at last")
    part = measured(tmp_path, monkeypatch, [record("right", [*STUCK[:4], news], em=1)])
    assert not figures(part)["successful runs with a call refused, or landed (false alarms)"][2]
    assert part.misses == ["right: successful, and disturbed"]


def test_a_loop_that_ends_well_was_lucky_and_is_no_false_alarm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    part = measured(tmp_path, monkeypatch, [record("lucky", STUCK, em=1)])
    assert part.met, list(failures([part]))
    lucky = "successful runs that looped, and were stopped in their loop (luck)"
    assert figures(part)[lucky][:2] == ("1", "1")
    assert part.misses == ["lucky: successful, though it looped, and stopped in its loop"]


def test_a_loop_that_goes_on_is_told_with_its_rounds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    part = measured(tmp_path, monkeypatch, [record("long rounds", ROUND * 5, em=0)])
    assert not part.met
    assert part.misses == ["long rounds: 5 rounds of 4: the detector looks at rounds of up to 3"]


@pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT)
def test_a_sample_of_the_recordings_is_let_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(HERE))
    part = loops.measure(25)
    assert part.met, "\n".join(failures([part]))
