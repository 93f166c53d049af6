"""A tool that asks for other calls, one after the other or several at once."""

from typing import Any

from clew import Tool
from clew.core.actions import Action
from clew.core.call_context import CALL
from clew.core.events import Suspended
from clew.core.trajectory import Call


async def _relay(args: dict[str, Any], key: str) -> Any:
    made = CALL.get()
    assert made is not None
    call = made.record.call(key.rpartition(":")[2])
    if call.suspended is not None:
        left = call.suspended
        assert left.blob, "its state is in a blob"
        assert not left.state, "and in no line"
    asked = len(call.asked)
    if asked < len(args["calls"]):
        upto = asked + args.get("at_once", 1)
        new = args["calls"][asked:upto]
        actions = tuple(Action(one["tool"], one.get("args", {})) for one in new)
        return Suspended(actions=actions, state=f"state {asked}".encode())
    return list(map(_seen, call.asked))


def _seen(call: Call) -> str:
    assert call.observation is not None
    return call.observation.text


RELAY = Tool(
    "relay",
    "Make calls, one after the other, and give what each of them gave.",
    {
        "type": "object",
        "properties": {
            "calls": {"type": "array", "items": {"type": "object"}},
            "at_once": {"type": "integer"},
        },
        "required": ["calls"],
        "additionalProperties": False,
    },
    effect="pure",
    call=_relay,
)
