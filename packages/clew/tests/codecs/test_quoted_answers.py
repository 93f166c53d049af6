"""An answer that JSON writes as a text is taken with its quotes and without, in every format."""

import datetime as dt
import enum
from decimal import Decimal
from typing import Annotated, Any, Literal
from uuid import UUID

import msgspec
import pytest

from clew import Agent, MemoryStore, read, replay, run
from clew.core.values import encode
from clew.testing.models import ScriptedModel, finish
from tests.codecs.samples import installed

DAY = dt.date(2026, 2, 3)
NUMBER = "12345678-1234-5678-1234-567812345678"
Short = Annotated[str, msgspec.Meta(max_length=3)]
Capitals = Annotated[str, msgspec.Meta(pattern="^[A-Z]+$")]


class Colour(enum.Enum):
    RED = "red"


TYPES: list[tuple[Any, str, Any]] = [
    (dt.date, "2026-02-03", DAY),
    (dt.date | None, "2026-02-03", DAY),
    (dt.timedelta, "PT1S", dt.timedelta(seconds=1)),
    (UUID, NUMBER, UUID(NUMBER)),
    (bytes, "AAAA", bytes(3)),
    (Decimal, "1.10", Decimal("1.10")),
    (Colour, "red", Colour.RED),
    (Literal["a", "b"], "b", "b"),
    (Literal["a", "b"] | None, "b", "b"),
    (Capitals, "ABC", "ABC"),
    (Short, "abc", "abc"),
]
REPLIES = {
    "native": "{}",
    "labelled": "Thought: I know it.\nFinal Answer: {}",
    "paper": "Thought 1: I know it.\nAction 1: Finish[{}]",
    "code": "Answer: {}",
}


async def answer(kind: Any, codec: str, reply: Any) -> Any:
    """What an agent with that type of answer makes of one reply, and of its record."""
    store = MemoryStore()
    agent: Agent[Any] = Agent(ScriptedModel([reply] * 5), answer=kind, codec=codec)
    result = await run(agent, "?", store=store, run_id="r")
    again = (await replay(agent, "r", store=store)).trajectory
    assert again.entries == (await read("r", store=store)).entries
    return result.answer


@pytest.mark.parametrize("codec", installed(*REPLIES))
@pytest.mark.parametrize(("kind", "text", "value"), TYPES, ids=range(len(TYPES)))
async def test_the_quotes_of_json_are_no_part_of_the_value(
    codec: str, kind: Any, text: str, value: Any
) -> None:
    quoted = encode(text).decode()
    assert await answer(kind, codec, REPLIES[codec].replace("{}", quoted)) == value


@pytest.mark.parametrize("codec", installed(*REPLIES))
async def test_a_date_needs_no_quotes(codec: str) -> None:
    assert await answer(dt.date, codec, REPLIES[codec].replace("{}", "2026-02-03")) == DAY


@pytest.mark.parametrize(
    "dressed", ['```json\n"{}"\n```', "```\n{}\n```", '"{}".', "{}.", "**{}**"]
)
async def test_a_date_may_be_dressed_as_every_typed_answer(dressed: str) -> None:
    assert await answer(dt.date, "native", dressed.replace("{}", "2026-02-03")) == DAY


@pytest.mark.parametrize("codec", installed(*REPLIES))
@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (str, '"abc"'),
        (Annotated[str, msgspec.Meta(max_length=9)], '"abc"'),
        (Annotated[str, msgspec.Meta(pattern='^".*"$')], '"abc"'),
    ],
    ids=["any", "short", "quoted"],
)
async def test_quotes_that_a_value_may_have_stay(codec: str, kind: Any, text: str) -> None:
    assert await answer(kind, codec, REPLIES[codec].replace("{}", text)) == text


async def test_what_is_no_value_of_the_type_is_rejected_as_ever() -> None:
    for text in ('"soon"', '"2026-02-03', '2026-02-03"', '"2026" "02"', '""', '"'):
        assert await answer(dt.date, "native", text) is None


async def test_a_call_of_finish_may_be_quoted_twice() -> None:
    assert await answer(dt.date, "native", finish('"2026-02-03"')) == DAY
