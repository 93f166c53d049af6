"""The interfaces of clew on one page: what a part is given, what it gives back.

Nothing here is to be inherited. A model or store is whatever has these methods; a bound, a guard or
a check is a function; a tool is one dataclass. That of a format is `clew.core.codec`.
"""

import math
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Final, Literal, NamedTuple, Protocol, TypeAlias, runtime_checkable

import msgspec
from typing_extensions import TypeVar

from clew.core.at_work import Sibling
from clew.core.events import (
    Adapted,
    Attachment,
    BoundCode,
    Done,
    Effect,
    Entry,
    Grant,
    Json,
    Observation,
    Rates,
    RawCall,
    Reply,
    Trust,
    Usage,
    Verdict,
    Wire,
)
from clew.core.trajectory import Call, Trajectory
from clew.support.errors import ConfigError
from clew.support.settings import check_fields
from clew.support.structural import Structural

Answer = TypeVar("Answer")
Answering: TypeAlias = Awaitable[Answer] | Answer  # given at once, or once it is awaited

# ---------------------------------------------------------------- tools


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


@dataclass(frozen=True, slots=True, kw_only=True)
class CallContext:
    """What a tool may know and say of the call that it performs, beside its arguments.

    `record` is that of its run, as it stands: it may be looked at, and not kept, for it grows.
    `left` is what the run may still spend. `task` is what an earlier attempt of the call began and
    nobody saw the end of: ask for that. `answer` is the person's, to what the call asked.
    """

    record: Trajectory
    left: "Callable[[], Left]"
    task: str = ""
    answer: Json = None
    blob: Callable[[str], Awaitable[bytes]]
    """Fetch a blob that the record names, such as what a call left to go on with."""
    begun: Callable[..., Awaitable[None]]
    """Put the id of a task on disk, before it is waited for, or "" and `by`: the tool at work."""
    progress: Callable[[str], None]
    """Tell whoever watches how far the call is (`Progress`)."""
    late: Callable[[str], None]
    """Leave word of the end of work that could not be stopped at its deadline, from its thread.

    The word becomes a note in the record if the process lives on.
    """


CALL: ContextVar[CallContext | None] = ContextVar("clew.call", default=None)
"""The call that is being performed: set around every call of a tool."""


# ---------------------------------------------------------------- prompts

Role: TypeAlias = Literal["system", "user", "assistant", "tool"]
Calls: TypeAlias = Literal["auto", "none", "required"]
"""Whether a reply may call tools, must not, or must."""


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Part:
    """One immutable message of a prompt, independent of the provider.

    An assistant's part may carry the `calls` it made and the `wire` items only its own model reads;
    a tool's part answers the call `call_id` of the tool `name`. A user's and a tool's may have
    `attachments`: a model that does not take one gets its text. `encoded` remembers, per encoder,
    the bytes a model made of it: each part is encoded once.
    """

    role: Role
    text: str
    calls: tuple[RawCall, ...] = ()
    call_id: str = ""
    name: str = ""
    wire: Wire | None = None
    attachments: tuple[Attachment, ...] = ()
    encoded: dict[str, bytes] = field(default_factory=dict[str, bytes], repr=False)


class Prompt(msgspec.Struct, frozen=True, gc=False):
    """The input of a model: head, the steps so far, and a tail that is new each time.

    `tools` are the shown ones (empty in text formats, whose head describes them). With `calls`
    "none" the model must not call any, with "required" it must. The reply should end at a `stop`
    sequence. `reply_schema` is a JSON Schema for the reply's text, for providers that can enforce
    one. `seed` is the agent's, for a model whose replies follow from the prompt and a seed.
    `grammar` is all that the reply may be, in GBNF, for a model that has `"grammar": true` in its
    `params`. `adapted` is how the last request of the run had to differ from its prompt.
    The `purpose` is a thought, or what a person's words ask for (`Planned`).
    """

    head: tuple[Part, ...]
    parts: Sequence[Part]
    tail: tuple[Part, ...] = ()
    tools: tuple[ToolSpec, ...] = ()
    calls: Calls = "auto"
    stop: tuple[str, ...] = ()
    reply_schema: Parameters | None = None
    seed: int = 0
    grammar: str = ""
    adapted: Adapted | None = None
    purpose: Literal["think", "plan"] = "think"

    def __iter__(self) -> Iterator[Part]:
        """All parts in order."""
        yield from self.head
        yield from self.parts
        yield from self.tail


