"""A turn: what a run does from some entry on, until it stops and waits for whoever speaks next."""

import secrets
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from clew import Entry, PendingApproval, Trajectory, follow, read, submit
from clew.agent.approvals import pending_in
from clew.concurrency.tasks import one_error
from clew.conversations import history_of, leave_words
from clew.interfaces import Note, Started, Stop
from clew.stores.listing import entries_after
from clew.workers import queue_of
from clew_serve.agents import ServedAgent
from clew_serve.api.access_to_runs import agent_for, check_works, record_of
from clew_serve.client_tools import tools_of
from clew_serve.endpoints import Inquiry
from clew_serve.errors import RefusedError
from clew_serve.service import Service
from clew_serve.turns.messages import one_message

_LOOK: Final = 0.2
"""Seconds between two looks whether the worker here has given the run up."""


@dataclass
class Turn:
    """What a run does behind entry number `after`; with a `request`, from its words on.

    `record` is what was told of the run so far, and `before` what it had done when the turn began.
    """

    run_id: str
    after: int
    request: str = ""
    record: Trajectory = field(init=False)
    before: Trajectory = field(init=False)

    def __post_init__(self) -> None:
        self.before = self.record = Trajectory(self.run_id)

    @property
    def stop(self) -> Stop | None:
        """Where it ended, if it has."""
        return self.record.stop if len(self.record) > self.after else None


async def begin(
    inquiry: Inquiry,
    served: ServedAgent,
    messages: Sequence[Mapping[str, Any]],
    *,
    request: str = "",
    labels: Mapping[str, str] | None = None,
    session: str | None = None,
) -> Turn:
    """Begin a run that answers the last of these messages, or say that in a conversation.

    Raises `ConfigError` for messages that cannot be read, and for other ones of the same request.
    """
    _check_worked_on(inquiry.service, served)
    goal, history = history_of(served.agent, messages)
    service = inquiry.service
    if session is not None:
        request = request or f"turn-{secrets.token_hex(8)}"
    run_id = await submit(
        served.agent, goal, history=history, store=service.store, queue=service.config.queue,
        origin=served.recorded, labels=labels or None, owner=inquiry.user.begins_for,
        request=request, session=session,
    )  # fmt: skip
    service.work.failures.pop(run_id, None)
    record = await record_of(inquiry, run_id)
    if session is not None:
        _check_tools(record, served)
        return turn_of_request(record, request)
    first = record.entries[0].epoch
    return Turn(run_id, sum(entry.epoch == first for entry in record.entries))


async def say(
    inquiry: Inquiry, record: Trajectory, messages: Sequence[Mapping[str, Any]], request: str = ""
) -> Turn:
    """Say something to a run, in its turn. Raises `RefusedError` for words that no user says."""
    service = inquiry.service
    served = agent_for(service, record)
    check_works(service, record)
    words, _ = history_of(served.agent, [one_message(messages)])
    request = request or f"turn-{secrets.token_hex(8)}"
    if not queue_of(record):
        await service.work.go_on(served, record.run_id, say=words, request=request)
    else:
        await leave_words(
            served.agent, record.run_id, words, service.store, request=request,
            owner=inquiry.user.owner,
        )  # fmt: skip
    service.work.failures.pop(record.run_id, None)
    return turn_of_request(await read(record.run_id, store=service.store), request)


def turn_of_request(record: Trajectory, request: str) -> Turn:
    """The turn of a request's words, which are on record or wait for it."""
    number = _entry_of_request(record, request)
    return Turn(record.run_id, number or len(record), "" if number else request)


def last_turn(record: Trajectory) -> Turn:
    """The turn of the last words that were said to a run."""
    for entry in reversed(record.entries):
        if isinstance(entry.event, Note) and entry.event.source == "person":
            return Turn(record.run_id, entry.seq)
    return Turn(record.run_id, 1)


def _check_worked_on(service: Service, served: ServedAgent) -> None:
    """Raise `RefusedError` where no worker would have the agent, which has tools of a client."""
    if served.tools and not service.work.works:
        raise RefusedError(
            409, "no_work_here", "this server executes no runs, and workers elsewhere do not have "
            "an agent with tools of yours", "leave the tools out, or start it without --no-work",
        )  # fmt: skip


def _check_tools(record: Trajectory, served: ServedAgent) -> None:
    """Raise `RefusedError` where a conversation was begun with other tools of its client."""
    if served.tools and served.tools != tools_of(record):
        raise RefusedError(
            409, "other_tools", "the conversation was begun with other tools",
            "begin another one, or name the same tools",
        )  # fmt: skip


