"""A line of the record, and how its event is read."""

from typing import Final

import msgspec

from clew.core.events import AnyEvent
from clew.core.values import Json


class Entry(msgspec.Struct, frozen=True, gc=False):
    """A line of the record: its number (from 1), time (Unix milliseconds), epoch and event.

    `hash` chains it to the previous entry.
    """

    seq: int
    at: int
    epoch: int
    event: AnyEvent
    hash: bytes = b""

    def to_json(self) -> dict[str, Json]:
        """All of it as values that JSON has: `chain` is the hash, and `event` the kind of event."""
        fields = {"seq": self.seq, "at": self.at, "epoch": self.epoch}
        return {**fields, **msgspec.to_builtins(self.event), "chain": self.hash.hex()}


_decoder: msgspec.json.Decoder[AnyEvent] = msgspec.json.Decoder(AnyEvent)

decode: Final = _decoder.decode
"""Decode one event. Raises `msgspec.DecodeError` or `msgspec.ValidationError`."""
