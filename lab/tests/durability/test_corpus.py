"""The programs that are killed at each call: what CPython makes of them is what is expected."""

from pathlib import Path

import pytest

from durability.corpus import EFFECTS, Program, World, plain, programs

ALL = programs()


def named(program: Program) -> str:
    return program.name


def test_there_are_a_hundred_with_every_tool() -> None:
    assert len({program.name for program in ALL}) == len(ALL) >= 100
    assert {name for program in ALL for name in program.tools} == set(EFFECTS)


@pytest.mark.parametrize("program", ALL, ids=named)
def test_a_program_has_one_end_and_calls_what_it_names(program: Program, tmp_path: Path) -> None:
    ends = list[object]()
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        end = plain(program, tmp_path / name)
        ends.append(end)
        world = World(tmp_path / name)
        assert {one["tool"] for one in world.effects()} <= set(program.tools)
        assert not world.twice()
    assert ends[0] == ends[1]


def test_an_effect_that_happened_twice_is_seen(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.send("1", to="ada", text="x")
    world.put("2", name="a", value=1)
    world.put("2", name="a", value=1)
    assert not world.twice()
    world.send("1", to="ada", text="x")
    assert world.twice() == ["1"]
    assert world.end() == {
        "notes": {"a": 1}, "seats": [], "letters": [["ada", "x"]] * 2, "payments": []
    }  # fmt: skip