def _entry_of_request(record: Trajectory, request: str) -> int:
    """The number of the entry with the words of a request; 0 where they wait yet."""
    for entry in reversed(record.entries):
        event = entry.event
        if isinstance(event, Note) and event.request == request:
            return entry.seq
        if isinstance(event, Started) and event.labels.get("request") == request:
            return entry.seq
    return 0


async def look(service: Service, turn: Turn) -> None:
    """See how a turn is now, without waiting for its end."""
    record = await read(turn.run_id, store=service.store)
    if turn.request:
        if not (number := _entry_of_request(record, turn.request)):
            return
        turn.after, turn.request = number, ""
    entries = record.entries
    end = len(entries)
    for entry in entries[turn.after :]:
        next_one = entries[entry.seq].event if entry.seq < len(entries) else None
        if isinstance(entry.event, Stop) and isinstance(next_one, Note):
            end = entry.seq
            break
    turn.record = Trajectory(turn.run_id, entries[:end])
    turn.before = Trajectory(turn.run_id, entries[: turn.after])


async def waiting_in(service: Service, turn: Turn) -> tuple[list[PendingApproval], ...]:
    """The calls of the client's own tools that wait for their results, and what else waits."""
    if turn.stop is None or turn.stop.status != "held":
        return [], []
    names = {each.name for each in tools_of(turn.record)}
    pending = await pending_in(service.store, turn.record)
    theirs = [it for it in pending if it.wants == "result" and it.tool in names]
    return theirs, [it for it in pending if it not in theirs]


@asynccontextmanager
async def watching(service: Service, turn: Turn) -> AsyncGenerator[AsyncGenerator[object]]:
    """The items of a turn's stream, until it ends. Leaving changes nothing of the run.

    They raise `RefusedError` where the worker here cannot go on with it, or the server ends.
    """
    send, receive = anyio.create_memory_object_stream[object](0)
    with one_error():
        async with send, receive, anyio.create_task_group() as group:
            group.start_soon(_tell, service, turn, send)
            group.start_soon(_watch, service, turn, send)
            try:
                yield _items(receive)
            finally:
                group.cancel_scope.cancel()


async def _items(receive: MemoryObjectReceiveStream[object]) -> AsyncGenerator[object]:
    async for item in receive:
        if isinstance(item, Exception):
            raise item
        if item is None:
            return
        yield item


async def _tell(service: Service, turn: Turn, send: MemoryObjectSendStream[object]) -> None:
    try:
        record = await read(turn.run_id, store=service.store)
        turn.record = Trajectory(turn.run_id, record.entries[: turn.after])
        turn.before = Trajectory(turn.run_id, record.entries[: turn.after])
        async with follow(turn.run_id, after=turn.after, store=service.store) as items:
            async for item in items:
                if not isinstance(item, Entry):
                    if not turn.request:
                        await send.send(item)
                    continue
                turn.record.add(item)
                if turn.request:  # the words wait for their turn
                    if isinstance(item.event, Note) and item.event.request == turn.request:
                        turn.request, turn.after = "", item.seq
                        turn.before = Trajectory(turn.run_id, turn.record.entries)
                    continue
                await send.send(item)
                if isinstance(item.event, Stop) and await _is_last(service, turn, item):
                    break
        await send.send(None)
    except Exception as error:  # noqa: BLE001 - whoever reads the items raises it
        await send.send(error)


async def _is_last(service: Service, turn: Turn, stop: Entry) -> bool:
    """Whether nothing follows a stop but what somebody says next."""
    later = await entries_after(service.store, turn.run_id, stop.seq, 1)
    return not later or isinstance(later[0].event, Note)


async def _watch(service: Service, turn: Turn, send: MemoryObjectSendStream[object]) -> None:
    """Tell of the failure, or of the end of the server, which no record has."""
    failures = service.work.failures
    while turn.run_id not in failures and not service.leaving.is_set():
        with anyio.move_on_after(_LOOK):
            await service.leaving.wait()
    if turn.run_id in failures:
        why, hint = failures[turn.run_id], f"run {turn.run_id} is tried again, and may be followed"
        await send.send(RefusedError(502, "run_failed", why, hint))
    else:
        hint = f"run {turn.run_id} goes on with the next one"
        await send.send(RefusedError(503, "leaving", "the server ends", hint))
