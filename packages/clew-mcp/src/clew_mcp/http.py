"""A server that is reached at a URL: streamable HTTP, with bounds on what it may send.

The SDK ends a whole connection where one request cannot be sent, and tells a refusal by HTTP as an
internal error. `BoundedTransport` turns both into answers to that one request, with codes that say
whether the server can have done anything.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from typing import Any, Final, cast

import anyio
import httpx2
import mcp_types as types
import msgspec
from mcp.client.streamable_http import streamable_http_client
from typing_extensions import override

from clew.support.error_text import message_of
from clew.support.schema_parts import keywords
from clew_mcp.bodies import (
    JSON,
    MAX_BYTES,
    OF_THE_BODY,
    STREAM,
    Bodies,
    asked,
    complete_body,
)
from clew_mcp.frames import Number, bare, frame_of, mended, number_of
from clew_mcp.outcomes import LOST, NOT_REACHED, SESSION_LOST, SESSION_OVER
from clew_mcp.pinned_server import sdk_module
from clew_mcp.settings import McpServer, ServerEndpoint, printable

_CONNECT: Final = 15.0
_LIMITS: Final = httpx2.Limits(
    max_connections=100, max_keepalive_connections=20, keepalive_expiry=2.0
)
"""Many servers close a connection after 5 idle seconds: a call that is sent just then is *unknown*,
so connections are given up well before."""
_UNSENT: Final = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout)
_SERVER_ERROR: Final = 500
_PROBE: Final = 5.0
_NO_POST: Final = (400, 404, 405)
_OTHERWISE: Final = (401, 402, 403, 407, 408, 413, 414, 415, 429, 431)
"""Refusals that a new session would meet as well."""
_OF_THE_REQUEST: Final = (
    types.PARSE_ERROR, types.METHOD_NOT_FOUND, types.INVALID_PARAMS, types.INTERNAL_ERROR,
    types.HEADER_MISMATCH, types.UNSUPPORTED_PROTOCOL_VERSION,
    types.MISSING_REQUIRED_CLIENT_CAPABILITY, types.URL_ELICITATION_REQUIRED,
)  # fmt: skip
"""Codes of errors that are about the request in a session that is known."""

OLD_TRANSPORT: Final = (
    "it speaks the old transport HTTP+SSE (2024-11-05), which clew does not: name its address for "
    "streamable HTTP (often /mcp in place of /sse), or start the server by a command"
)


class BoundedTransport(httpx2.AsyncBaseTransport):
    """Sends requests, and answers those to the server itself whatever happens to them."""

    def __init__(self, url: str, server: str) -> None:
        self._url = httpx2.URL(url)
        self._inner = httpx2.AsyncHTTPTransport(limits=_LIMITS)
        self._bodies = Bodies(server)

    @override
    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send one request; one that asks the server for something is always answered."""
        mine = request.method == "POST" and request.url == self._url
        number = asked(request) if mine else None
        with self._bodies.waiting(number) as waits:
            try:
                response = await self._inner.handle_async_request(request)
                if mine and response.status_code >= 400:
                    return await self._refusal(request, response, number)
                return await self._bodies.read(request, response, waits)
            except (httpx2.RequestError, httpx2.StreamError) as error:
                if not mine:
                    raise
                unsent = isinstance(error, _UNSENT)
                return _error(503, NOT_REACHED if unsent else LOST, printable(message_of(error)))

    async def _refusal(
        self, request: httpx2.Request, response: httpx2.Response, number: Number | None
    ) -> httpx2.Response:
        """What an HTTP error means for the request, as an error of JSON-RPC."""
        told = await _of_protocol(response, number)
        if "mcp-session-id" in request.headers and _is_over(response.status_code, told):
            await response.aclose()
            sent = response.status_code >= _SERVER_ERROR and _may_act(request)
            return _session_over(response.status_code, sent=sent)
        if told is None and response.status_code in _NO_POST and await self._is_sse(request):
            await response.aclose()
            return _error(response.status_code, NOT_REACHED, OLD_TRANSPORT)
        return told or await _refused(response)

    async def _is_sse(self, request: httpx2.Request) -> bool:
        """Whether the address is that of the old transport, which answers GET with a stream."""
        headers = {name: it for name, it in request.headers.items() if name not in OF_THE_BODY}
        asked = httpx2.Request(
            "GET", self._url, headers={**headers, "accept": STREAM}, extensions=request.extensions
        )
        with suppress(httpx2.TransportError):
            with anyio.move_on_after(_PROBE):
                response = await self._inner.handle_async_request(asked)
                kind = response.headers.get("content-type", "").lower()
                await response.aclose()
                return response.status_code < 300 and kind.startswith(STREAM)
        return False

    @override
    async def aclose(self) -> None:
        """Close its connections."""
        await self._inner.aclose()


