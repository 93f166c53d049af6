"""Recorded conversations for long runs: what models and people said, and what tools gave.

Two sources: the recordings of `CLEW_RECORDINGS` (customer service with native calls, and runs of
SWE-agent), and a folder of trajectories of mini-swe-agent (`*.traj.json`), where one is given.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from clew.core.contents import RawCall, Reply
from clew.core.values import encode
from recordings.data import records
from recordings.forms import Record
from recordings.native_talks import Seen, Talk, Turn, talk

_COMMAND: Final = "bash"
_SHELL: Final = {
    "name": _COMMAND,
    "description": "Run a command in the shell.",
    "parameters": {
        "type": "object",
        "properties": {"command": {"type": "string"}},
        "required": ["command"],
    },
}


def recorded() -> Iterator[tuple[str, str, Talk]]:
    """The recordings: what they are of, their instructions, and the conversation."""
    for one in records("talks"):
        yield "customer service", "", talk(one)
    for one in records("sweagent"):
        if one.get("turns"):
            yield "SWE-agent", str(one.get("system") or ""), _software(one)


def mini(folder: Path) -> Iterator[tuple[str, str, Talk]]:
    """The trajectories of mini-swe-agent in a folder."""
    for path in sorted(folder.rglob("*.traj.json")):
        document = json.loads(path.read_text(encoding="utf-8"))
        messages = document["messages"]
        system = "\n".join(str(one["content"]) for one in messages if one["role"] == "system")
        goal = next(str(one["content"]) for one in messages if one["role"] == "user")
        turns = tuple(_turns(messages))
        yield "mini-swe-agent", system, Talk(path.name.partition(".")[0], [_SHELL], goal, turns)


def _turns(messages: list[dict[str, Any]]) -> Iterator[Turn]:
    """Each reply with calls, and what they gave; what only the harness said is left out."""
    by_call_id = {one["tool_call_id"]: one for one in messages if one["role"] == "tool"}
    for one in messages:
        calls = one.get("tool_calls") or []
        made = [call for call in calls if call["id"] in by_call_id]
        if one["role"] == "assistant" and made:
            raw = tuple(
                RawCall(
                    name=call["function"]["name"],
                    arguments=call["function"]["arguments"],
                    id=call["id"],
                )
                for call in made
            )
            seen = tuple(Seen(str(by_call_id[call["id"]]["content"]), ok=True) for call in made)
            yield Turn(Reply(one.get("content") or "", raw, "calls"), seen, "", ())


def _software(record: Record) -> Talk:
    """A run of SWE-agent, each command as a call."""
    turns = [
        Turn(
            Reply(
                str(turn.get("thought") or ""),
                (
                    RawCall(
                        name=_COMMAND,
                        arguments=encode({"command": str(action.get("arg") or "")}).decode(),
                        id="",
                    ),
                ),
                "calls",
            ),
            (Seen(str(turn.get("observation") or ""), ok=True),),
            "",
            (),
        )
        for turn in record["turns"]
        for action in turn["actions"][:1]
    ]
    return Talk(record["id"], [_SHELL], str(record.get("task") or "Solve it."), tuple(turns))
