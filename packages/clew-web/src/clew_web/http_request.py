"""One request to one server: where it goes, how it is sent, how much of the answer is read."""

import contextlib
import os
import ssl
import zlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final
from urllib.request import getproxies, proxy_bypass

import anyio
import httpx2
import msgspec

from clew.support.short_text import one_line
from clew_web.addresses import Address, check, public, resolve
from clew_web.errors import WebToolError
from clew_web.request import Answer, WebRequest

CONNECT: Final = 5.0
"""Seconds that one address has to take a connection."""

MOVED: Final = frozenset({301, 302, 303, 307, 308})

_ADDRESSES: Final = 3
_LONGEST_URL: Final = 4_000
_MAX_ERROR_BODY: Final = 65_536
_PORTS: Final = {"http": 80, "https": 443}
_LAST_PORT: Final = 65_535
_PACKED: Final = frozenset({"gzip", "x-gzip", "deflate"})
_GZIP_OR_ZLIB: Final = 47


class RetryRequest(Exception):  # noqa: N818 - it says what to do, and never leaves this package
    """It failed in a way that may pass."""


@dataclass(frozen=True, slots=True)
class HttpRoute:
    """Where a request goes: to one of these addresses, or to a proxy, which looks the name up."""

    addresses: tuple[Address, ...] = ()
    proxy: str = ""


def read_url(text: str, base: httpx2.URL | None = None) -> httpx2.URL:
    """The address, without a fragment, as strictly as can be. Raises `WebToolError`."""
    try:
        url = httpx2.URL(text[:_LONGEST_URL])
        url = url if base is None else base.join(url)
    except (httpx2.InvalidURL, ValueError) as error:
        raise WebToolError("not_allowed", f"{text[:80]!r} is no address of a page") from error
    usable = url.scheme in _PORTS and url.host and 0 < port(url) <= _LAST_PORT
    if not usable or len(text) > _LONGEST_URL:
        text = f"{text[:80]!r} is no page of the web: give http(s)://host/path"
        raise WebToolError("not_allowed", text)
    if url.userinfo:
        raise WebToolError("not_allowed", "an address with a name or password in it is not asked")
    return url.copy_with(fragment=None)


def port(url: httpx2.URL) -> int:
    """The explicit or default port."""
    return _PORTS[url.scheme] if url.port is None else url.port


