"""Servers that die at any method: one clear line before a run, one failed call within it."""

import json
import re
import shlex
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.abc
import pytest

from clew import Agent, ConfigError, MemoryStore, read, run
from clew.testing.models import ScriptedModel, act, finish
from clew_mcp import McpServer, mcp_tools
from tests.cli.shell import clew
from tests.mcp.dying_server import RESULTS

pytestmark = pytest.mark.anyio

SCRIPT = Path(__file__).with_name("dying_server.py")
NO_MESSAGE = "its answer is not a message of the protocol"
NO_LIST = "does not list its tools"


def frail(method: str, how: str, **more: Any) -> McpServer:
    args = (str(SCRIPT), method, how)
    return McpServer(name="frail", command=sys.executable, args=args, connect_timeout=20.0, **more)


async def told_of(server: McpServer, folder: Path) -> str:
    """What is told of a server that cannot be asked, without its address."""
    with pytest.raises(ConfigError) as told:
        await mcp_tools(server, pins=folder / "pins.json")
    (line,) = str(told.value).splitlines()
    assert not (folder / "pins.json").exists()
    return line.rpartition(" (")[0]


@pytest.mark.parametrize(
    ("how", "why"),
    [
        ("exit", "it ended with exit code 0"),
        ("words", "it ended with exit code 1; it wrote: no token / I give up"),
        ("kill", "it ended by SIGKILL"),
        ("half", "it ended with exit code 1"),
        ("close", "it closed its output"),
    ],
)
@pytest.mark.parametrize(
    "method", ["initialize", "notifications/initialized", "tools/list", "tools/list#2"]
)
async def test_a_server_that_dies_before_it_is_pinned_is_told_with_its_reason(
    tmp_path: Path, method: str, how: str, why: str
) -> None:
    told = await told_of(frail(method, how), tmp_path)
    assert "the MCP server frail" in told
    if method == "notifications/initialized":  # whichever pipe is seen to be closed first
        why = f"{why}|it closed its input"
    assert re.search(f": ({why})", told)


@pytest.mark.parametrize(
    ("method", "how", "told"),
    [
        ("initialize", "null", f"no connection to the MCP server frail: {NO_MESSAGE}"),
        ("initialize", "[]", f"no connection to the MCP server frail: {NO_MESSAGE}"),
        ("tools/list", "null", f"{NO_LIST}: {NO_MESSAGE}"),
        ("tools/list", '"none"', f"{NO_LIST}: {NO_MESSAGE}"),
        ("tools/list", "{}", f"{NO_LIST}: what it sent is none: tools: a list is required"),
    ],
)
async def test_an_answer_that_is_none_is_told(
    tmp_path: Path, method: str, how: str, told: str
) -> None:
    assert told in await told_of(frail(method, how), tmp_path)


async def test_a_list_that_never_comes_is_told_with_the_time(tmp_path: Path) -> None:
    code = SCRIPT.read_text("utf-8").replace("die(how, number)", "continue")
    args = ("-c", code, "tools/list", "")
    for seconds in (1, 4, 16, 64):
        server = McpServer(name="mute", command=sys.executable, args=args, connect_timeout=seconds)
        told = await told_of(server, tmp_path)
        if "no connection" not in told:  # else the machine is busy: it took as long to start
            break
    assert f"the MCP server mute does not list its tools: it did not answer in {seconds} s" in told


@pytest.mark.parametrize("how", ["exit", "words", "kill", "half", "close"])
async def test_a_server_that_dies_at_prompts_and_resources_fails_that_call(
    tmp_path: Path, how: str
) -> None:
    """Each call meets a new process, which lists its tools once and dies at that method."""
    store = MemoryStore()
    ways: list[tuple[str, str, dict[str, Any]]] = [
        ("prompts/list", "list_prompts", {}),
        ("prompts/get", "get_prompt", {"name": "greet"}),
        ("resources/list", "list_resources", {}),
        ("resources/read", "read_resource", {"uri": "file:///a"}),
    ]
    for method, tool, args in ways:
        server = frail(method, how, prompts=True, resources=True)
        tools = await mcp_tools(server, pins=tmp_path / f"{tool}.json")
        moves = [act(f"frail_{tool}", **args), act("frail_one"), finish("done")]
        result = await run(Agent(ScriptedModel(moves), tools=tools), "go", store=store)
        record = await read(result.run_id, store=store)
        dead, next_call = (record.call(key).observation for key in ("1.1", "2.1"))
        assert dead is not None
        assert next_call is not None
        assert (dead.ok, dead.outcome, next_call.text) == (False, "not_done", "hello")
        assert "the MCP server frail went away in mid-call: it " in dead.text


