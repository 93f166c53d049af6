"""What a run may still take, account by account and bound by bound, from hand-written records."""

from typing import Any

import msgspec
import pytest

from clew.core.actions import Action
from clew.core.bounds import Left, Tripped
from clew.core.budget import (
    Account,
    Allowance,
    AtMost,
    Budget,
    smaller_grant,
    too_little,
)
from clew.core.contents import Grant, Observation, Reply, Spending, Usage
from clew.core.events import AnyEvent, Attempt, Charged, Judged, Landing
from clew.core.steps import Totals, charge
from clew.core.tools import Attempts, Tool
from clew.core.trajectory import Trajectory
from clew.core.verdicts import Verdict
from tests.core.records import look, more, record, thought

NEEDS = " and the next call needs about"
LIMITS = Grant(10, 20, 1_000, 60.0, 1.0, 3)


class Estimate:
    """Calls that are expected to take these: the next one, and the one after it."""

    def __init__(self, next_: Usage, later: Usage, answer: int | None = None) -> None:
        self.next_, self.later, self.answer = next_, later, answer

    def next_call(
        self, trajectory: Trajectory, answer: int | None = None, *, later: bool = False
    ) -> Usage:
        one = self.later if later else self.next_
        return one if answer is None else msgspec.structs.replace(one, output=answer)


def budget(grant: Grant = LIMITS, tokens: int = 100, later: int = 0, **fields: Any) -> Budget:
    answer = fields.pop("answer", None)
    cost = fields.pop("cost", 0.0)
    estimate = Estimate(Usage(tokens, cost=cost), Usage(later, cost=0.0), answer)
    return Budget(grant, estimate, **fields)


def using(tokens: int = 0, cost: float | None = None) -> AnyEvent:
    return thought(look(), reply=Reply(usage=Usage(tokens, cost=cost)))


def standing(*events: AnyEvent, of: Budget | None = None, **started: Any) -> Any:
    return (of or budget()).standing(record(*events, **started))


class TestABound:
    @pytest.mark.parametrize(
        ("axis", "most", "events", "said"),
        [
            ("steps", 2, (using(), using()), "2 of 2 used"),
            ("steps", 2, (using(), using(), using()), "2 of 2 used"),
            ("steps", 3, (using(), using()), None),
            ("tool_calls", 1, (using(), Observation("1.1")), "1 of 1 used"),
            ("tool_calls", 2, (using(), Observation("1.1")), None),
            ("tokens", 30, (using(10), using(21)), "31 of 30 used"),
            ("seconds", 2.0, (using(), using()), "2.0 of 2 worked"),
            ("seconds", 2.5, (using(), using()), None),
            ("cost", 0.5, (using(1, 0.5),), "$0.5000 of $0.5000 spent"),
            ("cost", 0.51, (using(1, 0.5),), None),
            ("faults", 1, (thought(fault="x"),), "1 unreadable replies in a row"),
            ("faults", 2, (thought(fault="x"),), None),
        ],
    )
    def test_says_what_is_used_up(
        self, axis: Any, most: float, events: Any, said: str | None
    ) -> None:
        tripped = AtMost(axis, most)(record(*events))
        assert tripped == (None if said is None else Tripped(axis, axis, said))

    def test_of_seconds_is_reached_where_a_reply_was_late(self) -> None:
        late = record(Charged(Usage(), "time_up"))
        assert AtMost("seconds", 99)(late) == Tripped("seconds", "seconds", "1.0 of 99 worked")
        assert AtMost("steps", 99)(late) is None

    def test_is_named_by_its_axis(self) -> None:
        assert repr(AtMost("tool_calls", 30)) == "ToolCalls(most=30)"
        assert repr(AtMost("cost", 0.5)) == "Cost(most=0.5)"


