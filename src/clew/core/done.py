"""A side effect as another run, or another branch, is told of it: in one line."""

from typing import Final

from clew.core.events import Done, encode
from clew.core.trajectory import Call, Trajectory

DONE_CHARS: Final = 200
"""How much of a side effect's call the model is told; its hash covers all of it."""


def step_of(call: Call) -> int:
    """The number of the step that the call belongs to."""
    return int(call.key.partition(".")[0])


def described_effect(record: Trajectory, call: Call) -> Done:
    """Describe an effect in one line. A call was made by the run that had its step first."""
    made_by = next((f.parent for f in record.forks if f.step >= step_of(call)), record.run_id)
    name = call.action.name
    text = f"{name}({encode(call.args).decode()})"
    if len(text) > DONE_CHARS:
        text = f"{text[:DONE_CHARS]}…"
    if to := {each.tool: "" for each in call.attempts if each.handed}:
        text = f"{text}, handed on to {', '.join(to)}"
    outcome = "unknown" if call.observation is None else call.observation.outcome
    received = call.attempts[-1].received if call.attempts else ""
    handed = tuple(dict.fromkeys(each.handed for each in call.attempts if each.handed))
    key = f"{made_by}:{call.key}"
    return Done(key, name, call.hash, text, outcome, received or call.hash, handed)
