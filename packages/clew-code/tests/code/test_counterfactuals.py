"""A fork changes what a call of a program gave: the program goes on with that."""

from typing import Any

import pytest

from clew import Agent, ConfigError, MemoryStore, Trajectory, fork, read, replay, run, tool
from clew.guards import Provenance
from clew.testing import ScriptedModel, act, acts, say
from clew_code.programs import run_code

SENT: list[str] = []


@pytest.fixture(autouse=True)
def _nothing_sent() -> None:
    SENT.clear()


@tool(effect="read")
def price(of: str) -> int:
    """Look a price up."""
    return {"tea": 3, "cake": 5}[of]


@tool(effect="unsafe")
def pay(total: int) -> str:
    """Pay a sum."""
    SENT.append(str(total))
    return f"paid {total}"


PROGRAM = """
tea = price("tea")
cake = price("cake")
total = tea + cake
if total < 100:
    print(pay(total))
"""


def agent(*programs: str) -> Agent:
    script = [*(act("run_code", code=one) for one in programs), say("ok")]
    return Agent(ScriptedModel(script), [price, pay, run_code()], guards=[Provenance("off")])


async def first(store: MemoryStore, *programs: str) -> Agent:
    who = agent(*programs)
    await run(who, "Pay.", store=store, run_id="run")
    return who


async def forked(who: Agent, store: MemoryStore, at: int, **more: Any) -> Trajectory:
    result = await fork(who, "run", at=at, store=store, new_id="fork", **more)
    record = await read(result.run_id, store=store)
    await replay(who, "fork", store=store)
    return record


def texts(record: Trajectory) -> dict[str, str]:
    return {call.key: call.observation.text for call in record.calls if call.observation}


async def test_the_program_goes_on_with_what_was_changed() -> None:
    store = MemoryStore()
    who = await first(store, "print(price('tea') * 2)", "print('done')")
    record = await forked(who, store, 1, observations={"1.2": 50})
    assert texts(record)["1.1"] == "100"


async def test_what_it_had_asked_for_afterwards_is_asked_for_anew() -> None:
    store = MemoryStore()
    who = await first(store, PROGRAM)
    assert SENT == ["8"]
    record = await forked(who, store, 1, observations={"1.2": 200})
    assert texts(record)["1.2"] == "200"
    assert texts(record)["1.3"] == "5"
    assert SENT == ["8"], "the sum is too high now"
    assert len(record.calls) == 3


async def test_an_effect_of_the_first_run_is_told_and_not_repeated() -> None:
    store = MemoryStore()
    who = await first(store, PROGRAM)
    result = await fork(who, "run", at=1, observations={"1.2": 3}, store=store, new_id="same")
    assert result.status == "held"
    assert SENT == ["8"]


async def test_other_variables_reach_later_programs() -> None:
    store = MemoryStore()
    who = await first(store, "tea = price('tea')", "print(tea + 1)")
    record = await forked(who, store, 1, observations={"1.2": 10})
    assert texts(record)["2.1"] == "11"


async def test_a_second_call_may_be_changed_and_the_first_stays() -> None:
    store = MemoryStore()
    who = await first(store, PROGRAM)
    record = await forked(who, store, 1, observations={"1.3": 97})
    assert texts(record)["1.2"] == "3"
    assert SENT == ["8"]
    assert "1.4" not in texts(record)


async def test_a_call_beside_the_program_stays_as_it_was() -> None:
    store = MemoryStore()
    script = [acts(act("run_code", code="print(price('tea'))"), act("price", of="cake")), say("ok")]
    who = Agent(ScriptedModel(script), [price, run_code()], guards=[Provenance("off")])
    await run(who, "Pay.", store=store, run_id="run")
    record = await forked(who, store, 1, observations={"1.3": 7})
    assert texts(record) == {"1.1": "7", "1.2": "5", "1.3": "7"}


@pytest.mark.parametrize(
    ("observations", "why"),
    [
        ({"1.1": "8"}, r"1.1 left variables, .* change what it observed \(1.2, 1.3, 1.4\)"),
        ({"1.2": 1, "1.3": 2}, "1.3 will be asked for anew"),
        ({"1.9": 1}, "1.9 is no call of step 1: its calls are 1.1, 1.2, 1.3, 1.4"),
    ],
)
async def test_what_cannot_be_changed_is_refused(observations: dict[str, Any], why: str) -> None:
    store = MemoryStore()
    who = await first(store, PROGRAM)
    with pytest.raises(ConfigError, match=why):
        await fork(who, "run", at=1, observations=observations, store=store)


async def test_a_program_without_calls_is_changed_by_a_fork_before_it() -> None:
    store = MemoryStore()
    who = await first(store, "print(1)")
    with pytest.raises(ConfigError, match=r"1.1 left variables, .* fork at 0"):
        await fork(who, "run", at=1, observations={"1.1": "2"}, store=store)


async def test_a_value_of_another_type_is_that_in_the_program() -> None:
    store = MemoryStore()
    who = await first(store, "rows = price('tea')\nprint(type(rows).__name__)")
    record = await forked(who, store, 1, observations={"1.2": {"rows": [1, 2]}})
    assert texts(record)["1.1"] == "dict"
