"""Runs: list them, begin one, see how one is."""

from collections.abc import Mapping
from typing import Annotated, Any, Final

import msgspec

from clew import Entry, RunSummary, Trajectory, list_runs, submit
from clew.agent.approvals import pending_in
from clew.guards import safe_links
from clew.interfaces import Json
from clew.workers import queue_of, status
from clew_serve.agents import agent_name
from clew_serve.api.access_to_runs import agent_named, record_of
from clew_serve.api.questions import Attachment, question_of
from clew_serve.endpoints import Inquiry

MAX_PAGE: Final = 200
_MAX_TITLE: Final = 80
_CHUNK: Final = 500
_SEARCHED: Final = 5_000
"""So many runs a search looks through for one page."""


class RunQuery(msgspec.Struct, forbid_unknown_fields=True):
    """Which runs: a status, labels (`NAME=VALUE`), a text in the title or id; a page of them."""

    status: str = ""
    label: list[Annotated[str, msgspec.Meta(pattern="^[^=]+=")]] = []
    text: str = ""
    limit: Annotated[int, msgspec.Meta(ge=1, le=MAX_PAGE)] = 50
    after: str = ""


class ListedRun(msgspec.Struct):
    """A run in a list. `at` is the time of its last entry, in Unix milliseconds."""

    run_id: str
    title: str
    status: str
    at: int
    labels: Mapping[str, str]
    owner: str
    parent: str
    session: str


class RunPage(msgspec.Struct):
    """Runs, last written first; `after` is for the next page, "" where this is the last."""

    runs: list[ListedRun]
    after: str = ""


class NewRun(msgspec.Struct, forbid_unknown_fields=True):
    """A question to an agent.

    A client's own id of the `request` makes it safe to send twice: the second time it is the same
    run. With a `session` it is said in that conversation.
    """

    agent: str
    question: str
    attachments: list[Attachment] = []
    request: str = ""
    labels: dict[str, str] = {}
    session: str | None = None


class BegunRun(msgspec.Struct):
    """The id of a run."""

    run_id: str


class Run(msgspec.Struct):
    """A run as it is now.

    `status` is that of its stop, or waiting, working or open. `answer` is as it may be shown, where
    addresses that a stranger may have planted lead nowhere (`neutralised`). `pending` are the calls
    that wait for somebody, `unknown` those of which nobody knows whether they happened, and
    `failure` is why this server could not go on with it.
    """

    run_id: str
    status: str
    title: str
    question: str
    agent: str
    queue: str
    owner: str
    labels: Mapping[str, str]
    parent: str
    begun_at: int
    at: int
    entries: int
    steps: int
    usage: dict[str, Json]
    reason: str = ""
    answer: Json = None
    neutralised: list[str] = []
    pending: list[dict[str, Json]] = []
    unknown: list[dict[str, Json]] = []
    failure: str = ""


async def list_page(inquiry: Inquiry) -> RunPage:
    """A page of the runs that the user may see."""
    query: RunQuery = inquiry.query
    labels = {name: value for name, _, value in (each.partition("=") for each in query.label)}
    wanted, words = query.limit, query.text.casefold()
    size = _CHUNK if words else wanted + 1
    matching: list[RunSummary] = []
    last, searched = query.after, 0
    while True:
        chunk = await list_runs(
            size, store=inquiry.service.store, status=query.status, labels=labels,
            owner=inquiry.user.owner, after=last,
        )  # fmt: skip
        for each in chunk:
            if len(matching) == wanted:
                return RunPage([*map(_listed, matching)], last)
            last = each.run_id
            if not words or words in each.title.casefold() or words in each.run_id.casefold():
                matching.append(each)
        searched += len(chunk)
        if len(chunk) < size:
            return RunPage([*map(_listed, matching)])
        if searched >= _SEARCHED:
            return RunPage([*map(_listed, matching)], last)


def _listed(run: RunSummary) -> ListedRun:
    return ListedRun(
        run.run_id, run.title, run.status, run.at, run.labels, run.owner, run.parent, run.session
    )


async def begin(inquiry: Inquiry) -> BegunRun:
    """Begin a run for the worker; it is on disk when this returns."""
    new: NewRun = inquiry.content
    served = agent_named(inquiry.service, new.agent)
    run_id = await submit(
        served.agent, question_of(new.question, new.attachments), store=inquiry.service.store,
        queue=inquiry.service.config.queue, origin=served.recorded, labels=new.labels or None,
        owner=inquiry.user.begins_for, request=new.request, session=new.session,
    )  # fmt: skip
    return BegunRun(run_id)


async def get(inquiry: Inquiry) -> Run:
    """A run as it is now."""
    record = await record_of(inquiry)
    store, started, stop = inquiry.service.store, record.started, record.stop
    answer, neutralised = safe_links(record)(stop.answer if stop is not None else None)
    held = await pending_in(store, record) if record.held else ()
    return Run(
        run_id=record.run_id,
        status=await _standing(inquiry, record),
        title=title_of(record),
        question=record.goal,
        agent=agent_name(record),
        queue=queue_of(record),
        owner=started.owner,
        labels=started.labels,
        parent=record.parent_call,
        begun_at=_at(record.entries[0]),
        at=_at(record.entries[-1]),
        entries=len(record),
        steps=len(record.steps),
        usage=_usage(record),
        reason=stop.reason if stop is not None else "",
        answer=answer,
        neutralised=[*neutralised],
        pending=[each.to_json() for each in held],
        unknown=[msgspec.to_builtins(each) for each in (stop.unknown if stop is not None else ())],
        failure=inquiry.service.work.failures.get(record.run_id, ""),
    )


async def _standing(inquiry: Inquiry, record: Trajectory) -> str:
    """How a run stands: that of its stop, or whether somebody works on it."""
    if not queue_of(record):
        return record.stop.status if record.stop is not None else "open"
    owner = inquiry.owner_for(record.run_id)
    return await status(record.run_id, store=inquiry.service.store, owner=owner)


def title_of(record: Trajectory) -> str:
    """What the run is called in a listing too."""
    words = record.started.words.strip() or record.goal.strip()
    return record.started.labels.get("title") or words.partition("\n")[0][:_MAX_TITLE]


def _at(entry: Entry) -> int:
    return entry.at


def _usage(record: Trajectory) -> dict[str, Any]:
    usage = record.usage
    return {**msgspec.to_builtins(usage), "tokens": usage.tokens}
