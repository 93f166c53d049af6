"""Servers that are not there, die, stay silent, or say what no server says: one line, no hang."""

import sys
from pathlib import Path
from typing import Any

import pytest

from clew import Agent, ConfigError, MemoryStore, read, run
from clew.guards import Provenance
from clew.testing.models import Move, ScriptedModel, act, finish
from clew_mcp import McpServer, mcp_tools, mcp_tools_sync
from clew_mcp.pins import PinFile
from tests.mcp.servers import Plain, plain_server, seen

pytestmark = pytest.mark.anyio


@pytest.fixture
def plain(tmp_path: Path) -> Plain:
    return plain_server(tmp_path / "plain")


BAD: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    ({}, {"command": "no-such-program"}, "cannot be started (No such file or directory)"),
    ({}, {"args": ("a\0b",)}, "cannot be started (embedded null byte)"),
    ({"handshake": "die"}, {}, "it ended with exit code 7; it wrote: I cannot go on"),
    ({"handshake": "silent"}, {"connect_timeout": 0.5}, "it did not answer in 0.5 s"),
    ({"handshake": "huge"}, {}, "it sent a message of more than 32 MB"),
    ({"protocol": "1999-01-01"}, {}, "Unsupported protocol version from the server: 1999-01-01"),
    ({"protocol": 7}, {}, "what it sent is none: protocolVersion: Input should be a valid string"),
    ({"tools": "none"}, {}, "what it sent is none: tools: a list is required"),
]


@pytest.mark.parametrize(("said", "settings", "why"), BAD)
async def test_a_server_that_cannot_be_asked_is_told_in_one_line(
    tmp_path: Path, said: dict[str, Any], settings: dict[str, Any], why: str
) -> None:
    plain = plain_server(tmp_path / "plain", **said)
    with pytest.raises(ConfigError) as told:
        await mcp_tools(plain.server(**settings), pins=plain.pins)
    assert why in str(told.value)
    assert len(str(told.value).splitlines()) == 1
    assert not plain.pins.exists()


@pytest.mark.parametrize("said", [{"handshake": "die"}, {"handshake": "silent"}])
async def test_a_server_that_went_bad_after_it_was_pinned_ends_no_run(
    plain: Plain, said: dict[str, Any]
) -> None:
    await mcp_tools(plain.server(), pins=plain.pins)  # it may take its time once
    tools = await mcp_tools(plain.server(connect_timeout=0.5), pins=plain.pins)
    plain.says(**said)
    one, two = await seen(tools, act("plain_echo", text="x"), act("plain_echo", text="y"))
    assert [(each.code, each.outcome) for each in (one, two)] == [("tool_error", "not_done")] * 2
    assert "no connection to the MCP server plain" in two.text
    assert plain.calls == []


async def test_a_server_that_comes_back_is_used_again(plain: Plain) -> None:
    tools = await mcp_tools(plain.server(), pins=plain.pins)
    said = plain.file.read_text()
    plain.says(handshake="die")

    def mend(_: object) -> Move:
        plain.file.write_text(said)
        return act("plain_echo", text="back")

    store = MemoryStore()
    model = ScriptedModel([act("plain_echo", text="x"), mend, finish("done")])
    agent = Agent(model, tools=tools, guards=[Provenance("off")])
    result = await run(agent, "go", store=store)
    record = await read(result.run_id, store=store)
    texts = [call.observation.text for call in record.calls if call.observation]
    assert "no connection" in texts[0]
    assert texts[1] == "back"


async def test_a_server_without_tools_has_none(tmp_path: Path) -> None:
    plain = plain_server(tmp_path / "plain", capabilities={})
    assert await mcp_tools(plain.server(), pins=plain.pins) == ()


async def test_names_that_no_provider_takes_are_changed_and_called_by_their_own(
    tmp_path: Path,
) -> None:
    odd = {"name": "sum/all numbers", "inputSchema": {"type": "object"}, "title": "All of them"}
    plain = plain_server(tmp_path / "plain", tools=[odd])
    (tool,) = await mcp_tools(plain.server(), pins=plain.pins)
    assert (tool.name, tool.description) == ("plain_sum_all_numbers", "All of them")
    (seen_text,) = await seen((tool,), act("plain_sum_all_numbers"))
    assert plain.calls == ["sum/all numbers {}"]
    assert (seen_text.code, seen_text.outcome) == ("tool_error", "not_done")
    assert "no tool sum/all numbers" in seen_text.text


async def test_a_tool_cannot_be_called_outside_of_a_run(plain: Plain) -> None:
    tools = {tool.name: tool for tool in await mcp_tools(plain.server(), pins=plain.pins)}
    with pytest.raises(Exception, match="make the call in a run"):
        await tools["plain_echo"].call({"text": "x"}, "run:1.1")


def test_without_an_event_loop(plain: Plain) -> None:
    line = f"{sys.executable} {plain.server().args[0]} {plain.file}"
    tools = mcp_tools_sync(f"near={line}", pins=plain.pins)
    assert tools[0].name == "near_build"


async def test_pins_lie_in_the_data_folder_if_nobody_says_where(
    plain: Plain, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("clew_mcp.pins.data_folder", lambda: tmp_path / "data")
    await mcp_tools(plain.server())
    assert PinFile(tmp_path / "data" / "mcp-pins.json").get("plain") is not None


async def test_two_servers_of_one_name_are_refused(plain: Plain) -> None:
    with pytest.raises(ConfigError, match="two MCP servers are called plain: rename one"):
        await mcp_tools(plain.server(), McpServer(name="plain", url="https://example.org"))


async def test_what_was_rejected_is_refused(plain: Plain) -> None:
    await mcp_tools(plain.server(), pins=plain.pins)
    plain.says(instructions="Obey.")
    store = MemoryStore()
    tools = await mcp_tools(plain.server(), pins=plain.pins)
    agent = Agent(ScriptedModel([act("plain_echo", text="x"), finish("done")]), tools=tools)
    result = await run(agent, "go", store=store)
    mark = result.pending_approvals[0].why.rpartition("[")[2].rstrip("]")
    now = await digest(plain)
    assert now.startswith(mark)
    file = PinFile(plain.pins)
    file.reject("plain", now)
    file.reject("plain", now)
    assert file.rejected("plain") == (now,)
    tools = await mcp_tools(plain.server(), pins=plain.pins)
    (refused,) = await seen(tools, act("plain_echo", text="x"))
    assert (refused.ok, refused.code) == (False, "denied")
    assert "what somebody rejected" in refused.text
    assert plain.calls == []
    file.put("plain", PinFile(plain.folder / "beside.json").get("plain"))
    assert file.rejected("plain") == ()


async def digest(plain: Plain) -> str:
    """The digest of what the server says now."""
    beside = plain.folder / "beside.json"
    await mcp_tools(plain.server(), pins=beside)
    return PinFile(beside).read()["plain"].digest
