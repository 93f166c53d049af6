"""A strategy as an agent: its async function takes the place of a model.

The function requests runs of other agents and awaits their results. Each request is an action in
the strategy's own record, and each run is a sub-run. So resuming, replay, forks, budget shares,
trust, approvals and the tree in `clew show` work as for any agent that calls agents. At every step
the function runs again from the beginning, over the results in the record. It keeps no state, so a
process that dies loses nothing.
"""

import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, TypeAlias, TypeVar

import anyio.lowlevel

from clew import Agent, ConfigError, Limits, ModelSettings, Tool
from clew.agent.subagents import reachable
from clew.agent.validate import check_named
from clew.context import Context, Instructions
from clew.core.models import STRATEGY
from clew.interfaces import (
    FINISH,
    OUTCOME,
    AgentTool,
    AnswerOutcome,
    Json,
    ModelInfo,
    OnText,
    Prompt,
    RawCall,
    Reply,
    encode,
)
from clew.support.arguments import NONE, check_argument
from clew.support.error_text import described
from clew.support.json_values import text_or_json
from clew.support.parts import short_repr
from clew_strategies.answers import check_answers
from clew_strategies.branches import Branches
from clew_strategies.codec import LastRequest, StrategyCodec, exchanges, last_asked
from clew_strategies.interface import (
    AnswersByRole,
    ExtendsLimits,
    NoAnswerError,
    Request,
    Requests,
    RoleResult,
    Runs,
    Strategy,
)
from clew_strategies.limits import shared_caps
from clew_strategies.own_calls import own_bounds, own_guards, role_agents, taken_by, tool_names
from clew_strategies.roles import Role, answers_text, is_role, tool_of

A = TypeVar("A")
"""The type of an answer."""

REJECTED: Final = "Your last answer was rejected: {answer}\n{why}"
"""What the role that gives the answer is told of one that did not pass."""

_Exchange: TypeAlias = tuple[tuple[Request, ...], tuple[RoleResult, ...]]
"""The requests of one step, and their results."""


@dataclass(frozen=True, slots=True)
class _StrategyMove:
    """A strategy's next move: it makes requests, or ends with an answer or without one."""

    reason: str
    requests: tuple[Request, ...] = ()
    answer: Json = None
    failed: str = ""
    best: Json = None
    outcome: AnswerOutcome | Literal[""] = ""
    """What the run that gave the answer says came of its task."""


def _next_move(
    strategy: Strategy, asked: LastRequest, recorded: Iterator[_Exchange]
) -> _StrategyMove:
    """Run the strategy from the beginning, over the recorded results."""
    runs = Runs(asked.question)
    coroutine = strategy(runs, asked.task)
    results: tuple[RoleResult, ...] | None = None
    made, ended = list[Request](), list[RoleResult]()
    try:
        while True:
            runs.reasons.clear()
            awaited: Any = coroutine.send(results)
            if not isinstance(awaited, Requests):
                message = f"{strategy.name} awaited something other than runs: {awaited!r}"
                raise ConfigError(message)
            requests = awaited.requests
            if (exchange := next(recorded, None)) is None:
                return _StrategyMove(" ".join(runs.reasons), requests, best=runs.best)
            if exchange[0] != requests:
                message = (
                    f"{strategy.name} asks for other runs than its record has: it must do the "
                    "same whenever it is given the same results"
                )
                raise ConfigError(message)
            made += requests
            results = exchange[1]
            ended += results
    except StopIteration as end:
        outcome = _outcome_of(end.value, ended)
        answered = _StrategyMove(" ".join(runs.reasons), answer=end.value, outcome=outcome)
        return _mended(answered, _asked_to_answer(strategy, made), recorded)
    except NoAnswerError as error:
        return _StrategyMove(" ".join(runs.reasons), failed=str(error))
    except ConfigError:
        raise
    except Exception as error:
        message = f"the strategy {strategy.name} failed: {described(error)}"
        raise ConfigError(message) from error
    finally:
        coroutine.close()


def _outcome_of(answer: Json, ended: Sequence[RoleResult]) -> AnswerOutcome | Literal[""]:
    """What the last run that gave this answer says came of its task."""
    same = (each for each in reversed(ended) if each.ok and each.answer == answer)
    last = next(same, None)
    return "" if last is None else last.ended


