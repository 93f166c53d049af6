"""Which agent a worker has for a run: one it was given, or one made of what the record says."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from clew.agent.agent import Agent
from clew.agent.agent_of_run import agent_of_run, check_told_apart
from clew.core.spec_changes import changes, changes_to_accept
from clew.core.specs import AgentSpec
from clew.core.trajectory import Trajectory
from clew.core.values import Json
from clew.support.errors import ConfigError
from clew.support.wings import AGENTS, require
from clew.workers.config import WorkerConfig
from clew.workers.run_one import Agents


async def agents_for(config: WorkerConfig) -> Agents:
    """The agents of a worker. Raises `ConfigError` where one does not fit."""
    if callable(config.agents):
        return config.agents
    agents: dict[str, Agent[Any]] = {}
    origins: dict[str, dict[str, Json]] = {}
    for number, one in enumerate(config.agents, start=1):
        if isinstance(one, str):
            agents[one], origins[one] = await require(AGENTS, "named")(one)
        else:
            agents[f"agent {number}"] = one
    check_told_apart(agents.values())
    return KnownAgents(
        agents, recorded=not config.only, trusting=config.trust_origin, origins=origins,
        accept_change=config.accept_change,
    )  # fmt: skip


@dataclass(slots=True)
class KnownAgents:
    """Finds the agent whose spec is the record's, to the last part.

    It is one of the `configured`; or, where `recorded`, it is made of what the record says, if that
    was begun by this user on this machine, or by anybody (`trusting`). With `accept_change` it may
    differ: the nearest of the `configured` that takes over (`agent_of_run`) comes first.
    """

    configured: dict[str, Agent[Any]]
    recorded: bool = False
    trusting: bool = False
    origins: dict[str, dict[str, Json]] = field(default_factory=dict[str, dict[str, Json]])
    """What a record says of those that an agent file describes."""
    accept_change: bool = False
    _make: Callable[[Trajectory], Agent[Any] | None] | None = field(default=None, init=False)

    async def __call__(self, record: Trajectory) -> Agent[Any]:
        recorded_spec = record.spec or record.started.spec
        agents, accepts = self.configured.values(), self.accept_change
        if (agent := agent_of_run(record, agents, accept_change=accepts)) is not None:
            return agent
        made = self._made(record) if self.recorded else None
        if made is None:
            raise ConfigError(self._lacking(recorded_spec))
        return made

    def origin_of(self, agent: Agent[Any]) -> dict[str, Json] | None:
        """What a record that goes on with the agent says of it; None for one of no file."""
        names = (n for n, one in self.configured.items() if not changes(one.spec, agent.spec))
        return next((self.origins[name] for name in names if self.origins.get(name)), None)

    def _made(self, record: Trajectory) -> Agent[Any] | None:
        """The agent that the record describes: what makes it is found when it is first needed."""
        make = self._make or require(AGENTS, "recorded")(self.trusting)
        self._make = make
        made: Agent[Any] | None = make(record)
        return made

    def _lacking(self, spec: AgentSpec) -> str:
        """What is said of a run whose agent is not among the given ones."""
        wanted = f"the agent {_named(spec)} is not here"
        if not self.configured:
            return f"{wanted}, and a program began the run: give it to a worker of that program"
        differs = {name: changes_to_accept(spec, one.spec) for name, one in self.configured.items()}
        nearest = min(differs, key=lambda name: len(differs[name]))
        has = ", ".join(f"{name} {_named(one.spec)}" for name, one in self.configured.items())
        return f"{wanted}: {nearest} differs in {', '.join(differs[nearest])} (here: {has})"


def _named(spec: AgentSpec) -> str:
    return f"{spec.model} ({spec.fingerprint[:8]})"
