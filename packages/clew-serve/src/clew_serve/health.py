"""Whether the server lives, whether it can work, and figures for Prometheus."""

import time
from collections import Counter
from collections.abc import Iterator
from typing import Final

from starlette.responses import PlainTextResponse

from clew import StoreError, pending_approvals
from clew.workers import Monitor
from clew_serve.endpoints import Inquiry

TEXT: Final = "text/plain; version=0.0.4"
_WATCHED: Final = 1_000
"""So many runs, the last written, are counted."""


async def live(inquiry: Inquiry) -> PlainTextResponse:
    """Whether the process answers."""
    del inquiry
    return PlainTextResponse("ok\n")


async def ready(inquiry: Inquiry) -> PlainTextResponse:
    """Whether the store answers, and the worker works; 503 where not."""
    service = inquiry.service
    try:
        await service.store.runs(1)
    except StoreError:
        return PlainTextResponse("the store does not answer\n", 503)
    if not service.work.alive or service.leaving.is_set():
        return PlainTextResponse("no runs are executed\n", 503)
    return PlainTextResponse("ok\n")


async def metrics(inquiry: Inquiry) -> PlainTextResponse:
    """Figures for Prometheus: of the last runs of the store, of what waits, and of the server."""
    service = inquiry.service
    rows = await Monitor(service.store, _WATCHED).rows()
    waiting = await pending_approvals(store=service.store)
    oldest = min((each.at for each in waiting), default=0)
    age = max(0.0, time.time() - oldest / 1000) if oldest else 0.0
    lines = [
        *_figure("clew_runs", "gauge", f"of the last {_WATCHED} runs, how many stand so", {
            f'queue="{_escaped(queue)}",standing="{standing}"': count
            for (queue, standing), count in Counter((r.queue, r.standing) for r in rows).items()
        }),
        *_figure("clew_waiting_calls", "gauge", "calls that wait for somebody", {
            f'wants="{wants}"': count
            for wants, count in Counter(it.wants for it in waiting).items()
        }),
        *_figure("clew_waiting_seconds", "gauge", "how long the oldest of them waits", {"": age}),
        *_figure("clew_runs_in_hand", "gauge", "runs that the worker here has in hand", {
            "": len(service.work.in_hand)
        }),
        *_figure("clew_runs_not_continued", "gauge", "runs that could not be gone on with here", {
            "": len(service.work.failures)
        }),
        *_figure("clew_http_requests_total", "counter", "requests that were answered", {
            f'status="{status}"': count for status, count in service.counts.answered.items()
        }),
        *_figure("clew_http_open_requests", "gauge", "requests and streams that are open", {
            "": service.counts.requests
        }),
        *_figure("clew_http_open_streams", "gauge", "streams of events that are open", {
            "": service.counts.streams
        }),
    ]  # fmt: skip
    return PlainTextResponse("".join(f"{line}\n" for line in lines), media_type=TEXT)


def _figure(name: str, kind: str, about: str, values: dict[str, float]) -> Iterator[str]:
    """A figure in the format of Prometheus, with its values by labels."""
    yield f"# HELP {name} {about}"
    yield f"# TYPE {name} {kind}"
    for labels, value in sorted(values.items()):
        yield f"{name}{{{labels}}} {value:g}" if labels else f"{name} {value:g}"


def _escaped(value: str) -> str:
    """A text as the value of a label."""
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
