"""Two processes change one folder at once, in the seeded short form (`schedules` has the long)."""

import pytest

from tests.workspace.schedules import is_chain, run_schedules

pytestmark = pytest.mark.slow


def test_no_change_is_lost_and_no_file_torn() -> None:
    tally = run_schedules(60, 3)
    assert (tally.schedules, tally.lost, tally.torn) == (60, 0, 0), str(tally)
    assert tally.made.total() > 40
    assert tally.refused.total() > 20


def test_a_change_that_another_did_not_see_is_no_chain() -> None:
    assert is_chain([("1", "2"), ("2", "-"), ("-", "3")], "1", "3")
    assert not is_chain([("1", "2"), ("1", "3")], "1", "3")
    assert not is_chain([("1", "2")], "1", "1")
