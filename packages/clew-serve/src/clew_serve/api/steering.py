"""What a person says to a run, and of its course: words, cancel, fork, rewind."""

import msgspec

from clew import Trajectory, cancel, open_fork, rewind
from clew.conversations import leave_words
from clew.interfaces import Json
from clew.workers import queue_of
from clew_serve.api.access_to_runs import (
    agent_for,
    agent_named,
    check_works,
    go_on,
    record_of,
)
from clew_serve.api.questions import Attachment, question_of
from clew_serve.api.runs import BegunRun
from clew_serve.endpoints import Inquiry
from clew_serve.errors import RefusedError


class Words(msgspec.Struct, forbid_unknown_fields=True):
    """Something to `say` to a run; a client's own id of the `request` makes it safe to repeat."""

    say: str
    attachments: list[Attachment] = []
    request: str = ""


class Cancelling(msgspec.Struct, forbid_unknown_fields=True):
    """Why a run is cancelled, for the record."""

    why: str = ""


class Fork(msgspec.Struct, forbid_unknown_fields=True):
    """A new run with the first `at` steps, which goes on in another way.

    `observations` replace what calls of the last of these steps returned, by their keys; `say` adds
    a message; another `agent` goes on.
    """

    at: int
    observations: dict[str, Json] = {}
    say: str = ""
    agent: str = ""


class Rewinding(msgspec.Struct, forbid_unknown_fields=True):
    """The steps after step `to` are left out of what the model sees, with the `lesson` instead."""

    to: int
    lesson: str


class Done(msgspec.Struct):
    """What was asked for is on disk, and the run goes on by it.

    Unless it is `held`: then it waits for what else `GET /api/inbox` has of it.
    """

    run_id: str
    held: bool = False


async def say(inquiry: Inquiry) -> Done:
    """Say something to a run, in its turn."""
    words: Words = inquiry.content
    if not words.say.strip() and not words.attachments:
        raise RefusedError(422, "invalid", "the words are empty", "say something")
    record = await record_of(inquiry)
    service = inquiry.service
    served = agent_for(service, record)
    check_works(service, record)
    message = question_of(words.say, words.attachments)
    if queue_of(record):
        await leave_words(
            served.agent, record.run_id, message, service.store,
            request=words.request, owner=inquiry.user.owner,
        )  # fmt: skip
    else:
        await service.work.go_on(served, record.run_id, say=message, request=words.request)
    return Done(record.run_id, bool(record.held))


async def end(inquiry: Inquiry) -> Done:
    """Ask a run, and the runs below it, to stop."""
    asked: Cancelling = inquiry.content
    record = await record_of(inquiry)
    await end_run(inquiry, record, asked.why)
    return Done(record.run_id)


async def end_run(inquiry: Inquiry, record: Trajectory, why: str = "") -> None:
    """Ask a run to stop, unless somebody ended it before."""
    stop, store = record.stop, inquiry.service.store
    if stop is not None and stop.status == "interrupted" and not await store.inbox(record.run_id):
        return
    why = why or f"{inquiry.user.by} cancelled it"
    await cancel(record.run_id, why=why, store=store, owner=inquiry.user.owner)
    await go_on(inquiry.service, record)


async def fork(inquiry: Inquiry) -> BegunRun:
    """Begin a run with the first steps of another; it belongs to the same user."""
    asked: Fork = inquiry.content
    record, service = await record_of(inquiry), inquiry.service
    served = agent_named(service, asked.agent) if asked.agent else agent_for(service, record)
    if not service.work.works:
        raise RefusedError(
            409, "no_work_here",
            f"a fork is in no queue, and this server executes no runs: {service.config.why_idle}",
            "fork it with `clew fork`, or at a server that executes runs",
        )  # fmt: skip
    async with open_fork(
        served.agent, record.run_id, at=asked.at, observations=asked.observations or None,
        say=asked.say, store=service.store, origin=served.recorded, owner=inquiry.user.owner,
    ) as forked:  # fmt: skip
        run_id = forked.run_id
    await service.work.go_on(served, run_id)
    return BegunRun(run_id)


async def take_back(inquiry: Inquiry) -> Done:
    """Leave a wrong branch out of what the run's model sees; a run at work goes on without it."""
    asked: Rewinding = inquiry.content
    record = await record_of(inquiry)
    await rewind(
        record.run_id, to=asked.to, lesson=asked.lesson, by=inquiry.user.by,
        store=inquiry.service.store, owner=inquiry.user.owner,
    )  # fmt: skip
    await go_on(inquiry.service, record)
    return Done(record.run_id)
