"""The page of what a run took: charts by step with a table that says the same."""

from typing import Any

import pytest

from clew import Agent, Usage, delegate, read, tool
from clew import run as run_here
from clew.guards import Provenance
from clew.interfaces import Thought, decode, encode
from clew.stores import store_at
from clew.testing import ScriptedModel, act, finish
from tests.server.parsed_page import Page, parsed
from tests.server.site import ADA, BOB, ROOT, Site, agent, site
from tests.server.written_runs import started, thought, write


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    """What uvicorn runs on."""
    return "asyncio"


@tool(effect="read")
def look(at: str) -> str:
    """Look."""
    return f"a {at}"


async def page_of(here: Site, path: str) -> Page:
    response = await here.ask("GET", path)
    assert response.status_code == 200, response.text
    return parsed(response.text)


def rows(page: Page) -> list[list[str]]:
    cells = [it for it in page.elements if it.tag in {"th", "td"} and "tbody" in it.within]
    return [[it.text for it in cells[at : at + 8]] for at in range(0, len(cells), 8)]


async def test_the_figures_of_the_steps_come_to_those_of_the_run_sub_runs_included() -> None:
    usage = Usage(input=1_000, cached=250, output=50, cost=0.25)
    below = agent([act("look", at="tower"), finish("High.")], [look])
    asks: list[Any] = [delegate(below, name="ask", description="Ask.")]
    model = ScriptedModel([act("ask", task="?"), finish("High.")], tools=asks, usage=usage)
    above = Agent(model, tools=asks, guards=[Provenance("off")])
    begun = await run_here(above, "How high?", store="runs.sqlite")
    record = await read(begun.run_id, store="runs.sqlite")
    async with site() as here:
        took = await here.by(ROOT).get(f"/api/runs/{begun.run_id}/figures")
        page = await page_of(here.by(ROOT), f"/runs/{begun.run_id}/figures")
    steps = took["steps"]
    own = [(it["input"], it["cached"], it["output"]) for it in steps]
    assert own == [(1_000, 250, 50)] * 2
    assert [bool(it["below"]) for it in steps] == [True, False]
    assert took["tokens"] == record.total.tokens == sum(
        it["input"] + it["output"] + it["below"] for it in steps
    )  # fmt: skip
    assert sum(it["cost"] for it in steps) == pytest.approx(record.total.cost)
    assert sum(it["thinking"] + it["acting"] for it in steps) == pytest.approx(took["seconds"])
    assert [it[:5] for it in rows(page)] == [
        ["step 1", "1,000", "250", "50", str(steps[0]["below"])],
        ["step 2", "1,000", "250", "50", "0"],
    ]
    pictures = [it for it in page.tags("svg") if it.attributes["role"] == "img"]
    assert len(pictures) == 4
    assert "Highest: " in pictures[0].attributes["aria-label"]
    assert "in all 25%" in page.having("chart")[1].text
    assert "cached 250, new 750, written 50" in page.having("chart")[0].text


async def test_the_bars_of_a_long_run_stand_for_several_steps_each() -> None:
    one = thought("t")
    assert isinstance(one, Thought)
    body = encode(one).replace(b'"reply":{', b'"reply":{"usage":{"input":10,"output":1},')
    thoughts = [decode(body) for _ in range(950)]
    async with store_at("runs.sqlite") as store:
        await write(store, "long", [started(), *thoughts])
    async with site() as here:
        page = await page_of(here.by(ROOT), "/runs/long/figures")
    table = rows(page)
    assert (table[0][:2], table[-1][0]) == (["steps 1 to 10", "100"], "steps 941 to 950")
    assert len(table) == 95
    assert len(page.having("back")) == 95 * len(page.tags("svg"))
    heights = {it.attributes["height"] for it in page.having("kind1") if it.tag == "rect"}
    assert len(heights) == 1


async def test_a_run_that_has_not_thought_has_no_charts_and_says_so() -> None:
    async with store_at("runs.sqlite") as store:
        await write(store, "new", [started()])
    async with site() as here:
        page = await page_of(here.by(ROOT), "/runs/new/figures")
    assert page.tags("svg") == []
    assert "It has not thought yet." in page.tags("main")[0].text


