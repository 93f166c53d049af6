"""A decimal reaches a tool with all its digits or not at all, in every format."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pydantic
import pytest

from clew import Agent, MemoryStore, read, run, tool
from clew.core.contents import RawCall, Reply
from clew.testing.models import ScriptedModel
from tests.codecs.samples import installed


@dataclass
class Price:
    amount: Decimal
    rate: float = 1.0


class Sum(pydantic.BaseModel):
    amount: Decimal


KINDS: dict[str, tuple[Any, str]] = {
    "itself": (Decimal, "{}"),
    "or nothing": (Decimal | None, "{}"),
    "in a list": (list[Decimal], "[1.5, {}]"),
    "in a dict": (dict[str, Decimal], '{{"a": {}}}'),
    "in a dataclass": (Price, '{{"amount": {}, "rate": 1.5}}'),
    "in a model": (Sum, '{{"amount": {}}}'),
}
LOSSY = [
    "12345678901234567.89", "-12345678901234567.89", "0.12345678901234567890",
    "0.30000000000000000001", "999999999999999.05", "1000000000000000000.55",
    "1.00000000000000000001e3", "123456789012345678901234.5",
]  # fmt: skip
KEPT = ["0.1", "-2.50", "1234567890123.456", "1e3", "0.30000000000000004", "12345678901234567890"]
FORMS = {
    "a call": ("native", ""),
    "bare": ("native", "pay(it={})"),
    "in tags": (
        "native",
        '<tool_call>{{"name": "pay", "arguments": {{"it": {}}}}}</tool_call>',
    ),
    "labelled": ("labelled", 'Thought: I pay.\nAction: pay\nAction Input: {{"it": {}}}'),
    "paper": ("paper", 'Thought 1: I pay.\nAction 1: pay[{{"it": {}}}]'),
    "blocks": ("code", "Thought: I pay.\n```python\npay(it={})\n```"),
}
HERE = [form for form, (codec, _) in FORMS.items() if installed(codec)]
ENDS = {
    "native": "Done.",
    "labelled": "Thought: Done.\nFinal Answer: Done.",
    "paper": "Thought 2: Done.\nAction 2: Finish[Done.]",
    "code": "Thought: Done.\nAnswer: Done.",
}


async def paid(form: str, kind: Any, value: str) -> tuple[list[str], str]:
    """What a tool received, and what the model was told."""
    got: list[str] = []

    async def pay(it: Any) -> str:
        """Pay."""
        got.append(repr(it))
        return "paid"

    pay.__annotations__["it"] = kind
    codec, written = FORMS[form]
    reply: Any = written.format(value)
    if not written:
        call = RawCall(name="pay", arguments=f'{{"it": {value}}}', id="q")
        reply = Reply(calls=(call,), finish="calls")
    agent = Agent(ScriptedModel([reply, ENDS[codec]]), [tool(pay)], codec=codec)
    store = MemoryStore()
    assert (await run(agent, "?", store=store, run_id="r")).status == "answered"
    first = (await read("r", store=store)).steps[0]
    assert first.thought is not None
    told = [call.observation.text for call in first.all_calls if call.observation is not None]
    return got, "\n".join([first.thought.fault or "", *told])


@pytest.mark.parametrize("form", HERE)
@pytest.mark.parametrize("number", LOSSY)
async def test_a_number_that_would_lose_digits_is_refused_with_advice(
    form: str, number: str
) -> None:
    got, told = await paid(form, Decimal, number)
    assert got == []
    assert f'write it as a text, in quotes: "{number}"' in told
    assert await paid(form, Decimal, f'"{number}"') == ([repr(Decimal(number))], "\npaid")


@pytest.mark.parametrize("form", HERE)
@pytest.mark.parametrize("kind", KINDS)
async def test_wherever_the_decimal_is(form: str, kind: str) -> None:
    takes, value = KINDS[kind]
    got, told = await paid(form, takes, value.format(LOSSY[0]))
    assert got == []
    assert "write it as a text" in told
    ((one,), _) = await paid(form, takes, value.format(f'"{LOSSY[0]}"'))
    assert LOSSY[0] in one


@pytest.mark.parametrize("form", HERE)
@pytest.mark.parametrize("number", KEPT)
async def test_a_number_that_keeps_its_digits_is_read(form: str, number: str) -> None:
    ((one,), _) = await paid(form, Decimal, number)
    assert Decimal(one.removeprefix("Decimal('").removesuffix("')")) == Decimal(number)


@pytest.mark.parametrize("form", HERE)
@pytest.mark.parametrize("kind", [float, float | None, Any])
async def test_what_is_no_decimal_is_read_as_ever(form: str, kind: Any) -> None:
    ((one,), _) = await paid(form, kind, LOSSY[0])
    assert float(one.strip("'")) == float(LOSSY[0])
