"""A strategy as a program over runs: an agent whose thoughts are decided by an async function.

The function asks for runs of other agents and waits for what they come to. Each thing it asks for
is an action of a record of its own, and each run a sub-run of that; so resuming, replaying, forks,
shares of the budget, trust, approvals and the tree in `clew show` are those of any agent that
calls agents. At every step the function is run again from its beginning, over what the record says
already came of it: it keeps no state, and a process that died lost nothing.
"""

from collections.abc import Coroutine, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Protocol, runtime_checkable

import anyio.lowlevel
import msgspec

from clew.context import Context, Instructions
from clew.core.agent import Agent
from clew.core.errors import ConfigError
from clew.core.events import FINISH, Json, RawCall, Reply, encode
from clew.core.interfaces import AgentTool, ModelInfo, OnText, Part, Prompt, Tool
from clew.guards.limits import Limits
from clew.strategies.branches import request_args
from clew.strategies.roles import WEIGHT, Role, answers_text, tool_of
from clew.support.error_text import described

PROVIDER: Final = "strategy"
_FAILED: Final = "ERROR: "
_LOOP: Final = ("ERROR: ", "NOTE: ", "The limit on ")
"""How the codec native begins what the loop says as a user."""


class Strategy(Protocol):
    """A way to use runs of agents to answer a task.

    `roles` are the agents and tools that it uses, by name; `name` and `params` are for the record.
    It must do the same whenever it is given the same results: no clock, no random numbers, no
    other awaiting than for what `Runs` gives. What needs the world stands in a role.
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
class Widens(Protocol):
    """A strategy whose steps take more than a run of its agent, such as a search."""

    def widened(self, limits: Limits) -> Limits:
        """The limits of the whole, by those of a run of the agent."""
        ...


class NoAnswerError(Exception):
    """A strategy has no answer; the message says why."""


@dataclass(frozen=True, slots=True)
class Ended:
    """What came of a run, or of a tool's call.

    `answer` is the answer (None where there is none), `text` the observation as a model would read
    it, and `call` its key in the strategy's record. `cut_short` says why a run had to answer early.
    """

    call: str
    ok: bool
    answer: Json
    text: str
    cut_short: str = ""


@dataclass(frozen=True, slots=True)
class Request:
    """One thing that a strategy asks for: a role, and what it is given."""

    role: str
    args: dict[str, Json]

    def __await__(self) -> Generator[Any, Any, Ended]:
        """Wait for what comes of it."""
        found: tuple[Ended, ...] = yield _Asked((self,))
        return found[0]


class Runs:
    """How a strategy asks for runs.

    `await runs.run("solver", task)` is a run of the role `solver`; `runs.call("check", code=…)` a
    call of a role that is a tool. `together` waits for several at once. `say` is the reason that
    stands in the record beside what is asked next.
    """

    def __init__(self) -> None:
        self.said: list[str] = []
        self.kept: Json = None

    def run(self, role: str, task: str, *, weight: float = 1) -> Request:
        """Ask for a run of an agent; of those made at once, its share is as large as its weight."""
        return Request(role, {"task": task} | ({} if weight == 1 else {WEIGHT: weight}))

    def fork(
        self, role: str, task: str, of: Ended, *, at: int | None = None, say: str = ""
    ) -> Request:
        """Ask for a run that goes on from another's step `at`, by default its last (`Branches`).

        `say` adds a message.
        """
        return Request(role, request_args(task, of.call, at, say))

    def read(self, role: str, task: str, of: Ended) -> Request:
        """Ask for a run of an agent that is shown what another run did (`Reads`)."""
        return Request(role, {"task": task, "of": of.call})

    def call(self, role: str, **args: Json) -> Request:
        """Ask for a call of a tool."""
        return Request(role, args)

    async def together(self, requests: Sequence[Request]) -> tuple[Ended, ...]:
        """Wait for several at once, in their order."""
        return await _Asked(tuple(requests)) if requests else ()

    def say(self, text: str) -> None:
        """Say why the next requests are made, or the answer is given."""
        self.said.append(text)

    def keep(self, answer: Json) -> None:
        """Keep the answer that stands if a limit is reached before there is another."""
        self.kept = answer


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a strategy waits for."""

    requests: tuple[Request, ...]

    def __await__(self) -> Generator[Any, Any, tuple[Ended, ...]]:
        found: tuple[Ended, ...] = yield self
        return found


@dataclass(frozen=True, slots=True)
class _Next:
    """What a strategy does next: it makes requests, or has ended with an answer or without."""

    said: str
    requests: tuple[Request, ...] = ()
    answer: Json = None
    failed: str = ""
    kept: Json = None


def _next(
    strategy: Strategy, task: str, came: Iterator[tuple[tuple[Request, ...], tuple[Ended, ...]]]
) -> _Next:
    """Run the strategy from its beginning, over what already came of it."""
    runs = Runs()
    going = strategy(runs, task)
    found: tuple[Ended, ...] | None = None
    try:
        while True:
            runs.said.clear()
            asked: Any = going.send(found)
            if not isinstance(asked, _Asked):
                message = f"{strategy.name} awaited something other than runs: {asked!r}"
                raise ConfigError(message)
            wanted = asked.requests
            if (before := next(came, None)) is None:
                return _Next(" ".join(runs.said), wanted, kept=runs.kept)
            if before[0] != wanted:
                message = (
                    f"{strategy.name} asks for other runs than its record has: it must do the "
                    "same whenever it is given the same results"
                )
                raise ConfigError(message)
            found = before[1]
    except StopIteration as end:
        return _Next(" ".join(runs.said), answer=end.value)
    except NoAnswerError as error:
        return _Next(" ".join(runs.said), failed=str(error))
    except ConfigError:
        raise
    except Exception as error:
        message = f"the strategy {strategy.name} failed: {described(error)}"
        raise ConfigError(message) from error
    finally:
        going.close()


