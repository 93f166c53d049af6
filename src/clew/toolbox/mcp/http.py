"""A server that is reached at a URL: streamable HTTP, with bounds on what it may send.

The SDK ends a whole connection where one request cannot be sent, and tells a refusal by HTTP as an
internal error. `BoundedTransport` turns both into answers to that one request, with codes that say
whether the server can have done anything.
"""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any, Final

import httpx2
import msgspec
from mcp.client.streamable_http import streamable_http_client
from typing_extensions import override

from clew.toolbox.mcp.outcomes import LOST, NOT_REACHED, SESSION_OVER
from clew.toolbox.mcp.pinned_server import sdk_module
from clew.toolbox.mcp.settings import Endpoint, McpServer, shown

MOST_BYTES: Final = 32_000_000
"""The longest answer, and the longest event of a stream, that a server may send."""

_CONNECT: Final = 15.0
_LIMITS: Final = httpx2.Limits(
    max_connections=100, max_keepalive_connections=20, keepalive_expiry=2.0
)
"""Many servers close a connection after 5 idle seconds: a call that is sent just then is *unknown*,
so connections are given up well before."""
_UNSENT: Final = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout)
_JSON: Final = "application/json"
_OF_THE_BODY: Final = ("content-encoding", "content-length", "transfer-encoding")
_SERVER_ERROR: Final = 500


class _TooLong(httpx2.StreamError):
    """An answer is longer than may be kept in memory."""


class _BoundedStream(httpx2.AsyncByteStream):
    """The body of a response; plain ones end with an error after `MOST_BYTES`."""

    def __init__(self, inner: httpx2.AsyncByteStream) -> None:
        self._inner = inner

    @override
    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for piece in self._inner:
            size += len(piece)
            if size > MOST_BYTES:
                message = f"the answer is longer than {MOST_BYTES // 1_000_000} MB"
                raise _TooLong(message)
            yield piece

    @override
    async def aclose(self) -> None:
        await self._inner.aclose()


class BoundedTransport(httpx2.AsyncBaseTransport):
    """Sends requests, and answers those to the server itself whatever happens to them."""

    def __init__(self, url: str, inner: httpx2.AsyncBaseTransport | None = None) -> None:
        self._url = httpx2.URL(url)
        self._inner = inner or httpx2.AsyncHTTPTransport(limits=_LIMITS)

    @override
    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send one request; one that asks the server for something is always answered."""
        mine = request.method == "POST" and request.url == self._url
        try:
            response = await self._inner.handle_async_request(request)
        except httpx2.TransportError as error:
            if not mine:
                raise
            unsent = isinstance(error, _UNSENT)
            return _error(503, NOT_REACHED if unsent else LOST, _why(error))
        if mine and response.status_code == 404 and "mcp-session-id" in request.headers:
            await response.aclose()
            return _error(404, SESSION_OVER, "the session is over")
        kind = response.headers.get("content-type", "").lower()
        if mine and response.status_code >= 400:
            return await _of_protocol(response, kind) or await _refused(response)
        if not kind.startswith("text/event-stream") and isinstance(
            response.stream, httpx2.AsyncByteStream
        ):
            response.stream = _BoundedStream(response.stream)
        return response

    @override
    async def aclose(self) -> None:
        """Close its connections."""
        await self._inner.aclose()


async def _of_protocol(response: httpx2.Response, kind: str) -> httpx2.Response | None:
    """An HTTP error that holds a JSON-RPC error; what a gateway says in JSON of its own is none."""
    if not kind.startswith(_JSON) or not isinstance(response.stream, httpx2.AsyncByteStream):
        return None
    response.stream = _BoundedStream(response.stream)
    with suppress(msgspec.DecodeError, httpx2.StreamError):
        body = await response.aread()
        if "jsonrpc" in msgspec.json.decode(body, type=dict[str, Any]):
            kept = {name: it for name, it in response.headers.items() if name not in _OF_THE_BODY}
            return httpx2.Response(response.status_code, headers=kept, content=body)
    return None


async def _refused(response: httpx2.Response) -> httpx2.Response:
    """An HTTP error without a JSON-RPC error, as one: from 500 on, the server may have begun."""
    await response.aclose()
    code = response.status_code
    meaning = f"HTTP {code} {httpx2.codes.get_reason_phrase(code)}".strip()
    made = _error(code, LOST if code >= _SERVER_ERROR else NOT_REACHED, meaning)
    for name in ("www-authenticate", "retry-after"):
        if name in response.headers:
            made.headers[name] = response.headers[name]
    return made


def _error(status: int, code: int, message: str) -> httpx2.Response:
    body: dict[str, Any] = {"jsonrpc": "2.0", "id": 0, "error": {"code": code, "message": message}}
    return httpx2.Response(
        status, headers={"content-type": _JSON}, content=msgspec.json.encode(body)
    )


def _why(error: httpx2.TransportError) -> str:
    return shown(str(error)) or type(error).__name__


@asynccontextmanager
async def open_http(server: McpServer, endpoint: Endpoint) -> AsyncGenerator[Any]:
    """The SDK's streams to a server; what signs in is imported where somebody has to."""
    oauth = None if server.auth is None else await sdk_module("oauth")
    client = httpx2.AsyncClient(
        transport=BoundedTransport(endpoint.url),
        headers=endpoint.headers,
        timeout=httpx2.Timeout(_CONNECT, read=None),
        auth=oauth and oauth.auth_of(server, server.auth, endpoint),
    )
    async with (
        client,
        streamable_http_client(
            endpoint.url, http_client=client, max_sse_event_size=MOST_BYTES
        ) as streams,
    ):
        yield streams
