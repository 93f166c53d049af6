"""What waits for a person over all runs, and what went wrong."""

from collections.abc import Collection
from typing import Any, Final

import msgspec

from clew import PendingApproval, pending_approvals
from clew.interfaces import RunInfo
from clew.stores.listing import runs_with, summary
from clew.toolbox import ASK_PERSON
from clew.workers import is_set_aside
from clew_serve.access.reviews import unknown_of
from clew_serve.endpoints import Inquiry

LOOKED_AT: Final = 1_000
"""So many stopped runs, the last written, are looked at for unknown outcomes and broken ones."""


class UnknownOutcome(msgspec.Struct):
    """A call of which nobody knows whether it happened; `POST /api/settlings/ID` says it."""

    id: str
    run_id: str
    tool: str
    args: dict[str, Any]
    at: int


class BrokenRun(msgspec.Struct):
    """A run that failed, was set aside, or that this server could not go on with, and why."""

    run_id: str
    why: str
    at: int = 0


class Inbox(msgspec.Struct):
    """Calls that are held for a ruling, questions of agents, calls that others perform, calls of
    unknown outcome, and broken runs; oldest first, but for broken ones.
    """

    held: list[dict[str, Any]]
    questions: list[dict[str, Any]]
    external: list[dict[str, Any]]
    unknown: list[UnknownOutcome]
    broken: list[BrokenRun]


async def get(inquiry: Inquiry) -> Inbox:
    """What waits for the user: a reviewer has what waits in all runs, and their own broken ones."""
    user, store = inquiry.user, inquiry.service.store
    owner = None if user.reviews else user.owner
    waiting = await pending_approvals(store=store, owner=owner)
    box = Inbox([], [], [], [], [])
    for each in waiting:
        if each.wants == "outcome":
            box.unknown.append(UnknownOutcome(each.id, each.run_id, each.tool, each.args, each.at))
        else:
            _list_for(box, each).append(each.to_json())
    infos = await runs_with(store, LOOKED_AT, owner=owner or "")
    asked = {f"{each.run_id}:{each.call}" for each in waiting if each.wants == "outcome"}
    for info in infos:
        _add_unknown(box, info, asked)
    if user.reviews:
        infos = await runs_with(store, LOOKED_AT, owner=user.owner or "")
    for info in infos:
        _add_broken(box, info)
    failures = inquiry.service.work.failures
    box.broken += [
        BrokenRun(info.run_id, failures[info.run_id], info.last.at)
        for info in infos
        if info.run_id in failures
    ]
    box.unknown.sort(key=lambda each: each.at)
    return box


def _list_for(box: Inbox, each: PendingApproval) -> list[dict[str, Any]]:
    if each.wants == "result":
        return box.external
    if each.tool == ASK_PERSON or each.asks is not None:
        return box.questions
    return box.held


def _add_unknown(box: Inbox, info: RunInfo, asked: Collection[str]) -> None:
    """Add what is unknown of a stopped run; `asked` is listed already."""
    box.unknown += [
        UnknownOutcome(each.id, each.id.rpartition(":")[0], each.tool, each.args, info.last.at)
        for each in unknown_of(info)
        if each.id not in asked
    ]


def _add_broken(box: Inbox, info: RunInfo) -> None:
    """Add a run that broke."""
    run = summary(info)
    if run is None or run.stop is None:
        return
    if run.stop.status == "failed" or is_set_aside(run.stop):
        box.broken.append(BrokenRun(info.run_id, run.stop.reason, info.last.at))
