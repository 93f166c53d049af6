"""What a run does next, or would do: one pure function of the agent and the record."""

from typing import Literal, NamedTuple, TypeAlias

from clew.core.agent import Agent
from clew.core.events import Compacted, Rewound
from clew.core.interfaces import Tripped
from clew.core.trajectory import Trajectory

Kind: TypeAlias = Literal[
    "done",  # the record says stop
    "interrupt",  # a person wants the run to end
    "act",  # calls are pending
    "conclude",  # the step offers an answer
    "screen",  # a person's words wait for a screen, or for what a screen or a person said of them
    "give_up",  # nothing is left to hope for
    "land",  # a bound tripped
    "leave_out",  # a wrong branch, or what the model's window would not hold
    "review",  # ask a critic whether the run is on a wrong branch
    "think",  # ask the model
]


class Move(NamedTuple):
    """The next move, why a person wants it, what the next prompt leaves out, what bound trips."""

    kind: Kind
    why: str = ""
    less: Compacted | Rewound | None = None
    tripped: Tripped | None = None


def next_move(agent: Agent, so_far: Trajectory, *, screened: bool = False) -> Move:
    """What is next. `screened` says that the screens have nothing against a person's last words.

    That is not on record: a screen that does not object writes nothing. Raises `PartError` where
    a bound fails.
    """
    step = so_far.step
    if so_far.stop is not None:
        return Move("done")
    if so_far.cancel is not None:
        return Move("interrupt", so_far.cancel.why)
    if step.pending:  # all but finish
        return Move("act")
    if step.answer is not None:
        return Move("conclude")
    if so_far.pending_input and not screened and _awaits_screen(agent, so_far):
        return Move("screen")
    if so_far.landed or so_far.cut_landing or len(so_far.rejected) > agent.tries:
        return Move("give_up")
    if so_far.landing is None:
        return _bounded(agent, so_far)
    # What is left may no longer hold the last thought that a landing allows.
    lands = agent.budget.lands(so_far) or not agent.limits.landing
    return _thinks(agent, so_far) if lands else Move("give_up")


def _bounded(agent: Agent, so_far: Trajectory) -> Move:
    """Land where a bound is reached, else go on."""
    if (tripped := agent.tripped_bound(so_far)) is None:
        return _thinks(agent, so_far)
    return Move("land", tripped=tripped)


def _thinks(agent: Agent, so_far: Trajectory) -> Move:
    """Ask the model; where something has to be left out of its prompt, that comes before."""
    less, rewinds = agent.omission(so_far) if so_far.steps else None, agent.context.rewinds
    if less is not None:
        return Move("leave_out", less=less)
    return Move("review" if rewinds is not None and rewinds.asks(so_far) else "think")


def _awaits_screen(agent: Agent, so_far: Trajectory) -> bool:
    """Whether a person's unseen messages are not judged yet, or were held or refused."""
    if (words := so_far.words) is None:
        return bool(agent.screens)
    return words.held or (words.ruling is not None and not words.ruling.allow)
