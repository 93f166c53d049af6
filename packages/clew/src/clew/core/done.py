"""A side effect as another run, or another branch, is told of it: in one line."""

from typing import Final

from clew.core.actions import Done
from clew.core.codes import Outcome
from clew.core.trajectory import Call, Trajectory, args_hash
from clew.core.values import Json, encode
from clew.support.short_text import cut

DONE_CHARS: Final = 200
"""How much of a side effect's call the model is told; its hash covers all of it."""


def described_effect(record: Trajectory, call: Call) -> Done:
    """Describe an effect in one line. A call was made by the run that had its step first.

    What a person let be made again, with these arguments or others, may have happened before too.
    """
    made_by = next((f.parent for f in record.forks if f.step >= call.step), record.run_id)
    last = call.begun[-1] if call.begun else None
    args, outcome, before = _made(call)
    received = last.received if last is not None else ""
    handed = [*(each.handed for each in call.begun if each.handed), *before]
    hash_ = call.hash if args is call.args else args_hash(call.action.name, args)
    return Done(
        f"{made_by}:{call.key}", call.action.name, hash_, _words(call, args, before), outcome,
        received or hash_, tuple(dict.fromkeys(handed)),
    )  # fmt: skip


def told_effect(call: Call) -> tuple[str, Outcome]:
    """An effect in a line, with the arguments that it was had with, and how it ended."""
    args, outcome, before = _made(call)
    return _words(call, args, before), outcome


def _made(call: Call) -> tuple[dict[str, Json], Outcome, dict[str, str]]:
    """The last arguments of an effect, its outcome, and what may have happened before, by hash."""
    last = call.begun[-1] if call.begun else None
    outcome = call.outcome
    args, doubts = call.args, list(call.doubts)
    if doubts and last is not None and last.number == doubts[-1][1].number:  # none came after it
        (args, _), outcome = doubts.pop(), "unknown"
    if doubts and outcome == "not_done":
        outcome = "unknown"
    return args, outcome, {one.received or one.hash: _line(call, was) for was, one in doubts}


def _words(call: Call, args: dict[str, Json], before: dict[str, str]) -> str:
    text = _line(call, args)
    if to := {each.tool: "" for each in call.begun if each.handed}:
        text = f"{text}, handed on to {', '.join(to)}"
    if others := [line for line in before.values() if line != _line(call, args)]:
        text = f"{text}; before that perhaps {', '.join(others)}"
    return text


def _line(call: Call, args: dict[str, Json]) -> str:
    return cut(f"{call.action.name}({encode(args).decode()})", DONE_CHARS)
