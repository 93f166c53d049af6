"""The draw of `make mutants`: for the same files and seed the same, and nothing unseen in it."""

import itertools
from pathlib import Path
from typing import Any

import pytest

mutants: Any = pytest.importorskip("mutation.mutants", reason="the extra `mutants` is not there")
report: Any = pytest.importorskip("mutation.report")

SOURCE = '''"""A module."""

import os
from typing import Final

__all__ = ["grown"]

MOST: Final = 8


def grown(delay: float, times: int = 2) -> float:
    """A longer delay."""
    if delay < 0:
        raise ValueError("no such delay")
    delay *= times
    print(delay, times)
    return min(delay, MOST) if times else 0.0
'''


def drawn(folder: Path, seed: int = 1, count: int = 100, source: str = SOURCE) -> list[Any]:
    (folder / "delays.py").write_text(source)
    return list(mutants.sample(folder, seed, count))


def test_the_same_seed_draws_the_same_and_fewer_are_the_first_of_more(tmp_path: Path) -> None:
    all_of_them = drawn(tmp_path)
    assert drawn(tmp_path) == all_of_them
    assert drawn(tmp_path, count=7) == all_of_them[:7]
    others = drawn(tmp_path, seed=2)
    assert others != all_of_them
    assert {mutant.key for mutant in others} == {mutant.key for mutant in all_of_them}


def test_what_is_drawn_stands_within_what_was_named(tmp_path: Path) -> None:
    for name in ("core/one.py", "core/deep/two.py", "three.py", "four.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(SOURCE)
    files = {mutant.file for mutant in mutants.sample(tmp_path, 1, 1000, ("core", "three.py"))}
    assert files == {"core/one.py", "core/deep/two.py", "three.py"}


def test_each_room_has_as_many_however_long_it_is(tmp_path: Path) -> None:
    for name, times in (("core/one.py", 9), ("guards/two.py", 1)):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(SOURCE * times)
    files = [one.file for one in mutants.by_turns(tmp_path, 1, 10, ("core", "guards"))]
    assert files == ["core/one.py", "guards/two.py"] * 5


def test_kinds_take_turns_and_each_mutant_is_one_change(tmp_path: Path) -> None:
    values = drawn(tmp_path)
    first = [kind for kind, _ in itertools.groupby(mutant.kind for mutant in values)]
    assert len(set(first[:8])) == 8
    assert {"deletion", "condition", "result", "arg_removal", "swap_op"} <= set(first)
    for mutant in values:
        compile(mutant.code, "delays.py", "exec")
        assert mutant.was != mutant.now
    assert ("delay *= times", "pass") in {(mutant.was, mutant.now) for mutant in values}


def test_what_no_run_could_tell_is_left_alone(tmp_path: Path) -> None:
    changed = [mutant.was for mutant in drawn(tmp_path)]
    assert not [was for was in changed if was.startswith(("import", "from", "__all__", '"""'))]
    assert not [was for was in changed if was.startswith("def") and "times: int = 2" not in was]
    texts = [mutant.now for mutant in drawn(tmp_path) if "such" in mutant.now.lower()]
    assert texts == []


def test_a_mutant_is_known_by_the_same_key_where_lines_have_moved(tmp_path: Path) -> None:
    moved = SOURCE.replace("MOST: Final", "# one more line\n\nMOST: Final")
    before, after = drawn(tmp_path), drawn(tmp_path, source=moved)
    assert [mutant.key for mutant in before] == [mutant.key for mutant in after]
    assert [mutant.lines for mutant in before] != [mutant.lines for mutant in after]
    inside = [mutant for mutant in before if mutant.function == "grown" and mutant.lines]
    assert {m.file for m in before} == {"delays.py"}
    assert inside
    assert all(not mutant.lines for mutant in before if mutant.was.startswith("MOST"))


def test_a_report_has_a_row_for_each_room_and_all_that_survived(tmp_path: Path) -> None:
    (tmp_path / "core").mkdir()
    (tmp_path / "core" / "one.py").write_text("def masked(a, b):\n    return a | b if a else 0\n")
    drawn = list(mutants.by_turns(tmp_path, 1, 4, ("core",)))
    ends = ["killed", "survived", "timed out", "unseen"]
    known = {
        mutant.key: {"outcome": end, "by": "lab/tests/together/test_x.py::test" * (end == "killed")}
        for mutant, end in zip(drawn, ends, strict=True)
    }
    text = report.written(drawn, known, {drawn[3].key: "it is for the reader"}, "Seed 1.")
    assert text.startswith("Seed 1.\n\n| room | mutants | noticed |")
    assert "\n| core | 4 | 2 | 1 | 1 | 1 | 66.7% |\n| all | 4 | 2 | 1 | 1 | 1 | 66.7% |" in text
    head, survivors = text.split("What survived:\n\n")
    assert "core/one.py" not in head
    assert survivors.count("`core/one.py") == 1
    assert report.short("a | b") == r"`a \| b`"