class TestAnAllowance:
    def test_is_in_dollars_or_tokens(self) -> None:
        usage = Usage(10, 5, cost=0.25)
        money = Allowance("cost", 1.0, 0.5, granted=False)
        assert (money.in_dollars, money.of(usage)) == (True, 0.25)
        assert money.tripped(", and more") == Tripped(
            "cost", "cost", "$0.5000 of $1.0000 spent, and more"
        )
        tokens = Allowance("tokens", 10_000.0, 9_100.0, granted=True)
        assert (tokens.in_dollars, tokens.of(usage)) == (False, 15)
        assert tokens.tripped("") == Tripped(
            "grant_tokens", "grant", "tokens: 9,100 of 10,000 used"
        )
        assert tokens.tripped("").reason == "grant: tokens: 9,100 of 10,000 used"


TOOK = Totals(steps=2, active_ms=5_000, below=3)
charge(Usage(100, cost=0.25), TOOK)
charge(Usage(50, cost=0.25), TOOK, lost=True)
RESERVED = Grant(3, 4, 500, 0.0, 0.25)


class TestAnAccount:
    def test_has_left_what_was_neither_taken_nor_reserved(self) -> None:
        assert Account(LIMITS, TOOK, RESERVED).left() == Grant(5, 13, 350, 55.0, 0.25, 3)
        none = msgspec.structs.replace(RESERVED, cost=None)
        assert Account(LIMITS, TOOK, none).left().cost == 0.5
        free = msgspec.structs.replace(LIMITS, cost=None)
        assert Account(free, TOOK, RESERVED).left().cost is None

    def test_has_nothing_less_than_nothing(self) -> None:
        small = Grant(1, 1, 1, 1.0, 0.1)
        assert Account(small, TOOK, RESERVED).left() == Grant(0, 0, 0, 0.0, 0.0)

    @pytest.mark.parametrize(
        ("more", "priced", "axis"),
        [
            (Usage(850), True, None),
            (Usage(851), True, "tokens"),
            (Usage(1, cost=0.5), True, None),
            (Usage(1, cost=0.51), True, "cost"),
            (Usage(1, cost=0.51), False, None),
            (Usage(851), False, "tokens"),
        ],
    )
    def test_is_exceeded_by_more_than_its_limit(
        self, more: Usage, priced: bool, axis: str | None
    ) -> None:
        passed = Account(LIMITS, TOOK, RESERVED, priced=priced).tripped(more)
        assert (passed and passed.axis) == axis
        free = msgspec.structs.replace(LIMITS, cost=None, tokens=10**6)
        assert Account(free, TOOK, RESERVED).tripped(more) is None

    def test_says_what_was_used_and_of_what(self) -> None:
        account = Account(LIMITS, TOOK, RESERVED, granted=True)
        assert account.tripped(Usage(851)) == Allowance("tokens", 1_000, 150, granted=True)
        assert account.tripped(Usage(cost=0.6)) == Allowance("cost", 1.0, 0.5, granted=True)

    @pytest.mark.parametrize(
        ("changed", "code", "said"),
        [
            ({}, None, ""),
            ({"cost": 0.5}, "grant_cost", "$0.5000 granted, and spent"),
            ({"cost": None}, None, ""),
            ({"steps": 5}, "grant_steps", "steps: 5 granted, and used"),
            ({"tool_calls": 7}, "grant_tool_calls", "tool_calls: 7 granted, and used"),
            ({"tokens": 650}, "grant_tokens", "tokens: 650 granted, and used"),
            ({"seconds": 5.0}, "grant_seconds", "seconds: 5 granted, and used"),
        ],
    )
    def test_of_a_grant_is_used_up(self, changed: Any, code: Any, said: str) -> None:
        grant = msgspec.structs.replace(LIMITS, **changed)
        reserved = msgspec.structs.replace(RESERVED, cost=0.0)
        used = Account(grant, TOOK, reserved).used_up()
        assert used == (None if code is None else Tripped(code, "grant", said))


