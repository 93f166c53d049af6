"""The one way out to the web: bounded in time, size and hops, and only to public addresses.

A host's name is looked up once for every hop, all its addresses are checked, and the connection is
made to an address that was checked and not to the name: a name that answers otherwise the second
time gains nothing by it. Nothing is kept between requests, so that one `Reach` serves any number
of runs on any event loop.
"""

import email.utils
import os
import random
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

import anyio
import httpx2

from clew import ConfigError
from clew.support.settings import check_fields
from clew_web.errors import WebToolError
from clew_web.http_request import MOVED, RetryRequest, hop, port, read_url
from clew_web.request import Answer, WebRequest

PRODUCT: Final = "clew"
"""The name by which a robots.txt may speak of us."""

HOSTS: Final = "CLEW_WEB_HOSTS"
CONTACT: Final = "CLEW_WEB_CONTACT"

MayGo: TypeAlias = Callable[[str], Awaitable[None]]
"""Asked before every hop with its address; raises `WebToolError` to stay away."""

_AGAIN: Final = frozenset({429, 500, 502, 503, 504})
_WAIT: Final = 0.5


@dataclass(frozen=True)
class Reach:
    """How requests to the web are made.

    `allow` lists hosts (or `host:port`) that may have private addresses: an intranet's, a test's.
    `contact` (a mail address or a page) is added to the user agent, as many sites ask; `agent`
    replaces the whole user agent. A request with its redirects and retries takes at most `seconds`;
    at most `max_bytes` bytes of a response are read, unpacked, and at most `hops` redirects
    followed. A busy or failing server is asked up to `tries` times, after the delay that it asks
    for. Raises `ConfigError`.
    """

    allow: tuple[str, ...] = ()
    contact: str = ""
    agent: str = ""
    seconds: float = 20.0
    max_bytes: int = 5_000_000
    hops: int = 5
    tries: int = 3

    def __post_init__(self) -> None:
        """Refuse what could not be sent."""
        check_fields(self)
        if not all(31 < ord(sign) < 127 for sign in self.contact + self.agent):
            message = f"the contact ({CONTACT}) and the user agent hold plain ASCII signs only"
            raise ConfigError(message)
        if self.tries < 1:
            message = "tries must be at least 1"
            raise ConfigError(message)

    @property
    def user_agent(self) -> str:
        """The user agent sent to servers."""
        return self.agent or f"{PRODUCT} ({self.contact or 'an agent of a person; no contact set'})"

    async def ask(self, request: WebRequest, may_go: MayGo | None = None) -> Answer:
        """Send a request and return the response, whatever its status. Raises `WebToolError`."""
        first = read_url(request.url)
        if request.params:
            first = first.copy_merge_params(dict(request.params))
        try:
            with anyio.fail_after(self.seconds):
                return await self._persist(request, first, may_go)
        except TimeoutError as error:
            text = f"{first.host} did not answer in {self.seconds:g} s: try another, or later"
            raise WebToolError("timeout", text) from error

    async def _persist(
        self, request: WebRequest, first: httpx2.URL, may_go: MayGo | None
    ) -> Answer:
        """Ask again while the server is busy or fails, as far as tries and time allow."""
        number, wait = 1, _WAIT
        while True:
            last = number == self.tries
            try:
                answer = await self._follow(request, first, may_go)
            except RetryRequest as failure:
                if last or not _in_time(wait):
                    raise WebToolError(
                        "unreachable", f"{failure}: try another, or later"
                    ) from failure
                pause = _shortened(wait)
            else:
                asked = retry_after(answer.headers, time.time())
                pause = _shortened(wait) if asked is None else asked
                if answer.status not in _AGAIN or last or not _in_time(pause):
                    return answer
            await anyio.sleep(pause)
            number, wait = number + 1, wait * 2

    async def _follow(self, request: WebRequest, first: httpx2.URL, may_go: MayGo | None) -> Answer:
        """One attempt, with its redirects; every hop is checked like the first."""
        url = first
        for _ in range(self.hops + 1):
            if may_go is not None:
                await may_go(str(url))
            headers = {"user-agent": self.user_agent}
            if _origin(url) == _origin(first):
                headers |= request.headers
            answer = await hop(
                request,
                url,
                headers=headers,
                allow=self.allow,
                seconds=self.seconds,
                max_bytes=self.max_bytes,
            )
            where = answer.headers.get("location", "")
            if answer.status not in MOVED or not where:
                return answer
            if request.json is not None:
                text = f"{url.host} sends elsewhere what is posted to it: check its address"
                raise WebToolError("bad_answer", text)
            url = read_url(where, url)
        text = f"{first.host} sends on more than {self.hops} times: try another page"
        raise WebToolError("not_allowed", text)


def reach_of_environment() -> Reach:
    """The default `Reach`, with `CLEW_WEB_HOSTS` and `CLEW_WEB_CONTACT`."""
    hosts = os.environ.get(HOSTS, "").replace(",", " ").split()
    return Reach(allow=tuple(hosts), contact=os.environ.get(CONTACT, ""))


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """The wait in seconds that is asked for, in seconds or by a date; None where none is.

    `now` is Unix time in seconds.
    """
    header = headers.get("retry-after", "").strip()
    if header.isascii() and header.isdecimal():
        return float(header[:9])
    try:
        return max(0.0, email.utils.parsedate_to_datetime(header).timestamp() - now)
    except ValueError:
        return None


def status_failure(answer: Answer) -> WebToolError | None:
    """What a status means where nothing more is known; None for a good one."""
    host = httpx2.URL(answer.url).host
    match answer.status:
        case 401 | 403 | 407 | 451:
            return WebToolError("refused", f"{host} refuses this ({answer.status}): try another")
        case 404 | 410:
            return WebToolError("not_found", f"{host} has no such page: check the address")
        case 429:
            wait = answer.headers.get("retry-after", "")[:40]
            when = f", and wants a pause ({wait})" if wait else ""
            return WebToolError("busy", f"{host} is asked too often{when}: try another, or later")
        case status if status >= 500:
            return WebToolError("unreachable", f"{host} fails ({status}): try another, or later")
        case status if not 200 <= status < 300:
            return WebToolError("bad_answer", f"{host} answers with status {status}: try another")
        case _:
            return None


def _in_time(wait: float) -> bool:
    return anyio.current_time() + wait < anyio.current_effective_deadline()


def _shortened(wait: float) -> float:
    """The wait, shorter by some chance, so that clients do not return together."""
    return wait * (1 - 0.25 * random.random())  # noqa: S311 - spreads load, hides nothing


def _origin(url: httpx2.URL) -> tuple[str, str, int]:
    return url.scheme, url.host, port(url)
