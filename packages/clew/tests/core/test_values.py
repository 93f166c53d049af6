"""What the core hands about is a value: nobody it is given to can change it for the others."""

import importlib
import json
import pkgutil
from collections.abc import Iterator
from typing import Any, get_args

import msgspec
import pytest

import clew.core
from clew.core import codes
from clew.core.actions import Action
from clew.core.bounds import Left
from clew.core.contents import RawCall, Reply, Usage
from clew.core.events import Fingerprints, Thought
from clew.core.prompts import Part
from clew.core.steps import args_hash
from clew.core.tools import Attempts, Retry, Tool
from clew.core.values import Json, encode

# The fold of a record fills these as it goes; what all prompts of a run share grows with it.
OPEN = {"Call", "Omitted", "Totals", "Step", "_Joined", "_Shared"}


def values() -> Iterator[type]:
    """Every Struct and dataclass that a module of the core defines."""
    for found in pkgutil.iter_modules(clew.core.__path__, "clew.core."):
        for kind in vars(importlib.import_module(found.name)).values():
            ours = isinstance(kind, type) and kind.__module__ == found.name
            if ours and (issubclass(kind, msgspec.Struct) or hasattr(kind, "__dataclass_params__")):
                yield kind


@pytest.mark.parametrize("kind", list(values()), ids=lambda kind: kind.__qualname__)
def test_only_what_the_fold_fills_can_be_changed(kind: Any) -> None:
    if issubclass(kind, msgspec.Struct):
        frozen = kind.__struct_config__.frozen
    else:
        frozen = kind.__dataclass_params__.frozen
    assert frozen != (kind.__qualname__ in OPEN)


# What an entry leaves out has these values, in records of all times: another would change them all.
DEFAULTS: dict[str, dict[str, Any]] = {
    "Usage": {
        "input": 0,
        "output": 0,
        "cached": 0,
        "reasoning": 0,
        "cost": None,
        "estimated": False,
        "written": 0,
        "min_cost": 0.0,
    },
    "RawCall": {"arguments": None, "id": "", "blob": "", "size": 0, "digest": ""},
    "Wire": {"items": None},
    "Adapted": {"what": ()},
    "Undercounted": {"cut": False},
    "Reply": {
        "text": "",
        "calls": (),
        "finish": "stop",
        "usage": Usage(),
        "model": "",
        "wire": None,
        "reasoning": "",
        "mended": (),
        "note": "",
        "ending": "",
        "adapted": None,
        "undercounted": None,
    },
    "Action": {"args": {}, "fault": "", "blob": "", "redacted": False, "provenance": {}},
    "Fingerprints": {"tail": ""},
    "Evidence": {"score": 0.0, "source": "", "offset": 0},
    "Image": {"data": b"", "text": "", "blob": ""},
    "AgentSpec": {
        "params": {},
        "tools": {},
        "parts": {},
        "prompt_spec": None,
        "prompt_blob": "",
        "rates": None,
        "priced": False,
        "wait": 0.0,
    },
    "Grant": {"cost": None, "depth": 0, "caps": {}, "handed": None},
    "Spending": {
        "steps": 0,
        "tool_calls": 0,
        "usage": Usage(),
        "made": {},
        "handed": None,
    },
    "Started": {
        "schema": 1,
        "seed": 0,
        "parent": "",
        "origin": {},
        "queue": "",
        "grant": None,
        "trust": "trusted",
        "done": (),
        "labels": {},
        "owner": "",
    },
    "Changed": {"what": (), "origin": {}, "outside": False},
    "ToolSetting": {"foreign": False},
    "Done": {"outcome": "done", "received": "", "handed": ()},
    "Forked": {"what": (), "done": (), "again": 0, "origin": {}, "call": "", "grant": None},
    "Suspended": {"call": "", "actions": (), "state": b"", "blob": ""},
    "Thought": {
        "text": "",
        "actions": (),
        "answer": None,
        "fault": "",
        "repairs": (),
        "reminders": (),
        "visible_tools": (),
        "late": False,
    },
    "Verdict": {
        "args": None,
        "code": "denied",
        "redacted": False,
        "asks": None,
        "shows": "",
        "repeats": (),
        "gather": False,
        "origins": {},
        "also": {},
        "wants": "ruling",
        "until": 0,
        "unknown": (),
    },
    "Origin": {
        "call": "",
        "tool": "",
        "field": "",
        "trusted": False,
        "doubtful": False,
        "parts": (),
    },
    "Judged": {"by": ""},
    "Ruling": {
        "args": None,
        "why": "",
        "by": "",
        "hash": "",
        "redacted": False,
        "answer": None,
    },
    "Attempt": {
        "number": 1,
        "after": "",
        "child": "",
        "grant": None,
        "task": "",
        "received": "",
        "handed": "",
    },
    "Observation": {
        "call": "",
        "content": "",
        "ok": True,
        "code": "",
        "outcome": "done",
        "effect": "read",
        "trust": "untrusted",
        "evidence": (),
        "detail": "",
        "blob": "",
        "images": (),
        "spent": None,
        "versions": {},
        "outside": False,
        "unknown": (),
    },
    "UnknownCall": {"args": {}},
    "Note": {"source": "person", "trust": "trusted", "done": (), "request": "", "queued": False},
    "Charged": {"kind": "lost_reply", "why": ""},
    "Cancel": {"why": ""},
    "Landing": {"detail": "", "code": ""},
    "Stop": {
        "reason": "",
        "answer": None,
        "fallback": False,
        "code": "",
        "detail": "",
        "wake": 0,
        "outcome": "",
        "unknown": (),
    },
    "Settled": {"done": True, "result": None, "why": "", "by": "", "hash": "", "below": ""},
    "Entry": {"hash": b""},
}


