"""How long a reply may be, whoever sends it: a longer one is cut off, which makes it a fault."""

from typing import Final

import msgspec

from clew.core.codes import TOO_LONG
from clew.core.contents import RawCall, Reply
from clew.core.redaction import redact

REPLY_BYTES: Final = 10_000_000
"""The most of one reply: text, reasoning and arguments together. A longer one is cut off."""

KEPT: Final = 100_000
"""So many characters of each text of such a reply are kept, so that people see what it was."""

ENVELOPE: Final = 1_024
"""Bytes of a streamed event that may be around a piece of a reply."""

_SHARE: Final = 32
_CALLS: Final = 10


def event_size(data: bytes, text: str) -> int:
    """About how much an event brought to a reply: `text`, or what it holds beside its envelope.

    Some servers send all of the text again with each event; that counts little.
    """
    return max(len(text) if text else len(data) - ENVELOPE, len(data) // _SHARE)


def within_size(reply: Reply) -> Reply:
    """The reply, or its beginning as one that was cut, where it is too long."""
    return reply if characters(reply) <= REPLY_BYTES else beginning(reply)


def characters(reply: Reply) -> int:
    """The length of what the model wrote: text, reasoning and calls."""
    written = len(reply.text) + len(reply.reasoning)
    for call in reply.calls:
        written += len(call.arguments or "") + len(call.name) + len(call.id)
    return written


def head(text: str, length: int) -> str:
    """The beginning of a text, which ends within no secret."""
    return text if len(text) <= length else redact(text)[:length]


def beginning(reply: Reply) -> Reply:
    """The beginning of a reply that was cut off, since it was too long."""
    return msgspec.structs.replace(
        reply,
        text=head(reply.text, KEPT),
        reasoning=head(reply.reasoning, KEPT),
        calls=tuple(map(_beginning_of, reply.calls[:_CALLS])),
        wire=None,
        finish="cut",
        ending=TOO_LONG,
    )


def _beginning_of(call: RawCall) -> RawCall:
    arguments = call.arguments
    return msgspec.structs.replace(
        call,
        name=call.name[:KEPT],
        id=call.id[:KEPT],
        arguments=None if arguments is None else head(arguments, KEPT),
    )
