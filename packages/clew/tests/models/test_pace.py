"""The line before a model: what is held, in which order, and what no reply ever changes."""

import heapq
import itertools
from collections import Counter
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.core.contents import Usage
from clew.core.tools import Retry
from clew.models.http.rate_limit import GAP, SLACK, RequestQueue, Ticket, pace_of
from clew.models.http.retry import Busy
from clew.models.rate import GivenRate, Rate, read_rate
from clew.support.errors import ConfigError, ModelError

RETRY = Retry(times=5)
SIZE = 400  # bytes: 100 tokens, as long as no reply said otherwise


@dataclass
class World:
    """A line with a clock of its own, and whoever waits in it, woken when their time has come."""

    rate: Rate | None = None
    at: float = 0.0
    went: list[tuple[float, Ticket]] = field(default_factory=list[tuple[float, Ticket]])

    def __post_init__(self) -> None:
        self.pace = RequestQueue("m", self.rate, clock=lambda: self.at)
        self._asleep: list[tuple[float, int, Ticket]] = []

    def come(self, ticket: Ticket | None = None, size: int = SIZE) -> Ticket:
        ticket = ticket or self.pace.ticket()
        self.pace.line_up(ticket, size)
        self._sleep(ticket, ticket.wait) if ticket.wait else self._ask(ticket)
        return ticket

    def leave(self, ticket: Ticket) -> None:
        self.pace.leave(ticket)
        self._asleep = [one for one in self._asleep if one[2] is not ticket]

    def until(self, end: float = float("inf")) -> list[Ticket]:
        """Let time pass; those who went meanwhile, in the order in which they did."""
        before = len(self.went)
        while self._asleep and self._asleep[0][0] <= end:
            self.at, _, ticket = heapq.heappop(self._asleep)
            self._ask(ticket)
        self.at = max(self.at, end) if end < float("inf") else self.at
        return [ticket for _, ticket in self.went[before:]]

    def _ask(self, ticket: Ticket) -> None:
        if wait := self.pace.ask(ticket):
            self._sleep(ticket, wait)
        else:
            self.went.append((self.at, ticket))

    def _sleep(self, ticket: Ticket, wait: float) -> None:
        # Whoever wakes at the same time wakes in any order: here the last one first.
        heapq.heappush(self._asleep, (self.at + wait, -ticket.number, ticket))


@given(
    st.integers(1, 20),
    st.lists(st.tuples(st.floats(0, 3), st.integers(1, 3)), min_size=1, max_size=40),
)
def test_no_window_has_more_requests_than_the_rate_allows(
    most: int, comings: list[tuple[float, int]]
) -> None:
    world = World(Rate(requests=most, seconds=1.0))
    for after, together in comings:
        world.until(world.at + after)
        for _ in range(together):
            world.come()
    world.until()
    times = sorted(at for at, _ in world.went)
    assert len(times) == sum(together for _, together in comings)
    for first, later in zip(times, times[most:], strict=False):
        assert later - first > 1.0
    in_order = [at for at, _ in sorted(world.went, key=lambda one: one[1].number)]
    assert in_order == times


