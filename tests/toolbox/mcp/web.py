"""Servers over HTTP for tests: the SDK's own, and raw answers, on a port of this machine."""

import socket
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Annotated, Any

import anyio
import uvicorn
from mcp.server.mcpserver import Context, Elicit, MCPServer, Resolve
from pydantic import BaseModel


class Size(BaseModel):
    """What a person is asked."""

    size: int


def ask_size(item: str) -> Elicit[Size]:
    """Ask a person for the size; the protocol of the client decides how."""
    return Elicit(f"which size of {item}?", Size)


def shop(*, name: str = "shop") -> MCPServer[Any]:
    """A server of the SDK: it asks persons, tells progress, and changes its list of tools."""
    server: MCPServer[Any] = MCPServer(name, version="1", instructions="Be kind.")

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
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    return app
