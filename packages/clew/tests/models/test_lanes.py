"""Many requests at once: who gets which connection, and when one is closed."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import anyio
import anyio.lowlevel
import httpcore2
import httpx2
import pytest

from clew.models.http.connections import MAX_CONNECTIONS, ConnectionPool
from clew.models.openai.chat import openai_chat
from clew.support.errors import ModelError
from clew_testing.servers.openai_server import OpenAIServer, Say
from tests.models.support import KEY, ask


class Body:
    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield b"fine"

    async def aclose(self) -> None:
        pass


class Line(httpcore2.AsyncConnectionInterface):
    """A connection: answers when the gate is open, if it can."""

    def __init__(self, origin: httpcore2.Origin, gate: anyio.Event, *, broken: bool) -> None:
        self.origin = origin
        self.gate = gate
        self.broken = broken
        self.used = 0
        self.busy = False
        self.old = False
        self.closed = False

    async def handle_async_request(self, request: httpcore2.Request) -> httpcore2.Response:
        assert request.url.origin == self.origin
        assert not self.busy
        assert not self.closed
        if self.broken:
            self.closed = True
            raise httpcore2.ConnectError("nobody is there")
        self.used += 1
        self.busy = True
        try:
            await self.gate.wait()
        except BaseException:
            self.closed = True
            raise
        finally:
            self.busy = False
        return httpcore2.Response(200, content=Body())

    def can_handle_request(self, origin: httpcore2.Origin) -> bool:
        return origin == self.origin

    def has_expired(self) -> bool:
        return self.old

    def is_closed(self) -> bool:
        return self.closed

    async def aclose(self) -> None:
        self.closed = (
            not self.busy
        )  # as with one that is still connecting: there is nothing to close


class Lines(list[Line]):
    """All that were made."""

    def __init__(self) -> None:
        self.gate = anyio.Event()
        self.broken = False

    def __call__(self, origin: httpcore2.Origin) -> Line:
        self.append(Line(origin, self.gate, broken=self.broken))
        return self[-1]


@asynccontextmanager
async def client(lines: Lines, most: int = MAX_CONNECTIONS) -> AsyncIterator[httpx2.AsyncClient]:
    lanes = ConnectionPool(lines, max_connections=most)
    async with httpx2.AsyncClient(transport=lanes, base_url="http://there") as http:
        yield http


async def until(true: Callable[[], bool]) -> None:
    while not true():
        await anyio.lowlevel.checkpoint()


async def test_requests_at_once_have_a_lane_each_and_later_ones_take_them_again() -> None:
    lines = Lines()
    async with client(lines) as http:
        async with anyio.create_task_group() as group:
            for _ in range(5):
                group.start_soon(http.get, "/")
            await until(lambda: sum(line.busy for line in lines) == 5)
            lines.gate.set()
        for _ in range(3):
            assert (await http.get("/")).text == "fine"
        assert sorted(line.used for line in lines) == [1, 1, 1, 1, 4]
    assert all(line.closed for line in lines)


async def test_over_the_most_a_request_waits_for_another_to_end() -> None:
    lines = Lines()
    async with client(lines, most=2) as http:
        async with anyio.create_task_group() as group:
            for _ in range(6):
                group.start_soon(http.get, "/")
            await until(lambda: sum(line.busy for line in lines) == 2)
            lines.gate.set()
        assert len(lines) == 2
        assert sum(line.used for line in lines) == 6


async def test_a_lane_is_free_only_when_its_response_was_closed() -> None:
    lines = Lines()
    lines.gate.set()
    async with client(lines) as http:
        async with http.stream("GET", "/") as open_response:
            await http.get("/")
            assert len(lines) == 2
        await open_response.aclose()
        await open_response.stream.aclose()  # type: ignore[union-attr] # it is an async one
        await http.get("/")
        await http.get("/")
        assert [line.used for line in lines] == [3, 1]


async def test_what_nobody_used_is_closed() -> None:
    lines = Lines()
    async with client(lines) as http:
        async with anyio.create_task_group() as group:
            for _ in range(3):
                group.start_soon(http.get, "/")
            await until(lambda: sum(line.busy for line in lines) == 3)
            lines.gate.set()
        for line in lines:
            line.old = True
        await http.get("/")
        assert [line.closed for line in lines] == [True, True, True, False]
        assert (await http.get("/")).text == "fine"
        assert len(lines) == 4


async def test_a_request_to_another_server_has_a_connection_of_its_own() -> None:
    lines = Lines()
    lines.gate.set()
    async with client(lines) as http:
        for address in ("/", "http://there/", "http://elsewhere/", "https://elsewhere/", "/"):
            assert (await http.get(address)).text == "fine"
        assert [line.used for line in lines] == [2, 1, 1, 1]
        with pytest.raises(httpx2.UnsupportedProtocol, match="it was sent on to ftp://"):
            await http.get("ftp://there/")
        assert len(lines) == 4


async def test_a_request_that_fails_or_is_cancelled_makes_room_for_others() -> None:
    lines = Lines()
    async with client(lines, most=1) as http:
        lines.broken = True
        with pytest.raises(httpx2.ConnectError, match="nobody is there"):
            await http.get("/")
        lines.broken = False
        async with anyio.create_task_group() as group:
            group.start_soon(http.get, "/")
            await until(lambda: lines[-1].busy)
            group.cancel_scope.cancel()
        lines.gate.set()
        for _ in range(2):
            assert (await http.get("/")).text == "fine"
        assert [line.used for line in lines] == [0, 1, 2]


async def test_a_response_may_outlive_the_transport() -> None:
    lines = Lines()
    lines.gate.set()
    lanes = ConnectionPool(lines)
    response = await lanes.handle_async_request(httpx2.Request("GET", "http://there/"))
    await lanes.aclose()
    assert lines[0].closed
    await response.aclose()
    await lanes.handle_async_request(httpx2.Request("GET", "http://there/"))
    assert len(lines) == 2


async def test_a_lane_that_was_connecting_when_all_were_closed_is_closed_after_its_response() -> (
    None
):
    lines = Lines()
    lanes = ConnectionPool(lines)
    found: list[httpx2.Response] = []

    async def get() -> None:
        request = httpx2.Request("GET", "http://there/")
        found.append(await lanes.handle_async_request(request))

    async with anyio.create_task_group() as group:
        group.start_soon(get)
        await until(lambda: any(line.busy for line in lines))
        await lanes.aclose()
        assert not lines[0].closed
        lines.gate.set()
    await found[0].aclose()
    assert lines[0].closed


async def test_a_proxy_of_the_environment_is_used_and_the_own_machine_needs_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with OpenAIServer(lambda _: Say("Ok."), key=KEY) as server:
        monkeypatch.setenv("HTTP_PROXY", server.base_url.removesuffix("/v1"))
        far = openai_chat("m", base_url="http://provider.invalid/v1", api_key=KEY)
        with pytest.raises(ModelError, match=r"POST http://provider\.invalid/v1"):
            await far.complete(ask())  # the server, asked as a proxy, says what it was asked for
        await far.close()
        near = openai_chat("m", base_url=server.base_url, api_key=KEY)
        assert (await near.complete(ask())).text == "Ok."
        await near.close()
        assert server.connections == 2
