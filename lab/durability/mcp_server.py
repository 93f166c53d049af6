"""A server of MCP, of the official SDK, that is killed in the middle of its calls, or kills.

`python -m durability.mcp_server FOLDER ERA` serves over stdio; the tests and storms of HTTP start
`serve_http` in a process. Its tools write what they really did into a file of the folder. A file
`strike` says at which point of which call whom `kill -9` hits, once: the server, or its client.
"""

import json
import os
import signal
import sys
import time
import uuid
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

import anyio
import mcp_types as types
import msgspec
import uvicorn
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel.server import NotificationOptions, Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from starlette.responses import PlainTextResponse
from typing_extensions import override

from durability.world import Ledger

Context: TypeAlias = ServerRequestContext[Any]
Era: TypeAlias = Literal["handshake", "stateless"]

EXTENSION: Final = "io.modelcontextprotocol/tasks"
DISCOVER: Final = "server/discover"
"""The first request of the stateless era."""
TOOLS: Final = ("look", "send", "put", "build")
BUILT: Final = 0.1
"""Seconds that a task takes."""


class Strike(msgspec.Struct, frozen=True):
    """Whom to kill, and when: at the point `at` of a call of `tool`."""

    at: str
    tool: str
    victim: Literal["server", "clew"]


class World:
    """The folder: what was done, the tasks, and who is to be killed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.ledger = Ledger(folder)
        self.answering = ""
        """The tool whose answer is written next."""

    def arm(self, strike: Strike) -> None:
        """Let somebody be killed at the next such point."""
        beside = self.folder / "strike.new"
        beside.write_bytes(msgspec.json.encode(strike))
        beside.rename(self.folder / "strike")

    @property
    def hits(self) -> list[Strike]:
        """The strikes that were done."""
        path = self.folder / "hits"
        lines = path.read_bytes().splitlines() if path.exists() else []
        return [msgspec.json.decode(line, type=Strike) for line in lines]

    def pass_by(self, at: str, tool: str) -> bool:
        """Come by a point of a call; False where it is not the one where somebody is struck."""
        path = self.folder / "strike"
        if not path.exists():
            return False
        strike = msgspec.json.decode(path.read_bytes(), type=Strike)
        if (strike.at, strike.tool) != (at, tool):
            return False
        path.unlink()
        with (self.folder / "hits").open("ab") as file:
            file.write(msgspec.json.encode(strike) + b"\n")
        mine = strike.victim == "server"
        if mine:
            (self.folder / "ready").unlink(missing_ok=True)
        pid = os.getpid() if mine else int((self.folder / "clew.pid").read_text())
        os.kill(pid, signal.SIGKILL)
        return True

    def is_due(self, at: str, tool: str) -> bool:
        """Whether somebody is struck at that point."""
        path = self.folder / "strike"
        if not path.exists():
            return False
        strike = msgspec.json.decode(path.read_bytes(), type=Strike)
        return (strike.at, strike.tool) == (at, tool)


class _Server(Server[Any]):
    """The SDK's server; it says that it has tasks."""

    @override
    def get_capabilities(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
        *,
        protocol_version: str | None = None,
    ) -> types.ServerCapabilities:
        capabilities = super().get_capabilities(
            notification_options,
            experimental_capabilities,
            extensions,
            protocol_version=protocol_version,
        )
        if protocol_version in MODERN_PROTOCOL_VERSIONS:
            return capabilities.model_copy(update={"extensions": {EXTENSION: {}}})
        tasks = types.ServerTasksCapability(
            requests=types.ServerTasksRequestsCapability(
                tools=types.TasksToolsCapability(call=types.TasksCallCapability())
            )
        )
        return capabilities.model_copy(update={"tasks": tasks})


class _TaskParams(types.RequestParams):
    task_id: str


class Tools:
    """What the server does: looks, sends, puts, and builds, which is a task."""

    def __init__(self, world: World) -> None:
        self.world = world
        (world.folder / "tasks").mkdir(exist_ok=True)

    async def list(self, ctx: Context, params: Any) -> types.ListToolsResult:
        del ctx, params
        self.world.pass_by("listing", "")
        schema: dict[str, Any] = {
            "type": "object", "properties": {"note": {"type": "string"}}, "required": ["note"]
        }  # fmt: skip
        task = types.ToolExecution(task_support="required")
        tools = [
            types.Tool(name=name, input_schema=schema, execution=task if name == "build" else None)
            for name in TOOLS
        ]
        return types.ListToolsResult(tools=tools, ttl_ms=0, cache_scope="private")

    async def call(self, ctx: Context, params: types.CallToolRequestParams) -> Any:
        """A plain call, or one that the server makes a task (stateless era)."""
        del ctx
        number = self._do(params)
        if params.name == "build":
            return {"resultType": "task", **self._task(number)}
        return _text(f"{params.name}: done")

    async def middleware(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        """Answer a call that is asked for as a task (handshake era)."""
        if ctx.method in {"initialize", "server/discover"}:
            self.world.pass_by("opening", "")
        if ctx.method != "tools/call" or "task" not in (ctx.params or {}):
            return await call_next(ctx)
        params = types.CallToolRequestParams.model_validate(ctx.params or {}, by_name=False)
        task = self._task(self._do(params))
        return {"task": {**task, "ttl": None, "lastUpdatedAt": task["createdAt"]}}

    def _do(self, params: types.CallToolRequestParams) -> str:
        """Have the effect of a call; for a task its id."""
        self.world.pass_by("received", params.name)
        note = (params.arguments or {})["note"]
        number = uuid.uuid4().hex
        if params.name == "build":
            (self.world.folder / "tasks" / number).write_text(f"{time.time()}")
        self.world.ledger.write(f"{params.name} {note}")
        self.world.pass_by("done", params.name)
        self.world.answering = params.name
        return number

    def _task(self, number: str) -> dict[str, Any]:
        begun = "2026-01-01T00:00:00Z"
        working = time.time() < self._until(number)
        return {
            "taskId": number, "status": "working" if working else "completed",
            "createdAt": begun, "lastUpdatedAt": begun, "ttlMs": None, "pollIntervalMs": 50,
        }  # fmt: skip

    def _until(self, number: str) -> float:
        path = self.world.folder / "tasks" / number
        if not path.exists():
            raise MCPError(types.INVALID_PARAMS, f"there is no task {number}")
        return float(path.read_text()) + BUILT

    async def get(self, ctx: Context, params: _TaskParams) -> dict[str, Any]:
        """`tasks/get`, of the stateless era."""
        del ctx
        self.world.pass_by("asked", "build")
        task = self._task(params.task_id)
        if task["status"] == "completed":
            task["result"] = _text("build: done").model_dump(by_alias=True, mode="json")
        return task

    async def result(self, ctx: Context, params: _TaskParams) -> dict[str, Any]:
        """`tasks/result`, of the handshake era."""
        del ctx
        until = self._until(params.task_id)
        self.world.pass_by("asked", "build")
        await anyio.sleep(max(0.0, until - time.time()))
        return _text("build: done").model_dump(by_alias=True, mode="json")


def _text(text: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=text)])


