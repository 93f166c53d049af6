"""Servers with a tool or a cursor of no use: the others work, and what is left out is named."""

import json
import logging
import sys
from pathlib import Path
from typing import Any

import pytest

from clew import Agent, MemoryStore, Tool, read, run
from clew.testing.models import ScriptedModel, act, finish
from clew_mcp import McpServer, mcp_tools

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.parametrize("anyio_backend", ["asyncio"]),  # what is read is read without a loop
]

SERVER = """\
import json, sys
pages = json.loads(open(sys.argv[1]).read())
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    params = message.get("params") or {}
    result = {
        "initialize": {
            "protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
            "serverInfo": {"name": "odd", "version": "1"},
        },
        "tools/list": pages.get(json.dumps(params.get("cursor"))),
        "tools/call": {"content": [{"type": "text", "text": "called " + params.get("name", "")}],
                       "structuredContent": {}},
    }.get(message["method"])
    answer = {"result": result} if result is not None else {
        "error": {"code": -32602, "message": "unknown"}}
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer}) + "\\n")
    sys.stdout.flush()
"""


def paged(folder: Path, **pages: Any) -> McpServer:
    """A server whose list has these pages, each under the cursor that leads to it."""
    said = folder / "pages.json"
    first = {json.dumps(None): pages.pop("first")}
    said.write_text(json.dumps({**first, **{json.dumps(name): pages[name] for name in pages}}))
    return McpServer(name="odd", command=sys.executable, args=("-c", SERVER, str(said)))


def tool(name: Any, **more: Any) -> dict[str, Any]:
    return {"name": name, "description": "Do it.", "inputSchema": {"type": "object"}, **more}


def taking(**argument: Any) -> dict[str, Any]:
    """A tool called `bent` with an argument of this schema."""
    return tool("bent", inputSchema={"type": "object", "properties": {"x": argument}})


def nested(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(levels):
        schema = {"type": "object", "properties": {"x": schema}}
    return schema


async def works(tools: tuple[Tool, ...], *names: str) -> None:
    """Each of these tools can be called in a run."""
    store = MemoryStore()
    moves = [act(name) for name in names]
    agent = Agent(ScriptedModel([*moves, finish("done")]), tools=tools)
    ended = await run(agent, "go", store=store)
    assert ended.status == "answered"
    seen = [call.observation for call in (await read(ended.run_id, store=store)).calls]
    texts = [each.text.partition("\n")[0] for each in seen if each is not None]
    assert texts[: len(names)] == [f"called {name.removeprefix('odd_')}" for name in names]


def told(caplog: pytest.LogCaptureFixture) -> list[str]:
    """What is said of the server beside that it was pinned."""
    lines = [record.getMessage() for record in caplog.records if record.name == "clew"]
    return [line for line in lines if "at first use" not in line]


UNUSABLE: dict[str, Any] = {
    "no inputSchema": {"name": "bent", "description": "Do it."},
    "inputSchema null": tool("bent", inputSchema=None),
    "inputSchema a text": tool("bent", inputSchema="object"),
    "inputSchema a list": tool("bent", inputSchema=[{"type": "object"}]),
    "inputSchema true": tool("bent", inputSchema=True),
    "a text as arguments": tool("bent", inputSchema={"type": "string"}),
    "a list as arguments": tool("bent", inputSchema={"type": "array", "items": {}}),
    "dangling reference": taking(**{"$ref": "#/$defs/none"}),
    "reference to elsewhere": taking(**{"$ref": "http://127.0.0.1:9/schema"}),
    "broken pattern": taking(type="string", pattern="("),
    "a number as reference": taking(**{"$ref": 7}),
    "length a text": taking(type="string", minLength="long"),
    "anyOf an object": taking(anyOf={"type": "string"}),
    "properties a list": tool("bent", inputSchema={"type": "object", "properties": ["x"]}),
    "required a text": tool("bent", inputSchema={"type": "object", "required": "x"}),
    "required numbers": tool("bent", inputSchema={"type": "object", "required": [7]}),
    "outputSchema a text": tool("bent", outputSchema="object"),
    "outputSchema a list": tool("bent", outputSchema=[]),
    "outputSchema of unknown type": tool("bent", outputSchema={"type": "objekt"}),
    "outputSchema dangling": tool("bent", outputSchema={"$ref": "#/$defs/none"}),
    "bounds of draft 4": taking(type="integer", minimum=0, exclusiveMinimum=True),
    "of 600 KB": tool("bent", description="x" * 600_000),
}


@pytest.mark.parametrize("bent", UNUSABLE.values(), ids=UNUSABLE)
async def test_a_tool_that_cannot_be_used_is_left_out_and_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, bent: Any
) -> None:
    caplog.set_level(logging.WARNING, "clew")
    server = paged(tmp_path, first={"tools": [tool("one"), bent, tool("two")]})
    tools = await mcp_tools(server, pins=tmp_path / "pins.json")
    assert [each.name for each in tools] == ["odd_one", "odd_two"]
    (line,) = told(caplog)
    assert "bent" in line
    assert "left out: " in line
    assert len(line) < 400
    await works(tools, "odd_one", "odd_two")


