"""Google's official client as a carrier.

The client has no documented way to send bytes or to hand over an unread reply: it walks the whole
conversation through its typed parameters at every step, which makes long runs quadratic. It does
have a documented way to use other connections, `HttpOptions.httpx_async_client`. Those given here
put the pre-encoded body in the place of the client's own, and take the reply before it is read.
Address, key, credentials, headers and the names of errors stay the client's affair.
"""

import ssl
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import anyio
import httpx2
from google.auth.exceptions import GoogleAuthError
from google.genai import Client, errors, types

from clew.models.gemini.reply import read_error
from clew.models.http.endpoint import HttpSettings, Incoming
from clew.models.http.failures import FailureSource, StatusError
from clew.models.http.server import http_client
from clew.models.http.stream import complete_body
from clew.support.errors import ModelError

MakeClient = Callable[[types.HttpOptions], Client]
"""Makes an official client over the connections in the options it is given."""

OK: Final = 200
NOTHING: Final = types.Content(role="user")
"""Stands in the client's own body, which is not sent; it wants one. There is no configuration
either: walking through an empty one takes the client 0.3 ms. It has no functions to call by itself.
"""


@dataclass
class Exchange:
    """A request under way: the body to send, and the reply once its head is there."""

    content: bytes
    response: httpx2.Response | None = None


_UNDER_WAY: ContextVar[Exchange | None] = ContextVar("clew.gemini", default=None)


class Connections(httpx2.AsyncClient):
    """Sends the body of the exchange under way and keeps the reply; the client sees an empty one.

    Errors are left to the client. Timeouts are those of the connections, not the client's.
    """

    def build_request(self, *args: Any, **more: Any) -> httpx2.Request:
        exchange = _UNDER_WAY.get()
        if exchange is not None:
            more |= {"content": exchange.content, "timeout": self.timeout}
        return super().build_request(*args, **more)

    async def send(self, request: httpx2.Request, **more: Any) -> httpx2.Response:
        exchange = _UNDER_WAY.get()
        if exchange is None:
            return await super().send(request, **more)
        unread = more.pop("stream", False)
        response = await super().send(request, stream=True, **more)
        exchange.response = response
        if response.status_code == OK:
            return httpx2.Response(OK, content=b"", request=request)
        if not unread:
            await response.aread()
        return response


@dataclass(frozen=True)
class GeminiCarrier:
    """A carrier over a client for one event loop, which goes out over `http`."""

    client: Any  # a `Client`, whose own types are not known in full
    http: httpx2.AsyncClient
    model: str
    source: FailureSource

    async def send(self, path: str, content: bytes) -> bytes:
        """Send a request and read the whole reply. Raises `OversizeError`."""
        ask = self.client.aio.models.generate_content
        return await complete_body(
            await self._begun(ask(model=self.model, contents=NOTHING), content)
        )

    async def stream(self, path: str, content: bytes) -> Incoming:
        """Send a request and hand the reply over unread."""
        return await self._begun(self._stream(), content)

    async def _stream(self) -> None:
        """Have the client ask for a stream: it sends the request when the first event is wanted."""
        ask = self.client.aio.models.generate_content_stream
        async for _ in await ask(model=self.model, contents=NOTHING):
            pass

    async def _begun(self, request: Awaitable[Any], content: bytes) -> Incoming:
        """Have the client make a request with this body, and hand the reply over unread."""
        exchange = Exchange(content)
        try:
            with self._exchange_errors(exchange):
                await request
        except BaseException:
            if exchange.response is not None:
                with anyio.CancelScope(shield=True):
                    await exchange.response.aclose()
            raise
        return self._take_response(exchange)

    async def close(self) -> None:
        """Close the client and its connections."""
        self.client.close()
        await self.http.aclose()

    @contextmanager
    def _exchange_errors(self, exchange: Exchange) -> Generator[Exchange]:
        """Make this the exchange under way, and tell the client's errors in our own words."""
        before = _UNDER_WAY.set(exchange)
        try:
            yield exchange
        except errors.APIError as error:
            told: Any = error
            trouble = read_error(error.code, told.details)
            raise StatusError(trouble, self._take_response(exchange).headers) from error
        except (ValueError, GoogleAuthError) as error:
            raise ModelError(f"{self.source.name}: {self.source.tell(error)}") from error
        finally:
            _UNDER_WAY.reset(before)

    def _take_response(self, exchange: Exchange) -> httpx2.Response:
        if exchange.response is None:
            raise ModelError(
                f"{self.source.name}: the client does not use the connections it was given; make "
                "it with genai.Client(..., http_options=options)"
            )
        return exchange.response


@cache
def _certificates() -> ssl.SSLContext:
    """For the client's other ways out, which nobody takes here: each reading costs it 25 ms."""
    return httpx2.create_ssl_context()


def gemini_carrier(
    model: str, source: FailureSource, settings: HttpSettings, make: MakeClient | None
) -> Callable[[float], GeminiCarrier]:
    """What makes a carrier for an event loop: over the client from `make`, or over one with a key.

    Clients are made without retries of their own, which is their default.
    """

    def connect(timeout: float) -> GeminiCarrier:
        http = http_client(
            source.base_url,
            timeout,
            headers=settings.get("headers"),
            proxy=settings.get("proxy", ""),
            kind=Connections,
        )
        options = types.HttpOptions(
            httpx_async_client=http,
            httpx_client=httpx2.Client(verify=_certificates()),
            async_client_args={"ssl": _certificates()},
        )
        if make is not None:
            return GeminiCarrier(make(options), http, model, source)
        options.base_url = source.base_url
        client = Client(vertexai=False, api_key=source.key or "none", http_options=options)
        return GeminiCarrier(client, http, model, source)

    return connect
