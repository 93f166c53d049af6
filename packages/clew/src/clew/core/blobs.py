"""How an event lies in a line of the record: what is long or shared is in blobs beside it."""

import hashlib
from collections.abc import Callable, Iterable
from contextlib import suppress
from operator import attrgetter
from typing import Any, Final, TypeVar

import msgspec

from clew.core.actions import Action
from clew.core.contents import Audio, File, Image, Observation, RawCall, Text
from clew.core.events import AnyEvent, Note, Started, Suspended, Thought
from clew.core.specs import AgentSpec
from clew.core.stores import Store
from clew.core.values import encode

PartT = TypeVar("PartT", bound=Text | Image | Audio | File)

BLOB_BYTES: Final = 16_384
"""Contents of observations and arguments that are longer lie in a blob, once per content."""
_BLOB: Final[Callable[[RawCall | Action], str]] = attrgetter("blob")


def put(data: bytes, blobs: dict[str, bytes]) -> str:
    """Add a blob, and give its digest."""
    digest = hashlib.sha256(data).hexdigest()
    blobs[digest] = data
    return digest


def split_blobs(event: AnyEvent, body: bytes, blobs: dict[str, bytes]) -> tuple[AnyEvent, bytes]:
    """The event as it is kept, and its line, with what is long or shared in `blobs`."""
    if isinstance(event, Observation) and (event.attachments or len(body) > BLOB_BYTES):
        event, written = _observation(event, blobs)
        return event, encode(written)
    if isinstance(event, Thought) and len(body) > BLOB_BYTES:
        return event, encode(_thought(event, blobs))
    if isinstance(event, Suspended):
        event = _without_state(event, blobs)
        actions = _actions(event.actions, {}, blobs)
        return event, encode(msgspec.structs.replace(event, actions=actions))
    if isinstance(event, Note) and event.attachments:
        replace = msgspec.structs.replace
        event = replace(event, parts=_with_digests(event.parts, blobs))
        return event, encode(replace(event, parts=_without_data(event.parts)))
    spec = getattr(event, "spec", None)
    if isinstance(spec, AgentSpec) and spec.prompt_spec is not None:
        event = _without_prompt_spec(event, spec, blobs)
        body = encode(event)
    if isinstance(event, Started) and any(not isinstance(it, Text) for it in event.question):
        replace = msgspec.structs.replace
        event = replace(event, question=_with_digests(event.question, blobs))
        body = encode(replace(event, question=_without_data(event.question)))
    return event, body


def _with_digests(parts: Iterable[PartT], blobs: dict[str, bytes]) -> tuple[PartT, ...]:
    """The parts, of which each attachment names its blob; none where it has no bytes."""
    replace = msgspec.structs.replace
    return tuple(
        part
        if isinstance(part, Text)
        else replace(part, blob=put(part.data, blobs) if part.data else "")
        for part in parts
    )


def _without_data(parts: Iterable[PartT]) -> tuple[PartT, ...]:
    """The parts as they are written: attachments without their bytes."""
    replace = msgspec.structs.replace
    return tuple(part if isinstance(part, Text) else replace(part, data=b"") for part in parts)


def _without_prompt_spec(event: AnyEvent, spec: AgentSpec, blobs: dict[str, bytes]) -> AnyEvent:
    """The event with the prompt spec of its agent in a blob, which all runs of one agent share."""
    digest = put(encode(spec.prompt_spec), blobs)
    spec = msgspec.structs.replace(spec, prompt_spec=None, prompt_blob=digest)
    return msgspec.structs.replace(event, spec=spec)


def _without_state(event: Suspended, blobs: dict[str, bytes]) -> Suspended:
    """The event with its state in a blob, which is fetched only where a call goes on with it."""
    if not event.state:
        return event
    return msgspec.structs.replace(event, state=b"", blob=put(event.state, blobs))


