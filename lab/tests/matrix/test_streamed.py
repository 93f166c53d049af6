"""Each way to answer, followed as it happens, in each format, with replies that never close.

Some cells of each way are quick; `make test-long` tries a larger part.
"""

import pytest

from tests.matrix.cells import drawn, streams
from tests.matrix.test_matrix import wrong
from tests.matrix.ways import ways

pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

QUICK = 3
LONG = 40


@pytest.mark.parametrize("way", [way.name for way in ways()])
def test_a_stream_tells_all_and_nothing_that_is_not_so(way: str) -> None:
    assert not wrong(drawn((each for each in streams() if each.way.name == way), QUICK))


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("way", [way.name for way in ways()])
def test_more_streams_tell_all_and_nothing_that_is_not_so(way: str) -> None:
    assert not wrong(drawn((each for each in streams() if each.way.name == way), LONG)[QUICK:])
