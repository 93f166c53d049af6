"""The page of what waits for a person, and the forms by which they decide.

A form leads to the same handlers as the API, and the browser back to the page.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any, Final, Literal
from urllib.parse import urlencode

import msgspec
from starlette.responses import HTMLResponse, RedirectResponse, Response

from clew import ConfigError
from clew.agent.approvals import (
    approval_id,
    arguments_of_text,
    value_of_text,
)
from clew.guards import Origin, describe_origin
from clew.interfaces import Json, encode
from clew.stores import RunNotFoundError
from clew.toolbox import ASK_PERSON
from clew_serve.access.roles import may
from clew_serve.api import decisions, inbox
from clew_serve.api.access_to_runs import info_of, record_of
from clew_serve.endpoints import Endpoint, Inquiry
from clew_serve.errors import RefusedError
from clew_serve.pages.rendering import page
from clew_serve.pages.safe_html import editable

_LIST: Final = "/inbox"


class RulingForm(msgspec.Struct, forbid_unknown_fields=True):
    """Whether a held call may be made; `args` is JSON, `before` what it was on the page."""

    decision: Literal["allow", "refuse"]
    args: str = ""
    before: str = ""
    why: str = ""


class AnswerForm(msgspec.Struct, forbid_unknown_fields=True):
    """An answer, or a result, as somebody typed it: a text, or JSON."""

    value: str


class SettlingForm(msgspec.Struct, forbid_unknown_fields=True):
    """Whether a call of unknown outcome was done, and how one knows."""

    outcome: Literal["done", "not_done"]
    why: str = ""
    result: str = ""


class InboxQuery(msgspec.Struct):
    """The run of the call that was just `decided` on, which the page confirms."""

    decided: str = ""


@dataclass(frozen=True)
class Waiting:
    """A call that waits, as the template takes it."""

    fields: dict[str, Any]

    @property
    def origins(self) -> list[tuple[str, str, bool, list[Json]]]:
        """Of each argument: its name, who gave its value, if that is doubted, and which parts."""
        origins = msgspec.convert(self.fields["origins"], dict[str, list[Origin]])
        return [
            (name, describe_origin(origin), origin.doubtful, [*origin.parts])
            for name, every in origins.items()
            for origin in every
        ]

    @property
    def editable(self) -> str:
        """The arguments as JSON to change; "" where that is too long for it."""
        return editable(self.fields["args"])


async def show(inquiry: Inquiry) -> HTMLResponse:
    """What waits for the user."""
    box, query = await inbox.get(inquiry), inquiry.query
    rules = may(inquiry.user.role, "rule") and not inquiry.service.config.read_only
    return page(
        inquiry, "inbox.html", held=[*map(Waiting, box.held)], box=box, may_rule=rules,
        decided=await _decided_run(inquiry, query.decided),
        count=len(box.held) + len(box.questions) + len(box.external) + len(box.unknown),
    )  # fmt: skip


async def rule(inquiry: Inquiry) -> Response:
    """Allow a held call, with other arguments where the form has others, or refuse it."""
    form: RulingForm = inquiry.content
    args = None
    if form.decision == "allow" and form.args.strip() and _changed(form):
        try:
            args = arguments_of_text(form.args)
        except ConfigError as error:
            raise RefusedError(422, "invalid", str(error)) from error
    body = decisions.RulingBody(form.decision == "allow", args, form.why)
    return await _decided(decisions.give_ruling, inquiry, body)


async def answer(inquiry: Inquiry) -> Response:
    """Answer a question, or give a result."""
    form: AnswerForm = inquiry.content
    named = inquiry.path["call"]
    record = await record_of(inquiry, approval_id(named).run_id)
    waiting = decisions.waiting_call(record, named)
    wanted: Json = None
    if waiting is not None and waiting.wants == "ruling":
        wanted = {"type": "string"} if waiting.tool == ASK_PERSON else waiting.asks
    body = decisions.AnswerBody(value_of_text(form.value, wanted).value)
    return await _decided(decisions.give_answer, inquiry, body)


async def settle(inquiry: Inquiry) -> Response:
    """Say what came of a call of unknown outcome."""
    form: SettlingForm = inquiry.content
    result = value_of_text(form.result).value if form.result.strip() else None
    body = decisions.SettlingBody(form.outcome == "done", result, form.why)
    return await _decided(decisions.give_outcome, inquiry, body)


def _changed(form: RulingForm) -> bool:
    """Whether the arguments in the form are others than those that it came with."""
    try:
        one, other = msgspec.json.decode(form.args), msgspec.json.decode(form.before)
    except (msgspec.DecodeError, RecursionError):
        return True
    return encode(one) != encode(other)


async def _decided(
    handler: Callable[[Inquiry], Awaitable[Any]], inquiry: Inquiry, body: msgspec.Struct
) -> Response:
    await handler(replace(inquiry, content=body))
    run_id = approval_id(inquiry.path["call"]).run_id
    return RedirectResponse(f"{_LIST}?{urlencode({'decided': run_id})}", 303)


async def _decided_run(inquiry: Inquiry, run_id: str) -> str:
    """The run, if the user may see it: an address can name any."""
    if not run_id or not run_id.isprintable():
        return ""
    try:
        return (await info_of(replace(inquiry, path={"run": run_id}))).run_id
    except RunNotFoundError:
        return ""


INBOX_PAGES: Final = (
    Endpoint(
        method="GET", path=_LIST, role="look", handler=show, query=InboxQuery,
        gives="text/html",
        about="The page of what waits for a person.",
    ),
    Endpoint(
        method="POST", path=f"{_LIST}/rulings/{{call:path}}", role="rule", handler=rule,
        takes=RulingForm, form=True, reviews=True, gives="text/html", status=303,
        about="The form that allows a held call, or refuses it.",
    ),
    Endpoint(
        method="POST", path=f"{_LIST}/answers/{{call:path}}", role="rule", handler=answer,
        takes=AnswerForm, form=True, reviews=True, gives="text/html", status=303,
        about="The form that answers a question, or gives a result.",
    ),
    Endpoint(
        method="POST", path=f"{_LIST}/settlings/{{call:path}}", role="rule", handler=settle,
        takes=SettlingForm, form=True, reviews=True, gives="text/html", status=303,
        about="The form that settles a call of unknown outcome.",
    ),
)  # fmt: skip