async def test_a_tree_has_the_sub_runs_from_wherever_it_is_looked_at() -> None:
    below = agent([finish("High.")])
    asks: list[Any] = [delegate(below, name="ask", description="Ask.")]
    above = agent([act("ask", task="How high?"), act("ask", task="How wide?"), finish("So.")], asks)
    begun = await run_here(above, "The tower?", store="runs.sqlite", owner="ada")
    child = f"{begun.run_id}-2.1"
    async with site() as here:
        seen = [
            await here.by(ADA).get(f"/api/runs/{run}/tree") for run in (begun.run_id, child)
        ]  # fmt: skip
        page = await page_of(here.by(ADA), f"/runs/{child}/tree")
        thread = await page_of(here.by(ADA), f"/runs/{child}")
    assert seen[0] == seen[1]
    assert (seen[0]["run_id"], seen[0]["status"]) == (begun.run_id, "answered")
    below_it = [(it["call"], it["tool"], it["title"]) for it in seen[0]["runs"]]
    assert below_it == [("1.1", "ask", "How high?"), ("2.1", "ask", "How wide?")]
    assert [it.attributes["href"] for it in page.having("item")] == [
        f"/runs/{run}" for run in (begun.run_id, f"{begun.run_id}-1.1", child)
    ]
    (here_it_is,) = [it for it in page.tags("a") if "aria-current" in it.attributes]
    assert here_it_is.attributes["href"] == f"/runs/{child}"
    assert f"/runs/{begun.run_id}" in thread.addresses


async def test_a_sub_run_that_is_not_in_the_store_is_missing_in_its_tree() -> None:
    attempt = decode(
        b'{"event":"attempt","call":"1.1","tool":"ask","hash":"","timeout":1,"child":"gone"}'
    )
    body = encode(thought("t")).replace(b'"text":"t"}', b'"actions":[{"name":"ask"}]}')
    async with store_at("runs.sqlite") as store:
        await write(store, "above", [started(), decode(body), attempt])
    async with site() as here:
        page = await page_of(here.by(ROOT), "/runs/above/tree")
    assert [it.text for it in page.having("status-missing")] == ["missing"]
    assert "/runs/gone" not in page.addresses


async def test_a_fork_stands_beside_the_run_that_it_parted_from() -> None:
    script = [act("look", at="tower"), act("look", at="roof"), finish("330 m.")]
    one = agent(script, [look])
    other = agent([script[0], act("look", at="door"), finish("2 m.")], [look], prompt="Look.")
    async with site(agents={"one": one, "other": other}) as here:
        run = await here.by(ADA).begin("one", "How high?")
        await here.by(ADA).until_stop(run)
        forked = await here.by(ADA).post(f"/api/runs/{run}/forks", {"at": 1, "agent": "other"})
        fork = forked["run_id"]
        await here.by(ADA).until_stop(fork)
        page = await page_of(here.by(ADA), f"/runs/{fork}/compare")
        named = await page_of(here.by(ADA), f"/runs/{run}/compare?to={fork}&after=0")
        alone = await page_of(here.by(ADA), f"/runs/{run}/compare")
        stranger = await here.by(BOB).begin("one")
        hidden = await here.by(ADA).ask("GET", f"/runs/{run}/compare?to={stranger}")
    text = page.tags("main")[0].text
    assert "They share 1 step." in text
    assert "They part in step 2: action 2.1" in text
    assert [it.attributes["aria-labelledby"] for it in page.having("step")] == ["step-2", "step-3"]
    assert [it.attributes["aria-labelledby"] for it in named.having("differs")] == [
        "step-2",
        "step-3",
    ]
    assert len(named.having("step")) == 3
    (second,) = [it for it in page.having("step") if "Step 2" in it.text]
    assert second.text.index("door") < second.text.index("roof")
    assert alone.having("step") == []
    assert hidden.status_code == 404
