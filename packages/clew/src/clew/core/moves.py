"""What a run does next, or would do: one pure function of the engine and the record."""

from collections.abc import Iterable
from typing import Literal, NamedTuple, TypeAlias

from clew.core.bounds import AnyBound, Tripped
from clew.core.budget import Standing
from clew.core.engine import Engine
from clew.core.events import Compacted, Rewound
from clew.core.trajectory import Trajectory
from clew.support.parts import PASSED, broken, stable_name, text_from

Kind: TypeAlias = Literal[
    "done",  # the record says stop
    "interrupt",  # a person wants the run to end
    "plan",  # a pending call can only be judged by what the person's words ask for
    "act",  # calls are pending
    "conclude",  # the step offers an answer
    "screen",  # a person's words wait for a screen, or for what a screen or a person said of them
    "give_up",  # nothing is left to hope for
    "land",  # a bound tripped
    "leave_out",  # a wrong branch, or what the model's window would not hold
    "review",  # ask a critic whether the run is on a wrong branch
    "think",  # ask the model
]


class NextMove(NamedTuple):
    """The next move, and what it needs to be made.

    `standing` is how the run stands against its limits, `why` a person wants to end it, `less` what
    the next prompt leaves out, and `tripped` the bound that is reached.
    """

    kind: Kind
    standing: Standing
    why: str = ""
    less: Compacted | Rewound | None = None
    tripped: Tripped | None = None


def next_move(engine: Engine, trajectory: Trajectory, *, screened: bool = False) -> NextMove:
    """What is next. `screened` says that the screens have nothing against a person's last words.

    That is not on record: a screen that does not object writes nothing. Raises `PartError` where
    a bound fails.
    """
    step, standing = trajectory.step, engine.budget.standing(trajectory)
    if trajectory.stop is not None:
        return NextMove("done", standing)
    if trajectory.cancel is not None:
        return NextMove("interrupt", standing, trajectory.cancel.why)
    if step.pending:  # all but finish
        wants = engine.wants_plan
        if wants is None or trajectory.late or not wants(trajectory):
            return NextMove("act", standing)
        return NextMove("plan" if standing.exceeded is None else "act", standing)
    if step.answer is not None:
        return NextMove("conclude", standing)
    if trajectory.pending_input and not screened and _awaits_screen(engine, trajectory):
        return NextMove("screen", standing)
    if trajectory.landed or trajectory.cut_landing or len(trajectory.rejected) > engine.tries:
        return NextMove("give_up", standing)
    return _thought(engine, trajectory, standing)


def no_review(_: Trajectory) -> bool:
    """Whether a critic is asked where there is none."""
    return False


def _thought(engine: Engine, trajectory: Trajectory, standing: Standing) -> NextMove:
    """Another thought, what has to come before it, or what takes its place."""
    if trajectory.landing is None:
        if (tripped := tripped_bound(engine.bounds, standing)) is not None:
            return NextMove("land", standing, tripped=tripped)
    elif engine.budget.landing and not standing.lands:
        return NextMove("give_up", standing)  # what is left does not hold the last thought any more
    if trajectory.steps and (less := engine.omission(trajectory)) is not None:
        return NextMove("leave_out", standing, less=less)
    return NextMove("review" if engine.wants_review(trajectory) else "think", standing)


def tripped_bound(bounds: Iterable[AnyBound], standing: Standing) -> Tripped | None:
    """The first bound that is reached, or that the next thought would exceed."""
    if (over := standing.exceeded) is not None:
        return over
    trajectory, bound = standing.trajectory, None
    try:
        for bound in bounds:
            if reason := bound(trajectory):
                break
        else:
            return standing.unaffordable
    except PASSED:
        raise
    except BaseException as error:
        raise broken(f"the bound {stable_name(bound)}", error) from error
    if isinstance(reason, Tripped):  # of clew's own bounds
        return reason
    text = text_from(f"the bound {stable_name(bound)}", reason, "a reason or None")
    name, _, detail = text.partition(": ")
    return Tripped("own", name, detail)


def _awaits_screen(engine: Engine, trajectory: Trajectory) -> bool:
    """Whether a person's unseen messages are not judged yet, or were held or refused."""
    if (words := trajectory.words) is None:
        return bool(engine.screens)
    return words.held or (words.ruling is not None and not words.ruling.allow)
