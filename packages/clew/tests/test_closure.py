"""The rooms that each room needs may only become fewer: `tests/closures.txt` has them."""

from pathlib import Path

from tests import closure


def test_no_room_needs_another_one_than_it_did_and_the_list_is_true() -> None:
    edges = closure.graph()
    needed = {
        name: {closure.room(module) for module in whole} - {name}
        for name, whole in closure.rooms(edges).items()
    }
    assert needed == closure.listed()  # a row of a new room is written by `python -m tests.closure`


def test_a_closure_follows_imports_through_others_and_packages(tmp_path: Path) -> None:
    files = {
        "__init__.py": "import clew.high.top\n",
        "high/__init__.py": "",
        "high/top.py": "from clew.low.parts import part\n",
        "high/alone.py": "import os\n",
        "low/__init__.py": "from clew.low import other\n",
        "low/parts.py": "part = 1\n",
        "low/other.py": "from .. import ground\n",
        "ground.py": "",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    edges = closure.graph(tmp_path)
    assert closure.rooms(edges) == {
        "clew": {"clew", *(f"clew.{name}" for name in ("high", "high.top", "low"))}
        | {"clew.low.parts", "clew.low.other", "clew.ground"},
        "ground": {"clew.ground"},
        "high": {"clew.high", "clew.high.top", "clew.high.alone", "clew.low"}
        | {"clew.low.parts", "clew.low.other", "clew.ground"},
        "low": {"clew.low", "clew.low.parts", "clew.low.other", "clew.ground"},
    }
    assert closure.lines(["clew.high.top", "clew.low"], tmp_path) == 2
