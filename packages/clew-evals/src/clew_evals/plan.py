"""What an evaluation does: every case, by every configuration, with every seed, so many times."""

import hashlib
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from msgspec.structs import replace as altered

import clew
from clew import Agent, ConfigError
from clew.agent.agent import is_agent
from clew.core.judging import Audits
from clew.evidence import Grounded
from clew.guards import Provenance
from clew.interfaces import Json, encode
from clew.models import Price
from clew.support.nearest_name import did_you_mean
from clew.support.parts import stable_name
from clew.support.settings import check_fields
from clew.toolbox.docs import Library
from clew_evals.case import Case
from clew_evals.expected import needs_judge, needs_reward
from clew_evals.judge import Judge
from clew_evals.outcome import About
from clew_evals.world import Episode, World, quiet
from clew_strategies import Verifier
from clew_strategies.voting.vote import plan as planned_vote

APART: Final = 100
"""So far apart are the seeds of repetitions: the runs of a vote take those in between."""

MAX_SEED: Final = 10**14
"""The largest seed: that of a run is 10,000 times as large, and providers keep them in 64 bits."""

_UNSAFE: Final = re.compile(r"[^A-Za-z0-9_-]+")


@dataclass(frozen=True)
class Configuration:
    """A way to answer: an agent, or `votes` runs of it that vote, with or without a verifier.

    `model` is the model's name in reports, by default its own; configurations of one name with
    several models count as one in reports. `leave_out` are tools of the world to leave out;
    `examples` is the number of worked examples that fit the remaining tools, and `calls_per_tool`
    limits their calls as `Limits` do, in place of what the agent's own say. `price` is for the
    estimate, if the price list lacks it. `origin` is recorded, so that the agent can be made again.
    """

    name: str
    agent: Agent[Any]
    model: str = ""
    votes: int = 1
    verifier: Verifier | None = None
    leave_out: tuple[str, ...] = ()
    examples: int = 0
    calls_per_tool: Mapping[str, int] = field(default_factory=dict[str, int])
    price: Price | None = None
    origin: dict[str, Json] = field(default_factory=dict[str, Json])

    def __post_init__(self) -> None:
        """Raise `ConfigError` for what no vote can be."""
        check_fields(self)
        if not self.model:
            object.__setattr__(self, "model", self.agent.engine.model.info.name)
        if not self.name.strip():
            raise ConfigError("a configuration has no name: give it one")
        if type(self.votes) is not int or not 1 <= self.votes <= APART:
            raise ConfigError(f"votes is {self.votes!r}: give a whole number from 1 to {APART}")
        if self.votes == 1 and self.verifier is not None:
            raise ConfigError("a verifier chooses among votes: say how many, or leave it out")
        self.check(self.agent)

    @property
    def key(self) -> tuple[str, str]:
        """Its identity: its name and its model's."""
        return self.name, self.model

    @property
    def verified_by(self) -> str:
        """The verifier's name in the results."""
        if is_agent(self.verifier):
            return f"{self.verifier.engine.model.info.name} {self.verifier.spec.fingerprint}"
        return "" if self.verifier is None else stable_name(self.verifier)

    @property
    def auditor(self) -> Audits:
        """What audits its answers: its own check, else the default audit."""
        checks: Sequence[object] = self.agent.checks
        return next((check for check in checks if isinstance(check, Audits)), Grounded())

    def check(self, agent: Agent[Any]) -> None:
        """Raise `ConfigError` if its agent cannot vote like this."""
        if self.votes > 1:
            planned_vote(agent, self.votes, self.verifier)

    def inside(self, episode: Episode, seed: int = 0) -> Agent[Any]:
        """The agent with the tools of an episode. Raises `ConfigError` if they do not fit."""
        there = [tool.name for tool in episode.tools]
        if missing := [name for name in self.leave_out if name not in there]:
            have = ", ".join([*(tool.name for tool in self.agent.tools), *there]) or "none"
            message = (
                f"configuration {self.name!r} leaves out {missing[0]!r}, which is not there: "
                f"its tools are {have}"
            )
            raise ConfigError(message)
        instructions = self.agent.parts.instructions
        tools = [tool for tool in episode.tools if tool.name not in self.leave_out]
        limits = self.agent.limits
        if self.calls_per_tool:
            limits = replace(limits, calls_per_tool=self.calls_per_tool)
        try:
            return self.agent.replace(
                tools=[*self.agent.tools, *tools],
                limits=limits,
                # nobody is there to be asked, and the world is none that could be harmed
                guards=[*self.agent.guards, *episode.guards, Provenance("off")],
                prompt=instructions.replace(examples=self.examples)
                if self.examples
                else instructions,
            ).seeded(seed)
        except ConfigError as error:
            raise ConfigError(f"configuration {self.name!r}: {error}") from error


