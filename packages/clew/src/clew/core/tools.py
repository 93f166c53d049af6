"""The interface of tools: what a model is shown, how calls are made, in a sub-run or not."""

import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Final, Protocol, TypeAlias

import msgspec

from clew.core.actions import Done
from clew.core.at_work import Sibling
from clew.core.codes import Effect, Trust
from clew.core.contents import Attachment, Grant, Observation
from clew.core.judging import Answering
from clew.core.listeners import Listener
from clew.core.steps import Call
from clew.core.stores import Store
from clew.core.trajectory import Trajectory
from clew.core.values import Json
from clew.core.verdicts import Verdict
from clew.support.errors import ConfigError
from clew.support.settings import check_fields


@dataclass(frozen=True, slots=True)
class Retry:
    """How often to repeat a failed call, and the first delay in seconds, which then doubles.

    Unless the tool is idempotent, only calls that certainly did not happen are repeated.
    """

    times: int = 0
    delay: float = 0.5
    max_delay: float = 8.0

    def __post_init__(self) -> None:
        """Raise `ConfigError` for a value of another type, or a delay without an end."""
        check_fields(self)
        if math.isinf(self.delay):
            raise ConfigError("Retry: delay is inf: give seconds", field="delay")


@dataclass(frozen=True, slots=True)
class Attempts:
    """How a call is attempted: seconds for each attempt, repeats of failed ones, and a probe.

    `probe(args, key)` is asked about an attempt without an observation, after its deadline: it
    returns the call's result, or None for "it did not happen".
    """

    timeout: float = 30.0
    retry: Retry = Retry()
    probe: Callable[[dict[str, Json], str], Awaitable[Any]] | None = None


@dataclass(frozen=True, slots=True)
class External:
    """Somebody else performs the calls of a tool: each waits for its result (`clew.answer`).

    After `timeout` seconds (None: never) it ends without one, or with the `fallback` if there is
    one.
    """

    timeout: float | None = None
    fallback: Json = None

    def __post_init__(self) -> None:
        """Raise `ConfigError` for a value of another type."""
        check_fields(self)


Parameters: TypeAlias = dict[str, Json]  # a JSON Schema of type object

Approve: TypeAlias = (
    bool
    | str
    | Callable[[dict[str, Json]], Answering[bool | str | None]]
    | Callable[[dict[str, Json], Any], Answering[bool | str | None]]
)
"""Whether a person approves the calls of a tool before they are made: True, or the reason for it.

Or a function of the arguments, and of a `clew.RunContext` if it has a parameter for one, that says
so of each call; False or None lets it pass. A second parameter without a type is for the context.
"""


@dataclass(frozen=True)
class Labels:
    """What the author of a tool knows of where its results come from, and where its arguments go.

    `trusted` names the fields of a result that no third party can choose, such as ids; "*" is each,
    and all of a text.
    `content` names the arguments that are only text to carry: all others decide what the call does.
    `egress` says that arguments leave although it only reads, as an address that is fetched does;
    `traces` that others can see that it was called. A `secret` result goes nowhere unasked. What is
    said of a `foreign` tool was written by others, such as those who run its server. What a
    `contained` tool does stays in a place that a person gave for it, such as a folder: it is asked
    about no more than what only reads.
    """

    trusted: tuple[str, ...] = ()
    content: tuple[str, ...] = ()
    egress: bool = False
    traces: bool = False
    secret: bool = False
    foreign: bool = False
    contained: bool = False

    def __post_init__(self) -> None:
        """Raise `ConfigError` for a value of another type."""
        check_fields(self)
        whatever: tuple[tuple[str, Any], ...] = (
            ("trusted", self.trusted),
            ("content", self.content),
        )
        for name, names in whatever:
            if type(names) is not tuple or any(type(each) is not str for each in names):
                raise ConfigError(f'Labels({name}={names!r}): give names as ("id", "day")')

    def __or__(self, other: "Labels") -> "Labels":
        """What holds of a call that either of two tools may make: the more careful of both."""
        return Labels(
            tuple(name for name in self.trusted if name in other.trusted),
            tuple(name for name in self.content if name in other.content),
            self.egress or other.egress,
            self.traces or other.traces,
            self.secret or other.secret,
            self.foreign or other.foreign,
            self.contained and other.contained,
        )


NO_LABELS: Final = Labels()


