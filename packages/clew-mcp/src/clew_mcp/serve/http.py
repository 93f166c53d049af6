"""Serve over streamable HTTP: a token, and checks of the Host and Origin headers.

The checks keep web pages from reaching a local server by a name of their own (DNS rebinding). There
is no TLS: put a reverse proxy before a server that others reach.
"""

import hmac
import logging
import secrets
import socket
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import anyio
import uvicorn
from mcp.server.lowlevel.server import Server
from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from typing_extensions import override

from clew import ConfigError
from clew.concurrency.tasks import one_error
from clew.support.http_address import HttpAddress
from clew.support.settings import check_fields

LOG: Final = logging.getLogger("clew")

PATH: Final = "/mcp"
LOOPBACK: Final = ("127.0.0.1", "localhost", "[::1]")
_GRACE: Final = 2
"""Seconds that open connections have at the end; streams would stay open for ever."""


@dataclass(frozen=True, slots=True)
class BearerToken:
    """The token that clients send as `Authorization: Bearer …`; `repr` does not show it."""

    value: str

    def __post_init__(self) -> None:
        """Raise `ConfigError` for a value of another type."""
        check_fields(self)

    def __repr__(self) -> str:
        return "BearerToken(…)"

    @classmethod
    def new(cls) -> "BearerToken":
        """A new token of 256 random bits."""
        return cls(secrets.token_urlsafe(32))

    def fits(self, header: str) -> bool:
        """Whether a header's value is this token, compared in constant time."""
        scheme, _, token = header.partition(" ")
        same = hmac.compare_digest(token.strip().encode(), self.value.encode())
        return scheme.lower() == "bearer" and same


def http_app(
    server: Server[Any],
    *,
    token: BearerToken | None,
    hosts: Sequence[str] = LOOPBACK,
) -> ASGIApp:
    """The server as an ASGI application, at `/mcp`.

    `hosts` are the names by which clients reach it; requests with another Host or Origin are
    refused. With None as the token, anyone who can reach it has access.
    """
    names = [form for host in hosts for form in (host, f"{host}:*")]
    security = TransportSecuritySettings(
        allowed_hosts=names,
        allowed_origins=[f"{scheme}://{name}" for scheme in ("http", "https") for name in names],
    )
    app = server.streamable_http_app(streamable_http_path=PATH, transport_security=security)
    return app if token is None else _RequireToken(app, token)


class _RequireToken:
    """Answers 401 to requests without the token."""

    def __init__(self, app: ASGIApp, token: BearerToken) -> None:
        self._app = app
        self._token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        header = Headers(scope=scope).get("authorization", "") if scope["type"] == "http" else ""
        if scope["type"] != "http" or self._token.fits(header):
            await self._app(scope, receive, send)
            return
        refusal = PlainTextResponse(
            "a bearer token is required", 401, headers={"www-authenticate": "Bearer"}
        )
        await refusal(scope, receive, send)


async def serve_http(
    server: Server[Any],
    address: HttpAddress,
    *,
    token: BearerToken | None,
    hosts: Sequence[str] = (),
    leaving: anyio.Event | None = None,
    on_ready: Callable[[str], None] | None = None,
) -> None:
    """Serve until `leaving` is set; runs then finish their step. Needs asyncio.

    `hosts` are the names by which clients reach it, in addition to the local names of a local
    address. `on_ready` is called with the URL once it is served. Raises `ConfigError` if it cannot
    listen, or if an address that other machines reach has no host names or no token.
    """
    known = tuple(hosts) if not address.is_local else (*LOOPBACK, address.in_url, *hosts)
    if not known:
        message = "say by which names clients reach this address: --allow-host NAME"
        raise ConfigError(message)
    if token is None and not address.is_local:
        message = "others reach this address: it is not served without a token"
        raise ConfigError(message)
    bound, there = address.bind()
    app = _KeepError(http_app(server, token=token, hosts=known))
    with bound:
        config = uvicorn.Config(
            app,
            log_config=None, log_level="critical", access_log=False, lifespan="on",
            timeout_graceful_shutdown=_GRACE, server_header=False,
        )  # fmt: skip
        url = f"http://{there.in_url}:{there.port}{PATH}"
        web = _Uvicorn(config, partial(on_ready or _ignore, url))
        with one_error():
            async with anyio.create_task_group() as group:
                group.start_soon(_leave, web, leaving or anyio.Event())
                try:
                    await web.serve(sockets=[bound])
                except SystemExit:  # how uvicorn reports that the application did not start
                    raise app.error or ConfigError("the server could not start") from None
                group.cancel_scope.cancel()


class _KeepError:
    """Keeps the error of the application's startup, of which uvicorn would only log a traceback."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self.error: Exception | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self._app(scope, receive, send)
        except Exception as error:
            if scope["type"] == "lifespan":
                self.error = error
            else:
                LOG.exception("a request over HTTP failed")
            raise


def _ignore(url: str) -> None:
    """The default `on_ready`."""


class _Uvicorn(uvicorn.Server):
    """Reports when it is served, and leaves signals to the caller."""

    def __init__(self, config: uvicorn.Config, on_started: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_started = on_started

    @override
    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._on_started()

    @override
    @contextmanager
    def capture_signals(self) -> Generator[None]:
        yield


async def _leave(web: uvicorn.Server, leaving: anyio.Event) -> None:
    await leaving.wait()
    web.should_exit = True
