"""The four reference servers of MCP: every tool is called, with right and with wrong arguments."""

import base64
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from clew import (
    Agent,
    Limits,
    MemoryStore,
    Observation,
    Tool,
    Trajectory,
    pending_approvals,
    read,
    resume,
    rule,
    run,
)
from clew.core.actions import Action
from clew.support.resources import resources
from clew.testing import Move, ScriptedModel, act, finish
from clew_mcp import McpServer, mcp_tools
from clew_mcp.connection import open_connection
from clew_mcp.tools import ask_server
from tests.mcp.reference import RIGHT, WRONG, Calls, filled, server_of

pytestmark = [pytest.mark.slow, pytest.mark.parametrize("anyio_backend", ["asyncio"])]

servers = pytest.mark.parametrize("name", RIGHT)
TOOLS: Final = {"everything": 17, "filesystem": 14, "memory": 9, "thinking": 1}
LISTINGS: Final = 100
PICTURE: Final = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """What the servers may look at; where their pins are kept lies beside it."""
    made = tmp_path / "shared"
    made.mkdir()
    (made / "picture.png").write_bytes(base64.b64decode(PICTURE))
    (made / "b.txt").write_text("two\n", "utf-8")
    return made


async def tools_of(server: McpServer, folder: Path) -> tuple[Tool, ...]:
    model = ScriptedModel(["A reply."])  # which answers the server's own questions
    return await mcp_tools(server, pins=folder.parent / "pins.json", model=model)


async def called(
    name: str, tools: Sequence[Tool], calls: Calls, folder: Path
) -> tuple[dict[str, Observation], list[str]]:
    """What each call observed, by tool, and what was held meanwhile; a person allows it all."""
    moves = [
        Move(actions=(Action(f"{name}_{tool}", filled(args, folder)),)) for tool, args in calls
    ]
    model = ScriptedModel([*moves, finish("done")], tools=tools)
    store, held = MemoryStore(), list[str]()
    limits = Limits(steps=99, tool_calls=99, no_progress=None)
    agent = Agent(model, tools=tools, limits=limits)
    async with resources():
        result = await run(agent, "Call them.", store=store)
        while result.status == "held":
            for each in await pending_approvals(store=store):
                held.append(f"{each.tool}: {each.why}")
                await rule(each.id, allow=True, answer=answer(each.asks), store=store)
            result = await resume(agent, result.run_id, store=store)
    assert result.status == "answered", result.reason
    return by_tool(name, await read(result.run_id, store=store)), held


def answer(asks: Any) -> Any:
    """What a person fills in: the first field, by its kind; None where nothing is asked."""
    fields: dict[str, Any] = (asks or {}).get("properties", {})
    for field, schema in fields.items():
        choices = schema.get("enum") or [one["const"] for one in schema.get("oneOf", ())]
        return {field: choices[0] if choices else "Ada"}
    return None


def by_tool(name: str, record: Trajectory) -> dict[str, Observation]:
    found: dict[str, Observation] = {}
    for call in record.calls:
        if call.observation is not None and call.action.name.startswith(f"{name}_"):
            found[call.action.name.removeprefix(f"{name}_")] = call.observation
    return found


@servers
async def test_every_tool_answers_to_right_arguments(name: str, folder: Path) -> None:
    tools = await tools_of(server_of(name, folder), folder)
    calls = RIGHT[name]
    assert len(tools) == TOOLS[name]
    assert {f"{name}_{tool}" for tool, _ in calls} == {tool.name for tool in tools}
    found, held = await called(name, tools, calls, folder)
    assert {tool: one.text for tool, one in found.items() if not one.ok} == {}
    assert len(found) == TOOLS[name]
    asked = {"everything": ["elicitation-request", "url-elicitation"]}.get(name, [])
    assert [one.partition(":")[0].partition("trigger-")[2] for one in held] == asked


@servers
async def test_arguments_of_another_shape_are_refused_before_they_are_sent(
    name: str, folder: Path
) -> None:
    tools = await tools_of(server_of(name, folder), folder)
    calls: Calls = []
    for tool in tools:
        fields: dict[str, Any] = dict(tool.parameters).get("properties", {})
        if fields:
            wrong = {field: {"no": "such"} for field in fields}
            calls.append((tool.name.removeprefix(f"{name}_"), wrong))
    found, _ = await called(name, tools, calls, folder)
    assert {tool: (one.code, one.outcome) for tool, one in found.items()} == {
        tool: ("invalid_arguments", "not_done") for tool, _ in calls
    }


@servers
async def test_what_the_server_refuses_is_a_failed_observation(name: str, folder: Path) -> None:
    tools = await tools_of(server_of(name, folder), folder)
    found, _ = await called(name, tools, WRONG[name], folder)
    assert {tool: one.text for tool, one in found.items() if one.ok} == {}
    assert set(found) == {tool for tool, _ in WRONG[name]}


@servers
async def test_one_hundred_listings_hold_nothing(name: str, folder: Path) -> None:
    server = server_of(name, folder)
    pins = await ask_server(server)
    for _ in range(4):
        async with open_connection(server) as connection:
            for _ in range(LISTINGS // 4):
                assert (await connection.listing()).digest == pins.digest


async def test_the_tool_that_requires_a_task_runs_as_one(folder: Path) -> None:
    server = server_of("everything", folder)
    tools = await tools_of(server, folder)
    store = MemoryStore()
    model = ScriptedModel(
        [act("everything_simulate-research-query", topic="lighthouses"), finish("done")]
    )
    result = await run(Agent(model, tools=tools), "Look it up.", store=store)
    (call, _) = (await read(result.run_id, store=store)).calls
    assert [bool(attempt.task) for attempt in call.attempts] == [True]
    assert call.observation is not None
    assert "Research Report: lighthouses" in call.observation.text


async def test_a_task_that_asks_a_person_goes_on_with_the_answer(folder: Path) -> None:
    tools = await tools_of(server_of("everything", folder), folder)
    calls: Calls = [("simulate-research-query", {"topic": "it", "ambiguous": True})]
    found, held = await called("everything", tools, calls, folder)
    assert len(held) == 1
    assert "Clarification" in found["simulate-research-query"].text


async def test_resources_and_prompts_are_read(folder: Path) -> None:
    server = server_of("everything", folder, resources=True, prompts=True)
    tools = await tools_of(server, folder)
    calls: Calls = [
        ("list_resources", {}),
        ("read_resource", {"uri": "demo://resource/dynamic/text/1"}),
        ("list_prompts", {}),
        ("get_prompt", {"name": "simple-prompt"}),
    ]
    found, _ = await called("everything", tools, calls, folder)
    assert [one.ok for one in found.values()] == [True] * 4
    assert "demo://resource/dynamic/text/{resourceId}" in found["list_resources"].text
    assert "plaintext resource" in found["read_resource"].text
    assert "simple-prompt" in found["list_prompts"].text


async def test_a_list_that_has_changed_is_held_with_what_is_new(folder: Path) -> None:
    before = server_of("everything", folder, sampling=0, roots=())
    await tools_of(before, folder)
    after = server_of("everything", folder)  # to a client that answers, it offers two tools more
    tools = await tools_of(after, folder)
    assert len(tools) == TOOLS["everything"] - 2
    found, held = await called("everything", tools, [("echo", {"message": "hello"})], folder)
    (why,) = held
    assert "trigger-sampling-request" in why
    assert "get-roots-list" in why
    assert found["echo"].text == "Echo: hello"
