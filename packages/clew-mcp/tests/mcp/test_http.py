"""Servers at a URL, in both eras of the protocol; what is known of a call that HTTP swallowed."""

import gzip
import json
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp.server.lowlevel.server import Server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler
from mcp.shared.exceptions import MCPError

from clew import Agent, ConfigError, MemoryStore, read, resume, rule, run
from clew.testing.models import ScriptedModel, act, finish
from clew_mcp import McpServer, mcp_tools
from tests.mcp.servers import seen
from tests.mcp.web import answering, serving, shop

pytestmark = pytest.mark.parametrize("anyio_backend", ["asyncio"])  # uvicorn's


@pytest.fixture
def pins(tmp_path: Path) -> Path:
    return tmp_path / "pins.json"


def app_of(era: str) -> Any:
    """The SDK's server; of the handshake era, it knows nothing of the other."""
    server = shop()
    if era == "stateless":
        return server.streamable_http_app()
    inner = server.streamable_http_app()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        headers = dict(scope.get("headers", ()))
        if headers.get(b"mcp-method") == b"server/discover":
            await answering((404, "text/plain", b"what?"))(scope, receive, send)
        else:
            await inner(scope, receive, send)

    return app


@pytest.mark.parametrize("era", ["handshake", "stateless"])
async def test_a_server_at_a_url(pins: Path, era: str) -> None:
    async with serving(app_of(era)) as url:
        server = McpServer(name="shop", url=f"{url}/mcp", headers={"x-mine": "1"})
        tools = await mcp_tools(server, pins=pins)
        price, three, broken = await seen(
            tools, act("shop_price", item="boat"), act("shop_count"), act("shop_broken")
        )
    assert price.content == {"price": 4}
    assert three.text == "three"
    assert (broken.ok, broken.code) == (False, "tool_error")
    assert "no luck" in broken.text or "broken" in broken.text


@pytest.mark.parametrize("era", ["handshake", "stateless"])
async def test_a_question_over_http_holds_the_call(pins: Path, era: str) -> None:
    async with serving(app_of(era)) as url:
        tools = await mcp_tools(McpServer(name="shop", url=f"{url}/mcp"), pins=pins)
        store = MemoryStore()
        agent = Agent(ScriptedModel([act("shop_order", item="boat"), finish("done")]), tools=tools)
        result = await run(agent, "go", store=store)
        (waiting,) = result.pending_approvals
        assert "which size of boat?" in waiting.why
        await rule(f"{result.run_id}:{waiting.call}", allow=True, answer={"size": 3}, store=store)
        result = await resume(agent, result.run_id, store=store)
    record = await read(result.run_id, store=store)
    order = record.call("1.1").observation
    assert order is not None
    assert order.text == "boat of size 3"


async def test_a_change_that_is_announced_over_http_is_held(pins: Path) -> None:
    async with serving(app_of("stateless")) as url:
        tools = await mcp_tools(McpServer(name="shop", url=f"{url}/mcp"), pins=pins)
        moves = [act("shop_extend"), act("shop_price", item="x"), finish("done")]
        agent = Agent(ScriptedModel(moves), tools=tools)
        result = await run(agent, "go", store=MemoryStore())
    assert result.status == "held"
    assert "tool added: added" in result.pending_approvals[0].why


@pytest.mark.parametrize("most", [0, 1])
async def test_a_server_that_does_not_go_on_telling_of_changes_is_asked(
    pins: Path, most: int
) -> None:
    """Whether it does not begin to, or ends the stream in which it did."""
    listen = ListenHandler(InMemorySubscriptionBus(), max_subscriptions=most)
    calls: list[int] = []

    async def tools_of(*_: object) -> types.ListToolsResult:
        calls.append(0)
        tool = types.Tool(name="end", input_schema={"type": "object"})
        return types.ListToolsResult(tools=[tool])

    async def end(*_: object) -> types.CallToolResult:
        calls.append(1)
        listen.close()
        return types.CallToolResult(content=[types.TextContent(type="text", text="so be it")])

    served = Server(
        "quiet", on_list_tools=tools_of, on_call_tool=end, on_subscriptions_listen=listen
    )
    async with serving(served.streamable_http_app()) as url:
        server = McpServer(name="quiet", url=f"{url}/mcp", effects={"end": "read"})
        tools = await mcp_tools(server, pins=pins)
        calls.clear()
        ends = [act("quiet_end") for _ in range(3)]
        (one, *_) = await seen(tools, *ends)
    assert one.text == "so be it"
    assert calls[0] == 0
    assert 0 in calls[1:]


async def test_a_server_that_is_gone_did_nothing_and_ends_no_run(pins: Path) -> None:
    async with serving(app_of("stateless")) as url:
        tools = await mcp_tools(McpServer(name="shop", url=f"{url}/mcp"), pins=pins)
    (gone,) = await seen(tools, act("shop_price", item="boat"))
    assert (gone.code, gone.outcome) == ("tool_error", "not_done")
    assert "no connection to the MCP server shop: All connection attempts failed" in gone.text


PACKED = "application/json; gzip"