NAMELESS: dict[str, Any] = {
    "no name": {"description": "Do it.", "inputSchema": {"type": "object"}},
    "empty name": tool(""),
    "blank name": tool(" \t"),
    "name a number": tool(7),
    "name null": tool(None),
    "name a list": tool(["bent"]),
    "a text": "bent",
    "a number": 7,
    "null": None,
    "an empty list": [],
    "a list of tools": [tool("bent")],
    "an empty object": {},
}


@pytest.mark.parametrize("bent", NAMELESS.values(), ids=NAMELESS)
async def test_what_has_no_name_is_left_out_and_quoted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, bent: Any
) -> None:
    caplog.set_level(logging.WARNING, "clew")
    server = paged(tmp_path, first={"tools": [tool("one"), bent, tool("two")]})
    tools = await mcp_tools(server, pins=tmp_path / "pins.json")
    assert [each.name for each in tools] == ["odd_one", "odd_two"]
    (line,) = told(caplog)
    assert "a tool without a name is left out: " in line
    await works(tools, "odd_two", "odd_one")


USABLE: dict[str, Any] = {
    "outputSchema without type": tool("bent", outputSchema={"properties": {"x": {}}}),
    "type of another language": taking(type="objekt"),
    "unknown format": taking(type="string", format="colour"),
    "unknown keyword": taking(type="string", colour="red"),
    "description a number": tool("bent", description=7),
    "no description": {"name": "bent", "inputSchema": {"type": "object"}},
    "title a list": tool("bent", title=["x"]),
    "annotations a text": tool("bent", annotations="readOnly"),
    "execution a text": tool("bent", execution="task"),
    "meta a list": tool("bent", _meta=[]),
    "icons a text": tool("bent", icons="x.png"),
    "of a draft unheard of": tool("bent", inputSchema={"type": "object", "$schema": "urn:none"}),
    "pattern of ECMA": taking(type="string", pattern=r"^\p{L}+$"),
    "null beside": tool("bent", outputSchema=None, annotations=None, title=None),
    "inputSchema empty": tool("bent", inputSchema={}),
    "in the words of others too": tool("bent", parameters={"type": "string"}),
    "nested deeply": tool("bent", inputSchema=nested(50)),
}


@pytest.mark.parametrize("bent", USABLE.values(), ids=USABLE)
async def test_a_tool_that_is_merely_unusual_is_used(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, bent: Any
) -> None:
    caplog.set_level(logging.WARNING, "clew")
    server = paged(tmp_path, first={"tools": [tool("one"), bent, tool("two")]})
    tools = await mcp_tools(server, pins=tmp_path / "pins.json")
    assert sorted(each.name for each in tools) == ["odd_bent", "odd_one", "odd_two"]
    assert told(caplog) == []
    await works(tools, "odd_bent", "odd_two")


@pytest.mark.parametrize(
    ("name", "called"),
    [
        ("a/b", "odd_a_b"),
        ("a b", "odd_a_b"),
        ("天気", "odd___"),
        ("🙂", "odd__"),
        ("x" * 90, "odd_" + "x" * 60),
        ("a\nb", "odd_a_b"),
        ("finish", "odd_finish"),
        ("a.b", "odd_a.b"),
        ("é", "odd_e"),
        ("\x1b[31mred", "odd___31mred"),
        ("\ud800", "odd__"),
        ("one/", "odd_one_"),
        ("One", "odd_One"),
    ],
)
async def test_a_tool_of_an_odd_name_is_called_by_it(
    tmp_path: Path, name: str, called: str
) -> None:
    server = paged(tmp_path, first={"tools": [tool("one"), tool(name), tool("two")]})
    tools = await mcp_tools(server, pins=tmp_path / "pins.json")
    assert sorted(each.name for each in tools) == sorted(["odd_one", "odd_two", called])
    store = MemoryStore()
    agent = Agent(ScriptedModel([act(called), act("odd_two"), finish("done")]), tools=tools)
    ended = await run(agent, "go", store=store)
    seen = [call.observation for call in (await read(ended.run_id, store=store)).calls]
    assert [each.ok for each in seen if each is not None] == [True] * 3
    assert seen[0] is not None
    assert json.dumps(seen[0].text)[1:-1].isascii()