OnText: TypeAlias = Callable[[str], bool]
"""Takes a piece of a reply as it arrives; True means that no more is wanted."""


class Finder(Protocol):
    """Finds the tools that a model is to see, among many. Shown tools stay shown."""

    @property
    def always(self) -> Sequence[str]:
        """The names of the tools shown from the start."""
        ...

    def find(self, tools: Sequence[ToolSpec], trajectory: Trajectory) -> Answering[Sequence[str]]:
        """Names of tools to show from the next thought on; the record keeps them."""
        ...


STRATEGY: Final = "strategy"
"""What the models of strategies are called, before the name of the strategy."""


@dataclass(frozen=True)
class ModelInfo:
    """What is known about a model beforehand; only its name is required.

    `name` is `provider:model`; `params` are sampling parameters, as recorded. A `priced` model
    reports the cost with each reply; `rates`, in US dollars per million tokens, allow to reserve
    calls beforehand. An `unmetered` model costs nobody tokens, like rules: nothing is charged for a
    lost reply. `validate` raises `ConfigError` for a prompt (its tools, stop sequences or form)
    that the model cannot take. `billions` of weights say how big it is, where its name does not.
    `window` are the tokens that prompt and reply may take together. `takes` are media types, or
    their beginnings ("image/"), of attachments that it is shown: of others it gets the text.
    A reply of it may `wait` so many seconds at its provider, and is kept there when nobody waits
    any more: a run's limit on seconds counts that beside it, and nothing is charged as lost.
    """

    name: str
    params: Mapping[str, Json] = field(default_factory=dict[str, Json])
    priced: bool = False
    rates: Rates | None = None
    unmetered: bool = False
    validate: Callable[[Prompt], None] = field(default=lambda _: None, repr=False, compare=False)
    billions: float | None = None
    window: int | None = None
    takes: frozenset[str] = frozenset({""})
    wait: float = 0.0

    def __post_init__(self) -> None:
        """Raise `ConfigError` for a value of another type."""
        check_fields(self)


@runtime_checkable
class Model(Protocol, metaclass=Structural):
    """Anything that completes a prompt."""

    @property
    def info(self) -> ModelInfo:
        """Its name, and what is known about it beforehand."""
        ...

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        """Complete the prompt; with `on_text`, stream. Raises `ModelError` after its retries."""
        ...


# ---------------------------------------------------------------- judging

StopRule: TypeAlias = Callable[[Trajectory], str | None]
"""Returns why the run must not think again, or None. Its `repr` names it in the record."""


class Tripped(NamedTuple):
    """A bound that is reached: which one, as programs read it, and the words for people.

    The words of an agent's own bound are its own: they never say which bound it is.
    """

    code: BoundCode
    name: str
    detail: str = ""

    @property
    def reason(self) -> str:
        """The words as one line."""
        return f"{self.name}: {self.detail}" if self.detail else self.name


AnyBound: TypeAlias = Callable[[Trajectory], Tripped | str | None]
"""A bound of clew's, which says which one it is, or of the agent's own."""


class Left(msgspec.Struct, frozen=True, gc=False):
    """What a run may still spend before its limits end it, without the landing.

    `cost` is in US dollars, for models with known prices; `depth` is how deep it may delegate.
    """

    steps: int
    tool_calls: int
    tokens: int
    seconds: float
    cost: float = 0.0
    depth: int = 0

    @property
    def last(self) -> bool:
        """Whether the next thought is the last one before a landing."""
        return self.steps == 1


Guard: TypeAlias = Callable[[Call, Trajectory], Answering[Verdict | None]]
"""Judges one call before it is made; None means yes."""


class Screened(NamedTuple):
    """The verdict of a screen that asks a model: with what that took, and why, in one line."""

    verdict: Verdict | None
    usage: Usage
    why: str


Screen: TypeAlias = Callable[[str], Answering[Verdict | Screened | None]]
"""Judges a person's message before a model sees it: deny, hold, hint (a mark), or None.

One with `asks_model` true has as long as a reply may take.
"""

A_contra = TypeVar("A_contra", contravariant=True, default=Any)

Check: TypeAlias = Callable[[A_contra, Trajectory], Answering[str | None]]
"""Returns what is wrong with a (decoded) answer, or None; a `Check[Life]` takes a Life."""


@runtime_checkable
class Audits(Protocol, metaclass=Structural):
    """A check that can also report its findings in detail, for `Result.audit`."""

    def audit(self, answer: Any, trajectory: Trajectory) -> Any:
        """The findings on an answer, such as a `clew.evidence.Audit`."""
        ...


