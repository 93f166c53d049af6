"""Repeats that are useful, told for this project: none of them may be disturbed."""

from collections.abc import Callable, Sequence
from typing import Final

from recordings.loops_runs import Called, Run, Step


def _case(name: str, calls: Sequence[Called], *, spoken: bool = False) -> Run:
    return Run(name, [Step((call,), spoken) for call in calls], success=True)


def _rounds(number: int, *calls: Callable[[int], Called]) -> list[Called]:
    return [call(n) for n in range(1, number + 1) for call in calls]


def _tests(_: int) -> Called:
    return Called("run_tests", {}, "1 failed: test_weight")


def _edit(number: int) -> Called:
    return Called("edit", {"line": number, "text": f"weight = {number}"}, "saved")


def _save(_: int) -> Called:
    return Called("save", {}, "saved")


def _next_page(number: int) -> Called:
    return Called("next_page", {}, f"Results {number * 10 - 9} to {number * 10}")


def _page(number: int) -> Called:
    return Called("page", {"number": number}, "nothing about herons here")


def _temperature(number: int) -> Called:
    return Called("thermometer", {}, f"{60 + number} degrees")


def _rarely(number: int) -> Called:
    return Called("status", {"job": 7}, f"{number // 3 * 10} % done")


def _ask(_: int) -> Called:
    return Called("balance", {"account": "A-1"}, "12.50")


CASES: Final = (
    _case("measure, fix, measure: the same failure, another fix", _rounds(9, _tests, _edit)),
    _case("measure, fix, save, measure", _rounds(9, _tests, _edit, _save)),
    _case("measure twice, fix, save, measure twice", _rounds(9, _tests, _tests, _edit, _save)),
    _case("paging by the same call", _rounds(12, _next_page)),
    _case("paging by number, with the same result", _rounds(12, _page)),
    _case("paging, and a look at the same thing between", _rounds(12, _next_page, _ask)),
    _case("watching a value that changes", _rounds(12, _temperature)),
    _case("polling a job that gets on every third time", _rounds(24, _rarely)),
    _case("a person who asks for the same again and again", _rounds(9, _ask), spoken=True),
)
