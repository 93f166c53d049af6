"""The words of a client's request in a record, and what the run came to in its turn."""

from typing import Final

from clew.agent.question import same_question
from clew.core.contents import Asked
from clew.core.events import Note, Started, Stop
from clew.core.trajectory import Trajectory
from clew.support.errors import ConfigError

REQUEST: Final = "request"
"""The label with the client's id of the request that began a conversation."""


def words_of(record: Trajectory, request: str) -> Asked | None:
    """The words of a request, if they are on record."""
    turn = turn_of(record, request) if request else None
    if turn is None:
        return None
    last = next(it for it in reversed(turn.entries) if _says(it.event, request) is not None)
    return _says(last.event, request)


def _says(event: object, request: str) -> Asked | None:
    """What an event says for a request: the words that began the run, or later ones."""
    if isinstance(event, Started) and event.labels.get(REQUEST) == request:
        return event.question
    return event.parts if isinstance(event, Note) and event.request == request else None


def turn_of(record: Trajectory, request: str) -> Trajectory | None:
    """The record up to the end of a request's turn; None where its words are not on it.

    A run that stopped and went on without new words, as after a ruling, is in the same turn.
    """
    begun, end = False, 0
    for entry in record.entries:
        event = entry.event
        if end and isinstance(event, Note) and event.source == "person":
            return Trajectory(record.run_id, record.entries[:end])
        begun = begun or _says(event, request) is not None
        end = entry.seq if begun and isinstance(event, Stop) else end
    return record if begun else None


def check_same_words(request: str, known: Asked, words: Asked) -> None:
    """Raise `ConfigError` where a request comes again with other words."""
    if not same_question(known, words):
        message = f"the request {request!r} asked something else: give this one its own id"
        raise ConfigError(message)
