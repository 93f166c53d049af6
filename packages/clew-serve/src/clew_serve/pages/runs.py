"""The first page: the runs that the user may see, by status, label and words, in pages."""

from dataclasses import replace
from typing import Annotated, Final

import anyio.to_thread
import msgspec
from starlette.responses import HTMLResponse

from clew.retention import STATUSES
from clew_serve.api import evaluation, runs
from clew_serve.endpoints import Endpoint, Inquiry
from clew_serve.errors import RefusedError
from clew_serve.pages.rendering import page


class ListQuery(msgspec.Struct):
    """Which runs, as the form on the page sends it: what is empty does not count."""

    status: str = ""
    text: str = ""
    label: str = ""
    after: str = ""
    limit: Annotated[int, msgspec.Meta(ge=1, le=runs.MAX_PAGE)] = 50


async def show(inquiry: Inquiry) -> HTMLResponse:
    """A page of runs, last written first."""
    query: ListQuery = inquiry.query
    if query.label and not query.label.partition("=")[1]:
        hint = "write NAME=VALUE"
        raise RefusedError(422, "invalid", f"{query.label[:64]!r} is no label", hint)
    wanted = runs.RunQuery(
        status=query.status, label=[query.label] if query.label else [], text=query.text,
        limit=query.limit, after=query.after,
    )  # fmt: skip
    listed = await runs.list_page(replace(inquiry, query=wanted))
    path = evaluation.file_of(inquiry) if inquiry.user.owner is None else None
    evaluated = path is not None and await anyio.to_thread.run_sync(evaluation.has_evaluation, path)
    return page(
        inquiry, "runs.html", evaluated=evaluated,
        runs=listed.runs, after=listed.after, query=query,
        statuses=STATUSES, agents=inquiry.service.agents,
    )  # fmt: skip


RUNS: Final = Endpoint(
    method="GET", path="/", role="look", handler=show, query=ListQuery, gives="text/html",
    about="The page of all runs.",
)  # fmt: skip
