"""What a run does next, or would do: one pure function of the engine and the record."""

from collections.abc import Iterable
from typing import Literal, NamedTuple, TypeAlias

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
    """The next move, why a person wants it, what the next prompt leaves out, what bound trips."""

    kind: Kind
    why: str = ""
    less: Compacted | Rewound | None = None
    tripped: Tripped | None = None


def next_move(engine: Engine, so_far: Trajectory, *, screened: bool = False) -> Move:
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
    if so_far.pending_input and not screened and _awaits_screen(engine, so_far):
        return Move("screen")
    if so_far.landed or so_far.cut_landing or len(so_far.rejected) > engine.tries:
        return Move("give_up")
    if so_far.landing is None:
        return _bounded(engine, so_far)
    # What is left may no longer hold the last thought that a landing allows.
    lands = engine.budget.lands(so_far) or not engine.budget.landing
    return _thinks(engine, so_far) if lands else Move("give_up")


def _bounded(engine: Engine, so_far: Trajectory) -> Move:
    """Land where a bound is reached, else go on."""
    if (tripped := tripped_bound(engine.bounds, so_far)) is None:
        return _thinks(engine, so_far)
    return Move("land", tripped=tripped)


def tripped_bound(bounds: Iterable[AnyBound], so_far: Trajectory) -> Tripped | None:
    """The first bound that is reached, or that the next thought would exceed."""
    bound = None
    try:
        for bound in bounds:
            if reason := bound(so_far):
                break
        else:
            return None
    except PASSED:
        raise
    except BaseException as error:
        raise broken(f"the bound {stable_name(bound)}", error) from error
    if isinstance(reason, Tripped):  # of clew's own bounds
        return reason
    said = text_from(f"the bound {stable_name(bound)}", reason, "a reason or None")
    name, _, detail = said.partition(": ")
    return Tripped("own", name, detail)


def _thinks(engine: Engine, so_far: Trajectory) -> Move:
    """Ask the model; where something has to be left out of its prompt, that comes before."""
    less = engine.omission(so_far) if so_far.steps else None
    if less is not None:
        return Move("leave_out", less=less)
    return Move("review" if engine.wants_review(so_far) else "think")


def _awaits_screen(engine: Engine, so_far: Trajectory) -> bool:
    """Whether a person's unseen messages are not judged yet, or were held or refused."""
    if (words := so_far.words) is None:
        return bool(engine.screens)
    return words.held or (words.ruling is not None and not words.ruling.allow)
