"""The server at an address: uvicorn, with limits for who is slow or sends nothing."""

import asyncio
import logging
import socket
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Final, cast

import anyio
import uvicorn
from starlette.types import ASGIApp
from typing_extensions import override
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from clew.concurrency.tasks import one_error
from clew.workers import OnWorkerEvent
from clew_serve.access.sign_in import TOKEN
from clew_serve.access.users import User, new_token
from clew_serve.application import gate
from clew_serve.config import ServeConfig
from clew_serve.service import open_service

LOG: Final = logging.getLogger("clew")

_IDLE: Final = 5
_GRACE: Final = 5
_BACKLOG: Final = 512


class TimedH11(H11Protocol):
    """Closes a connection on which the head of a request does not come within `patience`."""

    patience = 20.0
    """Seconds."""
    _late: asyncio.TimerHandle | None = None

    @override
    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as in uvicorn
        super().connection_made(transport)
        self._watch()

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        self._unwatch()
        super().connection_lost(exc)

    @override
    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._is_answering():
            self._unwatch()
        else:
            self._watch()

    def _is_answering(self) -> bool:
        """Whether a request has come, and is being answered."""
        cycle = cast("RequestResponseCycle | None", self.cycle)  # before the first there is none
        return cycle is not None and not cycle.response_complete

    def _watch(self) -> None:
        if self._late is None:
            self._late = self.loop.call_later(self.patience, self.timeout_keep_alive_handler)

    def _unwatch(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None


class _Uvicorn(uvicorn.Server):
    """Reports when it serves, and leaves signals to the caller."""

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


async def serve(
    config: ServeConfig,
    *,
    leaving: anyio.Event | None = None,
    on_ready: Callable[[str], None] | None = None,
    on_event: OnWorkerEvent | None = None,
) -> None:
    """Serve until `leaving` is set or it is cancelled; each run then finishes its step.

    `on_ready` is called with the address once requests are answered; without `config.users` it has
    the new token of the one admin in it. `on_event` is told what the worker here does. Needs
    asyncio. Raises `ConfigError` where it cannot listen, or an agent cannot be made, and
    `StoreError`.
    """
    leaving = leaving or anyio.Event()
    users: Sequence[User] = config.users or (User(token=new_token()),)
    bound, there = config.address.bind(_BACKLOG)
    with bound:
        async with open_service(replace(config, port=there.port), leaving, on_event) as service:
            address = f"http://{there.in_url}:{there.port}/"
            link = address if config.users else f"{address}?{TOKEN}={users[0].token}"

            def ready() -> None:
                if on_ready is not None:
                    on_ready(link)

            await _serve(gate(service, users), config, bound, leaving, ready)


async def _serve(
    app: ASGIApp,
    config: ServeConfig,
    bound: socket.socket,
    leaving: anyio.Event,
    on_started: Callable[[], None],
) -> None:
    timed = type("Timed", (TimedH11,), {"patience": config.patience})
    web = _Uvicorn(
        uvicorn.Config(
            app, http=timed, ws="none", lifespan="off", log_config=None, log_level="critical",
            access_log=False, server_header=False, proxy_headers=False,
            limit_concurrency=config.max_connections, timeout_keep_alive=_IDLE,
            timeout_graceful_shutdown=_GRACE, backlog=_BACKLOG,
        ),
        on_started,
    )  # fmt: skip
    with one_error():
        async with anyio.create_task_group() as group:
            group.start_soon(_leave, web, leaving)
            await web.serve(sockets=[bound])
            group.cancel_scope.cancel()


async def _leave(web: uvicorn.Server, leaving: anyio.Event) -> None:
    await leaving.wait()
    web.should_exit = True
