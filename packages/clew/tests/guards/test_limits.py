"""The numbers of limits: what they are unless you say otherwise, and which are refused."""

import math
import re
from dataclasses import fields, replace
from typing import Any, Final

import pytest

from clew import ConfigError, Limits, NoProgress
from clew.core.budget import AtMost
from clew.core.contents import Grant
from clew.guards.caps import Caps
from clew.guards.limits import RESEARCH, bounds_of
from clew.guards.no_progress import EARLY

USUAL: Final[dict[str, Any]] = {
    "steps": 15,
    "tool_calls": 30,
    "calls_per_step": 16,
    "calls_per_tool": {},
    "tokens": 1_000_000,
    "cost": None,
    "seconds": 600.0,
    "faults": 3,
    "depth": 3,
    "argument_bytes": 1_000_000,
    "observation_bytes": 10_000_000,
    "part_seconds": 30.0,
    "reply_seconds": 3600.0,
    "grace": 2.0,
    "landing": True,
    "no_progress": "auto",
    "unknown": "tell",
}
PARTED: Final = {"cost", "seconds", "part_seconds", "reply_seconds", "grace"}
NUMBERS: Final = [*USUAL.keys() - {"calls_per_tool", "landing", "no_progress", "unknown"}]
NUMBERS.sort()


def complaint(**given: Any) -> str:
    """What is said of these limits; "" where they are taken."""
    try:
        Limits(**given)
    except ConfigError as error:
        return str(error)
    return ""


def given(name: str, number: Any) -> Any:
    """What a limit is that was given."""
    limits: dict[str, Any] = {name: number}
    return getattr(Limits(**limits), name)


def test_what_is_not_given_is_as_usual() -> None:
    usual = Limits()
    assert {each.name: getattr(usual, each.name) for each in fields(Limits)} == USUAL
    assert usual.allowance == Grant(15, 30, 1_000_000, 600.0, 1.0, 3)
    assert usual.guard == Caps(30, 16, {})
    assert replace(Limits(), steps=40, tool_calls=80, seconds=1800.0) == RESEARCH


def test_a_record_names_the_limits_that_it_always_named() -> None:
    """The others stand apart in it, where they are others than usual, or change nothing."""
    others: dict[str, Any] = {
        "depth": 1,
        "argument_bytes": 9,
        "observation_bytes": 9,
        "part_seconds": 9.0,
    }
    others |= {
        "part_seconds": 9.0,
        "reply_seconds": 9.0,
        "grace": 9.0,
        "landing": False,
        "no_progress": None,
    }
    assert repr(Limits(**others, unknown="hold")) == (
        "Limits(steps=15, tool_calls=30, calls_per_step=16, calls_per_tool={}, tokens=1000000, "
        "cost=None, seconds=600.0, faults=3)"
    )


def lowest(name: str) -> str:
    return "from 0 on" if name == "depth" else "over 0"


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("number", [True, "3", [3], 1.5, "inf", None])
def test_a_limit_is_a_number(name: str, number: Any) -> None:
    if (number == 1.5 and name in PARTED) or (number is None and name == "cost"):
        assert given(name, number) == number
        return
    what = "number" if name in PARTED else "whole number"
    said = f"limit {name} is {number!r}: give a {what} {lowest(name)}"
    assert complaint(**{name: number}) == said


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("number", [-1, 0, 1, 2])
def test_a_limit_is_over_nothing(name: str, number: int) -> None:
    """But for the depth: 0 lets a run have no sub-runs."""
    if number > 0 or (name == "depth" and number == 0):
        assert given(name, number) == number
        return
    said = f"limit {name} is {number}: give a finite number {lowest(name)}"
    assert complaint(**{name: number}) == said


@pytest.mark.parametrize("name", sorted(PARTED))
@pytest.mark.parametrize("number", [math.inf, math.nan, -0.5, 0.0])
def test_a_limit_is_finite(name: str, number: float) -> None:
    assert complaint(**{name: number}) == f"limit {name} is {number}: give a finite number over 0"