class TestWhatIsLeft:
    def test_of_a_run_is_its_limits_since_a_person_spoke(self) -> None:
        assert standing(using(100, 0.25)).left == Left(9, 20, 900, 59.0, 0.75, 3)
        free = budget(msgspec.structs.replace(LIMITS, cost=None))
        assert standing(of=free).left.cost == 0.0

    def test_of_a_sub_run_is_the_smaller_of_both(self) -> None:
        grant = Grant(5, 50, 500, 90.0, None, 1)
        assert standing(using(100, 0.25), grant=grant).left == Left(4, 20, 400, 59.0, 0.75, 1)

    def test_smaller_grants_take_each_axis(self) -> None:
        one, other = Grant(1, 9, 3, 9.0, 0.5, 2, {"a": 1}), Grant(2, 8, 4, 8.0, 0.25, 1, {"b": 2})
        assert smaller_grant(one, other) == Grant(1, 8, 3, 8.0, 0.25, 1, {"a": 1})
        bare = Grant(1, 1, 1, 1.0)
        assert smaller_grant(bare, other) == Grant(1, 1, 1, 1.0, 0.25, 0, {"b": 2})
        assert smaller_grant(bare, bare).cost is None

    @pytest.mark.parametrize(
        ("grant", "why"),
        [
            (Grant(1, 1, 1, 1.0), None),
            (Grant(1, 1, 1, 1.0, 0.1), None),
            (Grant(0, 1, 1, 1.0), "steps"),
            (Grant(1, 0, 1, 1.0), "tool calls"),
            (Grant(1, 1, 0, 1.0), "tokens"),
            (Grant(1, 1, 1, 0.0), "seconds"),
            (Grant(1, 1, 1, 1.0, 0.0), "cost"),
            (Grant(0, 0, 1, 1.0), "steps"),
        ],
    )
    def test_may_be_too_little_to_hand_on(self, grant: Grant, why: str | None) -> None:
        told = f"too little is left of this run's {why} to hand on: answer with what is known"
        assert too_little(grant) == (None if why is None else told)

    def test_may_be_nested_too_deep(self) -> None:
        assert "nested as deep as they may be" in (too_little(Grant(1, 1, 1, 1.0, None, -1)) or "")


class TestWhatIsExceeded:
    def test_is_told_with_how_much(self) -> None:
        assert standing(using(1_000)).exceeded is None
        assert standing(using(1_001)).exceeded == Tripped(
            "tokens", "tokens", "1,001 of 1,000 used, 1 over"
        )
        assert standing(using(1, 1.5)).exceeded == Tripped(
            "cost", "cost", "$1.5000 of $1.0000 spent, $0.5000 over"
        )
        lost = standing(using(1_000), Charged(Usage(1_100))).exceeded
        assert lost.detail == (
            "2,100 of 1,000 used, 1,100 over, 1,100 tokens of it an estimate of calls nobody saw "
            "the end of"
        )

    def test_of_a_grant_comes_first(self) -> None:
        grant = Grant(9, 9, 500, 99.0)
        over = standing(using(1_001), grant=grant).exceeded
        assert over == Tripped("grant_tokens", "grant", "tokens: 1,001 of 500 used, 501 over")

    @pytest.mark.parametrize(
        ("events", "end"),
        [
            ((using(),), ""),
            ((Landing("steps", "d", "steps"), using()), "steps"),
            ((Charged(Usage(), "time_up"),), "seconds"),
            ((Charged(Usage(), "time_up"), Landing("mine")), "mine"),
            ((using(1_001),), "tokens: 1,001 of 1,000 used, 1 over"),
            ((Landing("tokens"), using(1_001)), "tokens: 1,001 of 1,000 used, 1 over"),
            ((Landing("steps"), using(1_001)), "steps: tokens: 1,001 of 1,000 used, 1 over"),
        ],
    )
    def test_stands_in_the_reason_of_an_answer(self, events: Any, end: str) -> None:
        assert standing(*events).end == end


