"""The interface of a strategy: the protocol it implements, and how it requests runs."""

from collections.abc import Coroutine, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

from clew import Limits
from clew.core.codes import Code, Outcome
from clew.interfaces import AnswerOutcome, Json
from clew.support.structural import Structural
from clew_strategies.branches import request_args
from clew_strategies.roles import WEIGHT, Role


class Strategy(Protocol):
    """A way to use runs of agents to answer a task.

    `roles` are the agents and tools that it uses, by name; `name` and `params` are for the record.
    A strategy must be deterministic: given the same results it makes the same requests. It reads no
    clock, draws no random numbers and awaits only what `Runs` returns. Anything that needs the
    outside world belongs in a role.
    """

    @property
    def name(self) -> str:
        """Its name, such as "reflexion"."""
        ...

    @property
    def params(self) -> Mapping[str, Json]:
        """Its settings, as JSON."""
        ...

    @property
    def roles(self) -> Mapping[str, Role]:
        """The agents and tools that it uses."""
        ...

    def __call__(self, runs: "Runs", task: str) -> Coroutine[Any, Any, Json]:
        """Answer the task. Raises `NoAnswerError` where it has none."""
        ...


@runtime_checkable
class ExtendsLimits(Protocol, metaclass=Structural):
    """A strategy that needs more steps and calls than one run of its agent, such as a search."""

    def extended_limits(self, limits: Limits) -> Limits:
        """The limits of the whole strategy, from those of one run of the agent."""
        ...


@runtime_checkable
class AnswersByRole(Protocol, metaclass=Structural):
    """A strategy whose answer is that of one role.

    Where a check rejects the answer, that role is asked again and told why.
    """

    @property
    def answering(self) -> str:
        """The role that gives the answer."""
        ...


class NoAnswerError(Exception):
    """A strategy has no answer; the message says why."""


@dataclass(frozen=True, slots=True)
class RoleResult:
    """The result of a run, or of a tool call.

    `answer` is the answer (None if there is none), `text` the observation as a model would read it,
    and `call` its key in the strategy's record. `problem` says why there is no answer. If a limit
    made the run answer early, `cut_short` says why. For one without a result, `code` says what was
    wrong, and `outcome` whether it may have had an effect. Of a `partial` one only the two ends of
    a long text are here. `ended` is what an agent says came of its task. `args` are the arguments
    with which it was made, or would have been: a person or a guard may change them.
    """

    call: str
    ok: bool
    answer: Json
    text: str
    problem: str = ""
    cut_short: str = ""
    code: Code = ""
    outcome: Outcome = "done"
    partial: bool = False
    ended: AnswerOutcome | Literal[""] = ""
    remarks: tuple[str, ...] = ()
    args: Mapping[str, Json] = field(default_factory=dict[str, Json])

    @property
    def forbidden(self) -> bool:
        """Whether a guard, a limit or a person refused the call: it is not tried in another way."""
        return self.code in {"denied", "cap"}

    @property
    def notes(self) -> str:
        """The remarks, a line each, to stand behind the text."""
        return "".join(f"\nNote: {remark}" for remark in self.remarks)


@dataclass(frozen=True, slots=True)
class Request:
    """A request for one run or tool call: the role, and its arguments."""

    role: str
    args: dict[str, Json]

    def __await__(self) -> Generator[Any, Any, RoleResult]:
        """Wait for its result."""
        results: tuple[RoleResult, ...] = yield Requests((self,))
        return results[0]


class Runs:
    """How a strategy requests runs and tool calls.

    `await runs.run("solver", task)` runs the agent of the role `solver`; `runs.call("check",
    code=…)` calls the tool of a role. `together` waits for several requests made at once. `say`
    gives the reason that the record shows with the next requests.
    """

    def __init__(self, question: str = "") -> None:
        self.question = question
        """What a person asked last; the task may begin with the conversation before it."""
        self.reasons: list[str] = []
        self.best: Json = None

    def run(self, role: str, task: str, *, weight: float = 1) -> Request:
        """Request a run of an agent. Runs made at once share the budget by their weights."""
        return Request(role, {"task": task} | ({} if weight == 1 else {WEIGHT: weight}))

    def fork(
        self, role: str, task: str, of: RoleResult, *, at: int | None = None, say: str = ""
    ) -> Request:
        """Request a run that continues another from step `at`, by default its last (`Branches`).

        `say` adds a message to it.
        """
        return Request(role, request_args(task, of.call, at, say))

    def read(self, role: str, task: str, of: RoleResult) -> Request:
        """Request a run of an agent that is shown what another run did (`Reader`)."""
        return Request(role, {"task": task, "of": of.call})

    def call(self, role: str, **args: Json) -> Request:
        """Request a tool call."""
        return Request(role, args)

    async def together(self, requests: Sequence[Request]) -> tuple[RoleResult, ...]:
        """Make several requests at once; the results are in the order of the requests."""
        return await Requests(tuple(requests)) if requests else ()

    def say(self, text: str) -> None:
        """Give the reason for the next requests, or for the answer."""
        self.reasons.append(text)

    def keep(self, answer: Json) -> None:
        """Set the answer to return if a limit is reached before the strategy ends."""
        self.best = answer


@dataclass(frozen=True, slots=True)
class Requests:
    """Requests that a strategy awaits together."""

    requests: tuple[Request, ...]

    def __await__(self) -> Generator[Any, Any, tuple[RoleResult, ...]]:
        results: tuple[RoleResult, ...] = yield self
        return results
