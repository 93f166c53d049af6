"""What streams, records and approvals are as JSON: for a web page, a queue, another language."""

import json
from typing import Any

import pytest

from clew import (
    Agent,
    Calling,
    CallProgress,
    Dropped,
    Entry,
    Idle,
    MemoryStore,
    Nested,
    Partial,
    PartialCall,
    Retrying,
    Token,
    Withdrawn,
    pending_approvals,
    read,
    run,
    stream,
    tool,
)
from clew.guards import Provenance
from clew.testing import ScriptedModel, act, finish, say

ITEMS: list[tuple[Any, dict[str, Any]]] = [
    (Token("It", "answer"), {"event": "token", "text": "It", "field": "answer"}),
    (Withdrawn(), {"event": "withdrawn"}),
    (Calling("1.1", "look"), {"event": "calling", "call": "1.1", "tool": "look", "attempt": 1}),
    (CallProgress("1.1", "half"), {"event": "callprogress", "call": "1.1", "text": "half"}),
    (
        Retrying(2, 6, "busy", 0.5),
        {"event": "retrying", "attempt": 2, "of": 6, "why": "busy", "wait": 0.5, "call": ""},
    ),
    (
        Partial({"a": 1}, object(), valid=True),
        {
            "event": "partial",
            "json": {"a": 1},
            "valid": True,
            "state": "open",
            "index": 0,
        },
    ),
    (
        PartialCall("look", 2, {"a": 1}, state="cut"),
        {
            "event": "partialcall",
            "tool": "look",
            "index": 2,
            "args": {"a": 1},
            "valid": False,
            "state": "cut",
        },
    ),
    (Dropped(), {"event": "dropped"}),
    (Idle("r"), {"event": "idle", "run_id": "r", "queue": ""}),
]


@pytest.mark.parametrize(("item", "document"), ITEMS)
def test_what_is_shown_between_entries(item: Any, document: dict[str, Any]) -> None:
    assert item.to_json() == document == json.loads(json.dumps(item.to_json()))
    nested = Nested(("r:1.1",), item).to_json()
    assert nested == {"event": "nested", "path": ["r:1.1"], "item": document}


async def test_each_entry_of_a_stream_says_its_kind_and_its_number() -> None:
    agent, store = Agent(ScriptedModel([say("Yes.")])), MemoryStore()
    async with stream(agent, "Is it?", store=store, run_id="r") as events:
        entries = [item.to_json() async for item in events if isinstance(item, Entry)]
    assert [(each["seq"], each["event"]) for each in json.loads(json.dumps(entries))] == [
        (1, "started"), (2, "thought"), (3, "stop"),
    ]  # fmt: skip
    assert entries == [entry.to_json() for entry in (await read("r", store=store)).entries]
    assert entries[-1]["answer"] == "Yes."


async def test_an_approval_has_its_id_and_all_that_a_person_must_see() -> None:
    @tool(approve="only with a yes")
    async def pay(to: str) -> str:
        """Pay somebody."""
        return to

    store = MemoryStore()
    model = ScriptedModel([act("pay", to="Ada"), finish("Paid.")])
    held = await run(
        Agent(model, tools=[pay], guards=[Provenance("off")]), "Pay Ada.", store=store, run_id="r"
    )
    (waiting,) = await pending_approvals(store=store)
    document = waiting.to_json()
    assert document == json.loads(json.dumps(document)) == held.to_json()["pending_approvals"][0]
    assert (document["id"], document["call"]) == (waiting.id, "1.1")
    assert (document["tool"], document["args"]) == ("pay", {"to": "Ada"})
    assert "only with a yes" in document["why"]
