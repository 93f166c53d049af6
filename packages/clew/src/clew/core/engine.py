"""The engine: all that the loop runs with, each part resolved, checked and named.

`clew.agent.compile` makes it from the `Agent` that people write. A replay takes one with the record
in the place of every part that reaches outside.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias

from clew.core.bounds import AnyBound, Left
from clew.core.budget import Budget
from clew.core.codec import Codec, Parsed, PromptSpec
from clew.core.codes import AnswerOutcome
from clew.core.contents import Handed, Reply
from clew.core.events import AnyEvent, Compacted, Fingerprints, Rewound
from clew.core.judging import Check, Screened
from clew.core.models import Model, OnText
from clew.core.prompts import Calls, Prompt
from clew.core.specs import AgentSpec
from clew.core.tools import AnyTool, ToolSpec
from clew.core.trajectory import Call, Trajectory
from clew.core.values import Json
from clew.core.verdicts import Verdict
from clew.support.parts import Patience

Validator: TypeAlias = Callable[[Json], list[str]]
"""Takes a JSON value and says what is wrong with it, a line each; no lines, nothing wrong."""

NamedScreen: TypeAlias = tuple[str, Callable[[str], Awaitable[Verdict | Screened | None]]]
"""A screen by its name in the record, asked within its deadline."""


class NamedGuard(NamedTuple):
    """A guard under its name in the record.

    `ask` takes a call and the trajectory; an error names the guard. It judges the calls of `tools`,
    or of all (None). One of clew's `own` is pure: a replay asks it again. Where a guard that
    reports a `repeat` holds a call that another one holds too, a person is told both reasons.
    """

    name: str
    ask: Callable[[Call, Trajectory], Awaitable[Verdict | None]]
    tools: frozenset[str] | None = None
    own: bool = False
    repeat: bool = False


class Render(Protocol):
    """Renders the prompt of the next thought: a pure function of the trajectory."""

    def __call__(
        self,
        trajectory: Trajectory,
        reminders: Sequence[str],
        calls: Calls,
        visible_tools: tuple[str, ...] = (),
        /,
    ) -> tuple[Prompt, Fingerprints]:
        """The prompt and its fingerprints; `visible_tools` names the tools that are new to it."""
        ...


class Advice(NamedTuple):
    """What a model is told of a call that cannot be made."""

    unknown_tool: Callable[[Trajectory, str], str]
    """Which tools there are, for the name of one that there is not."""
    right_form: Callable[[ToolSpec, Mapping[str, Json]], str]
    """An example of arguments that fit, like those that were given; "" if there is none."""


@dataclass(frozen=True)
class Engine:
    """The parts of one agent, as the loop asks for them.

    `tools`, `validators` (of arguments) and `result_validators` go by the names of tools, hidden
    ones and finish among them; `effectful` names those with an effect. `decode` converts an answer
    to the agent's type, or raises `ValueError` with advice. `unknown` says whether an unsafe call
    in doubt is told to the model or held for a person.
    """

    spec: AgentSpec
    model: Model
    codec: Codec
    prompt_spec: PromptSpec
    tools: Mapping[str, AnyTool]
    validators: Mapping[str, Validator]
    result_validators: Mapping[str, Validator]
    effectful: frozenset[str]
    delegates: bool
    """Whether some of the tools work in a run of their own."""
    seed: int

    # What may happen, and for how long
    bounds: tuple[AnyBound, ...]
    budget: Budget
    guards: tuple[NamedGuard, ...]
    screens: tuple[NamedScreen, ...]
    checks: Sequence[Check]
    decode: Callable[[Json], Any]
    contradiction: Callable[[Trajectory, AnswerOutcome], str]
    """What the record has against what a model says came of its task, with advice; or ""."""
    tries: int
    fallback: Json
    patience: Patience
    unknown: Literal["tell", "hold"]
    argument_bytes: int
    observation_bytes: int
    caps_left: Callable[[Trajectory, int], dict[str, int]]
    """What all runs of a strategy may still call, before the call at a place of the step."""
    handed: Callable[[Trajectory, Sequence[Call]], Sequence[Handed | None]]
    """What sub-runs of these calls are told of where values come from."""

    wants_plan: Callable[[Trajectory], bool] | None
    """Whether a pending call can only be judged by what the person's words ask for."""
    plan: Callable[[Trajectory], Awaitable[Sequence[AnyEvent]]]
    """Asks the model for that, without anything else that the run has seen: what to record. Raises
    `ModelError`."""

    # What the model sees, and how its reply is read
    render: Render
    complete: Callable[[Prompt, OnText | None], Awaitable[Reply]]
    """Asks the model. Raises `ModelError`, or `PartError` for a broken model."""
    read: Callable[[Trajectory, Reply], tuple[Reply, Parsed]]
    """Reads a reply: what of it is kept, and what it says. Raises `ModelError` or `PartError`."""
    advice: Advice
    reminders: Callable[[Trajectory, Left], tuple[str, ...]]
    find_tools: Callable[[Trajectory], Awaitable[Sequence[str]]] | None
    """Names of tools that the next thought is to see; None where all are shown from the start."""
    read_on: tuple[str, ...]
    """Names of the tools that read on in an observation of which the view leaves something out."""
    leaves_out: Callable[[Trajectory], bool]
    """Whether the view leaves out some of an observation."""
    omission: Callable[[Trajectory], Compacted | Rewound | None]
    """What the next prompt has to leave out: a wrong branch, or what the window cannot hold."""
    shorten: Callable[[Trajectory], Compacted | None]
    """What to leave out of a prompt that the provider found too long; None if nothing can be."""
    wants_review: Callable[[Trajectory], bool]
    """Whether a critic is due to read the run."""
    leave_out: Callable[[Trajectory, Compacted | Rewound | None], Awaitable[Sequence[AnyEvent]]]
    """What to record for an omission or, for None, of a review. May ask a model."""
