"""Servers and processes that come back: sessions are made anew, tasks asked for, prompts kept."""

import itertools
import json
import os
import signal
from pathlib import Path
from typing import Any

import anyio
import pytest

from clew import Agent, MemoryStore, read, run
from clew.core.contents import Observation
from clew.testing.models import ScriptedModel, act, acts, finish
from clew_mcp import McpServer, mcp_tools, pinned_server
from tests.mcp.servers import plain_server
from tests.mcp.web import answering, serving, shop

pytestmark = pytest.mark.anyio


async def observed(store: MemoryStore, run_id: str, call: str) -> Observation:
    found = (await read(run_id, store=store)).call(call).observation
    assert found is not None
    return found


async def test_tools_are_the_same_to_the_byte_at_first_use_and_from_the_file(
    tmp_path: Path,
) -> None:
    schema = {"type": "object", "properties": {"b": {"type": "string"}, "a": {"type": "string"}}}
    plain = plain_server(
        tmp_path / "plain", tools=[{"name": "one", "description": "One.", "inputSchema": schema}]
    )
    (first,) = await mcp_tools(plain.server(), pins=plain.pins)
    (later,) = await mcp_tools(plain.server(), pins=plain.pins)
    assert json.dumps(first.parameters) == json.dumps(later.parameters)


class Again:
    """What an application receives, with the first message once more."""

    def __init__(self, first: Any, receive: Any) -> None:
        self._left, self._receive = [first], receive

    async def __call__(self) -> Any:
        return self._left.pop() if self._left else await self._receive()


def forgetting(method: bytes, times: range, forgotten: list[bytes]) -> Any:
    """A server of the handshake era, which says at these requests that it knows no such session."""
    inner = shop().streamable_http_app()
    turn = itertools.count()
    forgets = answering((404, "application/json", b'{"error": "Session not found"}'))
    undiscovered = answering((404, "text/plain", b"what?"))

    async def app(scope: Any, receive: Any, send: Any) -> None:
        headers = dict(scope.get("headers", ()))
        if headers.get(b"mcp-method") == b"server/discover":
            await undiscovered(scope, receive, send)
            return
        first = await receive() if scope["type"] == "http" else {}
        if b'"%s"' % method in first.get("body", b"") and next(turn) in times:
            forgotten.append(headers[b"mcp-session-id"])
            await forgets(scope, Again(first, receive), send)
        else:
            await inner(scope, Again(first, receive) if first else receive, send)

    return app


async def price(app: Any, folder: Path) -> Observation:
    """What a call of the served tool is answered."""
    async with serving(app) as url:
        server = McpServer(name="shop", url=f"{url}/mcp")
        tools = await mcp_tools(server, pins=folder / "pins.json")
        model = ScriptedModel([act("shop_price", item="boat"), finish("done")])
        store = MemoryStore()
        result = await run(Agent(model, tools=tools), "go", store=store)
    return await observed(store, result.run_id, "1.1")


@pytest.mark.parametrize("anyio_backend", ["asyncio"])  # uvicorn's
@pytest.mark.parametrize(("method", "turn"), [(b"tools/call", 0), (b"tools/list", 1)])
async def test_a_session_that_the_server_has_forgotten_is_made_anew(
    tmp_path: Path, method: bytes, turn: int
) -> None:
    forgotten: list[bytes] = []
    app = forgetting(method, range(turn, turn + 1), forgotten)
    assert (await price(app, tmp_path)).content == {"price": 4}
    assert len(forgotten) == 1


@pytest.mark.parametrize("anyio_backend", ["asyncio"])  # uvicorn's
async def test_a_server_that_forgets_every_session_did_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pinned_server, "_MAX_DELAY", 0.001)
    forgotten: list[bytes] = []
    seen = await price(forgetting(b"tools/call", range(99), forgotten), tmp_path)
    assert (seen.code, seen.outcome) == ("tool_error", "not_done")
    assert "the session is over" in seen.text
    assert len(set(forgotten)) == len(forgotten) == 2


async def test_a_task_that_cannot_be_asked_for_is_unknown_and_not_undone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = plain_server(tmp_path / "plain")
    tools = await mcp_tools(plain.server(effects={"pid": "read"}), pins=plain.pins)
    store = MemoryStore()
    both = acts(act("plain_pid"), act("plain_build"))
    agent = Agent(ScriptedModel([both, finish("done")]), tools=tools)

    async def go() -> None:
        await run(agent, "go", store=store, run_id="r1")

    async with anyio.create_task_group() as group:
        group.start_soon(go)
        while not any(line.startswith("asked for") for line in plain.calls):
            await anyio.sleep(0.01)
        plain.says(handshake="die")
        monkeypatch.setattr(pinned_server, "_MAX_DELAY", 0.001)
        os.kill(int((await observed(store, "r1", "1.1")).text), signal.SIGKILL)
    built = await observed(store, "r1", "1.2")
    assert (built.ok, built.outcome) == (False, "unknown")
    assert "began, and cannot be asked for: no connection to the MCP server plain" in built.text
    assert plain.calls.count("build {}") == 1
