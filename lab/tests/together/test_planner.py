"""The planner beside tools of other packages."""

from collections.abc import Sequence
from typing import Any

import pytest

from clew import Agent, MemoryStore, read, run
from clew.agent_files.build import shipped
from clew.core.tools import Tool
from clew.support.errors import ConfigError
from clew.testing.models import ScriptedModel, act, finish
from clew.toolbox.docs import docs_tools
from clew.toolbox.planner import planner
from clew.tools import tool

pytestmark = pytest.mark.anyio


FACTS_AND_SUMS = "What is the birth year of the author of Emma minus 3?"


async def planned(agent: Agent, question: str) -> Any:
    """What the planner of an agent says in a run."""
    store = MemoryStore()
    model = ScriptedModel([act("planner", question=question), finish("so")])
    result = await run(agent.replace(model=model), "?", store=store)
    seen = (await read(result.run_id, store=store)).calls[0].observation
    assert seen is not None
    return seen.content


async def steps_with(tools: Sequence[Tool], question: str = FACTS_AND_SUMS) -> list[str]:
    """The tools that a plan names."""
    answer = await planned(Agent("offline", tools), question)
    return [step["tool"] for step in answer["steps"]]


@tool(effect="read")
def archive(query: str, year: int = 0) -> str:
    """Search the town's archive."""
    return f"{query} {year}"


@pytest.mark.parametrize(
    ("names", "named"),
    [
        ((), ["", "", ""]),
        (("calc",), ["", "", "calc"]),
        (("search", "lookup"), ["search", "search", ""]),
        (("lookup", "search", "calc"), ["search", "search", "calc"]),
        (("fetch_page", "wiki_search", "web_search"), ["wiki_search", "wiki_search", ""]),
        (("ask_person", "lookup", "fetch_page"), ["", "", ""]),
    ],
)
async def test_a_plan_names_only_tools_that_the_agent_has(
    names: tuple[str, ...], named: list[str]
) -> None:
    tools = [shipped("planner"), *map(shipped, names)]
    assert await steps_with(tools) == named


async def test_ones_own_documents_come_before_what_others_search(tmp_path: Any) -> None:
    tools = [shipped("wiki_search"), planner(), *docs_tools(tmp_path), shipped("calc")]
    assert await steps_with(tools) == ["docs", "docs", "calc"]


async def test_tools_that_were_named_are_taken_where_the_agent_has_them() -> None:
    tools = [archive, shipped("wiki_search"), shipped("calc")]
    assert await steps_with([*tools, planner(("wiki_search",))]) == ["wiki_search"] * 2 + [""]
    with pytest.raises(ConfigError, match="the planner names docs, which the agent does not have"):
        Agent("offline", [*tools, planner(("docs", "calc"))])
