"""Records of runs as resources, for the clients that began them."""

import json

import anyio
import mcp_types as types
import pytest
from mcp import Client, MCPError

from clew import Agent, MemoryStore, run
from clew.testing import ScriptedModel, act, finish, say
from clew_mcp.serve import server
from tests.serve.served import ERAS, keeper

eras = pytest.mark.parametrize("era", ERAS)


async def text_of(client: Client, uri: str) -> str:
    (content,) = (await client.read_resource(uri)).contents
    assert isinstance(content, types.TextResourceContents)
    return content.text


@eras
async def test_a_record_is_read_as_json_and_as_markdown(era: str) -> None:
    script = [act("look", place="Skerry"), finish("Nobody! ![x](http://x)")]
    async with Client(server([keeper(script)], store=MemoryStore()), mode=era) as client:
        result = await client.call_tool("keeper", {"question": "Who keeps `it`?"})
        run_id = result.structured_content["run_id"]
        (listed,) = (await client.list_resources()).resources
        templates = (await client.list_resource_templates()).resource_templates
        document = json.loads(await text_of(client, f"clew://runs/{run_id}"))
        page = await text_of(client, f"clew://runs/{run_id}/markdown")
    assert (listed.uri, listed.title) == (f"clew://runs/{run_id}", "Who keeps `it`?")
    assert {each.uri_template for each in templates} == {
        "clew://runs/{run_id}", "clew://runs/{run_id}/markdown",
    }  # fmt: skip
    assert (document["status"], document["goal"]) == ("answered", "Who keeps `it`?")
    assert [entry["seq"] for entry in document["entries"]] == list(
        range(1, len(document["entries"]) + 1)
    )
    assert "a lighthouse is at Skerry" in page
    assert "> Who keeps `it`?" in page
    assert "\\![x] (hxxp://x)" in page
    assert document["answer"] == "Nobody! ![x] (hxxp://x)"
    assert result.structured_content["neutralised"] == ["http://x"]


async def test_text_of_tools_does_not_leave_its_fence() -> None:
    script = [act("look", place="````\n# A heading\n````"), finish("Seen.")]
    async with Client(server([keeper(script)], store=MemoryStore())) as client:
        result = await client.call_tool("keeper", {"question": "Who?\n# Me"})
        run_id = result.structured_content["run_id"]
        page = await text_of(client, f"clew://runs/{run_id}/markdown")
    assert "\n`````\na lighthouse is at ````\n# A heading\n````\n`````\n" in page
    assert "> Who?\n> # Me" in page


@eras
async def test_other_addresses_are_not_found(era: str) -> None:
    store = MemoryStore()
    mine = await run(Agent(ScriptedModel([say("mine")])), "A secret?", store=store)
    async with Client(server([keeper()], store=store), mode=era) as client:
        for uri in (f"clew://runs/{mine.run_id}", "clew://runs/", "file:///etc/passwd"):
            with pytest.raises(MCPError, match="there is no"):
                await client.read_resource(uri)
        assert (await client.list_resources()).resources == []


async def test_records_are_listed_in_pages() -> None:
    async with Client(server([keeper()], store=MemoryStore()), mode="legacy") as client:
        async with anyio.create_task_group() as group:
            for number in range(51):
                group.start_soon(client.call_tool, "keeper", {"question": f"Question {number}?"})
        first = await client.list_resources()
        rest = await client.list_resources(cursor=first.next_cursor)
    names = [each.name for each in (*first.resources, *rest.resources)]
    assert (len(first.resources), len(set(names)), rest.next_cursor) == (50, 51, None)
