"""What a run says came of its task reaches the strategy that asked for it, and the vote."""

from dataclasses import dataclass, field
from typing import Any

import pytest

from clew import Agent, Declined, MemoryStore, ToolError, run, tool
from clew.guards import Provenance
from clew.interfaces import AnswerOutcome, Json
from clew.testing.models import ScriptedModel, act, finish
from clew_strategies import Runs, strategy_agent, vote


@tool
def edit(path: str) -> str:
    """Edit a file."""
    if path == "locked":
        raise ToolError("it is locked")
    return "edited"


@tool(effect="read")
def look(path: str) -> str:
    """Look at a file."""
    return path


def worker(*script: Any, tools: Any = (edit, look)) -> Agent:
    return Agent(ScriptedModel(script, plan=None), tools, guards=[Provenance("off")])


@dataclass(frozen=True)
class Once:
    """Asks one run, and gives its answer."""

    agent: Agent
    name = "once"
    params: dict[str, Json] = field(default_factory=dict[str, Json])

    @property
    def roles(self) -> dict[str, Agent]:
        return {"solve": self.agent}

    async def __call__(self, runs: Runs, task: str) -> Json:
        return (await runs.run("solve", task)).answer


@pytest.mark.parametrize(
    ("path", "outcome", "contradicted"),
    [("a", "done", False), ("locked", "not_done", False), ("locked", "done", True)],
)
async def test_a_strategy_ends_as_the_run_that_gave_its_answer(
    path: str, outcome: AnswerOutcome, *, contradicted: bool
) -> None:
    ends = [finish("Seen to.", outcome=outcome)] * 2
    agent = worker(act("edit", path=path), *ends)
    result = await run(strategy_agent(Once(agent), agent), "Edit it.", store=MemoryStore())
    assert (result.answer, result.outcome) == ("Seen to.", outcome)
    assert result.contradicted == contradicted


async def test_a_vote_of_runs_that_found_nothing_declines() -> None:
    script = [act("look", path="a"), finish("Nowhere.", outcome="not_found")]
    voted = await vote(worker(*script, tools=[look]), "Where is it?", 3, store=MemoryStore())
    assert isinstance(voted.result, Declined)
    assert voted.result.answer == "Nowhere."
