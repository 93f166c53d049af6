"""A run as text, for another run that judges it or learns from it."""

from collections.abc import Iterator
from typing import Final

from clew.core.events import FINISH, Json, encode
from clew.core.trajectory import Trajectory

SHOWN: Final = 2_000
"""So many characters of each observation are shown: its first and last half."""


def transcript(run: Trajectory) -> str:
    """What a run thought, did and observed, and its answer."""
    return "\n".join([*steps(run), f"Answer: {answer(run)}"])


def steps(run: Trajectory) -> Iterator[str]:
    """What a run thought, did and observed, in lines."""
    for step in run:
        if step.thought is not None and step.thought.text:
            yield f"Thought: {step.thought.text}"
        for call in step.calls:
            if call.action.name != FINISH:
                yield f"Action: {call.action.name}({encode(call.args).decode()})"
                yield f"Observation: {_short(call.observation.text if call.observation else '')}"


def answer(run: Trajectory) -> str:
    """A run's answer: a text as it is, anything else as JSON."""
    return as_text(run.stop.answer if run.stop is not None else None)


def as_text(value: Json) -> str:
    """A text as it is, anything else as JSON."""
    return value if isinstance(value, str) else encode(value).decode()


def _short(text: str) -> str:
    if len(text) <= SHOWN:
        return text
    half = SHOWN // 2
    return f"{text[:half]} … {len(text) - SHOWN:,} characters … {text[-half:]}"
