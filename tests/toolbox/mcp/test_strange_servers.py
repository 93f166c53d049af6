"""Servers that send no JSON, list thousands of tools, or list them for ever."""

from pathlib import Path

import pytest

from clew import Agent, ConfigError, MemoryStore, read, run
from clew.testing.models import ScriptedModel, act, finish
from clew.toolbox.mcp import mcp_tools
from tests.toolbox.mcp.servers import definition, plain_server

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
    with pytest.raises(ConfigError, match=r"the MCP server plain: it did not answer in 0\.5 s$"):
        await mcp_tools(server, pins=plain.pins)


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