class TestTheNextThought:
    @pytest.mark.parametrize(
        ("given", "used", "said"),
        [
            ({"tokens": 100}, 900, None),
            ({"tokens": 100}, 901, f"901 of 1,000 used{NEEDS} 100"),
            ({"tokens": 100, "later": 50}, 850, None),
            ({"tokens": 100, "later": 50}, 851,
             "851 of 1,000 used and the next call needs about 100, beside 50 for a landing"),
            ({"tokens": 100, "later": 50}, 900,
             "900 of 1,000 used and the next call needs about 100, beside 50 for a landing"),
            ({"tokens": 100, "later": 50}, 901, f"901 of 1,000 used{NEEDS} 100"),
            ({"tokens": 100, "later": 50, "landing": False}, 900, None),
            ({"tokens": 60, "answer": 40}, 900, None),
            ({"tokens": 60, "answer": 41}, 900, f"900 of 1,000 used{NEEDS} 101"),
        ],
    )  # fmt: skip
    def test_must_fit_beside_a_landing(self, given: Any, used: int, said: str | None) -> None:
        short = standing(using(used), of=budget(**given)).unaffordable
        assert short == (None if said is None else Tripped("tokens", "tokens", said))

    def test_must_be_paid(self) -> None:
        short = standing(using(1, 0.75), of=budget(cost=0.5)).unaffordable
        assert short == Tripped(
            "cost", "cost", "$0.7500 of $1.0000 spent and the next call needs about $0.5000"
        )
        assert standing(using(1, 0.75), of=budget(cost=0.5, priced=False)).unaffordable is None
        assert standing(using(1, 0.75), of=budget(cost=0.25)).unaffordable is None

    def test_needs_what_is_left_of_a_grant(self) -> None:
        short = standing(using(), grant=Grant(1, 9, 9_000, 99.0)).unaffordable
        assert short == Tripped("grant_steps", "grant", "steps: 1 granted, and used")
        assert standing(using(), grant=Grant(2, 9, 9_000, 99.0)).unaffordable is None
        assert standing(*[using()] * 11).unaffordable is None, "that is for the bounds to say"

    def test_lands_where_a_landing_fits(self) -> None:
        assert standing(using(900)).lands
        assert not standing(using(901)).lands
        assert not standing(of=budget(landing=False)).lands

    def test_is_expected_to_cost_what_is_known(self) -> None:
        assert standing(of=budget(cost=0.5)).expected == Usage(100, cost=0.5)
        assert standing(of=budget(cost=0.5, priced=False)).expected == Usage(100, cost=None)

    def test_may_take_the_seconds_that_are_left(self) -> None:
        assert standing(using()).thinking == 59.0
        assert standing(using(), of=budget(Grant(9, 9, 9, 0.5))).thinking == 0.0
        assert standing(using(), grant=Grant(9, 9, 9, 30.0)).thinking == 29.0
        assert standing(*[using()] * 70).thinking == 0.0

    @pytest.mark.parametrize(
        ("seconds", "steps", "thinking"),
        [(60.0, 1, 58.0), (60.0, 58, 15.0), (60.0, 44, 15.0), (60.0, 43, 16.0), (2.0, 1, 1.0)],
    )
    def test_of_a_landing_gets_a_share_of_its_own(
        self, seconds: float, steps: int, thinking: float
    ) -> None:
        of = budget(Grant(99, 9, 9, seconds))
        assert standing(*[using()] * steps, Landing("x"), of=of).thinking == thinking


def tool(effect: Any, timeout: float = 30.0) -> Tool:
    async def call(args: Any, key: str) -> str:
        return ""

    return Tool("t", "T.", {}, effect=effect, attempts=Attempts(timeout), call=call)


@pytest.mark.parametrize(
    ("effect", "timeout", "steps", "seconds"),
    [
        ("unsafe", 30.0, 59, 30.0),
        ("idempotent", 30.0, 59, 30.0),
        ("read", 30.0, 10, 30.0),
        ("read", 30.0, 40, 20.0),
        ("pure", 30.0, 59, 1.0),
        ("read", 30.0, 90, 1.0),
        ("read", 0.5, 90, 0.5),
    ],
)
def test_a_call_without_an_effect_is_cut_where_the_time_ends(
    effect: Any, timeout: float, steps: int, seconds: float
) -> None:
    assert standing(*[using()] * steps).deadline(tool(effect, timeout)) == seconds