class Listener(Protocol):
    """Observes a run as it happens. It cannot influence the run."""

    def token(self, text: str) -> None:
        """A piece of the reply as it arrives."""
        ...

    def entry(self, entry: Entry) -> None:
        """An entry that has been recorded."""
        ...


@runtime_checkable
class Progress(Listener, Protocol, metaclass=Structural):
    """A listener that is also told how far a call is."""

    def progress(self, call: str, text: str) -> None:
        """News of a call (`step.index`) that is under way; never recorded."""
        ...


# ---------------------------------------------------------------- stores


class Line(msgspec.Struct, frozen=True, gc=False):
    """An entry as stored: `body` is the event's JSON, `hash` chains the line to the last one."""

    seq: int
    at: int
    epoch: int
    body: bytes
    hash: bytes


class Append(msgspec.Struct, frozen=True, gc=False):
    """One atomic append to a run, without gaps.

    With `barrier`, it and everything before it are on disk when `append` returns. `blobs` are kept
    once per content, by hex SHA-256; `taken` are ids of inbox messages that the same commit
    removes. `alone` says that no other append of the run is waiting that could share the commit.
    `status` is that of the run with these lines: how it stopped, or "open"; who moves lines of
    which nothing is known leaves it out, and the last line tells (`clew.stores.listing.status_of`).
    Lines from `outside` come from an archive: the store says of them that they are `foreign`.
    """

    run_id: str
    epoch: int
    lines: tuple[Line, ...]
    barrier: bool = False
    blobs: Mapping[str, bytes] = msgspec.field(default_factory=dict[str, bytes])
    taken: tuple[int, ...] = ()
    alone: bool = False
    status: str = ""
    outside: bool = False


class Base(msgspec.Struct, frozen=True):
    """What a fork shares: the lines of the run `run_id` up to and including number `seq`."""

    run_id: str
    seq: int


class RunInfo(msgspec.Struct, frozen=True):
    """A run in a listing: its first line has the goal, its last line the status.

    `base` is what a fork shares; the run it names wrote the last shared line itself.
    """

    run_id: str
    entries: int
    first: Line
    last: Line
    base: Base | None = None


class Store(Protocol):
    """Keeps records. All methods raise `StoreError` with one line that says what to do.

    One worker appends to a run at a time: `open` increases the run's epoch, and an append with an
    older one raises `FencedError`. A failed append leaves nothing behind. Reading never opens a
    run.
    """

    async def create(self, run_id: str, base: Base | None = None) -> int:
        """Create an empty run and return epoch 1; the id must be new.

        With `base` the run's lines are those shared with the base, then its own. Shared lines are
        not copied, and nobody sees them until the run has a line of its own.
        """
        ...

    async def open(self, run_id: str) -> int:
        """Open a run for work: increase and return its epoch."""
        ...

    async def epoch(self, run_id: str) -> int:
        """The current epoch, without opening the run."""
        ...

    async def append(self, append: Append) -> bool:
        """Commit an append as a whole, or raise; its lines must follow the last one stored.

        Shielded from cancellation: it returns, or raises `StoreError`, when the commit is settled.
        True means that the run's inbox is empty, so that the worker need not ask.
        """
        ...

    async def read(self, run_id: str, after: int = 0) -> list[Line]:
        """Lines with a sequence number over `after`, in order."""
        ...

    async def blob(self, digest: str) -> bytes:
        """The blob with this hex SHA-256."""
        ...

    async def post(self, run_id: str, body: bytes) -> None:
        """Put an event's JSON into the run's inbox, on disk; anyone may."""
        ...

    async def inbox(self, run_id: str) -> list[tuple[int, bytes]]:
        """The messages in the inbox: (id, event's JSON), oldest first."""
        ...

    async def runs(
        self, limit: int = 0, after: RunInfo | None = None, status: str = ""
    ) -> list[RunInfo]:
        """Runs with an entry of their own, last written first: `limit` of them, or all.

        `after` is the end of the previous page. `status` selects runs whose last line is such a
        stop, or no stop (`open`). A page must not cost more if many runs have stopped.
        """
        ...

    async def ids(self, part: str, limit: int = 20) -> list[str]:
        """Sorted ids of runs with an entry that begin with a text, else those that end with it."""
        ...

    async def close(self) -> None:
        """Close files and connections."""
        ...