def _asked_to_answer(strategy: Strategy, made: Sequence[Request]) -> Request | None:
    """The request whose result is the strategy's answer, where it has such a role."""
    if not isinstance(strategy, AnswersByRole):
        return None
    asked = (each for each in reversed(made) if each.role == strategy.answering)
    return next(asked, None)


def _mended(
    answered: _StrategyMove, request: Request | None, recorded: Iterator[_Exchange]
) -> _StrategyMove:
    """What follows an answer: it is given; once a check has rejected it, its role is asked anew."""
    if request is None:
        return answered
    for _, (judged, *_) in recorded:
        if judged.ok or judged.forbidden:
            return answered
        told = f"{request.args['task']}\n\n" + REJECTED.format(
            answer=text_or_json(answered.answer), why=judged.problem
        )
        again = Request(request.role, {**request.args, "task": told})
        if (exchange := next(recorded, None)) is None:
            return _StrategyMove("The answer was rejected.", (again,))
        solved = exchange[1][0]
        if not solved.ok:
            return _StrategyMove("", failed=solved.problem)
        answered = _StrategyMove("", answer=solved.answer, outcome=solved.ended)
    return answered


@dataclass(frozen=True)
class StrategyPolicy:
    """Stands in for a model: runs the strategy over the prompt, and nothing else."""

    strategy: Strategy
    like: Agent[Any]
    """The agent that answers by the strategy."""
    names: Mapping[str, str] = field(default_factory=dict[str, str])
    """The names of calls in the record, by the roles that are tools."""
    texts: frozenset[str] = field(default_factory=frozenset[str])
    """The roles that answer with text, even if it looks like JSON."""
    typed: frozenset[str] = field(default_factory=frozenset[str])
    """The roles that answer with JSON. A tool may return either."""
    takes: frozenset[str] = field(default_factory=frozenset[str])
    """The kinds of attachments that each of its agents takes: they are handed on to all."""

    @property
    def info(self) -> ModelInfo:
        """A strategy itself uses no tokens."""
        name = f"{STRATEGY}:{self.strategy.name}"
        return ModelInfo(name, self.strategy.params, priced=True, unmetered=True, takes=self.takes)

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        """The strategy's next requests, or its answer."""
        if (
            prompt.purpose == "plan"
        ):  # what a person's words call for is for a language model to say
            return await base_agent(self.like).parts.model.complete(prompt, on_text)
        await anyio.lowlevel.checkpoint()  # let other tasks run, as while a model replies
        asked = last_asked(prompt)
        roles = {name: role for role, name in self.names.items()}
        recorded = exchanges(asked.parts, roles, self.texts, self.typed)
        move = _next_move(self.strategy, asked, recorded)
        if prompt.calls == "none" and move.requests:
            if move.best is None:
                return Reply("a limit was reached before there was an answer", model=self.info.name)
            move = _StrategyMove("A limit was reached: the best answer so far.", answer=move.best)
        if move.failed:
            return Reply(move.failed, (), "declined", model=self.info.name)
        calls = [
            RawCall(name=self.names.get(each.role, each.role), arguments=encode(each.args).decode())
            for each in move.requests
        ]
        if not calls:
            stated = {OUTCOME: move.outcome} if move.outcome else {}
            args = encode({"answer": move.answer, **stated}).decode()
            calls = [RawCall(name=FINISH, arguments=args)]
        return Reply(move.reason, tuple(calls), "calls", model=self.info.name)


def base_agent(agent: Agent[Any]) -> Agent[Any]:
    """The agent without the strategies by which it answers: it has a language model and tools."""
    while isinstance(agent.model, StrategyPolicy):
        agent = agent.model.like
    return agent


