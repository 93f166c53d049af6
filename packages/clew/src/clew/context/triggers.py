"""Rewinds that a run makes by itself: when, how often, and who is asked.

Whether to go back follows from the record alone, but for a critic, which is asked. What was decided
is recorded with what the critic took; a replay is fed both, and decides nothing.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Final, TypeAlias, cast

import msgspec

from clew.context.branches import (
    CODE,
    LESSON_CHARS,
    WrongBranch,
    branch_steps,
    call_line,
    quoted_line,
    rejected,
    repeated,
)
from clew.context.rewind import CRITIC, OWN, REJECTED, REPEATED
from clew.core.codes import FINISH
from clew.core.contents import Usage
from clew.core.events import AnyEvent, Charged, Rewound, Thought
from clew.core.judging import Answering
from clew.core.trajectory import Step, Trajectory
from clew.support.errors import ConfigError
from clew.support.parts import Patience, ask, of_kind, short_repr, stable_name

Trigger: TypeAlias = Callable[[Trajectory, int], WrongBranch | None]
"""Finds the wrong branch that the last step ends, given after how many rejected answers."""

TRIGGERS: Final[Mapping[str, Trigger]] = {one.__name__: one for one in (repeated, rejected)}
_BY: Final[Mapping[str, str]] = {"repeated": REPEATED, "rejected": REJECTED}

_GUARD: Final = "NoProgress("
"""The name of the guard against repetition begins so."""


class Review(msgspec.Struct, frozen=True):
    """What a critic says of a run: whether it is on a wrong branch.

    Then `to` is the last good step (0: none), and `lesson` says what was wrong and what to do
    instead. `usage` is what it took to say so; a `fault` says why it said nothing.
    """

    wrong: bool
    to: int = 0
    lesson: str = ""
    usage: Usage = Usage()
    fault: str = ""


Reviewer: TypeAlias = Callable[[Trajectory], Answering[Review]]
"""A critic: it reads a run and says whether that is on a wrong branch. `clew.Critic` is one."""


@dataclass(frozen=True)
class Rewinds:
    """When a run takes a wrong branch out of its view by itself, and how often.

    `by` names what it goes by: "repeated" (every call of a step was refused as a repetition), and
    "rejected" (so many answers were `rejected` by the checks, or as many as the agent's `tries`
    allow). A `critic` is asked after each `every` steps, and where calls repeat themselves.
    All together rewind at most `max_rewinds` times after each of a person's messages.

    Raises `ConfigError` for what cannot be meant.
    """

    by: tuple[str, ...] = ("repeated", "rejected")
    rejected: int = 2
    max_rewinds: int = 3
    critic: Reviewer | None = None
    every: int = 5

    def __post_init__(self) -> None:
        """Raise `ConfigError` for what cannot be meant."""
        by = cast("object", self.by)
        if isinstance(by, str):
            raise ConfigError(f"rewinds by is one text: give a tuple, ({self.by!r},)", field="by")
        if not isinstance(by, Iterable):
            raise ConfigError(f"rewinds by is {short_repr(by)}: give a tuple of them", field="by")
        for name in self.by:
            if name not in TRIGGERS:
                known = ", ".join(TRIGGERS)
                message = f"rewinds by {name!r} are not known: choose among {known}"
                raise ConfigError(message, field="by")
        for name in ("rejected", "max_rewinds", "every"):
            if type(number := getattr(self, name)) is not int or number < 1:
                message = f"rewinds {name} is {number!r}: give a whole number over 0"
                raise ConfigError(message, field=name)
        if self.critic is not None and not callable(self.critic):
            raise ConfigError(
                f"rewinds critic is {self.critic!r}: give clew.Critic(model)", field="critic"
            )
        self._check_useless()

    def _check_useless(self) -> None:
        """Raise `ConfigError` for a setting of what these do not go by."""
        usual = {each.name: each.default for each in fields(self)}
        if not self.by and self.critic is None:
            message = f"rewinds by nothing: name {' or '.join(TRIGGERS)}, or give a critic"
            raise ConfigError(message, field="by")
        if self.critic is None and self.every != usual["every"]:
            message = (
                f"rewinds every is {self.every}, and nobody is asked: give a critic, or drop it"
            )
            raise ConfigError(message, field="every")
        if "rejected" not in self.by and self.rejected != usual["rejected"]:
            message = (
                f"rewinds rejected is {self.rejected}, and by leaves that out: add 'rejected' to "
                "by, or drop it"
            )
            raise ConfigError(message, field="rejected")

    def __repr__(self) -> str:
        """As the record names it."""
        critic = "" if self.critic is None else f", {stable_name(self.critic)} every {self.every}"
        by = "+".join(self.by) or "nothing"
        return f"Rewinds({by}, rejected={self.rejected}, max_rewinds={self.max_rewinds}{critic})"

    def due(self, trajectory: Trajectory, tries: int) -> Rewound | None:
        """The rewind that the record calls for before the next thought."""
        if not self._may(trajectory):
            return None
        for name in self.by:
            branch = TRIGGERS[name](trajectory, min(self.rejected, tries))
            if branch is not None:
                to, lesson = branch
                if (further := _further(trajectory, to)) < to:
                    to, lesson = further, f"{lesson} {_began(trajectory, further)}"
                return Rewound(to, quoted_line(lesson, LESSON_CHARS), _BY[name])
        return None

    def asks(self, trajectory: Trajectory) -> bool:
        """Whether the critic is to be asked before the next thought."""
        if self.critic is None or not self._may(trajectory):
            return False
        since = 0
        for entry in reversed(trajectory.entries):
            if _is_review(event := entry.event):
                break
            since += isinstance(event, Thought)
        steps = len(branch_steps(trajectory))
        return since > 0 and (min(since, steps) >= self.every or _repeats(trajectory.step))

    async def review(self, trajectory: Trajectory, seconds: float, grace: float) -> list[AnyEvent]:
        """Ask the critic, as long as a reply may take: what that took, and its rewind if any."""
        patience = Patience(seconds, grace, "reply_seconds")
        critic = cast("Reviewer", self.critic)  # there is one: `asks` said so
        reply = await ask("the critic", patience, critic, trajectory)
        review = of_kind("the critic", reply, Review, "a clew.context.Review")
        lesson = quoted_line(review.lesson, LESSON_CHARS)
        why = _objection(trajectory, review, lesson)
        back = Rewound(review.to, lesson, CRITIC) if review.wrong and not why else None
        came = why or (f"back to step {review.to}" if back else "nothing wrong")
        subject = f"the critic after step {trajectory.step.number}: {came}"
        charged = Charged(review.usage, "critic", subject)
        return [charged] if back is None else [charged, back]

    def _may(self, trajectory: Trajectory) -> bool:
        """Whether there is a branch to go back in, and it is not too often."""
        step = trajectory.step
        if trajectory.landing is not None or step.person_spoke or not trajectory.steps:
            return False
        if step.number in trajectory.omitted.hidden:  # it was just made
            return False
        return len(_own(trajectory)) < self.max_rewinds


def _spoken(trajectory: Trajectory) -> int:
    """The step after which a person last spoke, or 0."""
    return next((step.number for step in reversed(trajectory.steps) if step.person_spoke), 0)


def _own(trajectory: Trajectory) -> list[tuple[int, Rewound]]:
    """The run's own rewinds since a person last spoke, each with the step after which it stands."""
    return [
        (step.number, notice)
        for step in trajectory.steps[_spoken(trajectory) :]
        for notice in step.notices
        if isinstance(notice, Rewound) and notice.by in OWN
    ]


