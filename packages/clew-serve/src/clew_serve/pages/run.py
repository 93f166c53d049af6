"""The page of a run: its first entries, more of them on demand, and what is new as it happens."""

import secrets
from dataclasses import replace
from typing import Any, Final

import msgspec
from markupsafe import Markup
from starlette.responses import HTMLResponse, Response

from clew import Image
from clew.interfaces import RunInfo, Started
from clew.stores.listing import entries_after, status_of, summary
from clew_serve.access.roles import may
from clew_serve.api.access_to_runs import info_of
from clew_serve.api.events import OPEN, LiveEvents
from clew_serve.endpoints import Endpoint, Inquiry, Position
from clew_serve.errors import RefusedError
from clew_serve.pages.live import HELD, SCREEN, live_pieces, thread_of
from clew_serve.pages.rendering import fragment, html_response, page
from clew_serve.pages.safe_html import short
from clew_serve.pages.thread import PICTURES, Thread, attachments_of

_RUN: Final = "/runs/{run:path}"
_PICTURE_POLICY: Final = {"content-security-policy": "default-src 'none'; sandbox"}


class ThreadQuery(msgspec.Struct):
    """The entries behind number `after`; `step` is the one there, where it is known."""

    after: Position = 0
    step: Position | None = None


class LiveQuery(ThreadQuery):
    """The same; with `wait` also while the run waits for a person, until it goes on elsewhere."""

    wait: bool = False


class PictureQuery(msgspec.Struct):
    """A picture by the number of its entry, and its own in that, from 0."""

    entry: Position = 1
    number: Position = 0


async def show(inquiry: Inquiry) -> HTMLResponse:
    """A run, from an entry on."""
    query: ThreadQuery = inquiry.query
    info = await info_of(inquiry)
    run = summary(info)
    started = None if run is None else run.started
    status = status_of(info.last.body)
    goes_on = not inquiry.reviewed and (
        status in {OPEN, HELD} or bool(await inquiry.service.store.inbox(info.run_id))
    )
    return page(
        inquiry, "run.html", info=info, started=started, title=title_of(info, started),
        status=status, goes_on=goes_on, query=query, screen=SCREEN, steers=may_steer(inquiry),
        request=secrets.token_hex(16), reviewed=inquiry.reviewed, **await _screen(inquiry, info),
    )  # fmt: skip


def may_steer(inquiry: Inquiry) -> bool:
    """Whether the user may steer runs here, so that a page has the forms for it."""
    return may(inquiry.user.role, "run") and not inquiry.service.config.read_only


async def more(inquiry: Inquiry) -> HTMLResponse:
    """The next entries of a run, for a page that has those before."""
    info = await info_of(inquiry)
    return html_response(fragment("more.html", info=info, **await _screen(inquiry, info)))


async def live(inquiry: Inquiry) -> Response:
    """What happens in a run from an entry on, as HTML in server-sent events.

    The id of each is the number of the entry and its step; `Last-Event-ID` goes on behind it.
    """
    query: LiveQuery = inquiry.query
    info = await info_of(inquiry)
    after, step = _position(inquiry.headers.get("last-event-id", "")) or (query.after, query.step)
    after = min(after, info.entries)
    thread = _thread(inquiry, info, after, step)
    return LiveEvents(inquiry.service, live_pieces(inquiry, info, after, thread, wait=query.wait))


async def picture(inquiry: Inquiry) -> Response:
    """A picture of an entry. Raises `RefusedError` where there is none that can be shown."""
    query: PictureQuery = inquiry.query
    info = await info_of(inquiry)
    store = inquiry.service.store
    entries = await entries_after(store, info.run_id, max(0, query.entry - 1), 1)
    every = attachments_of(entries[0].event) if entries else ()
    each = every[query.number] if query.number < len(every) else None
    if not isinstance(each, Image) or each.media_type not in PICTURES:
        raise RefusedError(404, "no_such_picture", "this entry has no such picture")
    return Response(each.data, media_type=each.media_type, headers=_PICTURE_POLICY)


async def _screen(inquiry: Inquiry, info: RunInfo) -> dict[str, Any]:
    """A page of entries as HTML, and where the next one begins."""
    query: ThreadQuery = inquiry.query
    thread = _thread(inquiry, info, query.after, query.step)
    entries = await entries_after(inquiry.service.store, info.run_id, query.after, SCREEN)
    drawn = thread.drawn(entries)
    last = entries[-1].seq if entries else query.after
    return {"drawn": drawn, "last": last, "step": thread.step, "left": max(0, info.entries - last)}


def title_of(info: RunInfo, started: Started | None) -> Markup:
    """What the run is called: its title, else the first line of its question."""
    if started is None:
        return short(info.run_id)
    return short(started.labels.get("title") or started.words.strip().partition("\n")[0])


def _thread(inquiry: Inquiry, info: RunInfo, after: int, step: int | None) -> Thread:
    """The same for the user who asks."""
    thread = thread_of(info, after, step)
    return replace(thread, forks=may_steer(inquiry), prompts=not inquiry.reviewed)


def _position(last_id: str) -> tuple[int, int | None] | None:
    """The entry and the step that the id of an event names; None for what is none."""
    seq, _, step = last_id.partition("-")
    if not (seq.isascii() and seq.isdecimal()) or len(seq) > 15:
        return None
    return int(seq), int(step) if step.isascii() and step.isdecimal() and len(step) < 15 else None


RUN_PAGES: Final = (
    Endpoint(
        method="GET", path=f"{_RUN}/more", role="look", handler=more, query=ThreadQuery,
        gives="text/html", reviews=True, about="The next entries of a run, for its page.",
    ),
    Endpoint(
        method="GET", path=f"{_RUN}/live", role="look", handler=live, query=LiveQuery,
        gives="text/event-stream", about="A run as it happens, for its page.",
    ),
    Endpoint(
        method="GET", path=f"{_RUN}/picture", role="look", handler=picture, query=PictureQuery,
        gives="image/*", reviews=True, about="A picture of an entry.",
    ),
    Endpoint(
        method="GET", path=_RUN, role="look", reviews=True, handler=show, query=ThreadQuery,
        gives="text/html", about="The page of a run.",
    ),
)  # fmt: skip
