"""What a person bounds holds over the whole of a strategy, however many runs it makes."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import pytest

from clew import Agent, Limits, MemoryStore, Tool, delegate, fork, read, replay, resume, run, tool
from clew.guards import Provenance
from clew.models.openai.chat import openai_chat
from clew.support.wings import STRATEGIES, find
from clew_strategies import Chaining, Orchestrator, Reflexion, strategy_agent
from clew_testing.servers import OpenAIServer
from tests.matrix import parts
from tests.matrix.model import Asked, Model, Script
from tests.matrix.ways import Way, ways

ACTS = [way for way in ways() if way.strategy and way.acts]


@dataclass
class Busy(Model):
    """The model of the matrix, which wants to act in every run: each letter is another one."""

    script: Script = field(
        default_factory=lambda: Script(times=4, at_once=2, calls=4, verdicts=(False,))
    )
    written: int = 0

    def _text(self, asked: Asked, number: int) -> str:
        del asked, number
        self.written += 1
        return f"letter {self.written}"


@dataclass
class Post:
    """What was sent and looked up, in order."""

    done: list[str] = field(default_factory=list)

    @property
    def count(self) -> Counter[str]:
        """How many of each."""
        return Counter(self.done)

    def tool(self, name: str, effect: Any) -> Tool:
        """A tool of that name."""

        @tool(effect=effect, name=name)
        def act(text: str) -> str:
            """Do something.

            Args:
                text: With what.
            """
            self.done.append(name)
            return f"done: {text}"

        return act


def strategy(way: Way, agent: Agent) -> Any:
    """The strategy of that way, over an agent."""
    name = way.strategy.removeprefix(f"{parts.__name__}:")
    return (find(STRATEGIES, name) or getattr(parts, name))(agent)


LIMITS = [
    Limits(tool_calls=1),
    Limits(tool_calls=2),
    Limits(tool_calls=3),
    Limits(calls_per_tool={"send": 1}),
    Limits(calls_per_tool={"send": 2}, tool_calls=3),
]


@pytest.mark.slow
@pytest.mark.share(3)
@pytest.mark.parametrize("effect", ["unsafe", "idempotent"])
@pytest.mark.parametrize("limits", LIMITS, ids=range(len(LIMITS)))
@pytest.mark.parametrize("way", ACTS, ids=lambda way: way.name)
async def test_effects_are_bounded_over_all_runs(way: Way, limits: Limits, effect: Any) -> None:
    post, store = Post(), MemoryStore()
    with OpenAIServer(Busy()) as server:
        model = openai_chat("m", base_url=server.base_url, api_key="k")
        agent = Agent(
            model,
            [post.tool("send", effect)],
            prompt="You work.",
            limits=limits,
            guards=[Provenance("off")],
        )
        whole = strategy_agent(strategy(way, agent), agent)
        done = await run(whole, "Please send word.", store=store, run_id="r")
        await model.close()
    most = min(limits.tool_calls, limits.calls_per_tool.get("send", 99))
    assert done.status in {"answered", "declined", "bound"}
    assert 0 < post.count["send"] <= most
    assert (await replay(whole, "r", store=store)).trajectory.stop is not None


def inside(agent: Agent) -> Any:
    return Reflexion(strategy_agent(Orchestrator(agent), agent))


def below(agent: Agent) -> Any:
    helper = delegate(agent, name="helper", description="Sends letters.")
    return Chaining({"first": agent.replace(tools=[helper]), "second": agent})


def thrice(agent: Agent) -> Any:
    return Chaining({"a": agent, "b": agent, "c": agent})


@pytest.mark.parametrize("limits", [Limits(tool_calls=2), Limits(calls_per_tool={"send": 1})])
@pytest.mark.parametrize("made", [inside, below, thrice])
async def test_effects_are_bounded_at_any_depth(made: Any, limits: Limits) -> None:
    post, store = Post(), MemoryStore()
    with OpenAIServer(Busy()) as server:
        model = openai_chat("m", base_url=server.base_url, api_key="k")
        agent = Agent(
            model,
            [post.tool("send", "unsafe")],
            prompt="You work.",
            limits=limits,
            guards=[Provenance("off")],
        )
        whole = strategy_agent(made(agent), agent)
        await run(whole, "Please send word.", store=store, run_id="r")
        sent = post.count["send"]
        assert sent <= (1 if limits.calls_per_tool else 2)
        await resume(whole, "r", say="Please send more.", store=store)
        await model.close()
    assert post.count["send"] <= 2 * (1 if limits.calls_per_tool else 2)  # the same again


async def test_look_ups_may_be_made_in_each_run() -> None:
    post = Post()
    script = Script(acts="look", times=2, at_once=2, verdicts=(False,))
    with OpenAIServer(Busy(script)) as server:
        model = openai_chat("m", base_url=server.base_url, api_key="k")
        limits = Limits(tool_calls=2)
        agent = Agent(
            model,
            [post.tool("look", "read")],
            prompt="You work.",
            limits=limits,
            guards=[Provenance("off")],
        )
        whole = strategy_agent(Reflexion(agent, trials=3), agent)
        await run(whole, "Please look.", store=MemoryStore())
        await model.close()
    assert post.count["look"] == 6


async def test_limits_of_the_whole_say_how_often_it_acts() -> None:
    post = Post()
    with OpenAIServer(Busy()) as server:
        model = openai_chat("m", base_url=server.base_url, api_key="k")
        agent = Agent(
            model, [post.tool("send", "unsafe")], prompt="You work.", guards=[Provenance("off")]
        )
        whole = strategy_agent(Reflexion(agent, trials=3), agent, limits=Limits(tool_calls=20,
            calls_per_tool={"send": 3}))  # fmt: skip
        await run(whole, "Please send word.", store=MemoryStore())
        await model.close()
    assert post.count["send"] == 3


@pytest.mark.slow
@pytest.mark.share(3)
@pytest.mark.parametrize("most", [2, 3])
@pytest.mark.parametrize("way", ACTS, ids=lambda way: way.name)
async def test_a_cap_on_a_tool_holds_over_shared_steps_and_those_of_a_fork(
    way: Way, most: int
) -> None:
    post, store = Post(), MemoryStore()
    with OpenAIServer(Busy(Script(times=3, calls=4, verdicts=(False,)))) as server:
        model = openai_chat("m", base_url=server.base_url, api_key="k")
        limits = Limits(calls_per_tool={"send": most})
        agent = Agent(
            model,
            [post.tool("send", "unsafe")],
            prompt="You work.",
            limits=limits,
            guards=[Provenance("off")],
        )
        whole = strategy_agent(strategy(way, agent), agent)
        await run(whole, "Please send word.", store=store, run_id="r")
        assert 0 < post.count["send"] <= most
        steps = (await read("r", store=store)).steps
        for at in range(min(4, len(steps))):
            below = [call.observation for step in steps[:at] for call in step.calls]
            shared = sum(one.spent.made.get("send", 0) for one in below if one and one.spent)
            shared += sum(
                call.action.name == "send" and bool(call.attempts)
                for step in steps[:at]
                for call in step.calls
            )
            post.done.clear()
            await fork(whole, "r", at=at, store=store, new_id=f"f{at}")
            assert shared + post.count["send"] <= most
        post.done.clear()
        await resume(whole, "r", say="Please send more.", store=store)
        assert post.count["send"] <= most  # the same again
        await model.close()
