"""The page of a prompt: what was sent for a step, message by message, and what was left out."""

import pytest

from clew import Agent, Compaction, Context, Limits, Usage, prompt_of, rewind, tool
from clew import run as run_here
from clew.guards import Provenance
from clew.testing import Line, ScriptedModel, act, finish
from tests.server.parsed_page import Page, parsed
from tests.server.site import ADA, ROOT, Site, agent, site


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    """What uvicorn runs on."""
    return "asyncio"


@tool(effect="read")
def turn(page: int) -> str:
    """Turn to a page."""
    return f"page {page}: " + "words " * 600


async def page_of(here: Site, path: str) -> Page:
    response = await here.ask("GET", path)
    assert response.status_code == 200, response.text
    return parsed(response.text)


def turning(pages: int) -> list[Line]:
    return [*(act("turn", page=page) for page in range(1, pages + 1)), finish("Read.")]


async def test_every_prompt_of_a_run_is_shown_as_it_was_sent_message_by_message() -> None:
    async with site(agents={"reader": agent(turning(2), [turn], prompt="Read <all>.")}) as here:
        run = await here.by(ADA).begin("reader", "What is there?")
        await here.by(ADA).until_stop(run)
        for step in (1, 2, 3):
            sent = await prompt_of(run, step, store="runs.sqlite")
            page = await page_of(here.by(ADA), f"/runs/{run}/prompt?step={step}")
            document = await here.by(ADA).get(f"/api/runs/{run}/prompt?step={step}")
            assert [each["text"] for each in document["messages"]] == [
                it.text for it in sent.prompt
            ]
            assert len(page.having("message")) == len(document["messages"])
            assert [it.text for it in page.having("ok")] == ["exact"]
            assert page.having("tool")[0].text.startswith("turn")
            assert "Nothing: the model saw all" in page.having("left-out")[0].text
        assert "Read <all>." in page.having("role-system")[0].text
        last = await page_of(here.by(ADA), f"/runs/{run}/prompt")
        thread = await page_of(here.by(ADA), f"/runs/{run}")
        none = await here.by(ADA).ask("GET", f"/runs/{run}/prompt?step=4")
    assert last.tags("h1")[0].text == "Prompt of step 3"
    assert {f"/runs/{run}/prompt?step={step}" for step in (1, 2, 3)} <= {*thread.addresses}
    assert none.status_code == 422
    assert "its thoughts are 1 to 3" in none.text


async def test_what_was_left_out_of_a_prompt_stands_on_its_page_with_what_stood_for_it() -> None:
    context = Context(compaction=Compaction(window=4_000))
    model = ScriptedModel(turning(12), tools=[turn], usage=Usage())  # nobody counts: so clew does
    reader = Agent(model, tools=[turn], context=context, guards=[Provenance("off")])
    begun = await run_here(reader, "Read it.", store="runs.sqlite")
    async with site() as here:
        document = await here.by(ROOT).get(f"/api/runs/{begun.run_id}/prompt")
        page = await page_of(here.by(ROOT), f"/runs/{begun.run_id}/prompt")
        first = await here.by(ROOT).get(f"/api/runs/{begun.run_id}/prompt?step=1")
    left_out, (section,) = document["left_out"], page.having("left-out")
    assert document["differs"] == []
    assert 0 < left_out["upto"] < 12
    assert f"Steps 1 to {left_out['upto']}" in section.text
    assert left_out["account"].split("\n", 1)[0] in section.text
    assert (first["left_out"]["upto"], first["left_out"]["cuts"]) == (0, {})


async def test_a_rewound_branch_is_among_what_was_left_out_with_its_lesson() -> None:
    async with site(agents={"reader": agent([*turning(3), finish("Again.")], [turn])}) as here:
        run = await here.by(ADA).begin("reader")
        await here.by(ADA).until_stop(run)
        await rewind(run, to=1, lesson="Page 2 is <torn>.", by="ada", store="runs.sqlite")
        await here.by(ADA).post(f"/api/runs/{run}/words", {"say": "And now?"})
        await here.by(ADA).until_stop(run)
        page = await page_of(here.by(ADA), f"/runs/{run}/prompt")
    (section,) = page.having("left-out")
    assert "Rewound steps: 2, 3, 4." in section.text
    assert "Page 2 is <torn>. (ada)" in section.text


async def test_a_long_prompt_comes_in_screens() -> None:
    reader = agent(turning(40), [turn], limits=Limits(steps=50, tool_calls=50))
    begun = await run_here(reader, "Read it.", store="runs.sqlite")
    async with site() as here:
        page = await page_of(here.by(ROOT), f"/runs/{begun.run_id}/prompt")
        labels = [it.attributes["aria-label"] for it in page.having("message")]
        while links := page.having("next"):
            page = await page_of(here.by(ROOT), links[0].attributes["href"])
            labels += [it.attributes["aria-label"] for it in page.having("message")]
        document = await here.by(ROOT).get(f"/api/runs/{begun.run_id}/prompt")
    assert labels == [f"Message {number + 1}" for number in range(len(document["messages"]))]
    assert len(labels) > 60