def _observation(event: Observation, blobs: dict[str, bytes]) -> tuple[Observation, Observation]:
    """The observation as it may be kept, and as it is written, with its long parts in `blobs`."""
    replace = msgspec.structs.replace
    event = replace(event, attachments=_with_digests(event.attachments, blobs))
    written = replace(event, attachments=_without_data(event.attachments))
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
    for index, call in enumerate(calls):
        if call.arguments is not None and len(call.arguments) > BLOB_BYTES:
            digest = put(data := call.arguments.encode(), blobs)
            calls[index] = replace(call, arguments="", blob=digest)
            with suppress(ValueError, RecursionError):  # it is no JSON, and was mended or refused
                texts[encode(msgspec.json.decode(data))] = digest
    actions = _actions(event.actions, texts, blobs)
    return replace(event, actions=actions, reply=replace(event.reply, calls=tuple(calls)))


def _actions(
    originals: tuple[Action, ...], texts: dict[bytes, str], blobs: dict[str, bytes]
) -> tuple[Action, ...]:
    """Actions as they are written, with long arguments in `blobs`, or in one of known `texts`."""
    actions = list(originals)
    for index, action in enumerate(actions):
        if len(args := encode(action.args)) > BLOB_BYTES:
            digest = texts.get(args) or put(args, blobs)
            actions[index] = msgspec.structs.replace(action, args={}, blob=digest)
    return tuple(actions)


def without_blobs(event: Thought | Suspended) -> Thought | Suspended:
    """The event, where a model, a format or a tool named blobs, without: only the journal does."""
    replace = msgspec.structs.replace
    if isinstance(event, Thought) and any(map(_BLOB, event.reply.calls)):
        calls = tuple(replace(call, blob="") for call in event.reply.calls)
        event = replace(event, reply=replace(event.reply, calls=calls))
    if any(map(_BLOB, event.actions)):
        event = replace(event, actions=tuple(replace(each, blob="") for each in event.actions))
    return event


async def with_blobs(store: Store, event: AnyEvent) -> AnyEvent:
    """The event of a line with what lies in blobs put back."""
    if isinstance(event, Observation) and (event.blob or event.attachments):
        return await _restored_observation(store, event)
    if isinstance(event, Started) and event.attachments:
        question = await _restored_parts(store, event.question)
        return msgspec.structs.replace(event, question=question)
    if isinstance(event, Note) and event.attachments:
        return msgspec.structs.replace(event, parts=await _restored_parts(store, event.parts))
    if isinstance(event, Suspended):
        return msgspec.structs.replace(event, actions=await _restored_actions(store, event.actions))
    return await _restored_thought(store, event) if isinstance(event, Thought) else event


async def _restored_observation(store: Store, event: Observation) -> Observation:
    """The observation with what lies in blobs put back."""
    if event.blob:
        content = msgspec.json.decode(await store.blob(event.blob))
        event = msgspec.structs.replace(event, content=content)
    return msgspec.structs.replace(
        event, attachments=await _restored_parts(store, event.attachments)
    )


async def _restored_parts(store: Store, parts: Iterable[PartT]) -> tuple[PartT, ...]:
    """The parts of which each attachment has its bytes again."""
    replace = msgspec.structs.replace
    restored = [
        part
        if isinstance(part, Text) or not part.blob
        else replace(part, data=await store.blob(part.blob))
        for part in parts
    ]
    return tuple(restored)


async def _restored_thought(store: Store, event: Thought) -> Thought:
    """The thought with the arguments that lie in blobs put back."""
    replace = msgspec.structs.replace
    event = replace(event, actions=await _restored_actions(store, event.actions))
    for index, call in enumerate(event.reply.calls):
        if call.blob:
            text = (await store.blob(call.blob)).decode()
            calls = list(event.reply.calls)
            calls[index] = replace(call, arguments=text, blob="")
            event = replace(event, reply=replace(event.reply, calls=tuple(calls)))
    return event


async def _restored_actions(store: Store, originals: tuple[Action, ...]) -> tuple[Action, ...]:
    """The actions with the arguments that lie in blobs put back."""
    if not any(action.blob for action in originals):
        return originals
    actions = list(originals)
    for index, action in enumerate(actions):
        if action.blob:
            args = msgspec.json.decode(await store.blob(action.blob), type=dict[str, Any])
            actions[index] = msgspec.structs.replace(action, args=args, blob="")
    return tuple(actions)
