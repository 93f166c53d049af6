"""Decimals as numbers or texts, and never NaN; times with or without seconds, wherever they are."""

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NamedTuple

import msgspec
import pytest
from typing_extensions import TypedDict

from clew.core.values import Json
from clew.tools.finish import answer_schema
from tests.tools.test_pydantic_types import answered, called

TEN = dt.time(10)
DAY = dt.datetime(2024, 1, 31, 10)  # noqa: DTZ001 - as it is written
UTC = dt.UTC


@dataclass
class Visit:
    at: dt.time
    name: str = ""


class Typed(TypedDict):
    at: dt.time


class Named(NamedTuple):
    at: dt.time
    name: str


class One(msgspec.Struct, tag=True):
    at: dt.time


class Two(msgspec.Struct, tag=True):
    at: str


KINDS: dict[str, tuple[Any, Json, Any]] = {
    "a number": (Decimal, 1.5, Decimal("1.5")),
    "a whole number": (Decimal, 3, Decimal(3)),
    "a small number": (Decimal, 0.1, Decimal("0.1")),
    "a text": (Decimal, "1.50", Decimal("1.50")),
    "with an exponent": (Decimal, "-1.5e+3", Decimal(-1500)),
    "no digit in front": (Decimal, ".5", Decimal("0.5")),
    "in a list": (list[Decimal], [1.5, "2"], [Decimal("1.5"), Decimal(2)]),
    "or nothing": (Decimal | None, 1.5, Decimal("1.5")),
    "beside a whole number": (Decimal | int, 1.5, Decimal("1.5")),
    "no seconds": (dt.time, "10:00", TEN),
    "seconds": (dt.time, "10:00:00", TEN),
    "a zone": (dt.time, "10:00Z", TEN.replace(tzinfo=UTC)),
    "a day": (dt.datetime, "2024-01-31T10:00", DAY),
    "a day and a blank": (dt.datetime, "2024-01-31 10:00", DAY),
    "a day and a zone": (dt.datetime, "2024-01-31T10:00+00:00", DAY.replace(tzinfo=UTC)),
    "in a dataclass": (Visit, {"at": "10:00", "name": "10:00"}, Visit(TEN, "10:00")),
    "in a TypedDict": (Typed, {"at": "10:00"}, {"at": TEN}),
    "in a NamedTuple": (Named, {"at": "10:00", "name": "10:00"}, Named(TEN, "10:00")),
    "in a tuple": (tuple[dt.time, str], ["10:00", "10:00"], (TEN, "10:00")),
    "in tuples": (tuple[dt.time, ...], ["10:00", "10:00:00"], (TEN, TEN)),
    "in a dict": (dict[str, dt.time], {"10:00": "10:00"}, {"10:00": TEN}),
    "a time or nothing": (dt.time | None, "10:00", TEN),
    "of two structs": (list[One | Two], [{"type": "One", "at": "10:00"},
                                         {"type": "Two", "at": "10:00"}], [One(TEN), Two("10:00")]),
}  # fmt: skip
WRONG: list[tuple[Any, Json]] = [
    *((Decimal, value) for value in ("NaN", "nan", "sNaN", "Infinity", "-inf", "", "abc", True)),
    *((Decimal, value) for value in ("1,5", "1_000", None, [1], "1.5 ")),
    *((dt.time, value) for value in ("25:00", "10:60", "10", "", "10:00 AM", 10, None)),
    (dt.datetime, "10:00"),
    (dt.datetime, "2024-02-31T10:00"),
    (tuple[dt.time, str], ["10:00"]),
    (Visit, ["10:00"]),
    (Visit, {"at": "10:00", "more": "10:00"}),
]


@pytest.mark.parametrize("door", [answered, called], ids=["an answer", "a parameter"])
@pytest.mark.parametrize("name", KINDS)
async def test_a_value_is_read_as_its_type(name: str, door: Callable[..., Any]) -> None:
    kind, value, right = KINDS[name]
    assert await door(kind, value) == [right]


@pytest.mark.parametrize("number", range(len(WRONG)))
@pytest.mark.parametrize("door", [answered, called], ids=["an answer", "a parameter"])
async def test_what_is_none_is_refused(number: int, door: Callable[..., Any]) -> None:
    kind, value = WRONG[number]
    assert await door(kind, value) == []


def test_a_result_is_told_as_it_is_written() -> None:
    assert [one["type"] for one in answer_schema(Decimal)["anyOf"]] == ["number", "string"]