def page(*names: str, **more: Any) -> dict[str, Any]:
    return {"tools": [tool(name) for name in names], **more}


ENDS: dict[str, tuple[dict[str, Any], list[str], str]] = {
    "empty": ({"first": page("one", nextCursor="")}, ["one"], "its cursor is empty"),
    "a number": ({"first": page("one", nextCursor=1)}, ["one"], "its cursor is not a text"),
    "a list": ({"first": page("one", nextCursor=["a"])}, ["one"], "its cursor is not a text"),
    "false": ({"first": page("one", nextCursor=False)}, ["one"], "its cursor is not a text"),
    "repeated": (
        {"first": page("one", nextCursor="a"), "a": page("two", nextCursor="a")},
        ["one", "two"],
        "its cursor repeats",
    ),
    "a circle": (
        {
            "first": page("one", nextCursor="a"),
            "a": page("two", nextCursor="b"),
            "b": page("three", nextCursor="a"),
        },
        ["one", "three", "two"],
        "its cursor repeats",
    ),
    "passed over": (
        {
            "first": page("one", nextCursor="0"),
            **{str(n): page("one", nextCursor=str(n + 1)) for n in range(200)},
        },
        ["one"],
        "its next pages say nothing new",
    ),
    "only empty pages": (
        {
            "first": page("one", nextCursor="0"),
            **{str(n): page(nextCursor=str(n + 1)) for n in range(200)},
        },
        ["one"],
        "its next pages say nothing new",
    ),
    "refused": ({"first": page("one", nextCursor="gone")}, ["one"], "its cursor is refused"),
    "leads to no list": (
        {"first": page("one", nextCursor="a"), "a": {"tools": "none"}},
        ["one"],
        "its next page is not a list",
    ),
    "leads to nothing": (
        {"first": page("one", "two", nextCursor="a"), "a": {}},
        ["one", "two"],
        "its next page is not a list",
    ),
    "null": ({"first": page("one", nextCursor=None)}, ["one"], ""),
    "an empty page between": (
        {"first": page(nextCursor="a"), "a": page(nextCursor="b"), "b": page("one")},
        ["one"],
        "",
    ),
    "a page once more": (
        {
            "first": page("one", nextCursor="a"),
            "a": page("one", nextCursor="b"),
            "b": page("two"),
        },
        ["one", "two"],
        "",
    ),
}


@pytest.mark.parametrize(("pages", "names", "why"), ENDS.values(), ids=ENDS)
async def test_a_list_ends_where_its_cursor_leads_nowhere(
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    pages: dict[str, Any],
    names: list[str],
    why: str,
) -> None:
    caplog.set_level(logging.WARNING, "clew")
    tools = await mcp_tools(paged(tmp_path, **pages), pins=tmp_path / "pins.json")
    assert [each.name for each in tools] == [f"odd_{name}" for name in names]
    lines = [f"MCP server odd: the list of tools ends here: {why}"] if why else []
    assert told(caplog) == lines
    await works(tools, *(f"odd_{name}" for name in names))


@pytest.mark.parametrize(
    "pages",
    [
        {"first": {"tools": [tool("one"), tool("two"), tool("two", title="No.")]}},
        {"first": {"tools": [tool("two"), tool("one"), tool("two", annotations={})]}},
        {"first": page("one", "two", nextCursor="a"), "a": {"tools": [tool("two", title="x")]}},
    ],
)
async def test_of_two_tools_of_one_name_there_is_none(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, pages: dict[str, Any]
) -> None:
    caplog.set_level(logging.WARNING, "clew")
    tools = await mcp_tools(paged(tmp_path, **pages), pins=tmp_path / "pins.json")
    assert [each.name for each in tools] == ["odd_one"]
    assert told(caplog) == [
        "MCP server odd: left out: two published tools are called odd_two: leave one out"
    ]
    await works(tools, "odd_one")


async def test_a_tool_that_comes_twice_is_there_once(tmp_path: Path) -> None:
    server = paged(tmp_path, first=page("one", "two", "two"))
    tools = await mcp_tools(server, pins=tmp_path / "pins.json")
    assert [each.name for each in tools] == ["odd_one", "odd_two"]
