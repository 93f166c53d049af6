"""What is compared: the same agent by itself, and as strategies use it."""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from clew import Agent, Limits
from clew.core.models import Model
from clew.core.values import Json
from clew_code.programs import run_code
from clew_strategies import (
    Auto,
    PlanAndSolve,
    Reflexion,
    ReWOO,
    Strategy,
    TreeSearch,
    strategy_agent,
)
from clew_strategies.roles import Reader
from live.strategies.settled import Settled
from live.strategies.tasks import Task

STEPS: Final = 8
TOKENS: Final = 300
WARM: Final = 0.7
"""The temperature of a vote: at 0 all runs say the same."""
SECONDS: Final = 7_200.0
"""No run ends by the clock: the machine is shared."""
CALLS: Final = 40
"""Calls of tools at most, and steps of all runs of a strategy together."""
LIMIT: Final = 4
"""Steps or calls of a plan."""


@dataclass(frozen=True)
class Form:
    """A way to answer: the agent by itself, by a strategy, or `votes` times with a vote.

    With `code` the agent writes programs in which the tools are functions. A `system` is another
    framework, which answers in the place of clew (`live.others`). `edition` counts what changed in
    a strategy since the first outcomes; only those of the last edition are compared. `mends` is
    false of what is not asked to mend functions, `usual` of what is asked only by name.
    """

    name: str
    what: str
    strategy: Callable[[Agent, Task], Strategy] | None = None
    votes: int = 1
    edition: int = 1
    code: bool = False
    system: str = ""
    mends: bool = True
    usual: bool = True

    def asks(self, source: str) -> bool:
        """Whether the tasks of that source are asked in this form."""
        return self.mends or source != "quixbugs"

    @property
    def params(self) -> dict[str, Json]:
        """What the model is asked with."""
        return {"max_tokens": TOKENS, "temperature": WARM if self.votes > 1 else 0}

    def single(self, model: Model, task: Task) -> Agent:
        """The agent by itself."""
        steps = STEPS * self.votes  # a vote divides its limits among its runs
        limits = Limits(steps=steps, seconds=SECONDS, tool_calls=CALLS)
        tools, codec = ([*task.tools, run_code()], "code") if self.code else (task.tools, None)
        return Agent(
            model, tools, codec=codec, guards=task.guards, checks=task.checks, limits=limits
        )

    def made(self, model: Model, task: Task) -> Agent:
        """The agent that answers."""
        agent = self.single(model, task)
        if self.strategy is None:
            return agent
        limits = Limits(steps=CALLS, seconds=SECONDS, tool_calls=CALLS)
        return strategy_agent(self.strategy(agent, task), agent, limits=limits)

    def fingerprint(self, model: Model, task: Task) -> str:
        """What tells this form from others, and from what it was in an earlier clew."""
        agent = self.single(model, task)
        values: list[Any] = [self.votes, self.params, CALLS, *_requests_of(agent)]
        if self.code:
            values.append(self.edition)
        if self.strategy is not None:
            strategy = self.strategy(agent, task)
            values += [
                strategy.name,
                dict(strategy.params),
                *([self.edition] if self.edition > 1 else []),
            ]
            for name, role in sorted(strategy.roles.items()):
                inner = role.agent if isinstance(role, Reader) else role
                values += [name, *(_requests_of(inner) if isinstance(inner, Agent) else ())]
        document = msgspec.json.encode(values, order="deterministic")
        return hashlib.sha256(document).hexdigest()[:12]


def _requests_of(agent: Agent) -> Iterator[Any]:
    """What a model is sent by an agent before it is asked anything, and what it may reply."""
    first = agent.parts.first_prompt
    yield agent.engine.codec.name
    yield [(part.role, part.text) for part in first]
    yield [first.reply_schema, first.grammar, first.stop]
    yield sorted(tool.name for tool in agent.tools)


def _reflexion(agent: Agent, task: Task) -> Strategy:
    return Reflexion(agent, evaluator=task.tests, trials=3)


def _auto(agent: Agent, task: Task) -> Strategy:
    """`Auto`, whose ways are the forms as they are set here, and not as they are by default."""
    model = agent.engine.model
    forms = {form.name: form for form in FORMS}
    auto = Auto(agent, evaluator=task.tests, code=forms["code"].single(model, task))
    ways = {name: forms[name].made(model, task) for name in auto.ways if name in forms}
    return Settled(auto, ways)


FORMS: Final[tuple[Form, ...]] = (
    Form("react", "the agent by itself, nothing set"),
    Form(
        "plan_and_solve",
        f"a plan of at most {LIMIT} steps",
        lambda agent, _: PlanAndSolve(agent, max_steps=LIMIT, replans=1),
        edition=2,  # a step was given the whole task to answer, and told nobody what it had found
        mends=False,
    ),
    Form(
        "rewoo",
        f"at most {LIMIT + 2} calls planned beforehand",
        lambda agent, _: ReWOO(agent, max_calls=LIMIT + 2),
        edition=2,  # arguments that do not fit were carried out, fields could not be referred to
        mends=False,
    ),
    Form("reflexion", "three trials; tests judge `quixbugs`, else the model itself", _reflexion),
    Form(
        "tree_search",
        "at most six branches of three steps, two from each place; tests judge `quixbugs`",
        lambda agent, task: TreeSearch(agent, task.tests, breadth=2, max_branches=6, steps=3),
        mends=False,
    ),
    Form(
        "code",
        "the agent by itself writes programs (the codec `code`)",
        code=True,
        edition=6,  # its grammar ended lines of programs, then let programs be repeated
    ),
    Form(
        "CodeAgent",
        "smolagents' `CodeAgent` by itself: same tools, steps and tokens",
        system="smolagents CodeAgent",
        edition=4,  # it was given texts of results, no reasons of failures, no check of answers
    ),
    Form("vote of 3", f"three runs at temperature {WARM:g} vote", votes=3, mends=False),
    Form("auto", "`Auto` chooses one of the forms above by its rules", _auto, usual=False),
)
NAMES: Final = tuple(form.name for form in FORMS)
USUAL: Final = tuple(form.name for form in FORMS if form.usual)