class TestAShare:
    def test_leaves_a_step_a_landing_and_the_calls_of_the_step(self) -> None:
        run = record(thought(look(), look(), reply=Reply(usage=Usage(100, cost=0.1))))
        share = budget(cost=0.05).standing(run).share(2)
        assert msgspec.structs.replace(share, cost=0.4) == Grant(4, 9, 350, 57.0, 0.4, 2)
        assert share.cost == pytest.approx(0.4)
        whole = budget(cost=0.05).standing(run).share(1)
        assert msgspec.structs.replace(whole, cost=0.8) == Grant(8, 18, 700, 57.0, 0.8, 2)
        assert whole.cost == pytest.approx(0.8)
        begun = more(run, Attempt("1.1", "look", "h", 1.0))
        assert budget().standing(begun).share(1).tool_calls == 18, "one is counted, one waits"

    def test_has_a_cost_where_it_is_known_or_granted(self) -> None:
        unknown = budget(priced=False)
        assert standing(using(), of=unknown).share(1).cost is None
        assert standing(using(), of=unknown, grant=LIMITS).share(1).cost == 1.0
        bare = msgspec.structs.replace(LIMITS, cost=None)
        assert standing(using(), of=unknown, grant=bare).share(1).cost is None

    def test_keeps_the_time_of_two_more_thoughts_like_the_last(self) -> None:
        run = more(record(), thought(), at=4_000)
        assert budget().standing(more(run, Landing("x"), at=0)).share(1).seconds == 60 - 4 - 8
        assert (
            budget().standing(more(record(), thought(), at=4_000, epoch=2)).share(1).seconds == 60
        )
        late = more(more(record(), thought(), at=9_000), thought(), at=1_234)
        assert budget().standing(late).share(1).seconds == round(60 - 10.234 - 2 * 1.234, 3)
        assert budget().standing(more(record(), thought(), at=-500)).share(1).seconds == 60


class TestAStrategy:
    """A run that hands on what it has: it lands where too little is left for another run."""

    def failed(self, *codes: Any, verdict: bool = False, **fields: Any) -> Any:
        calls = tuple(Action("solve", {"n": n}) for n in range(len(codes)))
        run = record(thought(*calls))
        for place, code in enumerate(codes, 1):
            key = f"1.{place}"
            if verdict:
                more(run, Judged(key, Verdict("deny", "no"), "guard"))
            more(run, Observation(key, "x", ok=not code, code=code))
        return budget(hands_out=True, **fields).standing(run).unaffordable

    def test_goes_on_while_enough_is_left(self) -> None:
        assert self.failed("cap") is None
        assert self.failed("", grant=Grant(2, 20, 1_000, 60.0, 1.0, 1)) is None

    def test_lands_where_a_run_failed_and_nothing_is_left_for_another(self) -> None:
        for grant, axis in (
            (Grant(2, 20, 1_000, 60.0, 1.0, 3), "steps"),
            (Grant(9, 1, 1_000, 60.0, 1.0, 3), "tool_calls"),
            (Grant(9, 20, 200, 60.0, 1.0, 3), "tokens"),
        ):
            told = Tripped(axis, axis, "too little is left to hand on")  # type: ignore[arg-type]  # an axis
            assert self.failed("cap", grant=grant) == told
            assert self.failed("", grant=grant) is None
        assert self.failed("cap", grant=Grant(3, 20, 1_000, 60.0, 1.0, 0)) is None, "at any depth"

    def test_shares_among_those_that_were_refused(self) -> None:
        grant = Grant(4, 20, 1_000, 60.0, 1.0, 3)
        assert self.failed("cap", "tool_error", grant=grant) is None
        lacking = self.failed("cap", "cap", "cap", grant=grant)
        assert (lacking and lacking.code) == "steps"
        assert self.failed("cap", "cap", "cap", verdict=True, grant=grant) is None, "by a guard"


def test_spending_of_a_sub_run_counts_against_the_grant() -> None:
    spent = Spending(3, 4, Usage(500, cost=0.5))
    run = record(thought(look()), Attempt("1.1", "look", "h", 1.0, grant=LIMITS))
    assert budget().standing(run).left.steps == 0, "as long as it works, all of it is spent"
    more(run, Observation("1.1", "x", spent=spent))
    assert budget().standing(run).left == Left(6, 15, 500, 57.0, 0.5, 3)