@dataclass(frozen=True)
class ToolSpec:
    """What a model is shown of a tool, and what its calls are judged by.

    `result` is a JSON Schema for the result. `repair(args)` may correct arguments before
    validation: it gets a copy of them, and returns the new arguments and a sentence about the
    change. A `hidden` tool is in no prompt, but calls to it are answered. `guard` judges the calls
    of this tool, after the agent's guards and as they do; tools may share one. `approve` says which
    of its calls a person must approve first.
    """

    name: str
    description: str
    parameters: Parameters
    _: KW_ONLY
    effect: Effect = "unsafe"
    trust: Trust = "untrusted"
    labels: Labels = NO_LABELS
    repair: Callable[[dict[str, Json]], tuple[dict[str, Json], str] | None] | None = None
    result: Parameters | None = None
    hidden: bool = False
    version: str = "1"
    examples: tuple[dict[str, Json], ...] = ()
    guard: "Callable[[Call, Any], Answering[Verdict | None]] | None" = field(
        default=None, compare=False
    )
    approve: Approve = False

    def __repr__(self) -> str:
        """Its name, its parameters and what it does to the world."""
        named: dict[str, Json] = self.parameters.get("properties", {})
        return f"<{type(self).__name__} {self.name}({', '.join(named)}): {self.effect}>"


@dataclass(frozen=True, repr=False)
class Tool(ToolSpec):
    """A tool: a name, a description, a JSON Schema and a function.

    `call(args, key)` gets validated arguments and the call's key (`run_id:step.index`, the same in
    every attempt). It returns text, a JSON value, or an `Observation`; it may be async. It may also
    return a `Verdict` that holds the call, for what only a person knows (`asks`): allowed, it is
    made again, and `CALL` has the answer. One without effects may return `Suspended`, to ask for
    other calls: once they have observations (`Call.asked`), it is made again. `ToolError` means
    that nothing was done; after any other exception the outcome of an effect is unknown. An
    `external` tool is never called.
    """

    call: Callable[[dict[str, Json], str], Answering[Any]]
    _: KW_ONLY
    attempts: Attempts = Attempts()
    external: External | None = None


@dataclass(frozen=True, repr=False)
class FallbackTool(Tool):
    """A tool that hands a call on to `other` where `first` certainly did nothing.

    `names` are those of the parameters that the other calls otherwise; None: that it lacks one.
    """

    first: Tool = field(compare=False)
    other: Tool = field(compare=False)
    names: Mapping[str, str | None] = field(compare=False)


@dataclass(frozen=True, repr=False)
class AgentTool(ToolSpec):
    """A tool whose calls are made in a sub-run each: `run` takes it to its end, or to a hold.

    A sub-run may spend at most `grant`. Its share among those of the same step is as large as the
    argument named `weight` says (over 0), else 1. `caps` bound the calls of the whole run that has
    it, in all sub-runs together: of a tool, by its name; `*` of all that have an effect.
    `clew.delegate` makes such a tool of an agent.
    """

    run: "Callable[[SubRun], Awaitable[Observation | Verdict]]"
    grant: Grant | None = None
    weight: str = ""
    caps: Mapping[str, int] = field(default_factory=dict[str, int])


AnyTool: TypeAlias = Tool | AgentTool


class SubRun(msgspec.Struct, frozen=True):
    """The argument of a tool that works in a sub-run, whose id is in the attempt of its call.

    Create the run `run_id` in `store`, or resume it if it exists: it serves the call `parent`
    (`run_id:step.index`) and may spend at most `grant`. The tool returns the call's observation,
    with what was `spent`, or a verdict that holds the call while the sub-run is held. With `close`,
    end the run for that reason instead, unless it has ended. If it `waited`, its record must exist.
    `trust` is that of what its arguments were made from; `done` are the side effects of other runs
    that neither run may repeat unasked. It is at work `among` other runs (`Journal.among`).
    `labels` and `owner` are those of the run that it serves, and `attachments` what a person gave
    to that.
    """

    run_id: str
    parent: str
    args: dict[str, Json]
    grant: Grant
    store: "Store"
    listener: "Listener | None" = None
    close: str = ""
    waited: bool = False
    trust: Trust = "trusted"
    done: tuple[Done, ...] = ()
    among: tuple[Sibling, ...] = ()
    labels: dict[str, str] = {}
    owner: str = ""
    attachments: tuple[Attachment, ...] = ()


class Finder(Protocol):
    """Finds the tools that a model is to see, among many. Shown tools stay shown."""

    @property
    def always(self) -> Sequence[str]:
        """The names of the tools shown from the start."""
        ...

    def find(self, tools: Sequence[ToolSpec], trajectory: Trajectory) -> Answering[Sequence[str]]:
        """Names of tools to show from the next thought on; the record keeps them."""
        ...