@given(st.lists(st.tuples(st.integers(0, 4000), st.integers(0, 900)), min_size=1, max_size=30))
def test_no_window_is_expected_to_have_more_tokens(requests: list[tuple[int, int]]) -> None:
    """What came back counts instead of what was expected; one that is too large goes alone."""
    world = World(Rate(tokens=500, seconds=1.0))
    took: dict[Ticket, int] = {}
    expected: dict[Ticket, int] = {}
    waiting = {world.come(size=size): output for size, output in requests}
    while waiting:
        now = [ticket for _, ticket in world.went if ticket in waiting]
        for ticket in now:
            expected[ticket] = ticket.tokens
            usage = Usage(input=ticket.size // 4, output=waiting.pop(ticket))
            took[ticket] = usage.tokens
            world.pace.answered(ticket, usage)
        world.until(world.at + 0.05)
    for at, ticket in world.went:
        since = [t for then, t in world.went if at - 1.0 < then < at]
        if since:
            known = sum(took[t] for t in since)
            assert known + min(expected[ticket], 500) <= 500


def test_what_came_back_corrects_what_is_expected() -> None:
    world = World(Rate(tokens=1000, seconds=1.0))
    first = world.come(size=4000)
    second = world.come(size=400)
    assert (first.tokens, second.tokens) == (1000, 100)
    assert world.until(0.5) == []
    world.pace.answered(first, Usage(input=100, output=100))
    assert world.until(2.0) == [second]
    assert world.went[-1][0] < 1.1  # it looked again before the first was forgotten
    more = [world.come(size=400) for _ in range(2)]
    assert 90 < more[0].tokens < 120  # fewer for each byte, and some that are written


def test_a_request_that_is_refused_takes_no_tokens() -> None:
    world = World(Rate(tokens=100, seconds=1.0))
    first = world.come()
    world.pace.refuse(first, Busy("busy", 0.25), RETRY, 10.0)
    world.come(first)
    assert world.until(0.3) == [first]


def test_an_estimate_of_the_reader_corrects_nothing() -> None:
    world = World(Rate(tokens=1000, seconds=1.0))
    world.pace.answered(world.come(), Usage(input=1, output=1, estimated=True))
    assert world.come().tokens == 100


def test_a_refusal_closes_the_line_for_all_until_the_time_that_was_named() -> None:
    world = World()
    first, second = world.come(), world.come()
    world.pace.refuse(first, Busy("busy", 5.0), RETRY, 100.0)
    others = [world.come() for _ in range(3)]
    world.come(first)
    world.pace.refuse(second, Busy("busy", 4.0), RETRY, 100.0)  # sent before: it changes nothing
    world.come(second)
    assert world.until(4.99) == []
    assert world.until(6.0) == [first, second, *others]
    times = [at for at, _ in world.went[2:]]
    assert times[0] == pytest.approx(5.0)
    gaps = [later - before for before, later in itertools.pairwise(times)]
    assert all(gap >= GAP * 0.999 for gap in gaps)
    assert world.pace.ask(world.come()) == 0  # the line is gone, and with it the care


def test_without_a_time_the_waits_grow_until_somebody_is_answered() -> None:
    world, waits = World(), list[float]()
    ticket = world.come()
    for _ in range(6):
        world.pace.refuse(ticket, Busy("busy"), RETRY, 100.0)
        waits.append(ticket.wait)
        world.come(ticket)
        world.until()
    for number, wait in enumerate(waits):
        longest = min(8.0, 0.5 * 2**number)
        assert 0.75 * longest <= wait <= longest
    world.pace.answered(ticket, Usage())
    again = world.come()
    world.pace.refuse(again, Busy("busy"), RETRY, 100.0)
    assert again.wait <= 0.5


def test_a_provider_that_always_says_now_is_not_asked_all_the_time() -> None:
    world, asked = World(), 0
    ticket = world.come()

    def refuse_for_ever() -> None:
        nonlocal asked
        while True:
            asked += 1
            world.pace.refuse(ticket, Busy("busy", 0.0), RETRY, 120.0)
            world.come(ticket)
            world.until()

    with pytest.raises(ModelError, match="beyond the patience of 120 s"):
        refuse_for_ever()
    assert 15 < asked < 30


def test_refusals_on_requests_of_before_a_closing_do_not_make_it_longer() -> None:
    world = World()
    together = [world.come() for _ in range(50)]
    world.at = 0.1
    for ticket in together:
        world.pace.refuse(ticket, Busy("busy"), RETRY, 100.0)
        world.come(ticket)
    assert world.pace.shut <= 0.6
    assert len(world.until(0.6 + 50 * GAP)) == 50


def test_an_answer_to_a_request_of_before_the_closing_does_not_make_it_shorter() -> None:
    world = World()
    early, ticket = world.come(), world.come()
    for _ in range(3):
        world.pace.refuse(ticket, Busy("busy"), RETRY, 100.0)
        world.come(ticket)
        world.until()
    world.pace.answered(early, Usage())
    world.pace.refuse(ticket, Busy("busy"), RETRY, 100.0)
    assert ticket.wait >= 3.0


def test_answers_after_a_closing_take_the_care_away_though_the_line_is_never_empty() -> None:
    """With more runs than requests that may go, there would be care for ever."""
    world = World()
    together = [world.come() for _ in range(100)]
    for ticket in together:
        world.pace.refuse(ticket, Busy("busy", 1.0), RETRY, 100.0)
        world.come(ticket)
    answered = len(world.went)
    for tenth in range(10, 150):  # each run is answered within a tenth of a second, and asks again
        world.until(tenth / 10)
        went, answered = world.went[answered:], len(world.went)
        for _, ticket in went:
            world.pace.answered(ticket, Usage(10, 10, estimated=True))
            world.come()
    seconds = Counter(int(at) for at, _ in world.went)
    assert seconds[1] <= 1 / GAP + 1
    assert seconds[14] >= 500


def test_patience_is_for_a_provider_that_refuses_everybody() -> None:
    world = World()
    poor = world.come()
    for _ in range(20):  # others are answered, so it goes on waiting
        world.pace.refuse(poor, Busy("busy", 8.0), RETRY, 10.0)
        world.come(poor)
        other = world.come()
        world.until()
        world.pace.answered(other, Usage())
    assert world.at > 150
    world.pace.refuse(poor, Busy("busy", 8.0), RETRY, 10.0)
    world.come(poor)
    world.until()
    with pytest.raises(ModelError, match="busy; the next try is due in 8 s, which is beyond"):
        world.pace.refuse(poor, Busy("busy", 8.0), RETRY, 10.0)
    assert world.pace.ask(world.come()) <= GAP  # it did not close the line for anybody else


def test_who_leaves_holds_nobody_up() -> None:
    world = World(Rate(requests=1, seconds=1.0))
    world.come()
    second, third = world.come(), world.come()
    world.leave(second)
    world.until(1.0)
    assert world.until(1.0 + 3 * SLACK) == [third]


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        (None, None),
        (Rate(3), Rate(3)),
        ("60 requests", Rate(60)),
        ("100_000 tokens", Rate(None, 100_000)),
        (" 60  requests,  100000 tokens ", Rate(60, 100_000)),
        ("60 requests and 5 tokens", Rate(60, 5)),
        ({"requests": 2, "seconds": 1}, Rate(2, None, 1.0)),
        ({}, Rate()),
    ],
)
def test_rates_are_read(given: GivenRate | None, meant: Rate | None) -> None:
    assert read_rate(given) == meant


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("", "is no rate: write '60 requests, 100000 tokens'"),
        ("60", "is no rate"),
        ("60 requests a minute", "is no rate"),
        ("0 requests", "a rate of 0 requests: give 1 or more"),
        ({"tokens": -1}, "tokens is -1: give 0 or more"),
        ({"requests": "many"}, r"that is no rate \(.*requests"),
        ({"rpm": 3}, r"that is no rate \(.*rpm"),
        ({"seconds": 0}, "a rate for 0 seconds: give more than 0"),
        ({"seconds": float("inf")}, "a rate for inf seconds"),
    ],
)
def test_what_is_no_rate_is_said(given: GivenRate, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        read_rate(given)


def test_a_line_is_shared_by_name_address_and_key_while_it_is_used() -> None:
    one = pace_of("p:m", "http://a", "key", None)
    assert pace_of("p:m", "http://a", "key", Rate(5)) is one
    assert one.rate == Rate(5)
    assert pace_of("p:m", "http://a", "key", None).rate == Rate(5)
    others = [("p:n", "http://a", "key"), ("p:m", "http://b", "key"), ("p:m", "http://a", "kez")]
    assert all(pace_of(*other, None) is not one for other in others)
    assert "key" not in repr(one)
    del one
    assert pace_of("p:m", "http://a", "key", None).rate is None