@pytest.mark.parametrize("name", DEFAULTS)
def test_what_a_record_leaves_out_stays_what_it_was(name: str) -> None:
    (struct,) = (kind for kind in values() if kind.__qualname__ == name)
    fields = msgspec.structs.fields(struct)
    found: dict[str, Any] = {}
    for field in fields:
        if field.default_factory is not msgspec.NODEFAULT:
            found[field.encode_name] = field.default_factory()
        elif field.default is not msgspec.NODEFAULT:
            found[field.encode_name] = field.default
    assert found == DEFAULTS[name]


def test_a_record_leaves_out_what_is_as_usual() -> None:
    action, prints = Action("a", {"x": 0}), Fingerprints("h", "t", "p", "s")
    thought = Thought(Reply(usage=Usage(output=1)), prints, actions=(action,))
    assert json.loads(encode(thought)) == {
        "event": "thought",
        "reply": {"usage": {"output": 1}},
        "prints": {"head": "h", "tools": "t", "params": "p", "parts": "s"},
        "actions": [{"name": "a", "args": {"x": 0}}],
    }


WORDS = {
    "Finish": "stop calls declined length filter refusal cut",
    "Effect": "pure read idempotent unsafe",
    "Trust": "trusted untrusted",
    "Outcome": "done not_done unknown",
    "ChargeKind": "lost_reply left failed time_up critic screen",
    "Status": "answered declined bound held refused failed interrupted",
    "Code": "unknown_tool invalid_arguments repeated_same_tool_call_too_many_times timeout "
    "tool_error crashed bad_output denied cap unknown rejected interrupted sibling_failed "
    "same_call not_kept declined waits contradicted",
    "AnswerOutcome": "answered done not_done not_found",
}


@pytest.mark.parametrize("name", WORDS)
def test_the_words_of_a_record_stay_those_it_was_written_with(name: str) -> None:
    assert tuple(filter(None, get_args(vars(codes)[name]))) == tuple(WORDS[name].split())


async def sleeps(args: dict[str, Json], key: str) -> None: ...


def test_what_is_usual_of_a_tool_and_of_a_part_of_a_prompt() -> None:
    assert Retry() == Retry(times=0, delay=0.5, max_delay=8.0)
    tool = Tool("work", "Work.", {}, call=sleeps)
    assert (tool.effect, tool.attempts, tool.trust, tool.version) == (
        "unsafe",
        Attempts(timeout=30.0, retry=Retry(), probe=None),
        "untrusted",
        "1",
    )
    part = Part("user", "Work!", encoded={"chat": b"..."})
    assert "encoded" not in repr(part)
    assert Left(1, 2, 3, 4.0) == Left(1, 2, 3, 4.0, cost=0.0, depth=0)


def test_what_took_any_token_at_no_known_cost_has_none_in_a_sum() -> None:
    assert (Usage(1) + Usage(cost=0.5)).cost is None
    assert (Usage() + Usage(cost=0.5)).cost == 0.5


def test_the_fingerprint_of_arguments_stays_what_it_was_in_all_versions() -> None:
    args: dict[str, Json] = {"b": 1, "a": "x"}
    assert args_hash("look", args) == "b5fbd83522a11772"


def test_a_call_as_written_takes_its_fields_by_name() -> None:
    written: Any = RawCall  # checkers see it already
    with pytest.raises(TypeError, match="positional"):
        written("call_1", "look", "{}")
