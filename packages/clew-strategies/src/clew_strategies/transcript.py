"""A run as text, for an agent that judges it or learns from it."""

from collections.abc import Iterator
from typing import Final

from clew import Trajectory
from clew.interfaces import FINISH, encode
from clew.support.json_values import text_or_json

MAX_CHARS: Final = 2_000
"""The longest observation shown whole; of a longer one, half of this from each end."""


def transcript(run: Trajectory) -> str:
    """A run's thoughts, actions, observations and answer."""
    return "\n".join([*steps(run), f"Answer: {answer(run)}"])


def steps(run: Trajectory) -> Iterator[str]:
    """A run's thoughts, actions and observations, one line each."""
    for step in run:
        if step.thought is not None and step.thought.text:
            yield f"Thought: {step.thought.text}"
        for call in step.calls:
            if call.action.name != FINISH:
                yield f"Action: {call.action.name}({encode(call.args).decode()})"
                yield f"Observation: {short(call.observation.text if call.observation else '')}"


def answer(run: Trajectory) -> str:
    """A run's answer: text unchanged, anything else as JSON."""
    return text_or_json(run.stop.answer if run.stop is not None else None)


def short(text: str) -> str:
    """The text, or the two ends of a long one."""
    if len(text) <= MAX_CHARS:
        return text
    half = MAX_CHARS // 2
    return f"{text[:half]} … {len(text) - MAX_CHARS:,} characters … {text[-half:]}"
