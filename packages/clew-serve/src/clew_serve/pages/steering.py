"""The forms by which a person steers: start a run, say something, cancel, fork, rewind, verify.

A form leads to the same handlers as the API, and the browser to the page of the run.
"""

import secrets
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Final, Literal

import msgspec
from starlette.responses import HTMLResponse, RedirectResponse, Response

from clew import Step, Trajectory
from clew.interfaces import FINISH, Json
from clew.retention import verify
from clew_serve.api import runs, steering
from clew_serve.api.access_to_runs import info_of, record_of
from clew_serve.endpoints import Endpoint, Inquiry
from clew_serve.errors import RefusedError
from clew_serve.pages.live import SCREEN
from clew_serve.pages.rendering import page
from clew_serve.pages.safe_html import editable, is_plain, path

_RUN: Final = "/runs/{run:path}"
_STEP: Final = msgspec.Meta(ge=0, le=2**53)


class StartForm(msgspec.Struct, forbid_unknown_fields=True):
    """A question to an agent; the `request` makes it one run however often it is sent."""

    agent: str
    question: str
    request: str = ""


class SayForm(msgspec.Struct, forbid_unknown_fields=True):
    """Something to say to a run."""

    say: str
    request: str = ""


class CancelForm(msgspec.Struct, forbid_unknown_fields=True):
    """Why a run is cancelled."""

    why: str = ""


class RewindForm(msgspec.Struct, forbid_unknown_fields=True):
    """The last step to keep, and what is to be learnt from those after it."""

    to: Annotated[int, _STEP]
    lesson: str


class ForkForm(msgspec.Struct, forbid_unknown_fields=True):
    """What is different in a fork after step `at`.

    For each result that may be changed there is its `call`, the `kind` of its text, what it was
    `before` and its `value`.
    """

    at: Annotated[int, _STEP]
    agent: str = ""
    say: str = ""
    call: list[str] = []
    kind: list[Literal["text", "json"]] = []
    before: list[str] = []
    value: list[str] = []


class ForkQuery(msgspec.Struct):
    """The last step that a fork keeps; without it, the last one of the run."""

    at: Annotated[int, _STEP] | None = None


@dataclass(frozen=True)
class ChangeableResult:
    """A result that somebody may change: its call and tool, and a text of it to edit."""

    call: str
    tool: str
    kind: Literal["text", "json"]
    text: str


async def show_start(inquiry: Inquiry) -> HTMLResponse:
    """The form that begins a run."""
    return page(
        inquiry, "start.html", agents=[*inquiry.service.agents], request=secrets.token_hex(16),
        may_start=not inquiry.service.config.read_only,
    )  # fmt: skip


async def start(inquiry: Inquiry) -> Response:
    """Begin a run."""
    form: StartForm = inquiry.content
    if not form.question.strip():
        raise RefusedError(422, "invalid", "the question is empty", "ask something")
    new = runs.NewRun(form.agent, form.question, request=form.request)
    begun = await runs.begin(replace(inquiry, content=new))
    return RedirectResponse(f"/runs/{path(begun.run_id)}", 303)


async def say(inquiry: Inquiry) -> Response:
    """Say something to a run."""
    form: SayForm = inquiry.content
    await steering.say(replace(inquiry, content=steering.Words(form.say, request=form.request)))
    return await _to_end(inquiry)


async def cancel(inquiry: Inquiry) -> Response:
    """Ask a run to stop."""
    form: CancelForm = inquiry.content
    await steering.end(replace(inquiry, content=steering.Cancelling(form.why)))
    return await _to_end(inquiry)


async def rewind(inquiry: Inquiry) -> Response:
    """Leave a wrong branch out of what the model of a run sees."""
    form: RewindForm = inquiry.content
    await steering.take_back(replace(inquiry, content=steering.Rewinding(form.to, form.lesson)))
    return await _to_end(inquiry)


async def show_fork(inquiry: Inquiry) -> HTMLResponse:
    """The form that begins a run with the first steps of another, and something changed."""
    query: ForkQuery = inquiry.query
    record = await record_of(inquiry)
    at = len(record.steps) if query.at is None else min(query.at, len(record.steps))
    return page(
        inquiry, "fork.html", run_id=record.run_id, at=at, steps=len(record.steps),
        agents=[*inquiry.service.agents], results=[*_changeable(record, at)],
        why_idle=inquiry.service.config.why_idle,
    )  # fmt: skip


