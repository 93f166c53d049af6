"""How often and how long: `persist` and the waits that servers ask for."""

import email.utils
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.core.tools import Retry
from clew.models.http.retry import TryAgain, persist, retry_after
from clew.support.errors import ConfigError, ModelError
from tests.models.support import Waits

NOW = 1_800_000_000.0


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({}, None),
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "250", "retry-after": "3"}, 0.25),
        ({"retry-after-ms": "soon", "retry-after": "3"}, 3.0),
        ({"retry-after": email.utils.formatdate(NOW + 30, usegmt=True)}, 30.0),
        ({"retry-after": email.utils.formatdate(NOW - 30, usegmt=True)}, 0.0),
        ({"retry-after": "in a while"}, None),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "nan"}, None),
    ],
)
def test_what_headers_ask_for(headers: dict[str, str], expected: float | None) -> None:
    assert retry_after(headers, NOW) == expected


@pytest.mark.parametrize("delay", [math.inf, math.nan, -1.0, True, "soon"])
def test_a_delay_that_is_none_is_said_in_a_line(delay: Any) -> None:
    with pytest.raises(ConfigError, match=r"^Retry: delay is .*: give [a-z0-9 ]+$"):
        Retry(delay=delay)


async def test_what_is_no_passing_failure_goes_through() -> None:
    async def attempt() -> str:
        raise ModelError("no")

    waits = Waits()
    with pytest.raises(ModelError, match=r"^no$"):
        await persist(attempt, Retry(times=3), 100.0, waits)
    assert waits == []


def run(attempts: list[float | None], retry: Retry, patience: float) -> tuple[bool, int, Waits]:
    """Play attempts that fail with these wishes, then one that succeeds; outside any loop."""
    waits, made = Waits(), 0

    async def attempt() -> bool:
        nonlocal made
        made += 1
        if made > len(attempts):
            return True
        raise TryAgain("busy", attempts[made - 1])

    try:
        persist(attempt, retry, patience, waits).send(None)
    except StopIteration as end:
        return bool(end.value), made, waits
    except ModelError:
        return False, made, waits
    raise AssertionError("nothing here has anything to wait for")


wishes = st.lists(st.none() | st.floats(0, 30), max_size=8)


@given(wishes, st.integers(0, 6), st.floats(0, 60))
def test_number_and_waits_are_bounded(
    attempts: list[float | None], times: int, patience: float
) -> None:
    retry = Retry(times=times, delay=0.5, max_delay=4.0)
    succeeded, made, waits = run(attempts, retry, patience)
    assert made <= times + 1
    assert sum(waits) <= patience
    assert len(waits) == made - 1
    for number, (wish, wait) in enumerate(zip(attempts, waits, strict=False)):
        longest = min(4.0, 0.5 * 2**number)
        assert wait == wish if wish is not None else 0.75 * longest <= wait <= longest
    assert succeeded == (made == len(attempts) + 1)


def test_waits_do_not_all_fall_together() -> None:
    first = {run([None], Retry(times=1), 10.0)[2][0] for _ in range(20)}
    assert len(first) > 10
