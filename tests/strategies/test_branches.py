"""Forks that a strategy of one's own makes: `Runs.fork` and the role `Branches`."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import pytest

from clew import Agent, MemoryStore, Result, cancel, read, resume, run
from clew.interfaces import Json
from clew.strategies import Branch, Branches, RoleResult, Runs, strategy_agent
from tests.strategies.test_tree_search import Walker, go

Program = Callable[[Runs, str], Awaitable[Json]]


@dataclass
class Own:
    """A strategy of one's own over branches of two steps."""

    agent: Agent
    program: Program
    name: str = "own"
    params: dict[str, Json] = field(default_factory=dict)

    @property
    def roles(self) -> dict[str, Branches]:
        return {"branch": Branches(self.agent, 2)}

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
    first, other, end = (branch_of(each) for each in done.answer)
    assert model.asked == ["L", "LL", "LR", "LRL", "LRL!"]
    assert (first.steps, first.open) == (2, True)
    assert (other.steps, other.open, "behind L" in other.did) == (3, True, True)
    assert (end.answer, end.steps, end.open) == ("LRL", 4, False)
    branch = await read("o-2.1", store=store)
    assert (branch.total.steps, len(branch.steps)) == (2, 3)


def branch_of(value: Json) -> Branch:
    return Branch(**value)


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