class _CutShort(msgspec.Struct, forbid_unknown_fields=True):
    """What comes of a run that a limit made answer early."""

    answer: Any
    cut_short: str


def _cut_short(found: Any) -> _CutShort | None:
    try:
        return msgspec.convert(found, _CutShort)
    except msgspec.ValidationError:
        return None


@dataclass(frozen=True)
class Decides:
    """The model of a strategy's own record: it decides from the prompt alone."""

    strategy: Strategy
    texts: frozenset[str] = field(default_factory=frozenset[str])
    """The roles whose answer is a text, whatever it looks like."""
    typed: frozenset[str] = field(default_factory=frozenset[str])
    """The roles whose answer is JSON; of tools it may be either."""

    @property
    def info(self) -> ModelInfo:
        """A program takes no tokens of anybody."""
        name = f"{PROVIDER}:{self.strategy.name}"
        return ModelInfo(name, self.strategy.params, priced=True, unmetered=True)

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        """The strategy's next requests, or its answer."""
        await anyio.lowlevel.checkpoint()  # as with any model, others have their turn meanwhile
        task, parts = _since_asked(prompt)
        decided = _next(self.strategy, task, self._came(parts))
        if prompt.calls == "none" and decided.requests:
            if decided.kept is None:
                return Reply("a limit was reached before there was an answer", model=self.info.name)
            decided = _Next("A limit was reached: the best answer so far.", answer=decided.kept)
        if decided.failed:
            return Reply(decided.failed, (), "declined", model=self.info.name)
        calls = [RawCall(each.role, encode(each.args).decode()) for each in decided.requests]
        if not calls:
            calls = [RawCall(FINISH, encode({"answer": decided.answer}).decode())]
        return Reply(decided.said, tuple(calls), "calls", model=self.info.name)

    def _came(
        self, parts: Sequence[Part]
    ) -> Iterator[tuple[tuple[Request, ...], tuple[Ended, ...]]]:
        """What was asked for in each step, and what came of it."""
        results = {part.call_id: part for part in parts if part.role == "tool"}
        for part in parts:
            if part.role != "assistant" or not part.calls:
                continue
            asked = [msgspec.json.decode(call.arguments or "{}") for call in part.calls]
            requests = tuple(
                Request(call.name, args) for call, args in zip(part.calls, asked, strict=True)
            )
            ended = tuple(self._ended(call, results[call.id].text) for call in part.calls)
            yield requests, ended

    def _ended(self, made: RawCall, text: str) -> Ended:
        _, step, place = made.id.split("_")  # as the codec native numbers calls
        call, role = f"{step}.{place}", made.name
        if text.startswith(_FAILED):
            return Ended(call, ok=False, answer=None, text=text)
        try:
            found: Any = msgspec.json.decode(text)
        except msgspec.DecodeError:
            if role in self.typed:  # a prompt shows of a very long text its beginning and end
                said = f"{_FAILED}{role} gave {len(text):,} characters, too long to be read"
                return Ended(call, ok=False, answer=None, text=said)
            found = text
        if (cut := _cut_short(found)) is not None:
            return Ended(call, ok=True, answer=cut.answer, text=text, cut_short=cut.cut_short)
        return Ended(call, ok=True, answer=text if role in self.texts else found, text=text)


def strategy_agent(strategy: Strategy, like: Agent, *, limits: Limits | None = None) -> Agent:
    """The agent that answers by a strategy: give it to `run`, `resume`, `batch` or a worker.

    Its answer, checks, fallback and screens are those of the agent `like`. `limits` are those of
    the whole, by default that agent's (of a search, widened): each run gets a share of what is
    left. Raises `ConfigError`
    where a role has a name that no tool may have, or the parts do not fit.
    """
    roles = strategy.roles
    tools = [tool_of(name, role) for name, role in roles.items()]
    agents = {name for name, role in roles.items() if not isinstance(role, Tool | AgentTool)}
    texts = frozenset(name for name, role in roles.items() if answers_text(role))
    if limits is None:
        limits = strategy.widened(like.limits) if isinstance(strategy, Widens) else like.limits
    return Agent(
        model=Decides(strategy, texts, frozenset(agents - texts)),
        tools=tools,
        codec="native",
        prompt=Instructions(
            f"Answer by the strategy {strategy.name}.",
            constraints=(),
            variants=(),
            thought=False,
            tell_left="never",
        ),
        answer=like.answer,
        checks=like.checks,
        tries=0,
        fallback=like.fallback,
        limits=replace(limits, no_progress=None, calls_per_step=max(limits.calls_per_step, 64)),
        screens=like.screens,
        context=Context(compaction=None),
        seed=like.seed,
    )


def _since_asked(prompt: Prompt) -> tuple[str, Sequence[Part]]:
    """What a person last asked, and what came since."""
    asked = next(part.text for part in reversed(prompt.head) if part.role == "user")
    parts = list(prompt.parts)
    for place in reversed(range(len(parts))):
        if parts[place].role == "user" and not parts[place].text.startswith(_LOOP):
            return parts[place].text, parts[place + 1 :]
    return asked, parts
