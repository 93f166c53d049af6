"""A run as it happens: server-sent events, each with its place in the record as its id.

Whoever comes back sends the last id that it saw (`Last-Event-ID`, as browsers do by themselves) and
gets what follows: nothing twice, and nothing is left out.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Final, Literal

import anyio
import anyio.lowlevel
import msgspec
from sse_starlette import EventSourceResponse
from starlette.responses import Response
from starlette.types import Receive, Scope, Send
from typing_extensions import override

from clew import Stream, follow
from clew.interfaces import RunInfo
from clew.stores.listing import status_of
from clew_serve.api.access_to_runs import info_of
from clew_serve.endpoints import Inquiry
from clew_serve.live.forms import ALL
from clew_serve.live.viewer import Viewer
from clew_serve.service import Service

PING: Final = 15
"""Seconds between two comments that keep a quiet stream open, and find out who has left."""

SEND: Final = 30
"""Seconds that a reader has to take an event: then it is slow, and has to come back."""

OPEN: Final = "open"
"""The status of a run whose last entry is no stop."""

RETRY: Final = b"retry: 1000\n\n"


class EventQuery(msgspec.Struct, forbid_unknown_fields=True):
    """From where on, and how much: `Last-Event-ID` counts before `after`."""

    after: str = ""
    show: Literal["answer", "result", "all"] = "all"


async def get(inquiry: Inquiry) -> Response:
    """The events of a run until it stops; 204, which ends a browser's trying, where none follow."""
    query: EventQuery = inquiry.query
    last = inquiry.headers.get("last-event-id")
    after = last or query.after or "0"
    info = await info_of(inquiry)
    service = inquiry.service
    stream = follow(info.run_id, after=after, store=service.store)
    if await _is_over(service, info, after):
        await stream.aclose()
        return Response(status_code=204)
    if query.show != "all":
        return LiveEvents(service, _encoded(stream, query.show))
    await stream.aclose()
    begin = after if last or not after.isdecimal() else int(after)  # of an entry, or of a stream
    viewer = Viewer(service.feeds, service.store, info.run_id, ALL, begin, info.entries)
    return LiveEvents(service, _shared(viewer))


async def _is_over(service: Service, info: RunInfo, after: str) -> bool:
    """Whether nothing follows the last entry that was seen until somebody does something."""
    seen = after.partition(",")[0]
    open_yet = status_of(info.last.body) == OPEN
    if open_yet or not seen.isdecimal() or int(seen) < info.entries:
        return False
    return not await service.store.inbox(info.run_id)


class LiveEvents(Response):
    """A stream of encoded events, which ends with the run, with its reader, or with the server."""

    def __init__(self, service: Service, encoded: AsyncGenerator[bytes]) -> None:
        super().__init__()
        self._service = service
        self._encoded = encoded
        self._events = EventSourceResponse(encoded, ping=PING, sep="\n", send_timeout=SEND)

    @override
    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self._service.counts.stream():
            async with anyio.create_task_group() as group:
                group.start_soon(_end, self._service.leaving, group.cancel_scope)
                async with aclosing(self._encoded):  # its feed need not wait for the collector
                    await self._events(scope, receive, send)
                group.cancel_scope.cancel()


async def _end(leaving: anyio.Event, scope: anyio.CancelScope) -> None:
    await leaving.wait()
    scope.cancel()


async def _shared(viewer: Viewer) -> AsyncGenerator[bytes]:
    yield RETRY
    async with aclosing(viewer.events()) as events:
        async for event in events:
            yield event


async def _encoded(
    stream: Stream[object], show: Literal["answer", "result"]
) -> AsyncGenerator[bytes]:
    yield RETRY
    async for event in stream.sse(show):
        yield event.encode()
        await anyio.lowlevel.checkpoint()  # others have their turn, and who has left is noticed