def _further(trajectory: Trajectory, to: int) -> int:
    """Where to go back to; where the last rewind led nowhere, to half of what that one kept."""
    if not (own := _own(trajectory)):
        return to
    made, before = own[-1]
    if any(made < step.number <= to for step in branch_steps(trajectory)):
        return to  # that one led to steps that are kept
    spoken = _spoken(trajectory)
    return min(to, spoken + (before.to - spoken) // 2)


def _began(trajectory: Trajectory, to: int) -> str:
    """What a lesson says of what came after an earlier step."""
    calls = [call for call in trajectory.steps[to].calls if call.action.name != FINISH]
    beginning = f"with {call_line(calls[0])}" if calls else f"after step {to}"
    return f"All that began {beginning} led nowhere."


def _is_review(event: AnyEvent) -> bool:
    """Whether an event says what a critic took and said."""
    return isinstance(event, Charged) and event.kind == "critic"


def _repeats(step: Step) -> bool:
    """Whether the guard against repetition had something to say of the step."""
    return any(
        (call.observation is not None and call.observation.code == CODE)
        or any(hint.by.startswith(_GUARD) for hint in call.hints)
        for call in step.calls
    )


def _objection(trajectory: Trajectory, review: Review, lesson: str) -> str:
    """Why nothing comes of a review; "" where something may."""
    if review.fault:
        return quoted_line(review.fault)
    if not review.wrong:
        return ""
    steps = branch_steps(trajectory)
    first, last = (steps[0].number - 1, steps[-1].number)
    if not first <= review.to < last:
        return f"it would go back to step {review.to}, and may to {first} to {last - 1}"
    return "" if lesson else "it gave no lesson"
