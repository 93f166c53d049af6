"""What all values and events of the record are, and the encoding of any."""

from typing import Final, TypeAlias

import msgspec

from clew.support import json_values

Json: TypeAlias = json_values.Json
"""A JSON value: None, bool, int, float, str, list or dict with str keys."""
JsonValue: TypeAlias = json_values.JsonValue
"""The same, which type checkers do not take for anything that is asked of it."""


class Value(msgspec.Struct, frozen=True, gc=False, omit_defaults=True, forbid_unknown_fields=False):
    """Base of the plain values inside events.

    What is frozen is in no cycle, so the garbage collector need not look at it: with many runs at
    once it spends a tenth of the CPU on looking.
    """


class Event(
    msgspec.Struct, frozen=True, gc=False, omit_defaults=True, tag_field="event", tag=str.lower
):
    """Base of the events; `event` in the encoding is the class name in lower case."""


encode: Final = msgspec.json.Encoder().encode
"""Encode an event, or any JSON value, as compact JSON."""
