"""A strategy with too little left to hand on ends `bound`, as one does that has used all of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import anyio
import pytest

from clew import Agent, Limits, MemoryStore, Result, read, replay, run, tool
from clew.core.codes import FINISH
from clew.core.contents import RawCall, Reply, Usage
from clew.core.models import ModelInfo, OnText
from clew.core.prompts import Prompt
from clew.core.stores import Append
from clew.core.values import Json, encode
from clew.support.wings import STRATEGIES, find
from clew_strategies import strategy_agent
from tests.matrix import parts
from tests.matrix.ways import Way, ways

WAYS: Final = [way for way in ways() if way.strategy and not way.votes]
SPENT: Final[Mapping[str, Usage]] = {
    "tokens": Usage(input=98_500, output=10),
    "cost": Usage(input=10, output=5, cost=1.0),
}
"""What the reply takes that leaves too little."""


@dataclass
class Worker:
    """A model that gives what its schema asks for, and from its reply `at` on leaves too little.

    It hangs, or takes nearly all that there is for a reply that cannot be read.
    """

    axis: str
    at: int
    asked: int = 0
    info: ModelInfo = field(default_factory=lambda: ModelInfo("worker", priced=True))

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        """The next reply."""
        del on_text
        self.asked += 1
        if self.asked >= self.at:
            if self.axis == "seconds":
                await anyio.sleep_forever()
            if self.axis in SPENT:
                return Reply("", usage=SPENT[self.axis])
        (schema,) = (each.parameters for each in prompt.tools if each.name == FINISH)
        names: dict[str, Any] = dict(schema.get("$defs", {}))
        answer = _instance(schema["properties"]["answer"], names)
        call = RawCall(name=FINISH, arguments=encode({"answer": answer}).decode())
        return Reply("", (call,), "calls", Usage(input=10, output=5, cost=0.0))


def _instance(schema: Mapping[str, Any], names: Mapping[str, Any]) -> Json:
    """A value of a schema; judges find fault."""
    if "$ref" in schema:
        return _instance(names[schema["$ref"].rpartition("/")[2]], names)
    match schema.get("type"):
        case "object":
            fields = schema.get("properties", {})
            return {name: _instance(each, names) for name, each in fields.items()}
        case "array":
            return [_instance(schema["items"], names)] * 2
        case "boolean":
            return False
        case "number" | "integer":
            return 0.3 if schema.get("maximum") == 1 else 1
        case _:
            return schema["enum"][0] if "enum" in schema else "first"


class SlowToBegin(MemoryStore):
    """A store that takes a while for the first line of a run, so that its first thought does."""

    async def append(self, append: Append) -> bool:
        """Write, and the first time late."""
        if append.run_id == "r" and append.lines[0].seq == 1:
            await anyio.sleep(0.1)
        return await super().append(append)


@tool(effect="read")
def first(text: str = "") -> str:
    """Look it up.

    Args:
        text: What.
    """
    return text


def whole(way: Way, axis: str, at: int, limits: Limits, *, own: bool = True) -> Agent:
    """The agent that answers in that way; its `own` limits are those of the whole, or usual."""
    agent = Agent(Worker(axis, at), [first], limits=limits if own else Limits())
    name = way.strategy.removeprefix(f"{parts.__name__}:")
    strategy: Any = (find(STRATEGIES, name) or getattr(parts, name))(agent)
    return strategy_agent(strategy, agent, limits=None if own else limits)


async def ended(agent: Agent, store: MemoryStore) -> Result:
    """How a run ends; its replay ends likewise."""
    with anyio.fail_after(60):
        done = await run(agent, "Please.", store=store, run_id="r")
    assert (await replay(agent, "r", store=store)).trajectory.stop == (
        await read("r", store=store)
    ).stop
    return done


CELLS: Final = [
    *(("seconds", at, Limits(seconds=0.3, grace=0.2), True) for at in (1, 2)),
    *(("tokens", at, Limits(tokens=100_000), True) for at in (1, 2)),
    *(("cost", at, Limits(cost=1.0), True) for at in (1, 2)),
    *(("steps", 99, Limits(steps=most), False) for most in (1, 2)),
    ("tool_calls", 99, Limits(tool_calls=1), False),
]


@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: f"{cell[0]}-{cell[1]}-{cell[2].steps}")
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.name)
async def test_it_ends_at_the_bound(way: Way, cell: tuple[str, int, Limits, bool]) -> None:
    axis, at, limits, own = cell
    agent = whole(way, axis, at, limits, own=own)
    done = await ended(agent, MemoryStore())
    if done.status == "answered":  # by a single run that was over before
        assert at > 1
        return
    assert done.status == "bound"
    assert done.reason.startswith(axis)


@pytest.mark.parametrize("seconds", [0.28, 0.5])
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.name)
async def test_a_slow_step_of_the_strategy_itself_counts(way: Way, seconds: float) -> None:
    agent = whole(way, "seconds", 1, Limits(seconds=seconds, grace=0.2))
    done = await ended(agent, SlowToBegin())
    assert done.status == "bound"
    assert done.reason.startswith("seconds")
