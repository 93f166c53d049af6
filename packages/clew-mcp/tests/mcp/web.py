"""Servers over HTTP for tests: the SDK's own, and raw answers, on a port of this machine."""

import socket
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Annotated, Any

import anyio
import mcp_types as types
import uvicorn
from mcp.server.extension import Extension, MethodBinding
from mcp.server.mcpserver import Context, Elicit, MCPServer, Resolve
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel


class Size(BaseModel):
    """What a person is asked."""

    size: int


class _TaskId(types.RequestParams):
    task_id: str


class _Answers(_TaskId):
    input_responses: dict[str, Any]


class Jobs(Extension):
    """Tasks of the stateless era: each call of `job` becomes one, which goes on as it is told.

    `states` are what `tasks/get` says in turn; an exception is raised.
    """

    identifier = "io.modelcontextprotocol/tasks"

    def __init__(self, *states: dict[str, Any] | MCPError) -> None:
        self.states = list(states)
        self.asked: list[str] = []
        self.answers: list[dict[str, Any]] = []
        self.begun = 0

    async def intercept_tool_call(
        self, params: types.CallToolRequestParams, ctx: Any, call_next: Any
    ) -> Any:
        if params.name != "job":
            return await call_next(ctx)
        self.begun += 1
        return {"resultType": "task", "taskId": f"job-{self.begun}", **WORKING}

    def methods(self) -> list[MethodBinding]:
        return [
            MethodBinding("tasks/get", _TaskId, self._get),
            MethodBinding("tasks/update", _Answers, self._update),
        ]

    async def _get(self, ctx: Any, params: _TaskId) -> dict[str, Any]:
        self.asked.append(params.task_id)
        state = self.states.pop(0) if len(self.states) > 1 else self.states[0]
        if isinstance(state, MCPError):
            raise state
        return {"resultType": "complete", "taskId": params.task_id, **WORKING, **state}

    async def _update(self, ctx: Any, params: _Answers) -> dict[str, Any]:
        self.answers.append(params.input_responses)
        return {"resultType": "complete"}


WORKING: dict[str, Any] = {
    "status": "working", "createdAt": "2026-01-01T00:00:00Z", "pollIntervalMs": 1,
    "lastUpdatedAt": "2026-01-01T00:00:00Z", "ttlMs": None,
}  # fmt: skip


def ask_size(item: str) -> Elicit[Size]:
    """Ask a person for the size; the protocol of the client decides how."""
    return Elicit(f"which size of {item}?", Size)


def shop(jobs: Jobs | None = None) -> MCPServer[Any]:
    """A server of the SDK: it asks persons, tells progress, and changes its list of tools."""
    server: MCPServer[Any] = MCPServer(
        "shop", version="1", instructions="Be kind.", extensions=[jobs] if jobs else []
    )

    @server.tool()
    def job() -> str:
        """Do a long job."""
        return "done at once"

    @server.tool()
    def price(item: str) -> dict[str, int]:
        """The price of an item."""
        return {"price": len(item)}

    @server.tool()
    def order(item: str, wanted: Annotated[Size, Resolve(ask_size)]) -> str:
        """Order an item."""
        return f"{item} of size {wanted.size}"

    @server.tool()
    async def count(context: Context) -> str:
        """Count to three."""
        for number in (1, 2, 3):
            await context.report_progress(number, 3, "counting")
        return "three"

    @server.tool()
    async def extend(context: Context) -> str:
        """Add a tool."""

        def added() -> str:
            """An added tool."""
            return "x"

        server.add_tool(added)
        await context.notify_tools_changed()
        return "extended"

    @server.tool()
    def broken() -> str:
        """Always fails."""
        raise ValueError("no luck")

    return server


@asynccontextmanager
async def serving(app: Any) -> AsyncGenerator[str]:
    """Serve an ASGI application on a free port; gives its address."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    config = uvicorn.Config(app, log_level="critical", lifespan="on", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    async with anyio.create_task_group() as group:
        group.start_soon(server.serve, [listener])
        while not server.started:
            await anyio.sleep(0.01)
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
    listener.close()


def answering(*answers: tuple[int, str, bytes]) -> Callable[..., Awaitable[None]]:
    """An ASGI application that gives these answers in turn, and the last one for ever."""
    left = list(answers)

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            for kind in ("startup", "shutdown"):
                await receive()
                await send({"type": f"lifespan.{kind}.complete"})
            return
        while (await receive()).get("more_body"):
            pass
        status, kind, body = left.pop(0) if len(left) > 1 else left[0]
        headers = [(b"content-type", kind.encode())]
        if kind.endswith("; gzip"):
            headers = [(b"content-type", kind[:-6].encode()), (b"content-encoding", b"gzip")]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    return app