def _is_over(status: int, told: httpx2.Response | None) -> bool:
    """Whether a refusal is about the session, and not about the person or the request itself."""
    if status in _OTHERWISE:
        return False
    if told is None or status == 404:
        return True
    error: object = msgspec.json.decode(told.content, type=dict[str, Any]).get("error")
    code = cast("dict[str, object]", error).get("code") if isinstance(error, dict) else None
    return code not in _OF_THE_REQUEST


def _may_act(request: httpx2.Request) -> bool:
    """Whether the server may have begun something with an effect."""
    with suppress(msgspec.DecodeError):
        message = msgspec.json.decode(request.content, type=dict[str, Any])
        return message.get("method") in {"tools/call", "tasks/update"}
    return True  # pragma: no cover - the SDK sends JSON


def _session_over(status: int, *, sent: bool) -> httpx2.Response:
    """The session is of no use any more; what was sent in it may have been begun."""
    why = "the session is over"
    if status != 404:
        why = f"{why} (HTTP {status} {httpx2.codes.get_reason_phrase(status)})"
    return _error(status, SESSION_LOST if sent else SESSION_OVER, why)


async def _of_protocol(response: httpx2.Response, number: Number | None) -> httpx2.Response | None:
    """An HTTP error that holds a JSON-RPC error; what a gateway says in JSON of its own is none."""
    if not response.headers.get("content-type", "").lower().startswith(JSON):
        return None
    try:
        body = await complete_body(response)
    except (httpx2.RequestError, httpx2.StreamError):
        return None
    odd: list[str] = []
    values = frame_of(bare(body, odd), odd).values
    value = keywords(values[0]) if values else {}
    names = "error" in value and number is not None and number_of(value.get("id")) == number
    if "jsonrpc" not in value and not names:
        return None
    error = mended(value, odd)
    if not isinstance(error, types.JSONRPCError):
        return None
    kept = {name: it for name, it in response.headers.items() if name not in OF_THE_BODY}
    content = error.model_dump_json(by_alias=True, exclude_unset=True)
    return httpx2.Response(
        response.status_code, headers={**kept, "content-type": JSON}, content=content
    )


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
        status, headers={"content-type": JSON}, content=msgspec.json.encode(body)
    )


@asynccontextmanager
async def open_http(server: McpServer, endpoint: ServerEndpoint) -> AsyncGenerator[Any]:
    """The SDK's streams to a server; what signs in is imported where somebody has to."""
    oauth = None if server.auth is None else await sdk_module("oauth")
    client = httpx2.AsyncClient(
        transport=BoundedTransport(endpoint.url, server.name),
        headers=endpoint.headers,
        timeout=httpx2.Timeout(_CONNECT, read=None),
        auth=oauth and oauth.auth_of(server, server.auth, endpoint),
    )
    async with (
        client,
        streamable_http_client(
            endpoint.url, http_client=client, max_sse_event_size=MAX_BYTES
        ) as streams,
    ):
        yield streams
