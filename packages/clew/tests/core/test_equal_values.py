"""Which values a tool receives as the same, by its schema: a fork waits before it repeats one."""

from typing import Any, Final

import pytest

from clew import Agent, MemoryStore, Tool, fork, run
from clew.testing import ScriptedModel, act, say

WHOLE: Final = {"type": "integer"}
ITEM: Final = {
    "type": "object",
    "properties": {"x": WHOLE, "y": {"type": "integer", "default": 0}},
    "required": ["x"],
}


def tagged(tag: str, default: int, **more: Any) -> dict[str, Any]:
    properties = {"kind": {"const": tag, **more}, "y": {"type": "integer", "default": default}}
    return {"type": "object", "properties": properties}


EITHER: Final = [tagged("a", 0), tagged("b", 1)]
ENUMS: Final = [
    {"type": "object", "properties": {"type": {"enum": [tag]}, "y": {"default": tag}}}
    for tag in "ab"
]
UNIQUE: Final = {"type": "array", "uniqueItems": True}
SAME: list[tuple[dict[str, Any], Any, Any]] = [
    ({"additionalProperties": ITEM}, {"a": {"x": 1}}, {"a": {"x": 1, "y": 0}}),
    ({"additionalProperties": {"items": ITEM}}, {"a": [{"x": 1}]}, {"a": [{"y": 0, "x": 1}]}),
    ({"prefixItems": [ITEM, WHOLE]}, [{"x": 1}, 1], [{"x": 1, "y": 0}, 1.0]),
    ({"prefixItems": [WHOLE], "items": ITEM}, [1, {"x": 1}], [1, {"x": 1, "y": 0}]),
    ({"anyOf": EITHER}, {"kind": "a"}, {"kind": "a", "y": 0}),
    ({"oneOf": EITHER}, {"kind": "b"}, {"kind": "b", "y": 1}),
    ({"oneOf": ENUMS}, {"type": "b"}, {"type": "b", "y": "b"}),
    ({"anyOf": [*EITHER, {"type": "null"}]}, {"kind": "a"}, {"kind": "a", "y": 0}),
    ({"items": {"oneOf": EITHER}}, [{"kind": "a"}], [{"kind": "a", "y": 0}]),
    (UNIQUE, ["a", "b"], ["b", "a"]),
    ({"properties": {"s": UNIQUE}}, {"s": [1, 2, 3]}, {"s": [3, 1, 2]}),
    (
        {"format": "uuid"},
        "12345678-1234-5678-1234-567812345678",
        "12345678123456781234567812345678",
    ),
    ({"format": "date-time"}, "2026-01-01T10:00:00Z", "2026-01-01T11:00:00+01:00"),
    ({"format": "time"}, "10:00", "10:00:00"),
    ({"format": "time"}, "10:00:00Z", "10:00:00z"),
    ({"format": "duration"}, "PT60S", "PT1M"),
    ({"format": "duration"}, "P1DT12H", "PT36H"),
    ({"items": {"format": "duration"}}, ["-PT1.5S"], ["-PT1.50S"]),
    ({"format": "date-time"}, "2026-01-01T10:00:00Z", "2026-01-01T10:00:00.000z"),
]
OTHER: list[tuple[dict[str, Any], Any, Any]] = [
    ({"oneOf": EITHER}, {"kind": "b"}, {"kind": "b", "y": 0}),
    ({"oneOf": EITHER}, {"kind": "a"}, {"kind": "b"}),
    ({"additionalProperties": ITEM}, {"a": {"x": 1}}, {"a": {"x": 1, "y": 1}}),
    ({"additionalProperties": ITEM}, {"a": {"x": 1}}, {"b": {"x": 1}}),
    ({"prefixItems": [ITEM]}, [{"x": 1}], [{"x": 1}, {"x": 1}]),
    ({"type": "array"}, ["a", "b"], ["b", "a"]),
    (UNIQUE, ["a", "b"], ["a", "c"]),
    ({"type": "string"}, "10:00", "10:00:00"),
    ({"format": "uuid"}, "no id", "another"),
    ({"format": "date-time"}, "2026-01-01T10:00:00Z", "2026-01-01T10:00:00+01:00"),
    ({"format": "duration"}, "PT60S", "PT60M"),
    ({"format": "duration"}, "P1M", "PT1M"),
    ({"format": "duration"}, "P1M", "P30D"),
    ({"type": "string"}, "PT60S", "PT1M"),
]


async def forked(schema: dict[str, Any], one: Any, other: Any) -> str:
    """How a fork ends that sends the other value, where its run has sent the one."""
    parameters = {"type": "object", "properties": {"v": schema}}
    send = Tool("send", "Send.", parameters, lambda args, key: "sent", effect="unsafe")
    store = MemoryStore()
    first = Agent(ScriptedModel([act("send", v=one), say("done")]), [send])
    await run(first, "Send.", store=store, run_id="r")
    again = Agent(ScriptedModel([act("send", v=other), say("done")]), [send])
    return (await fork(again, "r", at=0, store=store)).status


@pytest.mark.parametrize(("schema", "one", "other"), SAME)
async def test_the_same_value_written_otherwise_waits(
    schema: dict[str, Any], one: Any, other: Any
) -> None:
    assert await forked(schema, one, other) == "held"
    assert await forked(schema, other, one) == "held"


@pytest.mark.parametrize(("schema", "one", "other"), OTHER)
async def test_another_value_is_sent(schema: dict[str, Any], one: Any, other: Any) -> None:
    assert await forked(schema, one, other) == "answered"