async def fork(inquiry: Inquiry) -> Response:
    """Begin a fork."""
    form: ForkForm = inquiry.content
    asked = steering.Fork(form.at, _changed(form), form.say, form.agent)
    begun = await steering.fork(replace(inquiry, content=asked))
    return RedirectResponse(f"/runs/{path(begun.run_id)}", 303)


async def show_verified(inquiry: Inquiry) -> HTMLResponse:
    """Whether a record is what was written."""
    info = await info_of(inquiry)
    (verified,), remarks = await verify([info.run_id], store=inquiry.service.store)
    return page(
        inquiry, "verified.html", run_id=info.run_id, verified=verified,
        remarks=[each.why for each in remarks] if inquiry.user.owner is None else [],
    )  # fmt: skip


def _changeable(record: Trajectory, at: int) -> Iterator[ChangeableResult]:
    """The results of a step; one that a page would cut cannot be edited there."""
    step: Step | None = record.steps[at - 1] if at else None
    for call in step.all_calls if step is not None else ():
        if call.observation is None or call.action.name == FINISH:
            continue
        content = call.observation.content
        if isinstance(content, str) and is_plain(content):
            yield ChangeableResult(call.key, call.action.name, "text", content)
        elif text := editable(content):
            yield ChangeableResult(call.key, call.action.name, "json", text)


def _changed(form: ForkForm) -> dict[str, Json]:
    """The results that somebody changed. Raises `RefusedError` for what is no JSON."""
    if not len(form.call) == len(form.kind) == len(form.before) == len(form.value):
        raise RefusedError(422, "invalid", "the form has results without their calls")
    changed: dict[str, Json] = {}
    rows = zip(form.call, form.kind, form.before, form.value, strict=True)
    for call, kind, before, value in rows:
        if _lines(before) == _lines(value):
            continue
        try:
            changed[call] = _lines(value) if kind == "text" else msgspec.json.decode(value)
        except (msgspec.DecodeError, RecursionError) as error:
            message = f"the result of {call[:64]} is no JSON: {error}"
            raise RefusedError(422, "invalid", message) from error
    return changed


def _lines(text: str) -> str:
    """A text of a form, whose lines browsers end in their own way."""
    return text.replace("\r\n", "\n")


async def _to_end(inquiry: Inquiry) -> RedirectResponse:
    """To the last entries of the run."""
    info = await info_of(inquiry)
    after = max(0, info.entries - SCREEN)
    query = f"?after={after}" if after else ""
    return RedirectResponse(f"/runs/{path(info.run_id)}{query}#end", 303)


STEERING_PAGES: Final = (
    Endpoint(
        method="GET", path="/start", role="run", handler=show_start, gives="text/html",
        about="The page that begins a run.",
    ),
    Endpoint(
        method="POST", path="/start", role="run", handler=start, takes=StartForm, form=True,
        gives="text/html", status=303, about="The form that begins a run.",
    ),
    Endpoint(
        method="POST", path=f"{_RUN}/words", role="run", handler=say, takes=SayForm, form=True,
        gives="text/html", status=303, about="The form that says something to a run.",
    ),
    Endpoint(
        method="POST", path=f"{_RUN}/cancel", role="run", handler=cancel, takes=CancelForm,
        form=True, gives="text/html", status=303, about="The form that cancels a run.",
    ),
    Endpoint(
        method="POST", path=f"{_RUN}/rewind", role="run", handler=rewind, takes=RewindForm,
        form=True, gives="text/html", status=303, about="The form that rewinds a run.",
    ),
    Endpoint(
        method="GET", path=f"{_RUN}/fork", role="run", handler=show_fork, query=ForkQuery,
        gives="text/html", about="The page that forks a run.",
    ),
    Endpoint(
        method="POST", path=f"{_RUN}/fork", role="run", handler=fork, takes=ForkForm, form=True,
        gives="text/html", status=303, about="The form that forks a run.",
    ),
    Endpoint(
        method="GET", path=f"{_RUN}/verify", role="look", handler=show_verified,
        gives="text/html", about="The page of whether a record is what was written.",
    ),
)  # fmt: skip
