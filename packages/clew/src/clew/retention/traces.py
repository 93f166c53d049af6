"""A record as lines of JSON for programs, and back again.

Each entry is a line with everything that is in it, beside the step it belongs to and the time as
text; each action of a thought has a line of its own behind that, as has one that a call asked for,
or that was put off until then (`by` names the call), and an answer that ends the run a last one,
`final`. So a trace has the usual shape too: a thought has its `content`, an action its `name` and
`input`, an observation its `output`. The lines with a `seq` are the record: whoever has them all
has the run.
"""

import json
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

import msgspec

from clew.core.contents import Observation
from clew.core.entries import Entry
from clew.core.events import AnyEvent, Gathered, Stop, Suspended, Thought
from clew.core.trajectory import Trajectory
from clew.core.values import Json
from clew.support.errors import StoreError


def trace(record: Trajectory) -> Iterator[dict[str, Json]]:
    """The lines for a record, in order."""
    step = 0
    for entry in record.entries:
        step += isinstance(entry.event, Thought)
        yield from trace_entry(record, entry, step)


def trace_entry(record: Trajectory, entry: Entry, step: int) -> Iterator[dict[str, Json]]:
    """The lines for one entry of the step with that number."""
    time = datetime.fromtimestamp(entry.at / 1000, UTC).isoformat(timespec="milliseconds")
    beside: dict[str, Json] = {"run_id": record.run_id, "step": step, "time": time}
    event = entry.event
    line = beside | {"seq": entry.seq, "at": entry.at, "epoch": entry.epoch}
    line |= msgspec.to_builtins(event) | {"chain": entry.hash.hex()}
    if isinstance(event, Observation):
        line |= {"name": record.call(event.call).action.name, "output": event.content}
    if isinstance(event, Thought):
        line["content"] = event.text
    yield line
    if isinstance(event, Thought):
        for number, action in enumerate(event.actions, start=1):
            told = {"call": f"{step}.{number}", "name": action.name, "input": action.args}
            yield beside | {"event": "action"} | told
    if isinstance(event, Suspended):
        for call in record.call(event.call).asked:
            if any(call.action is action for action in event.actions):
                told = {"call": call.key, "name": call.action.name, "input": call.action.args}
                yield beside | {"event": "action", "by": event.call} | told
    if isinstance(event, Gathered):
        for put_off, call in zip(event.calls, record.steps[step - 1].gathered, strict=True):
            told = {"call": call.key, "name": call.action.name, "input": call.action.args}
            yield beside | {"event": "action", "by": put_off} | told
    if isinstance(event, Stop) and event.status != "held":
        told = {"status": event.status, "answer": event.answer, "outcome": event.outcome}
        told |= {"unknown": [call.id for call in event.unknown]} if event.unknown else {}
        yield beside | {"event": "final"} | told


def read_trace(lines: Iterable[str | bytes]) -> Trajectory:
    """The run in a trace, as it was recorded.

    Raises `StoreError` if a line is invalid, or lines of the record are missing.
    """
    entries: list[Entry] = []
    run_id = ""
    for number, text in enumerate(filter(bytes.strip, map(_bytes, lines)), start=1):
        try:
            line: dict[str, Any] = json.loads(text)
            run_id = line["run_id"]
            if "seq" in line:
                entries.append(_entry(line))
        except (ValueError, KeyError, TypeError) as error:
            message = f"line {number} is no line of a trace ({error}): make the trace again"
            raise StoreError(message) from error
    if [entry.seq for entry in entries] != list(range(1, len(entries) + 1)):
        message = f"the trace of run {run_id or '?'} has gaps: make it again"
        raise StoreError(message)
    return Trajectory(run_id, entries)


def _bytes(line: str | bytes) -> bytes:
    return line.encode() if isinstance(line, str) else line


def _entry(line: dict[str, Any]) -> Entry:
    """The entry of a line; what stands beside the event's own fields is passed over."""
    event: AnyEvent = msgspec.convert(line, AnyEvent)
    return Entry(line["seq"], line["at"], line["epoch"], event, bytes.fromhex(line["chain"]))
