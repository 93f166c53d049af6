"""Frames that are no messages and sessions that are refused: each fails its own call, at once."""

import sys
from pathlib import Path
from typing import Any

import pytest

from clew import Agent, ConfigError, MemoryStore, read, run
from clew.core.contents import Observation
from clew.testing.models import ScriptedModel, act, finish
from clew_mcp import McpServer, mcp_tools
from tests.mcp.test_restarts import Again
from tests.mcp.web import answering, serving, shop

pytestmark = pytest.mark.anyio

SERVER = r"""
import json, os, sys
answer = bytes.fromhex(sys.argv[1])
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    if message["method"] == "tools/call":
        os.write(1, answer.replace(b"ID", str(message["id"]).encode()) + b"\n")
        continue
    tool = {"name": "a", "inputSchema": {"type": "object"}}
    result = {"initialize": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
              "serverInfo": {"name": "odd", "version": "1"}},
              "tools/list": {"tools": [tool]}}.get(message["method"])
    said = {"result": result} if result else {"error": {"code": -32601, "message": "unknown"}}
    os.write(1, json.dumps({"jsonrpc": "2.0", "id": message["id"], **said}).encode() + b"\n")
"""
HEAD = b'{"jsonrpc": "2.0", "id": ID, '
TEXT = b'"result": {"content": [{"type": "text", "text": "hello %s"}]}}'


async def answered(folder: Path, frame: bytes) -> Observation:
    server = McpServer(name="odd", command=sys.executable, args=("-c", SERVER, frame.hex()))
    tools = await mcp_tools(server, pins=folder / "pins.json")
    store = MemoryStore()
    agent = Agent(ScriptedModel([act("odd_a"), finish("done")]), tools=tools)
    ended = await run(agent, "go", store=store)
    seen = (await read(ended.run_id, store=store)).call("1.1").observation
    assert seen is not None
    return seen


@pytest.mark.parametrize(
    "piece",
    [rb"\ud83d", rb"\ude00", rb"\ude00\ud83d", b"\xff", b"\xed\xa0\xbd", b"\xf0\x9f\x98", b"\xc0"],
)
async def test_half_a_character_does_not_cost_the_result(tmp_path: Path, piece: bytes) -> None:
    seen = await answered(tmp_path, HEAD + TEXT % piece)
    assert (seen.ok, seen.outcome) == (True, "done")
    assert seen.text.startswith("hello \ufffd")


@pytest.mark.parametrize(
    "frame",
    [
        HEAD + b'"result": {"content": [',
        HEAD + b'"result": {"content": []}',
        HEAD + b'"result": 7}',
        HEAD + b'"outcome": {}}',
        HEAD + b"'result': {}}",
        b'{"result": {"content": [NaN,]}, "jsonrpc": "2.0", "id": ID',
    ],
)
async def test_a_broken_answer_fails_its_own_call_at_once(tmp_path: Path, frame: bytes) -> None:
    seen = await answered(tmp_path, frame)
    assert (seen.ok, seen.outcome) == (False, "unknown")
    assert "not a message of the protocol" in seen.text or "no answer" in seen.text


@pytest.mark.parametrize(
    ("frame", "says"),
    [
        (b'"error": "no"}', "no"),
        (b'"error": {"message": "no"}}', "no"),
        (b'"error": {"code": "x"}}', '{"code": "x"}'),
    ],
)
async def test_an_error_of_another_kind_keeps_what_it_says(
    tmp_path: Path, frame: bytes, says: str
) -> None:
    seen = await answered(tmp_path, HEAD + frame)
    assert (seen.ok, seen.outcome) == (False, "unknown")
    assert f"the MCP server odd says: {says}" in seen.text


def restarted(method: bytes, answer: tuple[int, str, bytes], forgotten: list[bytes]) -> Any:
    """A server that refuses the session of the first request of this method, for ever."""
    inner = shop().streamable_http_app()
    refuses = answering(answer)
    undiscovered = answering((404, "text/plain", b"what?"))

    async def app(scope: Any, receive: Any, send: Any) -> None:
        headers = dict(scope.get("headers", ()))
        if headers.get(b"mcp-method") == b"server/discover":
            await undiscovered(scope, receive, send)
            return
        first = await receive() if scope["type"] == "http" else {}
        session = headers.get(b"mcp-session-id", b"")
        if session and b'"%s"' % method in first.get("body", b"") and not forgotten:
            forgotten.append(session)
        if session in forgotten:
            await refuses(scope, Again(first, receive), send)
        else:
            await inner(scope, Again(first, receive) if first else receive, send)

    return app


JSON_RPC = (
    b'{"jsonrpc": "2.0", "id": null, "error": {"code": %d, "message": "Bad Request: no session"}}'
)
REFUSALS = [
    (400, "application/json", JSON_RPC % -32000),
    (400, "application/json", JSON_RPC % -32600),
    (400, "text/plain", b"No valid session ID provided"),
    (404, "application/json", JSON_RPC % -32001),
    (404, "text/plain", b""),
    (409, "text/plain", b""),
    (410, "text/plain", b""),
    (422, "application/json", b'{"detail": "session"}'),
]


@pytest.mark.parametrize("anyio_backend", ["asyncio"])  # uvicorn's
@pytest.mark.parametrize("refusal", REFUSALS)
async def test_a_refused_session_is_begun_anew(
    tmp_path: Path, refusal: tuple[int, str, bytes]
) -> None:
    seen = await prices(restarted(b"tools/call", refusal, []), tmp_path)
    assert [each.content for each in seen] == [{"price": 4}, {"price": 3}]


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("status", [500, 502, 503])
async def test_a_call_that_may_have_been_begun_is_not_repeated_and_the_next_one_works(
    tmp_path: Path, status: int
) -> None:
    one, two = await prices(restarted(b"tools/call", (status, "text/plain", b""), []), tmp_path)
    assert (one.ok, one.outcome) == (False, "unknown")
    assert two.content == {"price": 3}


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_list_that_is_refused_begins_a_new_session(tmp_path: Path) -> None:
    refusal = (503, "text/plain", b"")
    seen = await prices(restarted(b"tools/list", refusal, [b"none"]), tmp_path)
    assert [each.content for each in seen] == [{"price": 4}, {"price": 3}]


async def prices(app: Any, folder: Path) -> list[Observation]:
    async with serving(app) as url:
        tools = await mcp_tools(McpServer(name="shop", url=f"{url}/mcp"), pins=folder / "pins")
        moves = [act("shop_price", item=item) for item in ("boat", "car")]
        store = MemoryStore()
        ended = await run(
            Agent(ScriptedModel([*moves, finish("done")]), tools=tools), "go", store=store
        )
        record = await read(ended.run_id, store=store)
    return [call.observation for call in record.calls if call.observation][:2]


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("status", [400, 404, 405])
async def test_a_server_of_the_old_transport_is_named(tmp_path: Path, status: int) -> None:
    stream = answering((200, "text/event-stream", b"event: endpoint\ndata: /messages\n\n"))
    refuses = answering((status, "text/plain", b""))

    async def app(scope: Any, receive: Any, send: Any) -> None:
        get = scope.get("method") == "GET" or scope["type"] == "lifespan"
        await (stream if get else refuses)(scope, receive, send)

    async with serving(app) as url:
        with pytest.raises(ConfigError, match="old transport HTTP") as told:
            await mcp_tools(McpServer(name="old", url=f"{url}/sse"), pins=tmp_path / "pins")
    assert len(str(told.value).splitlines()) == 1
