"""Forks that a strategy of one's own makes: `Runs.fork` and the role `Branches`."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from clew import (
    Agent,
    Limits,
    MemoryStore,
    Result,
    cancel,
    delegate,
    read,
    resume,
    run,
    tool,
)
from clew.interfaces import Json, ModelInfo, OnText, Prompt, RawCall, Reply, encode
from clew_strategies import Branches, BranchResult, RoleResult, Runs, TreeSearch, strategy_agent
from tests.strategies.test_tree_search import Walker, finish, go

Program = Callable[[Runs, str], Awaitable[Json]]


@dataclass
class Own:
    """A strategy of one's own over branches, by default of two steps."""

    agent: Agent
    program: Program
    steps: int = 2
    name: str = "own"
    params: dict[str, Json] = field(default_factory=dict)

    @property
    def roles(self) -> dict[str, Branches]:
        return {"branch": Branches(self.agent, self.steps)}

    async def __call__(self, runs: Runs, task: str) -> Json:
        return await self.program(runs, task)


async def ran(program: Program, model: Walker, store: MemoryStore) -> Result:
    agent = Agent(model, [go], prompt="You are the walker.")
    return await run(strategy_agent(Own(agent, program), agent), "Where?", store=store, run_id="o")


async def test_a_fork_begins_in_the_middle_of_another_run() -> None:
    async def program(runs: Runs, task: str) -> Json:
        first = await runs.run("branch", task)
        other = await runs.fork(
            "branch", task, first, at=1, say='these ways were tried already: {"door":"L"}'
        )
        end = await runs.fork("branch", task, other)
        return [first.answer, other.answer, end.answer]

    model, store = Walker(deep=3), MemoryStore()
    agent = Agent(model, [go], prompt="You are the walker.")
    whole = strategy_agent(Own(agent, program), agent.replace(answer=list))
    done = await run(whole, "Where?", store=store, run_id="o")
    first, other, end = (branch_of(each) for each in done.raw_answer)
    assert model.asked == ["L", "LL", "LR", "LRL", "LRL!"]
    assert (first.steps, first.open) == (2, True)
    assert (other.steps, other.open, "behind L" in other.did) == (3, True, True)
    assert (end.answer, end.steps, end.open) == ("LRL", 4, False)
    branch = await read("o-2.1", store=store)
    assert (branch.total.steps, len(branch.steps)) == (2, 3)


def branch_of(value: Json) -> BranchResult:
    return BranchResult(**value)


@pytest.mark.parametrize(
    ("of", "at", "why"),
    [
        ("9.1", None, "the call 9.1 of run o has no run of its own"),
        ("1.1", 9, "run o-1.1 cannot be forked at 9: give 0 to 2"),
    ],
)
async def test_what_cannot_be_forked_is_an_observation(of: str, at: int | None, why: str) -> None:
    async def program(runs: Runs, task: str) -> Json:
        await runs.run("branch", task)
        there = RoleResult(of, ok=True, answer=None, text="")
        return (await runs.fork("branch", task, there, at=at)).text

    done = await ran(program, Walker(deep=9), MemoryStore())
    assert why in str(done.answer)


async def test_a_strategy_that_is_cancelled_between_branches_ends() -> None:
    store = MemoryStore()

    async def program(runs: Runs, task: str) -> Json:
        first = await runs.run("branch", task)
        return (await runs.fork("branch", task, first)).text

    model = Walker(deep=9)
    agent = Agent(model, [go], prompt="You are the walker.")
    whole = strategy_agent(Own(agent, program), agent)
    await run(whole, "Where?", store=store, run_id="o")
    await cancel("o", store=store)
    assert (await resume(whole, "o", store=store)).status in {"answered", "interrupted"}


@dataclass
class Boss:
    """A model that hands its task on while it was told of no result, and then answers."""

    info = ModelInfo("boss")
    hands: int = 1
    told: list[str] = field(default_factory=list)

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        """The next reply."""
        del on_text
        seen = [part for part in prompt if part.role == "tool"]
        self.told.append("\n".join(part.text for part in prompt))
        if len(seen) < self.hands:
            return Reply(
                "",
                (RawCall(name="helper", arguments=encode({"task": f"Help {len(seen)}"}).decode()),),
            )
        return finish("; ".join(part.text for part in seen) or "helped")


@pytest.mark.parametrize("below", [1, 2])
@pytest.mark.parametrize(("steps", "hands"), [(1, 1), (1, 3), (2, 1), (2, 2), (3, 2)])
async def test_a_branch_hands_on_whatever_few_steps_it_has_itself(
    steps: int, hands: int, below: int
) -> None:
    agent = Agent(Boss(0), prompt="You help.")
    for level in range(below):
        model = Boss(hands if level == below - 1 else 1)
        helper = delegate(agent, name="helper", description="Helps.")
        agent = Agent(model, [helper], prompt="You hand on.")
    search = TreeSearch(agent, scorer=good, steps=steps)
    done = await run(strategy_agent(search, agent), "Who helps?", store=MemoryStore())
    assert (done.status, done.answer) == ("answered", "; ".join(["helped"] * hands))
    assert isinstance(agent.model, Boss)
    assert not any("last step" in text or "steps are left" in text for text in agent.model.told)


@tool(effect="read")
def good(task: str, answer: Any) -> dict[str, Any]:
    """Any answer is good.

    Args:
        task: The task.
        answer: The answer.
    """
    del task, answer
    return {"score": 1.0, "why": "it is"}


@pytest.mark.parametrize(("own", "of_branch", "made"), [(1, 3, 1), (2, 3, 2), (3, 1, 1)])
async def test_a_branch_keeps_to_its_agents_own_limit_too(
    own: int, of_branch: int, made: int
) -> None:
    async def program(runs: Runs, task: str) -> Json:
        return (await runs.run("branch", task)).answer

    agent = Agent(Walker(deep=9), [go], prompt="You are the walker.", limits=Limits(steps=own))
    roomy = strategy_agent(
        Own(agent, program, of_branch), agent.replace(answer=dict), limits=Limits()
    )
    done = await run(roomy, "Where?", store=MemoryStore())
    assert (branch_of(done.answer).steps, branch_of(done.answer).open) == (made, True)
