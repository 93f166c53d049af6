"""Servers that send no JSON, stop to listen, do not wait for answers, or list tools for ever."""

from collections.abc import Sequence
from pathlib import Path

import anyio
import pytest

from clew import Agent, ConfigError, MemoryStore, Tool, read, resume, rule, run
from clew.core.contents import Observation
from clew.support.resources import resources
from clew.testing.models import Move, ScriptedModel, act, finish
from clew_mcp import mcp_tools
from tests.mcp.servers import definition, plain_server

pytestmark = pytest.mark.anyio

CHATTY = """\
import json, os, runpy, sys
loads = json.loads
def chatty(text):
    os.write(1, b'no JSON\\n{"jsonrpc": 7}\\n\\xff\\xfe\\n[]\\n')
    return loads(text)
json.loads = chatty
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""
"""The plain server, which beside its messages writes lines that are none."""


async def test_lines_that_are_no_messages_are_passed_over(tmp_path: Path) -> None:
    plain = plain_server(tmp_path / "plain")
    server = plain.server(args=("-c", CHATTY, *plain.server().args))
    tools = await mcp_tools(server, pins=plain.pins)
    model = ScriptedModel([act("plain_echo", text="x"), finish("done")])
    store = MemoryStore()
    result = await run(Agent(model, tools=tools), "go", store=store)
    seen = (await read(result.run_id, store=store)).call("1.1").observation
    assert seen is not None
    assert seen.text == "x"


async def test_a_server_that_writes_nothing_but_nonsense_is_told_in_one_line(
    tmp_path: Path,
) -> None:
    plain = plain_server(tmp_path / "plain")
    code = "import sys\nfor line in sys.stdin: print('{\"no', 'JSON', flush=True)"
    server = plain.server(args=("-c", code), connect_timeout=0.5)
    with pytest.raises(ConfigError, match=r"MCP server plain: it did not answer in 0\.5 s") as told:
        await mcp_tools(server, pins=plain.pins)
    assert len(str(told.value).splitlines()) == 1


@pytest.mark.slow
async def test_ten_thousand_tools_are_all_there(tmp_path: Path) -> None:
    many = [definition(f"tool{number}") for number in range(10_000)]
    plain = plain_server(tmp_path / "plain", tools=many, page=10_000)
    assert len(await mcp_tools(plain.server(), pins=plain.pins)) == 10_000


async def test_a_list_of_tools_without_an_end_is_told(tmp_path: Path) -> None:
    many = [definition(f"tool{number}") for number in range(300)]
    plain = plain_server(tmp_path / "plain", tools=many, page=1)
    told = "does not list its tools: there are more than 100 pages of them"
    with pytest.raises(ConfigError, match=told):
        await mcp_tools(plain.server(), pins=plain.pins)
    assert not plain.pins.exists()


async def observed(tools: Sequence[Tool], *moves: Move) -> list[Observation]:
    store = MemoryStore()
    result = await run(
        Agent(ScriptedModel([*moves, finish("done")]), tools=tools), "go", store=store
    )
    record = await read(result.run_id, store=store)
    return [call.observation for call in record.calls if call.observation][:-1]


@pytest.mark.parametrize(
    ("tool", "told"),
    [
        ("mute", "it closed its output"),
        ("deaf", "it closed its input"),
        ("drop", "it ended by SIGABRT"),
    ],
)
async def test_a_server_that_stops_listening_or_talking_is_left_for_a_new_one(
    tmp_path: Path, tool: str, told: str
) -> None:
    plain = plain_server(tmp_path / "plain")
    tools = await mcp_tools(plain.server(), pins=plain.pins)
    one, two, echo = await observed(
        tools, act(f"plain_{tool}"), act("plain_pid"), act("plain_echo", text="x")
    )
    lost = two if tool == "deaf" else one
    assert (lost.outcome, told in lost.text) == ("unknown", True)
    assert echo.text == "x"


async def test_a_server_that_does_not_wait_for_the_answer_to_its_question(tmp_path: Path) -> None:
    plain = plain_server(tmp_path / "plain")
    tools = await mcp_tools(plain.server(), pins=plain.pins)
    store = MemoryStore()
    agent = Agent(ScriptedModel([act("plain_hasty"), finish("done")]), tools=tools)
    async with resources():
        held = await run(agent, "go", store=store)
        assert held.pending_approvals[0].why.startswith("the MCP server plain asks: may I?")
        plain.task_goes_on()
        (echo,) = await observed(tools, act("plain_echo", text="x"))  # comes after that answer
        assert echo.text == "x"
        await rule(f"{held.run_id}:1.1", allow=True, answer={}, store=store)
        await resume(agent, held.run_id, store=store)
    seen = (await read(held.run_id, store=store)).call("1.1").observation
    assert seen is not None
    assert seen.text == "did it anyway"
    assert plain.calls == ["hasty {}", 'echo {"text": "x"}']


async def test_a_server_that_always_announces_changes_is_asked_each_time(tmp_path: Path) -> None:
    plain = plain_server(tmp_path / "plain", restless=True)
    tools = await mcp_tools(plain.server(effects={"echo": "read"}), pins=plain.pins)
    before = plain.lists
    seen = await observed(tools, *(act("plain_echo", text=text) for text in "abc"))
    assert [one.text for one in seen] == ["a", "b", "c"]
    assert plain.lists - before >= 3


async def test_two_runs_wait_for_one_list(tmp_path: Path) -> None:
    plain = plain_server(tmp_path / "plain")
    tools = await mcp_tools(plain.server(effects={"echo": "read"}), pins=plain.pins)
    before = plain.lists
    async with resources(), anyio.create_task_group() as group:
        for text in "ab":
            group.start_soon(observed, tools, act("plain_echo", text=text))
    assert sorted(plain.calls) == ['echo {"text": "a"}', 'echo {"text": "b"}']
    assert plain.lists - before == 1
