"""Arguments that a tool's types refuse: nothing was called, and that is what is told."""

from dataclasses import dataclass
from typing import Annotated, Any

import pydantic
import pytest

from clew import (
    Agent,
    Call,
    Limits,
    MemoryStore,
    Trajectory,
    Verdict,
    pending_approvals,
    read,
    replay,
    resume,
    rule,
    run,
    tool,
)
from clew.testing import ScriptedModel, act, say
from clew.tools.process import process_tool

CAPITALS = {"it": "Rome"}
GOT: list[Any] = []


@dataclass
class Country:
    """Its own code looks its capital up."""

    name: str

    def __post_init__(self) -> None:
        self.capital = CAPITALS[self.name]


@dataclass
class Share:
    """Its own code divides."""

    of: int

    def __post_init__(self) -> None:
        self.each = 100 // self.of


@dataclass
class Checked:
    """Its own code asserts."""

    of: int

    def __post_init__(self) -> None:
        assert self.of > 0, "over 0\nplease"


def looked_up(name: str) -> str:
    """Look a capital up."""
    return CAPITALS[name]


Capital = Annotated[str, pydantic.AfterValidator(looked_up)]

KINDS: list[tuple[Any, Any, Any, str]] = [
    (Country, {"name": "it"}, {"name": "xx"}, "KeyError: 'xx'"),
    (list[Country], [], [{"name": "it"}, {"name": "xx"}], "KeyError: 'xx'"),
    (Share, {"of": 3}, {"of": 0}, "ZeroDivisionError: integer division or modulo by zero"),
    (Checked, {"of": 3}, {"of": 0}, "AssertionError: over 0 please"),
    (Capital, "it", "xx", "KeyError: 'xx'"),
]


def hold(call: Call, trajectory: Trajectory) -> Verdict | None:
    """Ask a person about each call."""
    return Verdict("hold", "May it be done?") if call.action.name != "finish" else None


def puts(kind: Any) -> Any:
    """A tool that takes a value of a type."""

    async def put(value: Any) -> str:
        """Put a value."""
        GOT.append(value)
        return "put"

    put.__annotations__["value"] = kind
    return tool(effect="unsafe")(put)


@pytest.mark.parametrize(("kind", "good", "bad", "why"), KINDS, ids=range(len(KINDS)))
async def test_whatever_a_type_raises_nothing_was_called(
    kind: Any, good: Any, bad: Any, why: str
) -> None:
    GOT.clear()
    script = [act("put", value=bad), act("put", value=good), say("done")]
    agent = Agent(ScriptedModel(script), [puts(kind)])
    store = MemoryStore()
    assert (await run(agent, "?", store=store, run_id="r")).status == "answered"
    await replay(agent, "r", store=store)
    first = (await read("r", store=store)).calls[0]
    assert first.observation is not None
    assert (first.observation.code, first.observation.outcome) == ("invalid_arguments", "not_done")
    assert why in first.observation.text
    assert not first.changed
    assert len(GOT) == 1


@pytest.mark.parametrize(("kind", "good", "bad", "why"), KINDS, ids=range(len(KINDS)))
async def test_whatever_a_type_raises_no_ruling_is_used_up(
    kind: Any, good: Any, bad: Any, why: str
) -> None:
    GOT.clear()
    agent = Agent(ScriptedModel([act("put", value=good), say("done")]), [puts(kind)], guards=[hold])
    store = MemoryStore()
    await run(agent, "?", store=store, run_id="r")
    await rule("r:1.1", allow=True, args={"value": bad}, store=store)
    assert (await resume(agent, "r", store=store)).status == "held"
    (waiting,) = await pending_approvals(store=store)
    assert why in waiting.why
    await rule("r:1.1", allow=True, args={"value": good}, store=store)
    assert (await resume(agent, "r", store=store)).status == "answered"
    assert len(GOT) == 1


def weigh(country: Country) -> str:
    """Weigh a country."""
    return country.capital


async def test_a_tool_in_a_process_was_not_called_either() -> None:
    weighs = process_tool(f"{__name__}:weigh", effect="unsafe")
    script = [act("weigh", country={"name": "xx"}), act("weigh", country={"name": "it"}), say("ok")]
    store = MemoryStore()
    await run(Agent(ScriptedModel(script), [weighs]), "?", store=store, run_id="r")
    first, second = [each.observation for each in (await read("r", store=store)).calls[:2]]
    assert first is not None
    assert second is not None
    assert (first.code, first.outcome, second.text) == ("invalid_arguments", "not_done", "Rome")


@pytest.mark.parametrize("times", [1, 2])
async def test_a_person_asked_again_hears_what_may_have_happened_before(times: int) -> None:
    paid: list[int] = []

    @tool(effect="unsafe")
    async def pay(amount: int, to: Country) -> str:
        """Pay."""
        paid.append(amount)
        raise OSError("the line broke off")

    italy, nowhere = {"name": "it"}, {"name": "xx"}
    agent = Agent(
        ScriptedModel([act("pay", amount=1, to=italy), say("done")]),
        [pay],
        limits=Limits(unknown="hold"),
    )
    store = MemoryStore()
    await run(agent, "?", store=store, run_id="r")
    for amount in range(2, 2 + times):
        await rule("r:1.1", allow=True, args={"amount": amount, "to": nowhere}, store=store)
        assert (await resume(agent, "r", store=store)).status == "held"
        (waiting,) = await pending_approvals(store=store)
        begun = 'it was begun, and may have happened, with {"amount":1,"to":{"name":"it"}}'
        assert waiting.why.endswith(begun)
    assert paid == [1]