@pytest.mark.parametrize(
    ("fields_given", "said"),
    [
        ({"calls_per_tool": {"look": 1}}, ""),
        (
            {"calls_per_tool": {"look": 1, "send": 0}},
            "limit calls_per_tool[send] is 0: give a finite number over 0",
        ),
        (
            {"calls_per_tool": {"look": 1.5}},
            "limit calls_per_tool[look] is 1.5: give a whole number over 0",
        ),
        (
            {"calls_per_tool": {"look": None}},
            "limit calls_per_tool[look] is None: give a whole number over 0",
        ),
        (
            {"calls_per_tool": ["look"]},
            "limit calls_per_tool is ['look']: give numbers by the names of tools",
        ),
        (  # the others are looked at beside it
            {"calls_per_tool": {"look": 1}, "steps": 0},
            "limit steps is 0: give a finite number over 0",
        ),
        ({"landing": False}, ""),
        ({"landing": 1}, "limit landing is 1: choose one of True, False"),
        ({"landing": "yes"}, "limit landing is 'yes': choose one of True, False"),
        ({"unknown": "hold"}, ""),
        ({"unknown": "ask"}, "limit unknown is 'ask': choose one of tell, hold"),
        ({"unknown": True}, "limit unknown is True: choose one of tell, hold"),
        ({"no_progress": "early"}, ""),
        ({"no_progress": "late"}, ""),
        ({"no_progress": None}, ""),
        ({"no_progress": NoProgress(hint=2)}, ""),
        (
            {"no_progress": "often"},
            "limit no_progress is 'often': give auto, early, late, a NoProgress, or None",
        ),
        (
            {"no_progress": 3},
            "limit no_progress is 3: give auto, early, late, a NoProgress, or None",
        ),
    ],
    ids=repr,
)
def test_what_is_no_number_is_one_of_its_words(fields_given: dict[str, Any], said: str) -> None:
    assert complaint(**fields_given) == said


@pytest.mark.parametrize(
    ("option", "variant", "guard"),
    [
        ("auto", None, NoProgress()),
        ("auto", "late", NoProgress()),
        ("auto", "early", EARLY),
        ("late", "early", NoProgress()),
        ("early", "late", EARLY),
        ("early", None, EARLY),
        (None, "early", None),
        (NoProgress(hint=4), "early", NoProgress(hint=4)),
    ],
    ids=repr,
)
def test_a_variant_has_a_say_in_the_guard_where_nothing_else_was_said(
    option: Any, variant: Any, guard: NoProgress | None
) -> None:
    assert Limits(no_progress=option).repetition(variant) == guard


def test_the_early_guard_is_for_small_models() -> None:
    assert (EARLY.hint, EARLY.refuse, EARLY.withhold) == (2, 3, True)
    usual = NoProgress()
    assert (usual.hint, usual.refuse, usual.reworded_hint, usual.reworded) == (3, 5, 6, 16)
    assert (usual.polling, usual.withhold) == (frozenset(), False)


def test_limits_name_no_tool_that_an_agent_does_not_have() -> None:
    guard = NoProgress(polling=frozenset({"job", "look"}))
    limits = Limits(steps=4, calls_per_tool={"look": 2, "send": 3}, no_progress=guard)
    fewer = limits.among(["look", "wait"])
    kept = NoProgress(polling=frozenset({"look"}))
    assert fewer == Limits(steps=4, calls_per_tool={"look": 2}, no_progress=kept)
    assert limits.among(["look", "send", "job", "wait"]) is limits
    polls = Limits(calls_per_tool={"look": 2}, no_progress=guard)
    assert polls.among(["look"]) == replace(polls, no_progress=kept)
    capped = Limits(calls_per_tool={"look": 2}, no_progress=NoProgress())
    assert capped.among([]) == Limits(no_progress=NoProgress())
    assert guard.among({"job", "look"}) is guard


@pytest.mark.parametrize("priced", [True, False])
def test_the_bounds_of_limits_are_their_numbers(priced: bool) -> None:
    limits = Limits(steps=4, tool_calls=5, tokens=6, seconds=7.0, faults=8, cost=9.5)
    bounds = {each.axis: each.maximum for each in bounds_of(limits, priced=priced)}
    expected = {"faults": 8, "steps": 4, "tool_calls": 5, "tokens": 6, "seconds": 7.0}
    assert bounds == expected | ({"cost": 9.5} if priced else {})
    usual = [*bounds_of(Limits(), priced=True)]
    assert AtMost("cost", 1.0) in usual


def test_a_cost_that_was_said_is_the_limit() -> None:
    assert (Limits().max_cost, Limits(cost=0.25).max_cost) == (1.0, 0.25)
    assert Limits(cost=2, depth=0).allowance == Grant(15, 30, 1_000_000, 600.0, 2, 0)
    assert re.fullmatch(r"\d+\.0", str(Limits(seconds=60).allowance.seconds))
