"""Records written by hand: what a fold, a view or an account makes of just these events."""

from typing import Any

from clew.core.actions import Action
from clew.core.contents import Observation, Reply, text_parts
from clew.core.entries import Entry
from clew.core.events import AnyEvent, Fingerprints, Started, Thought
from clew.core.specs import AgentSpec
from clew.core.steps import Call, Step
from clew.core.trajectory import Trajectory

SPEC = AgentSpec("f", "m", "c", "p")
PRINTS = Fingerprints("", "", "", "")


def record(*events: AnyEvent, goal: str = "Where?", **started: Any) -> Trajectory:
    """A run of which all this happened, a second after each other."""
    first = Started(text_parts(goal), SPEC, **started)
    return Trajectory(
        "run", [Entry(n, 1_000 * n, 1, event) for n, event in enumerate((first, *events), 1)]
    )


def more(trajectory: Trajectory, *events: AnyEvent, at: int = 1_000, epoch: int = 1) -> Trajectory:
    """The same run, of which this happened too, so many milliseconds after each other."""
    for event in events:
        last = trajectory.entries[-1]
        trajectory.add(Entry(last.seq + 1, last.at + at, epoch, event))
    return trajectory


def thought(*actions: Action, reply: Reply = Reply(), **fields: Any) -> Thought:  # noqa: B008 - frozen
    """A thought that asks for these calls."""
    return Thought(reply, PRINTS, actions=actions, **fields)


def look(**args: Any) -> Action:
    """A call of a tool that looks something up."""
    return Action("look", args)


def step(*calls: tuple[Action, Observation | None], number: int = 1, **fields: Any) -> Step:
    """A step of these calls, with what came of them."""
    made = tuple(
        Call(f"{number}.{place}", action, observation=seen)
        for place, (action, seen) in enumerate(calls, 1)
    )
    return Step(number, thought(*(action for action, _ in calls), **fields), made)
