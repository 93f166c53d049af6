"""Which agent a worker has for a run: one it was given, or one made of what the record says."""

from dataclasses import dataclass, field
from typing import Final

import msgspec

from clew.agent.agent import Agent, is_agent
from clew.agent.compare import as_begun
from clew.agent_files import (
    Spec,
    is_foreign,
    make_agent,
    origin,
    outside_parts,
    read_agent_file,
    spec_of,
    with_model,
)
from clew.agent_files.imports import imported
from clew.core.events import AgentSpec, Json, encode
from clew.core.redaction import redact
from clew.core.spec_changes import changes_to_accept
from clew.core.trajectory import Trajectory
from clew.support.errors import ConfigError
from clew.workers.config import WorkerConfig
from clew.workers.run_one import Agents

FOREIGN: Final = (
    "the agent {spec} is of a run that you did not begin on this machine ({names}): name it "
    "with --agent FILE, or start a worker with --trust-origin that makes what any record names"
)

_KEPT: Final = 256
"""So many agents that were made from records are kept for further runs."""


async def agents_for(config: WorkerConfig) -> Agents:
    """The agents of a worker. Raises `ConfigError` where one does not fit."""
    if callable(config.agents):
        return config.agents
    agents: dict[str, Agent] = {}
    for number, one in enumerate(config.agents, start=1):
        if isinstance(one, str):
            agents[one], _ = await agent_named(one)
        else:
            agents[f"agent {number}"] = one
    return KnownAgents(agents, recorded=not config.only, trusting=config.trust_origin)


async def agent_named(name: str, folder: str = "") -> tuple[Agent, dict[str, Json]]:
    """The agent of an agent file, with what a record says of it; or what `module:name` is or makes.

    Modules are looked for in `folder` first. Raises `ConfigError`.
    """
    if name.endswith(".toml") or ":" not in name:
        spec, _ = await with_model(read_agent_file(name))
        return make_agent(spec), origin(spec)
    imported_agent = imported(name, "agent", folder)
    agent = (
        imported_agent()
        if callable(imported_agent) and not is_agent(imported_agent)
        else imported_agent
    )
    if not is_agent(agent):
        what = type(agent).__name__
        raise ConfigError(f"{name} is of type {what}: name an agent, or a function that makes one")
    return agent, {}


@dataclass(slots=True)
class KnownAgents:
    """Finds the agent whose spec is the record's, to the last part.

    It is one of the `configured`; or, where `recorded`, it is made of what the record says, if that
    was begun by this user on this machine, or by anybody (`trusting`).
    """

    configured: dict[str, Agent]
    recorded: bool = False
    trusting: bool = False
    made: dict[bytes, Agent] = field(default_factory=dict[bytes, Agent])

    async def __call__(self, record: Trajectory) -> Agent:
        recorded_spec = record.spec or record.started.spec
        for configured in self.configured.values():
            agent = as_begun(configured, record)
            if not changes_to_accept(recorded_spec, redact(agent.spec)):
                return agent
        spec = spec_of(record) if self.recorded else None
        if spec is None:
            raise ConfigError(self._lacking(recorded_spec))
        if not self.trusting and is_foreign(record):
            raise ConfigError(FOREIGN.format(spec=_named(recorded_spec), names=_outside(spec)))
        agent = as_begun(self._make(spec), record)
        if different := changes_to_accept(recorded_spec, redact(agent.spec)):
            what = (
                f"{_named(recorded_spec)} differs in {', '.join(different)} from what is made of it"
            )
            message = f"the agent {what} here: the run is left to a worker that has it"
            raise ConfigError(message)
        return agent

    def _make(self, spec: Spec) -> Agent:
        key = encode(msgspec.to_builtins(spec))
        if (agent := self.made.get(key)) is None:
            agent = self.made[key] = make_agent(spec)
            if len(self.made) > _KEPT:
                del self.made[next(iter(self.made))]
        return agent

    def _lacking(self, spec: AgentSpec) -> str:
        """What is said of a run whose agent is not among the given ones."""
        wanted = f"the agent {_named(spec)} is not here"
        if not self.configured:
            return f"{wanted}, and a program began the run: give it to a worker of that program"
        differs = {name: changes_to_accept(spec, one.spec) for name, one in self.configured.items()}
        nearest = min(differs, key=lambda name: len(differs[name]))
        has = ", ".join(f"{name} {_named(one.spec)}" for name, one in self.configured.items())
        return f"{wanted}: {nearest} differs in {', '.join(differs[nearest])} (here: {has})"


def _outside(spec: Spec) -> str:
    return "; ".join(outside_parts(spec)) or "it names nothing outside of clew"


def _named(spec: AgentSpec) -> str:
    return f"{spec.model} ({spec.fingerprint[:8]})"
