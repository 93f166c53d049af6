"""What the record keeps of a program between its calls, and after its end."""

import hashlib
from collections.abc import Iterator
from typing import Final

import msgspec

from clew import Call, StoreError, Trajectory
from clew.interfaces import CallContext

CHANGED: Final = "what the record kept of it was changed after it was written"


class SavedProgram(msgspec.Struct, frozen=True):
    """A dump by the `executor` of that name, what the program has `printed` by then, and remarks.

    Of a program that has ended, `text` and `ok` are what came of it, and the dump is that of the
    variables; `lost` says that they are those before it.
    """

    executor: str
    dump: bytes
    printed: str = ""
    text: str = ""
    ok: bool = True
    lost: bool = False
    remarks: list[str] = []


def encode_saved(saved: SavedProgram) -> bytes:
    """As the record keeps it."""
    return msgspec.msgpack.encode(saved)


async def read_saved(context: CallContext, call: Call) -> SavedProgram | str:
    """What is on record of a program; a text says why nothing of use is."""
    if call.suspended is None or not call.suspended.blob:
        return "what the record kept of it held a secret"
    try:
        body = await context.blob(call.suspended.blob)
    except StoreError as error:
        return str(error)
    try:
        saved = msgspec.msgpack.decode(body, type=SavedProgram)
    except msgspec.DecodeError:
        return CHANGED
    return saved if hashlib.sha256(body).hexdigest() == call.suspended.blob else CHANGED


def ended(call: Call) -> bool:
    """Whether the record has the end of the program of this call."""
    return call.suspended is not None and not call.suspended.actions


def programs_before(record: Trajectory, call: Call, tool: str) -> Iterator[Call]:
    """The programs that ended before the step of a call, but for those of wrong branches."""
    step = int(call.key.partition(".")[0])
    for one in record.steps[: step - 1]:
        if one.number not in record.omitted.hidden:
            yield from (each for each in one.calls if each.action.name == tool and ended(each))