def _check_parts(strategy: object, like: object, limits: object) -> None:
    """Raise `ConfigError` for what is no strategy, or no agent or limits where they are wanted."""
    check_argument("limits", limits, (Limits, NONE), "Limits(…) or None")
    part: object = strategy
    known = inspect.getattr_static(strategy, "roles", None)  # without asking for them
    if isinstance(strategy, type | Agent) or known is None:
        message = f"strategy is {short_repr(part)}: give a strategy, such as ReWOO(agent)"
        raise ConfigError(message)
    for name, agent in (("like", like), ("agent", getattr(strategy, "agent", like))):
        check_argument(name, agent, Agent, "an Agent")


def _roles(strategy: Strategy) -> Mapping[str, Role]:
    """The roles. Raises `ConfigError` if one is none, or branches over runs without branches."""
    roles = strategy.roles
    for name, role in roles.items():
        if not is_role(role):
            message = f"{strategy.name}: {name} is {short_repr(role)}: give an agent or a tool"
            raise ConfigError(message)
    check_answers(strategy)
    for name, role in roles.items():
        if isinstance(role, Branches) and isinstance(role.agent.model, StrategyPolicy):
            message = (
                f"{strategy.name}: the agent of {name} answers by the strategy "
                f"{role.agent.model.strategy.name}, whose steps have no branches: give an agent "
                "without a strategy"
            )
            raise ConfigError(message)
    return roles


def _policy(
    strategy: Strategy, like: Agent[Any], roles: Mapping[str, Role], names: Mapping[str, str]
) -> StrategyPolicy:
    """What stands in for a model, and knows what its roles answer with and take."""
    agents = {name for name, role in roles.items() if not isinstance(role, Tool | AgentTool)}
    texts = frozenset(name for name, role in roles.items() if answers_text(role))
    typed, takes = frozenset(agents - texts), taken_by(role_agents(roles))
    return StrategyPolicy(strategy, like, names, texts, typed, takes)


def strategy_agent(strategy: Strategy, like: Agent[A], *, limits: Limits | None = None) -> Agent[A]:
    """An agent that answers by a strategy: give it to `run`, `resume`, `batch` or a worker.

    Its answer type, checks, fallback, screens and bounds are those of the agent `like`. A tool that
    the strategy calls itself is judged like a call of the agent whose tool it is: by its guards,
    and its limits on calls. `limits` are those of the whole strategy; by default those of `like`,
    with room for all runs that the strategy may make. Each run gets a share of what is left.
    Whatever the room, all runs together make at most `tool_calls` calls with an effect, and call a
    tool at most as often as `calls_per_tool` says. Raises `ConfigError` if the parts do not fit.
    """
    _check_parts(strategy, like, limits)
    roles = _roles(strategy)
    names, own = tool_names(roles), base_agent(like)
    owners = [base_agent(each) for each in role_agents(roles)]
    caps = shared_caps(limits or own.limits)
    if limits is not None:
        called = frozenset(names.get(role, role) for role in roles)
        check_named(limits, (), called.union(*map(reachable, (own, *owners))))
    tools = [tool_of(names.get(name, name), role, caps) for name, role in roles.items()]
    if limits is None:
        limits = (
            strategy.extended_limits(like.limits)
            if isinstance(strategy, ExtendsLimits)
            else like.limits
        )
    return Agent(
        model=_policy(strategy, like, roles, names),
        tools=tools,
        codec=StrategyCodec(),
        prompt=Instructions(
            f"Answer by the strategy {strategy.name}.",
            constraints=(),
            variants=(),
            outcome=False,  # no model reads it
            thought=False,
            tell_left="never",
        ),
        answer=like.answer,
        checks=like.checks,
        tries=own.tries if isinstance(strategy, AnswersByRole) else 0,
        fallback=like.fallback,
        limits=replace(limits, no_progress=None, calls_per_step=max(limits.calls_per_step, 64)),
        bounds=own_bounds(own, owners, roles),
        guards=own_guards(own, owners, roles),
        screens=like.screens,
        context=Context(compaction=None),
        settings=ModelSettings(seed=like.engine.seed),
        deps=like.deps,
    )


def check_by_name(what: str, names: object) -> None:
    """Raise `ConfigError` for what is not given by name."""
    if not isinstance(names, Mapping):
        kind = type(names).__name__
        message = f'{what} is of type {kind}: give each by its name, as {{"first": …}}'
        raise ConfigError(message, field=what.rpartition(" ")[2])
