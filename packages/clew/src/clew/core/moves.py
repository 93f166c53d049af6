"""What a run does next, or would do: one pure function of the engine and the record."""

from collections.abc import Iterable
from typing import Literal, NamedTuple, TypeAlias

from clew.core.budget import Standing
from clew.core.engine import Engine
from clew.core.events import Compacted, Rewound
from clew.core.interfaces import AnyBound, Tripped
from clew.core.trajectory import Trajectory
from clew.support.parts import PASSED, broken, stable_name, text_from

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
    """The next move, and what it needs to be made.

    `standing` is how the run stands against its limits, `why` a person wants to end it, `less` what
    the next prompt leaves out, and `tripped` the bound that is reached.
    """

    kind: Kind
    standing: Standing
    why: str = ""
    less: Compacted | Rewound | None = None
    tripped: Tripped | None = None


def next_move(engine: Engine, so_far: Trajectory, *, screened: bool = False) -> Move:
    """What is next. `screened` says that the screens have nothing against a person's last words.

    That is not on record: a screen that does not object writes nothing. Raises `PartError` where
    a bound fails.
    """
    step, standing = so_far.step, engine.budget.standing(so_far)
    if so_far.stop is not None:
        return Move("done", standing)
    if so_far.cancel is not None:
        return Move("interrupt", standing, so_far.cancel.why)
    if step.pending:  # all but finish
        return Move("act", standing)
    if step.answer is not None:
        return Move("conclude", standing)
    if so_far.pending_input and not screened and _awaits_screen(engine, so_far):
        return Move("screen", standing)
    if so_far.landed or so_far.cut_landing or len(so_far.rejected) > engine.tries:
        return Move("give_up", standing)
    return _thought(engine, so_far, standing)


def _thought(engine: Engine, so_far: Trajectory, standing: Standing) -> Move:
    """Another thought, what has to come before it, or what takes its place."""
    if so_far.landing is None:
        if (tripped := tripped_bound(engine.bounds, standing)) is not None:
            return Move("land", standing, tripped=tripped)
    elif engine.budget.landing and not standing.lands:
        return Move("give_up", standing)  # what is left does not hold the last thought any more
    if so_far.steps and (less := engine.omission(so_far)) is not None:
        return Move("leave_out", standing, less=less)
    return Move("review" if engine.wants_review(so_far) else "think", standing)


def tripped_bound(bounds: Iterable[AnyBound], standing: Standing) -> Tripped | None:
    """The first bound that is reached, or that the next thought would exceed."""
    if (over := standing.exceeded) is not None:
        return over
    so_far, bound = standing.so_far, None
    try:
        for bound in bounds:
            if reason := bound(so_far):
                break
        else:
            return standing.unaffordable
    except PASSED:
        raise
    except BaseException as error:
        raise broken(f"the bound {stable_name(bound)}", error) from error
    if isinstance(reason, Tripped):  # of clew's own bounds
        return reason
    said = text_from(f"the bound {stable_name(bound)}", reason, "a reason or None")
    name, _, detail = said.partition(": ")
    return Tripped("own", name, detail)


def _awaits_screen(engine: Engine, so_far: Trajectory) -> bool:
    """Whether a person's unseen messages are not judged yet, or were held or refused."""
    if (words := so_far.words) is None:
        return bool(engine.screens)
    return words.held or (words.ruling is not None and not words.ruling.allow)
