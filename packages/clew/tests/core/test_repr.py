"""What a user sees who prints a part: a line, and never a screen of text."""

from clew import Agent, Answered, MemoryStore, Usage, read, run, tool
from clew.core.contents import Evidence
from clew.core.trajectory import Trajectory
from clew.testing.models import ScriptedModel, act, say


@tool(effect="read")
def population(city: str, year: int = 2024) -> int:
    """How many people live in a city."""
    return len(city) * year


async def test_runs_agents_and_tools_print_as_a_line() -> None:
    model = ScriptedModel([act("population", city="Vienna"), say("Many.")])
    agent = Agent(model=model, tools=[population])
    store = MemoryStore()
    await run(agent, "How big is Vienna, " + "really " * 20 + "?", store=store, run_id="r")
    goal = "How big is Vienna, really really really really really reall…"
    assert repr(await read("r", store=store)) == (
        f"<Trajectory r {goal!r}: answered, 2 steps, 5 entries>"
    )
    assert repr(population) == "<FunctionTool population(city, year): read>"
    assert repr(agent) == f"<Agent {model.name}, {agent.engine.codec.name}, tools: population>"
    assert repr(agent.replace(tools=[])).endswith("tools: none>")


async def test_an_open_run_says_so() -> None:
    agent = Agent(model=ScriptedModel([]))
    trajectory = Trajectory("r")
    store = MemoryStore()
    found = await run(agent.replace(model=ScriptedModel([say("Yes.")])), "Is it?", store=store)
    for entry in (await read(found.run_id, store=store)).entries[:1]:
        trajectory.add(entry)
    assert repr(trajectory) == "<Trajectory r 'Is it?': open, 0 steps, 1 entry>"


def test_a_result_in_a_notebook_is_a_table_without_markup_of_others() -> None:
    cited = (Evidence("d1", "<script>alert(1)</script>", 1.0, 'a"b.md'),)
    found = Answered(
        run_id="r", answer="<b>42</b> [d1]", usage=Usage(10, 5), steps=2, evidence=cited,
        cited=cited,
    )  # fmt: skip
    html = found._repr_html_()
    assert "<script>" not in html
    assert "&lt;b&gt;42&lt;/b&gt; [d1]" in html
    assert "a&quot;b.md: &lt;script&gt;" in html
    assert "<td>15</td>" in html
