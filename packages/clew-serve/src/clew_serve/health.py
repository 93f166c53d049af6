"""Whether the server lives, whether it can work, and figures for Prometheus."""

import time
from collections import Counter
from collections.abc import Mapping

from starlette.responses import PlainTextResponse

from clew import StoreError, pending_approvals
from clew.operations import CONTENT_TYPE, Figure, Labels, exposition, queue_figures
from clew_serve.endpoints import Inquiry


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
    """Figures for Prometheus: of the queues, of what waits, of the work here and of the server."""
    service = inquiry.service
    waiting = await pending_approvals(store=service.store)
    oldest = min((each.at for each in waiting), default=0)
    age = max(0.0, time.time() - oldest / 1000) if oldest else 0.0
    wants = Counter[str](it.wants for it in waiting)
    figures = [
        *await queue_figures(service.store),
        Figure("clew.waiting.calls", "gauge", "calls that wait for somebody", _by("wants", wants)),
        Figure("clew.waiting", "gauge", "how long the oldest of them waits", {(): age}, "s"),
        *service.work.tally.figures(),
        Figure(
            "clew.runs.not_continued", "gauge", "runs that could not be gone on with here",
            {(): len(service.work.failures)},
        ),
        *service.counts.figures(),
    ]  # fmt: skip
    return PlainTextResponse(exposition(figures), media_type=CONTENT_TYPE)


def _by(name: str, values: Mapping[str, float]) -> dict[Labels, float]:
    return {((name, value),): count for value, count in values.items()}
