"""What `make test` and `test-all` draw of what repeats, and what is left to other commands."""

import subprocess
import sys
from collections import Counter
from collections.abc import Iterable

import pytest

from tests.shares import CASES, TRIO, draw
from tests.test_layers import ROOT

CONFTEST = """
import sys
sys.path.insert(0, {root!r})
import pytest
from tests import shares

@pytest.fixture(params=["asyncio", "trio"], scope="module")
def anyio_backend(request):
    return request.param

def pytest_collection_modifyitems(items):
    shares.mark(items)
    for item in items:
        print("MARKED", item.name, *sorted({{mark.name for mark in item.iter_markers()}}))
"""
LOOPS = """
import pytest

@pytest.mark.parametrize("n", range(10))
async def test_anything(n): ...

@pytest.mark.both_loops
@pytest.mark.parametrize("n", range(10))
async def test_cancelling(n): ...
"""
TABLES = """
import pytest

@pytest.mark.share(3)
@pytest.mark.parametrize("n", range(10))
def test_table(n): ...

@pytest.mark.share(8)
@pytest.mark.parametrize("n", range(5))
async def test_on_both(n): ...

def test_alone(): ...
"""


@pytest.fixture(scope="module")
def marks(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[str]]:
    """The marks of the tests of these files."""
    place = tmp_path_factory.mktemp("shares")
    (place / "conftest.py").write_text(CONFTEST.format(root=str(ROOT)))
    (place / "test_loops.py").write_text(LOOPS)
    (place / "test_tables.py").write_text(TABLES)
    command = [sys.executable, "-m", "pytest", "-c", str(ROOT / "pyproject.toml")]
    command += ["--rootdir", str(place), "--confcutdir", str(place), "-p", "no:cacheprovider"]
    command += ["-n", "0", "--collect-only", "-s", str(place)]
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = [line.split() for line in done.stdout.splitlines() if line.startswith("MARKED")]
    return {name: set(rest) for _, name, *rest in lines}


def functions(names: Iterable[str]) -> Counter[tuple[str, bool]]:
    """How many cases of each function there are, and whether they run on trio."""
    return Counter((name.partition("[")[0], "trio" in name) for name in names)


def test_the_full_check_has_a_share_of_each(marks: dict[str, set[str]]) -> None:
    counted = functions(name for name, its in marks.items() if "long" not in its)
    assert counted["test_anything", False] == 10
    assert counted["test_anything", True] == -(-10 // TRIO)
    assert counted["test_cancelling", False] == counted["test_cancelling", True] == 10
    assert counted["test_table", False] == 4
    assert counted["test_on_both", False] + counted["test_on_both", True] == 2
    assert counted["test_alone", False] == 1
    assert len(marks) == 61


def test_all_of_the_second_turn_can_be_asked_for(marks: dict[str, set[str]]) -> None:
    counted = functions(name for name, its in marks.items() if "trio" in its)
    assert counted == {
        ("test_anything", True): 10,
        ("test_cancelling", True): 10,
        ("test_on_both", True): 5,
    }


def test_the_quick_check_has_a_few_cases_of_each_quick_table(marks: dict[str, set[str]]) -> None:
    quick = {name for name, its in marks.items() if "slow" not in its}
    drawn = Counter(name.partition("[")[0] for name in quick if "rest" not in marks[name])
    assert drawn["test_anything"] == drawn["test_cancelling"] == CASES
    assert drawn["test_alone"] == 1
    assert drawn["test_table"] == min(CASES, 4)
    assert not any({"rest", "slow"} <= its for its in marks.values())


def test_what_is_quick_is_also_in_the_full_check(marks: dict[str, set[str]]) -> None:
    assert all("slow" in its for its in marks.values() if "long" in its)
    assert all("slow" not in its for name, its in marks.items() if "test_cancelling" in name)


@pytest.mark.parametrize("one_in", [1, 2, 3, 4, 7, 100])
def test_a_share_is_the_same_each_time_and_spread_over_all(one_in: int) -> None:
    names = [f"tests/test_some.py::test_case[{n}]" for n in range(1000)]
    drawn = draw(names, one_in)
    assert drawn == draw(reversed(names), one_in)
    assert len(drawn) == -(-1000 // one_in)
    hundreds = Counter(int(name.partition("[")[2][:-1]) // 100 for name in drawn)
    assert one_in > 7 or all(40 / one_in < hundreds[n] < 200 / one_in for n in range(10))


def test_of_few_one_is_drawn_and_of_none_none() -> None:
    assert len(draw(["a", "b"], 8)) == 1
    assert draw([], 4) == set()
