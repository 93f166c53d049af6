"""One at a time works on a vote, a strategy's run or a trial, as on any run."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from clew import Agent, MemoryStore, SqliteStore, resume, run
from clew.interfaces import ModelInfo, OnText, Prompt, Reply
from clew.stores import RunExistsError
from clew_strategies import Chaining, Reflexion, strategy_agent, vote


class Gate:
    """A model that is asked, says so, and replies once it is let through."""

    info = ModelInfo("gate")

    def __init__(self) -> None:
        self.asked, self.through = anyio.Event(), anyio.Event()
        self.requests = 0

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        """The reply."""
        del prompt, on_text
        self.requests += 1
        self.asked.set()
        await self.through.wait()
        return Reply("42")


def store_of(kind: str, folder: Path) -> Any:
    return MemoryStore() if kind == "memory" else SqliteStore(folder / "runs.sqlite")


async def both(model: Gate, one: Callable[[], Awaitable[Any]]) -> list[Any]:
    """What two callers at once are told, where the first is at work when the second comes."""
    told: list[Any] = []

    async def ask() -> None:
        told.append(await one())

    async with anyio.create_task_group() as group:
        group.start_soon(ask)
        await model.asked.wait()
        group.start_soon(ask)
        await anyio.wait_all_tasks_blocked()
        model.through.set()
    return told


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
@pytest.mark.parametrize("k", [1, 2, 3])
async def test_a_second_vote_of_one_id_waits(kind: str, k: int, tmp_path: Path) -> None:
    model = Gate()
    store = store_of(kind, tmp_path)
    agent = Agent(model)
    first, second = await both(model, lambda: vote(agent, "How many?", k, store=store, run_id="v"))
    assert (first.answer, second.answer) == ("42", "42")
    assert model.requests <= k


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
@pytest.mark.parametrize("made", [Reflexion, lambda agent: Chaining({"a": agent, "b": agent})])
async def test_a_second_resume_of_a_strategy_waits(kind: str, made: Any, tmp_path: Path) -> None:
    model = Gate()
    store = store_of(kind, tmp_path)
    agent = Agent(model, prompt="You work.")
    whole = strategy_agent(made(agent), agent)
    told = await both(model, lambda: run_or_resume(whole, store))
    assert {each.status for each in told} <= {"answered", "declined"}
    assert told[0].answer == told[1].answer


async def run_or_resume(whole: Agent, store: Any) -> Any:
    """Begin the run, or go on with it, as a service does with a request that comes twice."""
    try:
        return await run(whole, "How many?", store=store, run_id="r")
    except RunExistsError:
        return await resume(whole, "r", store=store)