@dataclass(frozen=True)
class Trial:
    """A case, answered by a configuration, with a seed, for the nth time (from 1)."""

    configuration: Configuration
    case: Case
    seed: int
    repetition: int

    @property
    def run_id(self) -> str:
        """The run's id, the same in every process: a readable part, then a unique one."""
        names = (*self.configuration.key, self.case.id)
        print_ = hashlib.blake2b(encode([*names, self.seed, self.repetition]), digest_size=4)
        label = "-".join(_UNSAFE.sub("-", name).strip("-")[:40] for name in names)
        return f"{label}-s{self.seed}-r{self.repetition}-{print_.hexdigest()}"

    @property
    def agent_seed(self) -> int:
        """The seed of its agent, or of the first run of its vote."""
        return 10_000 * self.seed + APART * (self.repetition - 1)


def wrong_seed(seed: int) -> str:
    """Why this cannot be a seed; empty where it can."""
    if 0 <= seed <= MAX_SEED:
        return ""
    return f"seed {seed}: give 0 to {MAX_SEED:,}, of which each run makes one of 64 bits"


@dataclass(frozen=True)
class Plan:
    """All trials of an evaluation. Raises `ConfigError` if there are none, or two alike.

    `matrix` is the text it was read from, for the report; `libraries` are indexed before it starts.
    """

    name: str
    world: World
    configurations: Sequence[Configuration]
    seeds: Sequence[int] = (0,)
    repetitions: int = 1
    judge: Judge | None = None
    matrix: str = ""
    libraries: Sequence[Library] = ()

    def __post_init__(self) -> None:
        """Look for what is missing, twice there, or more than seeds can tell apart."""
        check_fields(self)
        for what, there in (
            ("configuration", [" with ".join(one.key) for one in self.configurations]),
            ("case", [case.id for case in self.world.cases]),
            ("seed", [str(seed) for seed in self.seeds]),
        ):
            if not there:
                raise ConfigError(f"there is no {what} to evaluate: give one or more")
            if twice := [one for one, times in Counter(there).items() if times > 1]:
                raise ConfigError(f"{what} {twice[0]} is there twice: leave one out")
        if not 1 <= self.repetitions <= APART:
            raise ConfigError(f"repetitions is {self.repetitions}: give 1 to {APART}")
        for why in filter(None, map(wrong_seed, self.seeds)):
            raise ConfigError(why)
        for case in self.world.cases:
            if self.judge is None and needs_judge(case.gold):
                message = f"case {case.id} asks for a judge: name one, in [judge] or by --judge"
                raise ConfigError(message)
            if self.world.open is quiet and needs_reward(case.gold):
                message = f"case {case.id} asks for a reward, and only a world gives one: name it"
                raise ConfigError(message)

    @property
    def unpriced(self) -> list[str]:
        """The models without a known price, including verifiers and the judge."""
        agents = [one.agent for one in self.configurations]
        agents += [one.verifier for one in self.configurations if is_agent(one.verifier)]
        agents += [] if self.judge is None else [self.judge.agent]
        models = [one.engine.model for one in agents]
        return [model.info.name for model in models if not model.info.priced]

    def trials(self, only: Sequence[str] = (), first: int | None = None) -> list[Trial]:
        """All trials in order, or those of some configurations and the first cases.

        Trials of one case stand together, so that an incomplete evaluation can be compared. Raises
        `ConfigError` for an unknown configuration.
        """
        names = self.names
        for name in only:
            if name not in names:
                hint = did_you_mean(name, names, f"there are {', '.join(names)}")
                raise ConfigError(f"there is no configuration {name!r}: {hint}")
        if first is not None and first < 1:
            raise ConfigError(f"the first {first} cases are none: give 1 or more")
        return [
            Trial(configuration, case, seed, repetition)
            for repetition in range(1, self.repetitions + 1)
            for seed in self.seeds
            for case in self.world.cases[:first]
            for configuration in self.configurations
            if not only or configuration.name in only
        ]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the configurations, each once."""
        return tuple(dict.fromkeys(one.name for one in self.configurations))

    def about(self, begun: int) -> About:
        """Its description for the results."""
        return About(
            name=self.name,
            world=self.world.name,
            matrix=self.matrix,
            cases=tuple(altered(case, extra={}) for case in self.world.cases),
            configurations=self.names,
            models=tuple(dict.fromkeys(one.model for one in self.configurations)),
            seeds=tuple(self.seeds),
            repetitions=self.repetitions,
            judge="" if self.judge is None else self.judge.name,
            version=clew.__version__,
            begun=begun,
            trials=len(self.trials()),
        )
