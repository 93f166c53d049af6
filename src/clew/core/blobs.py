"""How an event lies in a line of the record: what is long or shared is in blobs beside it."""

import hashlib
from typing import Final

import msgspec

from clew.core.events import AgentSpec, AnyEvent, Observation, encode

BLOB_BYTES: Final = 16_384
"""Contents of observations and arguments that are longer lie in a blob, once per content."""


def put(data: bytes, blobs: dict[str, bytes]) -> str:
    """Add a blob, and give its digest."""
    digest = hashlib.sha256(data).hexdigest()
    blobs[digest] = data
    return digest


def without_brief(event: AnyEvent, setting: AgentSpec, blobs: dict[str, bytes]) -> AnyEvent:
    """The event with the brief of its setting in a blob, which all runs of one agent share."""
    digest = put(encode(setting.brief), blobs)
    setting = msgspec.structs.replace(setting, brief=None, brief_blob=digest)
    return msgspec.structs.replace(event, setting=setting)


def lay_out(event: Observation, blobs: dict[str, bytes]) -> tuple[Observation, Observation]:
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