def server(world: World) -> Server[Any]:
    """The server over a folder."""
    tools = Tools(world)
    made = _Server(
        "harbour",
        version="1",
        on_list_tools=tools.list,
        on_call_tool=tools.call,
    )
    made.middleware.append(tools.middleware)
    made.add_request_handler("tasks/get", _TaskParams, tools.get)
    made.add_request_handler("tasks/result", _TaskParams, tools.result)
    return made


class _Out:
    """Standard output, written at once, or by halves where somebody is killed between them."""

    def __init__(self, world: World) -> None:
        self._world = world

    async def write(self, line: str) -> None:
        """Write a message."""
        tool, body = self._world.answering, line.encode()
        if not tool or '"result"' not in line:
            os.write(1, body)
            return
        self._world.answering = ""
        half = len(body) // 2 if self._world.is_due("half", tool) else 0
        os.write(1, body[:half])
        if half:
            self._world.pass_by("half", tool)
        os.write(1, body[half:])
        self._world.pass_by("answered", tool)

    async def flush(self) -> None:
        """Nothing is left to be written."""


async def _lines_of_handshake() -> AsyncIterator[str]:
    """The lines of standard input; the stateless era is answered as one that nobody knows."""
    async for line in anyio.wrap_file(sys.stdin):
        message = json.loads(line)
        if message.get("method") != DISCOVER:
            yield line
            continue
        error = {"code": types.METHOD_NOT_FOUND, "message": "Method not found"}
        answer = {"jsonrpc": "2.0", "id": message["id"], "error": error}
        os.write(1, json.dumps(answer).encode() + b"\n")


async def serve_stdio(world: World, era: Era) -> None:
    """Serve until standard input ends."""
    out: Any = _Out(world)
    lines: Any = _lines_of_handshake() if era == "handshake" else None
    made = server(world)
    async with stdio_server(stdin=lines, stdout=out) as (read, write):
        await made.run(read, write, made.create_initialization_options())


class HttpOrders(msgspec.Struct, frozen=True):
    """Where a server over HTTP listens, and its folder."""

    folder: str
    era: Era
    port: int


def serve_http(orders: HttpOrders) -> None:
    """Serve over HTTP until it is killed; the file `ready` is there once it listens."""
    world = World(Path(orders.folder))
    app = server(world).streamable_http_app()

    async def halved(scope: Any, receive: Any, send: Any) -> None:
        asked = dict(scope.get("headers", ())).get(b"mcp-method", b"").decode()
        if orders.era == "handshake" and asked == DISCOVER:
            await PlainTextResponse("not found", 404)(scope, receive, send)
            return

        async def sent(message: Any) -> None:
            tool, body = world.answering, message.get("body", b"")
            if not tool or b'"result"' not in body:
                await send(message)
                return
            world.answering = ""
            if world.is_due("half", tool):
                half = len(body) // 2
                await send({**message, "body": body[:half], "more_body": True})
                world.pass_by("half", tool)
                message = {**message, "body": body[half:]}
            await send(message)
            world.pass_by("answered", tool)

        await app(scope, receive, sent)

    config = uvicorn.Config(halved, port=orders.port, log_level="critical", lifespan="on")
    made = uvicorn.Server(config)

    async def serve() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(made.serve)
            while not made.started:  # noqa: ASYNC110 - uvicorn sets no event
                await anyio.sleep(0.002)
            (world.folder / "ready").touch()

    anyio.run(serve, backend="asyncio")


if __name__ == "__main__":
    where = World(Path(sys.argv[1]))
    with (where.folder / "servers").open("a") as pids:
        pids.write(f"{os.getpid()}\n")
    era: Era = "handshake" if sys.argv[2] == "handshake" else "stateless"
    anyio.run(serve_stdio, where, era, backend="asyncio")
