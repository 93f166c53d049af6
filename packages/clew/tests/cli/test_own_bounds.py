"""A bound of one's own that calls itself as a limit is not told as one of clew's."""

import pytest

from clew import Agent, Limits, MemoryStore, Trajectory, read, replay, resume, run
from clew.cli.outcome import ShownResult, stopped
from clew.core.events import Landing, Stop
from clew.testing import ScriptedModel, act, say
from clew.tools import tool

pytestmark = pytest.mark.parametrize("anyio_backend", ["asyncio"])


@tool(effect="pure")
def look(place: str) -> str:
    """Look at a place."""
    return f"{place} is there"


class Mine:
    """A bound that is reached after a step."""

    def __init__(self, said: str) -> None:
        self.said = said

    def __repr__(self) -> str:
        return f"Mine({self.said!r})"

    def __call__(self, trajectory: Trajectory) -> str | None:
        return self.said if trajectory.steps else None


def agent(said: str, *, landing: bool) -> Agent:
    model = ScriptedModel([act("look", place="a"), say("a"), say("b")], tools=[look])
    limits = Limits(landing=landing)
    return Agent(model, [look], bounds=[Mine(said)] if said else [], limits=limits)


async def hints(made: Agent) -> tuple[list[str], Trajectory]:
    """What a person is told to do, and the record, which replays."""
    store = MemoryStore()
    result = await run(made, "?", store=store, run_id="r")
    record = await read("r", store=store)
    await replay(made, "r", store=store)
    return [block.label for block in stopped(ShownResult(record, result))], record


SAID = [
    "tokens: too many letters", "steps: one is enough", "seconds: it is late", "cost: a stamp",
    "tokens", "steps", "cost: ", "grant: none was given", "tool_calls: one", "faults: mine",
]  # fmt: skip


@pytest.mark.parametrize("landing", [True, False], ids=["lands", "stops"])
@pytest.mark.parametrize("said", SAID)
async def test_nobody_is_told_to_raise_a_limit_that_was_not_reached(
    said: str, landing: bool
) -> None:
    told, record = await hints(agent(said, landing=landing))
    assert told == ["Stopped"]
    assert record.stop is not None
    assert record.stop.code == "own"
    landed = [entry.event for entry in record.entries if isinstance(entry.event, Landing)]
    assert [event.code for event in landed] == ["own"] * landing


@pytest.mark.parametrize("landing", [True, False], ids=["lands", "stops"])
async def test_a_limit_of_clews_can_be_raised(landing: bool) -> None:
    made = agent("", landing=landing).replace(limits=Limits(steps=1, landing=landing))
    told, record = await hints(made)
    assert told == ["Stopped", "Go on"]
    assert record.stop is not None
    assert record.stop.code == "steps"


async def test_a_landing_without_an_answer_is_the_bounds_too() -> None:
    model = ScriptedModel([act("look", place="a"), act("look", place="b")], tools=[look])
    told, record = await hints(Agent(model, [look], bounds=[Mine("tokens: mine")]))
    assert told == ["Stopped"]
    assert isinstance(record.stop, Stop)
    assert record.stop.code == "own"
    assert record.stop.fallback


async def test_other_names_are_ones_own_anyway() -> None:
    told, record = await hints(agent("letters: too many", landing=True))
    assert told == ["Stopped"]
    assert record.stop is not None
    assert record.stop.code == "own"
    store = MemoryStore()
    await run(agent("tokens: mine", landing=False), "?", store=store, run_id="r")
    assert (
        await resume(agent("", landing=False), "r", say="On.", store=store, accept_change=True)
    ).ok
