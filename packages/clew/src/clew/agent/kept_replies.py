"""What the record keeps of a reply: of arguments that are longer than any may be, the beginning.

A call with such arguments is refused whatever its tool, so nobody needs them again. Of a reply in
text, where arguments are no text of their own, its beginning is kept instead.
"""

import hashlib
from typing import Final

import msgspec

from clew.core.actions import Action
from clew.core.blobs import BLOB_BYTES
from clew.core.codec import Parsed
from clew.core.codes import TOO_LONG
from clew.core.contents import RawCall, Reply
from clew.core.observations import too_long
from clew.core.values import encode
from clew.models.reply_size import beginning, characters, head

HEAD: Final = 2_000
"""So many characters of arguments that are too long are kept."""

_DIGITS: Final = 16


def bounded(reply: Reply, parsed: Parsed, max_bytes: int) -> Reply:
    """The reply as the record keeps it: read again, it says the same.

    What fits a line of the record stays, however little a call may have.
    """
    limit = max(max_bytes, BLOB_BYTES)
    if reply.ending == TOO_LONG:  # little is left of it
        return reply
    if reply.calls and len(reply.calls) == len(parsed.actions):
        pairs = zip(reply.calls, parsed.actions, strict=True)
        calls = tuple(_bounded_call(raw, action, limit) for raw, action in pairs)
        if all(new is old for new, old in zip(calls, reply.calls, strict=True)):
            return reply
        if len(reply.text) <= limit:
            wire = reply.wire if len(encode(reply.wire)) <= limit else None
            return msgspec.structs.replace(reply, calls=calls, wire=wire)
    refused = parsed.fault or any(len(encode(each.args)) > limit for each in parsed.actions)
    if not refused or characters(reply) <= limit:
        return reply
    text = f"{reply.reasoning}{reply.text}".encode()
    cut = f"cut: it had {len(text):,} bytes, SHA-256 {hashlib.sha256(text).hexdigest()}"
    return msgspec.structs.replace(beginning(reply), mended=(*reply.mended, cut))


def told(reply: Reply, parsed: Parsed, max_bytes: int) -> Parsed:
    """What was read, with the reason for which each call that lost its arguments is refused."""
    if not any(raw.size for raw in reply.calls):
        return parsed
    reasons = tuple(_reason(raw, max_bytes) if raw.size else "" for raw in reply.calls)
    if len(reasons) != len(parsed.actions):  # a format of its own, which wants a single call
        return Parsed(text=parsed.text, fault=next(filter(None, reasons)))
    pairs = zip(parsed.actions, reasons, strict=True)
    actions = tuple(Action(each.name, fault=why) if why else each for each, why in pairs)
    return msgspec.structs.replace(parsed, actions=actions)


def _bounded_call(raw: RawCall, action: Action, limit: int) -> RawCall:
    """The call, or the beginning of one that is refused for its length."""
    if raw.size or raw.arguments is None:
        return raw
    size = len(raw.arguments.encode()) if action.fault else len(encode(action.args))
    if size <= limit:
        return raw
    return msgspec.structs.replace(
        raw,
        arguments=head(raw.arguments, HEAD),
        size=size,
        digest=hashlib.sha256(raw.arguments.encode()).hexdigest(),
    )


def _reason(raw: RawCall, max_bytes: int) -> str:
    kept = f"only their beginning is kept (SHA-256 {raw.digest[:_DIGITS]}…)"
    return f"{too_long(raw.size, max_bytes)}; {kept}"