def test_a_command_says_it_in_one_line() -> None:
    line = shlex.join((sys.executable, str(SCRIPT), "tools/list", "words"))
    done = clew("mcp", "list", "--mcp", f"frail={line}")
    assert (done.code, done.out, len(done.err.splitlines())) == (2, "", 1), done.err
    assert "the MCP server frail" in done.err
    assert ": it ended with exit code 1; it wrote: no token / I give up" in done.err


# ---------------------------------------------------------------- over HTTP

HEAD = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: "


def answer(value: bytes) -> bytes:
    return HEAD + b"application/json\r\nContent-Length: %d\r\n\r\n" % len(value) + value


@asynccontextmanager
async def dying_at(method: str, last: bytes) -> AsyncGenerator[str]:
    """A server at a URL that sends `last` when it is asked for this method, and hangs up."""

    async def serve(client: anyio.abc.ByteStream) -> None:
        async with client:
            body = await _request(client)
            message = json.loads(body or "{}")
            asked, number = message.get("method"), message.get("id")
            if asked == method:
                said = last
            elif asked in RESULTS:
                result = {"jsonrpc": "2.0", "id": number, "result": RESULTS[asked]}
                said = answer(json.dumps(result).encode())
            else:
                status = b"404 Not Found" if number is not None or not body else b"202 Accepted"
                said = b"HTTP/1.1 " + status + b"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            await client.send(said)

    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    port = listener.extra(anyio.abc.SocketAttribute.local_port)
    async with listener, anyio.create_task_group() as group:
        group.start_soon(listener.serve, serve)
        yield f"http://127.0.0.1:{port}/mcp"
        group.cancel_scope.cancel()


async def _request(client: anyio.abc.ByteStream) -> bytes:
    """The body of one request."""
    got = b""
    try:
        while b"\r\n\r\n" not in got:
            got += await client.receive()
        head, _, body = got.partition(b"\r\n\r\n")
        sizes = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length")]
        size = int(sizes[0].partition(b":")[2]) if sizes else 0
        while len(body) < size:
            body += await client.receive()
    except anyio.EndOfStream:
        return b""
    return body


@pytest.mark.parametrize(
    ("last", "why"),
    [
        (b"", "Server disconnected without sending a response"),
        (b"HTTP/1.1 200 O", "Server disconnected without sending a response"),
        (HEAD + b'application/json\r\nContent-Length: 500\r\n\r\n{"json', "peer closed connection"),
        (HEAD + b"text/event-stream\r\n\r\n", "SSE stream ended without a response"),
        (HEAD + b'text/event-stream\r\n\r\ndata: {"jso', "SSE stream ended without a response"),
        (HEAD + b"text/html\r\n\r\n<html>", "Unexpected content type: text/html"),
        (answer(b""), "its answer is not a message of the protocol: (nothing)"),
        (answer(b"<html>\nGood day"), "its answer is not a message of the protocol: <html>"),
        (b"HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n", "HTTP 500 Internal Server Error"),
    ],
)
@pytest.mark.parametrize("method", ["initialize", "tools/list"])
async def test_a_server_at_a_url_that_dies_is_told_with_its_reason(
    tmp_path: Path, method: str, last: bytes, why: str
) -> None:
    async with dying_at(method, last) as url:
        told = await told_of(McpServer(name="frail", url=url, connect_timeout=20.0), tmp_path)
    assert why in told
    assert "\\n" not in told
    assert "the MCP server frail" in told