async def hop(
    request: WebRequest,
    url: httpx2.URL,
    *,
    headers: Mapping[str, str],
    allow: Collection[str],
    seconds: float,
    max_bytes: int,
) -> Answer:
    """Send the request to `url`, which may be a later one than its own, and read what comes.

    Raises `RetryRequest` and `WebToolError`.
    """
    way = await _way(url, allow)
    body = None if request.json is None else msgspec.json.encode(request.json)
    waits = httpx2.Timeout(seconds, connect=min(seconds, CONNECT))
    targets = [url.copy_with(host=str(address)) for address in way.addresses] or [url]
    certificates = _certificates(os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"))
    async with httpx2.AsyncClient(
        verify=certificates, trust_env=False, timeout=waits, proxy=way.proxy or None
    ) as client:
        sent_headers = {**headers, "host": url.netloc.decode("ascii"), "accept-encoding": "gzip"}
        sent_headers["accept"] = ", ".join((*request.types, "*/*;q=0.1"))
        if body is not None:
            sent_headers["content-type"] = "application/json"
        sent = [
            client.build_request(
                "GET" if body is None else "POST",
                target,
                headers=sent_headers,
                content=body,
                extensions={"sni_hostname": url.raw_host.decode("ascii")},
            )
            for target in targets
        ]
        try:
            response = await _first_that_connects(client, sent)
            try:
                return await _read_answer(request, url, response, max_bytes)
            finally:
                await response.aclose()
        except httpx2.TransportError as error:
            raise RetryRequest(f"{url.host} cannot be reached ({_cause(error)})") from error


async def _way(url: httpx2.URL, allow: Collection[str]) -> HttpRoute:
    """Where to send it; every address is looked up now, and checked. Raises `WebToolError`."""
    host, proxies = url.raw_host.decode("ascii"), getproxies()
    proxy = "" if proxy_bypass(host) else proxies.get(url.scheme) or proxies.get("all") or ""
    try:
        addresses = await resolve(host, port(url))
    except (OSError, UnicodeError) as error:
        if proxy:
            return HttpRoute(proxy=proxy)
        text = f"no host {url.host[:80]} is found: check the address"
        raise WebToolError("unreachable", text) from error
    check(host, port(url), addresses, allow)
    if proxy and all(map(public, addresses)):
        return HttpRoute(proxy=proxy)
    return HttpRoute(tuple(addresses[:_ADDRESSES]))


@cache
def _certificates(file: str | None, folder: str | None) -> ssl.SSLContext:
    """TLS context for the CA variables (the arguments are the cache key)."""
    del file, folder
    return httpx2.create_ssl_context()


async def _first_that_connects(
    client: httpx2.AsyncClient, sent: list[httpx2.Request]
) -> httpx2.Response:
    for one in sent[:-1]:
        with contextlib.suppress(httpx2.ConnectError, httpx2.ConnectTimeout):
            return await client.send(one, stream=True)
    return await client.send(sent[-1], stream=True)


async def _read_answer(
    request: WebRequest, url: httpx2.URL, response: httpx2.Response, max_bytes: int
) -> Answer:
    """The answer, read whole if it is a good one of a wanted kind. Raises `WebToolError`."""
    headers = {name.lower(): value for name, value in response.headers.items()}
    answer = Answer(str(url), status=response.status_code, headers=headers)
    if answer.status in MOVED:
        return answer
    if not response.is_success:
        body, _ = await _read(response, _MAX_ERROR_BODY)
        return Answer(answer.url, body, answer.status, headers)
    if request.types and not answer.type.startswith(request.types):
        kind = answer.type[:80] or "something it does not name"
        wanted = ", ".join(request.types)
        text = f"{url.host} answers with {kind}, and only {wanted} can be read: try another"
        raise WebToolError("not_readable", text)
    body, complete = await _read(response, max_bytes)
    if not complete:
        text = f"{url.host} answers with more than {max_bytes:,} bytes: look for a smaller page"
        raise WebToolError("too_large", text)
    return Answer(answer.url, body, answer.status, headers)


async def _read(response: httpx2.Response, max_bytes: int) -> tuple[bytes, bool]:
    """The unpacked body, up to `max_bytes`, and whether that is all. Raises `WebToolError`."""
    packing = response.headers.get("content-encoding", "identity").strip().lower()
    unpack = zlib.decompressobj(_GZIP_OR_ZLIB) if packing in _PACKED else None
    if unpack is None and packing not in {"", "identity"}:
        text = f"the answer is packed as {packing[:20]!r}, which was not asked for"
        raise WebToolError("bad_answer", text)
    body, spoilt = bytearray(), None
    with anyio.CancelScope() as enough:
        async for piece in response.aiter_raw():
            if enough.cancel_called:
                continue
            try:
                body += (
                    piece if unpack is None else unpack.decompress(piece, max_bytes + 1 - len(body))
                )
            except zlib.error as error:
                spoilt = error
            if spoilt is not None or len(body) > max_bytes:
                # Reading ends where it waits: trio wants its generators run out, not left.
                enough.cancel()
    if spoilt is not None:
        raise WebToolError(
            "bad_answer", "the answer cannot be unpacked: try another page"
        ) from spoilt
    return bytes(body[:max_bytes]), len(body) <= max_bytes


def _cause(error: BaseException) -> str:
    """What there is to say of a lost connection: some errors leave that to those behind them."""
    behind: BaseException | None = error
    while behind is not None and not str(behind):
        behind = behind.__cause__ or behind.__context__
    return one_line(str(behind or type(error).__name__))[:160]
