"""A trajectory in a few lines, as the messages of failed tests show it."""

from clew.core.trajectory import Call, Trajectory
from clew.core.values import Json, encode
from clew.support.short_text import one_line

_CHARS = 160
"""So much of arguments or of a result stands in a line."""


def trajectory_text(record: Trajectory) -> str:
    """The question, each call with what came of it, and how the run ended: a line each."""
    lines = [f"run {record.run_id}: {_cut(record.started.goal)}"]
    for step in record:
        if step.thought is not None and step.thought.fault:
            lines.append(f"  step {step.number} could not be read: {_cut(step.thought.fault)}")
        lines += [f"  {call.key} {call_text(call)} → {_outcome(call)}" for call in step.calls]
    stop = record.stop
    if stop is None:
        return "\n".join([*lines, "  the run is open"])
    answer = "" if stop.answer is None else f": {_cut(_json(stop.answer))}"
    reason = f" ({_cut(stop.reason)})" if stop.reason else ""
    return "\n".join([*lines, f"  {stop.status}{answer}{reason}"])


def call_text(call: Call) -> str:
    """A call as one writes it."""
    return written(call.action.name, call.args)


def written(name: str, args: dict[str, Json]) -> str:
    """A call of a tool with these arguments."""
    return f"{name}({', '.join(f'{key}={_cut(repr(value))}' for key, value in args.items())})"


def _outcome(call: Call) -> str:
    seen = call.observation
    if seen is None:
        return "begun, and nothing is known of its end" if call.begun else "not made"
    return _cut(_json(seen.content))


def _json(value: object) -> str:
    return value if isinstance(value, str) else encode(value).decode()


def _cut(text: str) -> str:
    return one_line(text, _CHARS)