@pytest.mark.parametrize(
    ("status", "kind", "body", "why"),
    [
        (401, "text/plain", b"", "HTTP 401 Unauthorized"),
        (403, "text/html", b"<p>no", "HTTP 403 Forbidden"),
        (404, "text/html", b"<p>no", "HTTP 404 Not Found"),
        (503, "text/plain", b"", "HTTP 503 Service Unavailable"),
        (200, "text/html", b"<p>hello", "Unexpected content type"),
        (200, "application/json", b"{", "its answer is not a message of the protocol: {"),
        (200, "application/json", b"[" * 40_000_000, "the answer is longer than 32 MB"),
        (200, PACKED, gzip.compress(b"[" * 400_000_000), "the answer is longer than 32 MB"),
        (200, PACKED, b"no such thing", "the answer cannot be decompressed"),
        (302, "text/plain", b"", "Unexpected content type"),
    ],
)
async def test_what_is_no_server_is_told_in_one_line(
    pins: Path, status: int, kind: str, body: bytes, why: str
) -> None:
    async with serving(answering((status, kind, body))) as url:
        with pytest.raises(ConfigError, match="no connection to the MCP server shop: ") as told:
            await mcp_tools(McpServer(name="shop", url=f"{url}/mcp"), pins=pins)
    assert why in str(told.value)
    assert len(str(told.value).splitlines()) == 1
    assert not pins.exists()


@pytest.mark.parametrize("body", [b"", b'{"error": "the token expired"}'])
@pytest.mark.parametrize(
    ("status", "outcome"), [(401, "not_done"), (429, "not_done"), (502, "unknown")]
)
async def test_what_is_known_of_a_call_that_http_refused(
    pins: Path, status: int, outcome: str, body: bytes
) -> None:
    inner = app_of("stateless")
    refuse = answering((status, "application/json" if body else "text/plain", body))

    async def app(scope: Any, receive: Any, send: Any) -> None:
        headers = dict(scope.get("headers", ()))
        called = headers.get(b"mcp-method") == b"tools/call"
        await (refuse if called else inner)(scope, receive, send)

    async with serving(app) as url:
        tools = await mcp_tools(McpServer(name="shop", url=f"{url}/mcp"), pins=pins)
        one, two = await seen(tools, act("shop_count"), act("shop_count"))
    assert (one.ok, one.outcome) == (False, outcome)
    assert f"HTTP {status}" in one.text
    assert f"HTTP {status}" in two.text  # the connection lives on


@pytest.mark.parametrize(
    ("templates", "told"),
    [
        (None, "there are no resources"),
        (
            MCPError(types.INTERNAL_ERROR, "no luck"),
            "ServerFailed: the MCP server bare says: no luck",
        ),
    ],
)
async def test_a_server_of_resources_needs_no_tools_and_no_templates(
    pins: Path, templates: MCPError | None, told: str
) -> None:
    async def templates_of(*_: object) -> types.ListResourceTemplatesResult:
        assert templates is not None
        raise templates

    async def resources_of(*_: object) -> types.ListResourcesResult:
        return types.ListResourcesResult(resources=[])

    further = None if templates is None else templates_of
    served = Server("bare", on_list_resources=resources_of, on_list_resource_templates=further)
    async with serving(served.streamable_http_app()) as url:
        server = McpServer(name="bare", url=f"{url}/mcp", resources=True)
        tools = [tool for tool in await mcp_tools(server, pins=pins) if "list" in tool.name]
        (listed,) = await seen(tools, act("bare_list_resources"))
    assert told in listed.text


async def test_a_server_that_never_has_enough_of_asking_leaves_the_call_unknown(
    pins: Path, tmp_path: Path
) -> None:
    async def tools_of(*_: object) -> types.ListToolsResult:
        tool = types.Tool(name="ask", input_schema={"type": "object"})
        return types.ListToolsResult(tools=[tool])

    async def ask(*_: object) -> types.InputRequiredResult:
        return types.InputRequiredResult(input_requests={"roots": types.ListRootsRequest()})

    served = Server("curious", on_list_tools=tools_of, on_call_tool=ask)
    async with serving(served.streamable_http_app()) as url:
        server = McpServer(name="curious", url=f"{url}/mcp", roots=(str(tmp_path),))
        (asked,) = await seen(await mcp_tools(server, pins=pins), act("curious_ask"))
    assert (asked.ok, asked.outcome) == (False, "unknown")
    assert "it asked something 10 times in one call" in asked.text


@pytest.mark.parametrize(
    "first",
    [
        types.InputRequiredResult(request_state="further"),
        MCPError(types.HEADER_MISMATCH, "the list was another"),
    ],
    ids=["wants it repeated", "wants the list read again"],
)
async def test_a_call_is_made_once_more_where_the_server_wants_that(
    pins: Path, first: types.InputRequiredResult | MCPError
) -> None:
    came: list[str | None] = []

    async def tools_of(*_: object) -> types.ListToolsResult:
        tool = types.Tool(name="ask", input_schema={"type": "object"})
        return types.ListToolsResult(tools=[tool])

    async def ask(
        _: object, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        came.append(params.request_state)
        if len(came) > 1:
            return types.CallToolResult(content=[types.TextContent(type="text", text="sold")])
        if isinstance(first, MCPError):
            raise first
        return first

    served = Server("shop", on_list_tools=tools_of, on_call_tool=ask)
    async with serving(served.streamable_http_app()) as url:
        tools = await mcp_tools(McpServer(name="shop", url=f"{url}/mcp"), pins=pins)
        (sold,) = await seen(tools, act("shop_ask"))
    assert (sold.ok, sold.text) == (True, "sold")
    assert came == [None, None if isinstance(first, MCPError) else "further"]


async def test_a_connection_that_is_cut_in_mid_call_leaves_it_unknown(pins: Path) -> None:
    inner = app_of("stateless")

    async def app(scope: Any, receive: Any, send: Any) -> None:
        headers = dict(scope.get("headers", ()))
        if headers.get(b"mcp-method") == b"tools/call":
            raise RuntimeError("the connection is cut")
        await inner(scope, receive, send)

    async with serving(app) as url:
        tools = await mcp_tools(McpServer(name="shop", url=f"{url}/mcp"), pins=pins)
        (cut,) = await seen(tools, act("shop_count"))
    assert (cut.ok, cut.outcome) == (False, "unknown")
    assert json.dumps(cut.text)
