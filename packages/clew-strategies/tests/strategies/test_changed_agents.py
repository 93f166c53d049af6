"""A strategy's run goes on with agents that were changed meanwhile, where that is accepted."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from clew import Agent, list_runs, pending_approvals, rule, run, serving, submit, tool
from clew.guards import Provenance
from clew.testing import ScriptedModel, act, finish, say
from clew.workers import WorkerConfig, work
from clew_strategies import Chaining, ReWOO, strategy_agent
from clew_strategies.rewoo import CallPlan

BOOKED: list[str] = []


@tool(approve="may it be?")
def book(day: str) -> str:
    """Book a day."""
    BOOKED.append(day)
    return "booked"


def clerk(prompt: str) -> Agent[str]:
    script = [act("book", day="Monday"), say("done")]
    return Agent(ScriptedModel(script), [book], prompt=prompt, guards=[Provenance("off")])


def chained(prompt: str) -> Agent[Any]:
    return strategy_agent(Chaining({"one": clerk(prompt)}), clerk(prompt))


def planned(prompt: str) -> Agent[Any]:
    call = {"id": "E1", "tool": "book", "args": {"day": "Monday"}}
    planner = Agent(ScriptedModel([finish({"calls": [call]})]), prompt=prompt, answer=CallPlan)
    return strategy_agent(ReWOO(clerk(prompt), planner=planner), clerk(prompt))


@pytest.mark.parametrize("way", ["serving", "worker"])
@pytest.mark.parametrize("make", [chained, planned])
async def test_a_held_strategy_goes_on_with_changed_roles(
    make: Callable[[str], Agent[Any]], way: str, tmp_path: Path
) -> None:
    BOOKED.clear()
    where = tmp_path / "runs.sqlite"

    async def go_on(*, accept: bool) -> dict[str, str]:
        agent = make("Be brief.")
        if way == "serving":
            async with serving(agent, store=where, accept_change=accept) as app:
                await app.wait()
        else:
            config = WorkerConfig(
                store=where, agents=[agent], only=True, until_idle=True, accept_change=accept
            )
            await work(config)
        return {each.run_id: each.status for each in await list_runs(store=where)}

    old = make("Be quick.")
    if way == "serving":
        await run(old, "?", store=where)
    else:
        await submit(old, "?", store=where)
        await work(WorkerConfig(store=where, agents=[old], only=True, until_idle=True))
    held = [each for each in await list_runs(store=where, status="held") if not each.parent]
    (waiting,) = await _approvals(where)
    await rule(waiting, allow=True, store=where)
    left = await go_on(accept=False)
    assert (left[held[0].run_id], BOOKED) == ("held", [])
    ended = await go_on(accept=True)
    assert {*ended.values()} == {"answered"}
    assert BOOKED == ["Monday"]


async def _approvals(where: Path) -> list[str]:
    return [each.id for each in await pending_approvals(store=where)]
