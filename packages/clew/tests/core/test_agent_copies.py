"""Copies of agents, and agents of classes with an `__init__` of their own."""

import copy
import pickle
import threading
from collections.abc import Callable
from typing import Any, Final

import pytest

from clew import (
    Agent,
    Call,
    ConfigError,
    Context,
    Limits,
    MemoryStore,
    ModelSettings,
    Trajectory,
    Verdict,
    read,
    run,
    tool,
)
from clew.testing import ScriptedModel, act, say
from clew.toolbox import process_tool
from clew.tools.retrieval import Retrieval

WAYS: Final[dict[str, Callable[[Agent], Agent]]] = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda agent: pickle.loads(pickle.dumps(agent)),
}


@tool(effect="read")
def look(where: str) -> str:
    """Look there."""
    return f"seen {where}"


class Regional(Agent[Any]):
    """An agent that is made of a region."""

    region: str

    def __init__(self, region: str, **more: Any) -> None:
        super().__init__("offline", prompt=f"Speak of {region}.", **more)
        object.__setattr__(self, "region", region)


class Locked:
    """A guard that can neither be copied nor pickled."""

    def __init__(self) -> None:
        self.lock = threading.Lock()

    def __call__(self, call: Call, trajectory: Trajectory) -> Verdict | None:
        return None

    def __repr__(self) -> str:
        return "locked"


def stern(call: Call, trajectory: Trajectory) -> Verdict | None:
    """Judge nothing."""
    return None


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_a_copy_is_the_same_agent(way: Callable[[Agent], Agent]) -> None:
    agent = Agent(
        "offline",
        prompt="Be brief.",
        limits=Limits(steps=3),
        guards=[stern],
        settings=ModelSettings(seed=4),
    )
    again = way(agent)
    assert again is not agent
    assert (again, again.spec) == (agent, agent.spec)


@pytest.mark.parametrize("way", [copy.copy, copy.deepcopy])
async def test_a_copy_with_tools_runs(way: Callable[[Agent], Agent]) -> None:
    agent = way(Agent(ScriptedModel([act("look", where="up"), say("Done.")]), [look]))
    assert (await run(agent, "Look.", store=MemoryStore())).answer == "Done."


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
async def test_a_copy_finds_its_tools_as_well(way: Callable[[Agent], Agent]) -> None:
    tools = [process_tool("clew.toolbox.calc:calculate", effect="pure", name=name) for name in "ab"]
    context = Context(retrieval=Retrieval(k=1, embed="words"))
    agent = Agent(ScriptedModel([say("Done.")]), tools, context=context)
    await run(agent, "Use b.", store=MemoryStore())
    again, store = way(agent), MemoryStore()
    done = await run(again, "Use b.", store=store)
    assert (await read(done.run_id, store=store)).visible_tools == ["b"]


@pytest.mark.parametrize(("name", "done"), [("deepcopy", "copied"), ("pickle", "pickled")])
def test_a_part_that_cannot_be_copied_is_named_on_one_line(name: str, done: str) -> None:
    agent = Agent("offline", guards=[Locked()])
    assert copy.copy(agent).guards == agent.guards
    with pytest.raises(ConfigError, match=f"the agent's guards cannot be {done}: ") as caught:
        WAYS[name](agent)
    assert "\n" not in str(caught.value)
    assert caught.value.field == "guards"


def test_tools_made_of_functions_cannot_be_pickled() -> None:
    with pytest.raises(ConfigError, match="the agent's tools cannot be pickled"):
        pickle.dumps(Agent("offline", [look]))


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_a_class_with_an_init_of_its_own_is_copied_whole(way: Callable[[Agent], Agent]) -> None:
    agent = Regional(region="Norway", limits=Limits(steps=4))
    again = way(agent)
    assert isinstance(again, Regional)
    assert (again.region, again.limits.steps, again.spec) == ("Norway", 4, agent.spec)


def test_a_class_with_an_init_of_its_own_takes_its_own_keywords() -> None:
    agent = Regional(region="Norway")
    other = agent.replace(tries=5, tools=[look])
    assert (other.region, other.tries, agent.tries) == ("Norway", 5, 2)
    assert [each.name for each in other.tools] == ["look"]
    with pytest.raises(TypeError, match="promt"):
        Regional(region="Norway", promt="Be brief.")
    for wrong in (Agent("offline"), agent):
        with pytest.raises(ConfigError, match="an agent has no 'promt': say prompt"):
            wrong.replace(promt="Be brief.")  # type: ignore[call-overload] # pyright: ignore[reportCallIssue] - it is the test
        with pytest.raises(ConfigError, match="tries"):
            wrong.replace(tries=-1)
