"""Native conversations written for these tests: every kind of reply, of call and of end."""

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

Record: TypeAlias = dict[str, Any]

PROMPTS = "prompts-own.json"


def declared(name: str, /, **properties: object) -> Record:
    """A tool's definition, all of its arguments required."""
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    function = {"name": name, "description": f"{name} in the garden", "parameters": schema}
    return {"type": "function", "function": function}


TEXT, FIELDS = {"type": "string"}, {"type": "integer"}
GARDEN = [
    declared("find_bed", name=TEXT),
    declared("water", bed=FIELDS, litres=FIELDS),
    declared("weather"),
]
TOOLS = {
    "garden": {"policy": "Be brief.", "tools": GARDEN, "user_tools": [declared("look_outside")]},
    "garden-solo": {"tools": GARDEN, "user_tools": [declared("look_outside")]},
    "many": [declared(f"tool_of_kind_{number:02}") for number in range(43)],
}


def call(id_: str, name: str, args: object = None) -> Record:
    """A call in the provider's words; `args` as text where they are to be odd."""
    function: Record = {"name": name}
    if args is not None:
        function["arguments"] = args if isinstance(args, str) else json.dumps(args)
    return {"id": id_, "type": "function", "function": function}


def asked(calls: Sequence[Record], *seen: str, text: str | None = None, **more: object) -> Record:
    """A turn that makes calls and sees what they give; what begins with "Error" has failed."""
    observations = [
        {"tool_call_id": one["id"], "content": content, "error": content.startswith("Error")}
        for one, content in zip(calls, seen, strict=True)
    ]
    actions = [
        {
            "name": one["function"]["name"],
            "args_text": one["function"].get("arguments") or "{}",
            "id": one["id"],
        }
        for one in calls
    ]
    raw = {"role": "assistant", "content": text, "tool_calls": list(calls)}
    flags = ["tool_error"] * any(content.startswith("Error") for content in seen)
    return {
        "raw": raw, "actions": actions, "observations": observations, "flags": flags, **more
    }  # fmt: skip


def told(text: str, reply: str = "", *done: Record) -> Record:
    """A turn of text, and what a person said to it, having `done` something meanwhile."""
    inbound = [*done, {"role": "user", "content": reply}] if reply else []
    raw = {"role": "assistant", "content": text, "tool_calls": None}
    return {"raw": raw, "actions": [], "observations": [], "inbound": inbound, "flags": []}


def record(id_: str, tools: str, *turns: Record, **more: object) -> Record:
    """A record, its turns numbered."""
    numbered = [{**turn, "step": step} for step, turn in enumerate(turns, start=1)]
    return {
        "id": id_, "tools_ref": f"{PROMPTS}#{tools}", "task": "The beds want water.",
        "turns": numbered, **more,
    }  # fmt: skip


COMPLAINT = """\
Invalid message format. Original message: AssistantMessage
timestamp: 2026-01-01T00:00:00
content: I water both beds.

Then I look for more.
ToolCalls
ToolCall (from assistant)
id: r1
name: water
arguments:
{
  "bed": 3,
  "litres": 5
}
ToolCall (from assistant)
id: r2
name: find_bed
arguments:
{
  "name": "cost: none"
}
cost: 0.0. Error: You sent both."""
NOTHING_SENT = """\
Invalid message format. Original message: AssistantMessage
timestamp: 2026-01-01T00:00:00
content:
cost: 0.0. Error: You sent nothing."""
"""Complaints of a harness: about text beside calls, and about nothing at all."""

GREETED = record(
    "greeted",
    "garden",
    told("Good morning! What can I do?", "Water the beds, please."),
    {
        **told("Which ones?", "The two by the wall."),
        "rejected_messages": [COMPLAINT, NOTHING_SENT],
    },
    asked([call("a", "find_bed", {"name": "wall"})], "beds 3 and 4", text="I look for them."),
    asked(
        [
            call("a", "water", {"bed": 3, "litres": 5}),
            call("b", "water", {"bed": 9, "litres": 5}),
            call("c", "water", {"bed": 4, "litres": 5}),
        ],
        "watered",
        "Error: there is no bed 9",
        "watered",
    ),
    asked([call("d", "weather")], "cloudy"),
    asked([call("e", "weather")], "raining"),
    told(
        "Both are wet now. Look outside: it rains.",
        "So it does.",
        {"role": "user", "tool_calls": [{"id": "u", "name": "look_outside", "args": {}}]},
        {"role": "tool", "content": "rain", "id": "u"},
    ),
    told("Anything else?", "###STOP###"),
    greeting_injected_by_harness=True,
)
"""Text beside a call, calls together, ids that come again, a failure, a call without arguments."""

HARNESS = asked([call("h", "water", {"bed": 1, "litres": 2})], "watered", usage={})
HARNESS = {
    **HARNESS,
    "raw": {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "h", "name": "water", "arguments": {"bed": 1, "litres": 2}}],
    },
    "actions": [{"id": "h", "name": "water", "args": {"bed": 1, "litres": 2}}],
}
"""A call as a harness kept it: its arguments read, with no `function` around it."""

ALONE = record(
    "alone",
    "garden-solo",
    HARNESS,
    asked([call("i", "look_outside", {})], "sun"),
    {**asked([call("j", "finished", {})], ""), "actions": [], "observations": []},
    ticket="Bed 1 is dry.",
)
"""Nobody else is there: the person's tools are the model's, and a tool of the harness ends it."""

FIRST = {"first_user": "Is it dry?"}
TALKS = [
    GREETED,
    ALONE,
    record("ends in a call", "garden", told("I see.", "Go on."), HARNESS, **FIRST),
    record("ends in nothing", "garden", HARNESS, told("")),
    record(
        "nothing in between, and nobody answers",
        "garden",
        told(""),
        told("Wait."),
        told("Done.", "###STOP###"),
        **FIRST,
    ),
    record("many tools", "many", asked([call("k", "tool_of_kind_42", {})], "x" * 20_000), **FIRST),
]

WRONG = record(
    "wrong type", "garden", asked([call("w", "water", {"bed": "3", "litres": 5})], "watered")
)
NO_JSON = record(
    "no JSON",
    "garden",
    asked([call("n", "water", "{bed: 3}")], "Error: no JSON"),
    told("I cannot."),
)
OTHERWISE = record(
    "read otherwise",
    "garden",
    {**HARNESS, "actions": [{"name": "water", "args": {"bed": 2, "litres": 2}}]},
)
REFUSED = record(
    "refused",
    "garden",
    {**told("Done."), "rejected_messages": [COMPLAINT.replace('"bed": 3', '"bed": "3"')]},
)
WRITTEN = record(
    "written as text",
    "garden",
    told('{"name": "water", "arguments": {"bed": 1, "litres": 2}}', "What is that?"),
    told("I water it."),
    **FIRST,
)
UNSEEN = record("unseen", "garden", {**HARNESS, "observations": []}, told("Done."))


def written(folder: Path, talks: Sequence[Record]) -> None:
    """Lay the conversations and their tools down as recordings."""
    (folder / PROMPTS).write_text(json.dumps(TOOLS), encoding="utf-8")
    with gzip.open(folder / "own-tau2.jsonl.gz", "wt", encoding="utf-8") as lines:
        lines.writelines(f"{json.dumps(one)}\n" for one in talks)
