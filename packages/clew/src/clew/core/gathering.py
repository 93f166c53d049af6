"""Gathered asking: held calls that the run can go on without are put off until it would end.

Then they are calls of its last step, and a person is asked about all of them at once. From there on
they are held, ruled on, amended and made as any call is, one after the other. Effects that the
model asks for behind one that was put off are put off too.
"""

from collections.abc import Sequence
from typing import Final

from clew.core.codes import EFFECTFUL, RUN_CODE
from clew.core.contents import Observation
from clew.core.effects import is_strategy
from clew.core.engine import Engine
from clew.core.events import AnyEvent, Gathered
from clew.core.observations import closed_answers
from clew.core.trajectory import Call, Step, Trajectory

_PUT_OFF: Final = (
    "It is not made yet: it waits until a person was asked, before the run ends. Do not ask for it "
    "again; go on with what does not need it, then answer."
)
_TAKEN_UP: Final = "calls that were put off come first: look at what comes of them, then finish"


def put_off(engine: Engine, trajectory: Trajectory, ready: Sequence[Call]) -> list[AnyEvent]:
    """What the model is told of calls of its step that wait until the run would end.

    Those are held ones that the run can go on without, unless one beside them has to wait here: a
    person is asked about all of them then. And before that, of those that are `ready`, effects
    behind one that was put off: they happen in the order in which the model asks for them.
    """
    if ready:
        behind = any(_acts(engine, call) for call in trajectory.put_off)
        waits = [call for call in ready if behind and _acts(engine, call) and not call.ruling]
        return [_later(call) for call in waits if _may_wait(trajectory, call)]
    pending = trajectory.step.pending
    if all(_is_gathered(call) and _may_wait(trajectory, call) for call in pending):
        return [_later(call) for call in pending]
    return []


def one_by_one(step: Step) -> list[Call]:
    """Whose turn it is of the calls that were put off: nobody's while one of them is held."""
    pending = step.pending
    return [] if any(call.held for call in pending) else pending[:1]


def _acts(engine: Engine, call: Call) -> bool:
    """Whether a call has an effect, or may have those of a sub-agent or of a program."""
    if call.action.name == RUN_CODE:
        return bool(engine.effectful)
    tool = engine.tools.get(call.action.name)
    return tool is not None and tool.effect in EFFECTFUL


def _is_gathered(call: Call) -> bool:
    return call.verdict is not None and call.verdict.verdict.gather


def _may_wait(trajectory: Trajectory, call: Call) -> bool:
    """Whether the run goes on without its result, as a program or a strategy cannot.

    A call that was put off before is asked about at once, and one that has begun goes on.
    """
    written = call.position <= len(trajectory.step.calls)
    return written and not call.attempts and not is_strategy(trajectory)


def _later(call: Call) -> Observation:
    return Observation(
        call.key, _PUT_OFF, ok=False, code="waits", outcome="not_done", trust="trusted"
    )


def taken_up(engine: Engine, trajectory: Trajectory) -> list[AnyEvent]:
    """The calls that were put off, before an answer that was given without them counts.

    Once they are done, that answer is closed. Nothing where a bound was reached: no call may be
    begun then, and they are not made.
    """
    if trajectory.step.gathered:
        return [*closed_answers(trajectory.step, "interrupted", _TAKEN_UP)]
    if not trajectory.put_off or trajectory.bound:
        return []
    if engine.budget.standing(trajectory).exceeded is not None:
        return []
    return [Gathered(tuple(call.key for call in trajectory.put_off))]


def unasked(trajectory: Trajectory) -> str:
    """What a stop says of calls that were put off, and that nobody was asked about."""
    names = ", ".join(f"{call.key} {call.action.name}" for call in trajectory.put_off)
    return f"; put off and not made, as nobody could be asked any more: {names}" if names else ""
