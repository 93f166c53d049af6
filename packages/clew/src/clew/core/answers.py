"""An offered answer: its value, what it says came of the task, and the stop that it makes."""

import msgspec

from clew.core.codes import FINISH, OUTCOME, Status
from clew.core.engine import Engine
from clew.core.events import Stop
from clew.core.gathering import unasked
from clew.core.settling import stopped
from clew.core.trajectory import Step, Trajectory
from clew.core.values import Json


def answer_of(engine: Engine, step: Step) -> Json:
    """The offered answer: finish's argument, or the reply's text, decoded for its type."""
    if step.finish is not None:
        return step.finish.args.get("answer")  # one that says "not_found" may have none
    text = step.thought.answer if step.thought is not None else None
    if engine.prompt_spec.answers_text or step.declined or text is None:
        return text
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:  # it was an answer to another type: the checks say so
        return text


def sent_back(engine: Engine, trajectory: Trajectory) -> str:
    """Why an answer is sent back whose outcome the record contradicts; "" where it is not.

    That happens once for each outcome since a person last spoke, and never in the last thought.
    """
    outcome = trajectory.step.outcome
    if not outcome or trajectory.landing or trajectory.late or _was_sent_back(trajectory):
        return ""
    return engine.contradiction(trajectory, outcome)


def accepted(engine: Engine, trajectory: Trajectory, value: Json) -> Stop:
    """The stop with an answer that has passed."""
    step = trajectory.step
    status: Status = "declined" if step.declined else "answered"
    status = "bound" if trajectory.landing or trajectory.late else status
    end = engine.budget.standing(trajectory).end + unasked(trajectory)
    stop = Stop(status, end, value, code=trajectory.bound, outcome=step.outcome)
    return stopped(trajectory, stop)


def _was_sent_back(trajectory: Trajectory) -> bool:
    """Whether an answer with the outcome of the one offered now was sent back for that."""
    for step in reversed(trajectory.steps):
        if step.person_spoke:
            return False
        for call in step.calls:
            seen = call.observation
            refused = seen is not None and seen.code == "contradicted"
            if (
                refused
                and call.action.name == FINISH
                and call.args.get(OUTCOME) == (trajectory.step.outcome)
            ):
                return True
    return False
