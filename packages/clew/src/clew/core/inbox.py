"""Messages in a run's inbox, and which of them may enter the record."""

from contextlib import suppress

import msgspec

from clew.core.actions import Done
from clew.core.contents import text_parts
from clew.core.done import described_effect
from clew.core.entries import decode
from clew.core.events import AnyEvent, Cancel, Note, Rewound, Ruling, Settled
from clew.core.settling import objection
from clew.core.stores import Store
from clew.core.trajectory import Trajectory
from clew.core.values import encode
from clew.support.errors import ConfigError


def word_of(trajectory: Trajectory, request: str) -> Note | None:
    """The message of a client's request, if it is on record."""
    events = (entry.event for entry in trajectory.entries)
    notes = (it for it in events if isinstance(it, Note) and it.request == request)
    return next(notes, None) if request else None


async def queued_in(store: Store, run_id: str) -> dict[int, Note]:
    """The messages that wait until the run has stopped, by their numbers, in their order."""
    waiting: dict[int, Note] = {}
    for number, body in await store.inbox(run_id):
        with suppress(ValueError, RecursionError):
            event = decode(body)
            if isinstance(event, Note) and event.queued:
                waiting[number] = event
    return waiting


async def words_in(store: Store, run_id: str) -> list[AnyEvent]:
    """The readable messages of a run's inbox; its worker sets the others aside."""
    words: list[AnyEvent] = []
    for _, body in await store.inbox(run_id):
        with suppress(ValueError, RecursionError):
            words.append(decode(body))
    return words


def admitted(trajectory: Trajectory, body: bytes) -> AnyEvent:
    """A message as an event, or a note that says what was set aside."""
    try:
        event = decode(body)
    except (ValueError, RecursionError):  # no event, no JSON, no text
        return Note(
            text_parts("a message in the inbox could not be read and was set aside"), source="late"
        )
    if isinstance(event, Ruling) and (why := _objection(trajectory, event)):
        return Note(text_parts(f"a ruling on {event.call} was set aside: {why}"), source="late")
    if isinstance(event, Settled) and (why := objection(trajectory, event)):
        told = f"what somebody said came of {event.call} was set aside: {why}"
        return Note(text_parts(told), source="late")
    if isinstance(event, Note) and word_of(trajectory, event.request) is not None:
        return Note(text_parts("a message that was sent twice was set aside"), source="late")
    steps = len(trajectory.steps)
    if isinstance(event, Rewound) and (trajectory.step.pending or not 0 <= event.to < steps):
        return Note(
            text_parts("a rewind was set aside: calls are open, or no step follows"), source="late"
        )
    if isinstance(event, Rewound):
        return msgspec.structs.replace(event, done=_with_later(trajectory, event))
    if isinstance(event, (Ruling, Settled, Note, Cancel)):
        return event
    return Note(
        text_parts("a message in the inbox was no ruling, note, rewind or cancel"), source="late"
    )


def _with_later(trajectory: Trajectory, back: Rewound) -> tuple[Done, ...]:
    """The side effects that a rewind names, and the run's own since a person asked for it."""
    known = {done.key for done in (*trajectory.done_elsewhere, *back.done)}
    own = [
        described_effect(trajectory, call)
        for step in trajectory.steps[back.to :]
        for call in step.all_calls
        if call.changed and not call.child
    ]
    return (*back.done, *(done for done in own if done.key not in known))


def _objection(trajectory: Trajectory, ruling: Ruling) -> str:
    """Why a ruling does not hold.

    A call whose sub-run goes on takes one at any time: it says that there is news for the sub-run,
    which is taken up after it.
    """
    open_calls = [*trajectory.held, *(call for call in trajectory.step.pending if call.child)]
    call = next((call for call in open_calls if call.key == ruling.call), None)
    if call is None:
        return "it is not held"
    if call.child and not call.held and call.ruling is not None and not call.ruling.allow:
        return "it was refused, and its sub-run is being ended"
    if ruling.hash and ruling.hash != call.question:
        return "it was begun since" if call.in_doubt else "its arguments are others now"
    if call.child and ruling.args is not None:
        return "it was begun already, with its arguments"
    return ""


def encode_message(event: AnyEvent) -> bytes:
    """Encode an event for the inbox of a run, where a reader passes over what is none.

    Raises `ConfigError` where a field is of another type than its own, or half a character.
    """
    try:
        body = encode(event)
        decode(body)
    except (msgspec.ValidationError, UnicodeEncodeError) as error:
        raise ConfigError(f"{type(event).__name__} cannot be kept: {error}") from error
    return body
