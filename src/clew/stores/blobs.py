"""How an event lies in a line of the record: what is long or shared is in blobs beside it."""

import hashlib
from contextlib import suppress
from typing import Any, Final

import msgspec

from clew.core.events import AgentSpec, AnyEvent, Observation, Thought, encode
from clew.core.interfaces import Store

BLOB_BYTES: Final = 16_384
"""Contents of observations and arguments that are longer lie in a blob, once per content."""


_STOP: Final = b'{"event":"stop"'


def stops(body: bytes) -> bool:
    """Whether a line's event is a stop: an event's encoding begins with what it is."""
    return body.startswith(_STOP)


def put(data: bytes, blobs: dict[str, bytes]) -> str:
    """Add a blob, and give its digest."""
    digest = hashlib.sha256(data).hexdigest()
    blobs[digest] = data
    return digest


def split_blobs(event: AnyEvent, body: bytes, blobs: dict[str, bytes]) -> tuple[AnyEvent, bytes]:
    """The event as it is kept, and its line, with what is long or shared in `blobs`."""
    if isinstance(event, Observation) and (event.images or len(body) > BLOB_BYTES):
        event, written = _observation(event, blobs)
        return event, encode(written)
    if isinstance(event, Thought) and len(body) > BLOB_BYTES:
        return event, encode(_thought(event, blobs))
    setting = getattr(event, "setting", None)
    if isinstance(setting, AgentSpec) and setting.brief is not None:
        event = _without_brief(event, setting, blobs)
        return event, encode(event)
    return event, body


def _without_brief(event: AnyEvent, setting: AgentSpec, blobs: dict[str, bytes]) -> AnyEvent:
    """The event with the brief of its setting in a blob, which all runs of one agent share."""
    digest = put(encode(setting.brief), blobs)
    setting = msgspec.structs.replace(setting, brief=None, brief_blob=digest)
    return msgspec.structs.replace(event, setting=setting)


def _observation(event: Observation, blobs: dict[str, bytes]) -> tuple[Observation, Observation]:
    """The observation as it may be kept, and as it is written, with its long parts in `blobs`."""
    replace = msgspec.structs.replace
    images = tuple(replace(image, blob=put(image.data, blobs)) for image in event.images)
    event = replace(event, images=images)
    written = replace(event, images=tuple(replace(image, data=b"") for image in images))
    content = encode(event.content)
    if len(content) <= BLOB_BYTES:
        return event, written
    digest = put(content, blobs)
    return replace(event, blob=digest), replace(written, blob=digest, content="")


def _thought(event: Thought, blobs: dict[str, bytes]) -> Thought:
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


async def with_blobs(store: Store, event: AnyEvent) -> AnyEvent:
    """The event of a line with what lies in blobs put back."""
    if isinstance(event, Observation) and (event.blob or event.images):
        return await _whole_observation(store, event)
    return await _whole_thought(store, event) if isinstance(event, Thought) else event


async def _whole_observation(store: Store, event: Observation) -> Observation:
    """The observation with what lies in blobs put back."""
    if event.blob:
        content = msgspec.json.decode(await store.blob(event.blob))
        event = msgspec.structs.replace(event, content=content)
    images = [
        msgspec.structs.replace(image, data=await store.blob(image.blob)) for image in event.images
    ]
    return msgspec.structs.replace(event, images=tuple(images))


async def _whole_thought(store: Store, event: Thought) -> Thought:
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
