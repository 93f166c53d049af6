"""The short form of the matrix; `make matrix` tries all of it.

Quick: every setting has a promise, each way to answer is tried without a setting, and some talks
are. Slow: kills and forks too, and cells drawn from the whole by their names.
"""

from collections.abc import Iterable

import pytest

from tests.matrix.bench import bench
from tests.matrix.cells import Cell, cells, drawn, talks
from tests.matrix.known import KNOWN, stale, unknown
from tests.matrix.promises import NOT_YET, PROMISES, USUAL
from tests.matrix.schema import settings
from tests.matrix.talks import STATES, TALKS
from tests.matrix.ways import ways
from tests.matrix.without import KEPT, without_settings

pytestmark = [  # connections of agents that were refused half-made are left to the collector
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

DRAWN = 24
"""How many cells of the whole the slow form tries, beside those without a setting."""
TALKED = 8
"""How many of the conversations the quick form tries."""
PARTS = 2
DEAR = ("killed", "forked", "rewound")


def test_every_setting_has_a_promise() -> None:
    promised = {path for promise in PROMISES for path in promise.paths}
    there = set(settings())
    assert not there - promised - NOT_YET, "say in promises.py what these settings promise"
    assert not promised & NOT_YET, "these have a promise now: take them out of NOT_YET"
    assert not (promised | NOT_YET) - there, "there are no such settings"


def test_names_of_promises_are_unique() -> None:
    names = [promise.name for promise in PROMISES]
    assert len(names) == len(set(names))


@pytest.mark.slow
def test_each_promise_is_broken_without_its_setting() -> None:
    with bench() as root:
        kept = [c.promise.name for c in without_settings() if root.judge(c).kind == "passed"]
    assert sorted(kept) == sorted(KEPT), "a promise that holds without its setting says nothing"


def wrong(tried: Iterable[Cell], cuts: int = 2) -> list[str]:
    """What is wrong with cells: complaints that are not known, and known ones that are gone."""
    with bench() as root:
        judged = [root.judge(cell, cuts) for cell in tried]
    return [
        f"{one.cell.name}: {complaint}"
        for one in judged
        for complaint in (*unknown(one), *stale(one))
    ]


def cells_without_settings(way: str) -> list[Cell]:
    """The cells of a way, with nothing set."""
    return [each for each in cells() if each.way.name == way and each.promise.name == USUAL]


@pytest.mark.parametrize("part", range(PARTS))
def test_talks_drawn_from_all(part: int) -> None:
    assert not wrong(drawn(talks(), TALKED)[part::PARTS])


@pytest.mark.slow
@pytest.mark.share(3)
@pytest.mark.parametrize("state", STATES)
def test_a_talk_with_one_agent_keeps_what_each_door_promises(state: str) -> None:
    assert not wrong(
        each for each in talks() if each.way.name == "react" and TALKS[each.situation][0] == state
    )


@pytest.mark.parametrize("way", [way.name for way in ways()])
def test_each_way_keeps_what_each_situation_promises(way: str) -> None:
    assert not wrong(each for each in cells_without_settings(way) if each.situation not in DEAR)


@pytest.mark.slow
@pytest.mark.share(3)
@pytest.mark.parametrize("way", [way.name for way in ways()])
def test_each_way_is_killed_forked_and_rewound(way: str) -> None:
    assert not wrong(
        (each for each in cells_without_settings(way) if each.situation in DEAR), cuts=4
    )


@pytest.mark.slow
def test_each_known_fault_still_shows() -> None:
    witnesses = {known.witness for known in KNOWN}
    tried = [each for each in cells() if each.name in witnesses]
    assert len(tried) == len(witnesses)
    assert not wrong(tried)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_cells_drawn_from_the_whole(part: int) -> None:
    assert not wrong(drawn(cells(), DRAWN)[part::PARTS])
