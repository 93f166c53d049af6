"""Long arguments of a thought: in the record they lie in blobs, once per content."""

from contextlib import suppress
from typing import Any

import msgspec

from clew.core.blobs import BLOB_BYTES, put
from clew.core.events import Thought, encode
from clew.core.interfaces import Store


def without_arguments(event: Thought, blobs: dict[str, bytes]) -> Thought:
    """The thought as it is written, with its long arguments in `blobs`.

    What a codec read lies in the blob of the text it stood in, where that says no more.
    """
    replace = msgspec.structs.replace
    texts: dict[bytes, str] = {}  # blobs of texts by what they say
    calls = list(event.reply.calls)
    for place, call in enumerate(calls):
        if call.arguments is not None and len(call.arguments) > BLOB_BYTES:
            digest = put(data := call.arguments.encode(), blobs)
            calls[place] = replace(call, arguments="", blob=digest)
            with suppress(ValueError, RecursionError):  # it is no JSON, and was mended or refused
                texts[encode(msgspec.json.decode(data))] = digest
    actions = list(event.actions)
    for place, action in enumerate(actions):
        if len(args := encode(action.args)) > BLOB_BYTES:
            digest = texts.get(args) or put(args, blobs)
            actions[place] = replace(action, args={}, blob=digest)
    return replace(event, actions=tuple(actions), reply=replace(event.reply, calls=tuple(calls)))


def without_blobs(event: Thought) -> Thought:
    """The thought, where a model or a format named blobs, without them: only the journal does."""
    replace = msgspec.structs.replace
    if any(call.blob for call in event.reply.calls):
        calls = tuple(replace(call, blob="") for call in event.reply.calls)
        event = replace(event, reply=replace(event.reply, calls=calls))
    if any(action.blob for action in event.actions):
        event = replace(event, actions=tuple(replace(each, blob="") for each in event.actions))
    return event


async def whole_thought(store: Store, event: Thought) -> Thought:
    """The thought with the arguments that lie in blobs put back."""
    replace = msgspec.structs.replace
    for place, action in enumerate(event.actions):
        if action.blob:
            args = msgspec.json.decode(await store.blob(action.blob), type=dict[str, Any])
            actions = list(event.actions)
            actions[place] = replace(action, args=args, blob="")
            event = replace(event, actions=tuple(actions))
    for place, call in enumerate(event.reply.calls):
        if call.blob:
            text = (await store.blob(call.blob)).decode()
            calls = list(event.reply.calls)
            calls[place] = replace(call, arguments=text, blob="")
            event = replace(event, reply=replace(event.reply, calls=tuple(calls)))
    return event
