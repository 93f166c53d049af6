"""Which agent a worker has for a run: one it was given, or one made of what the record says."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import msgspec

from clew.agent_files import (
    Spec,
    is_foreign,
    make_agent,
    named,
    read_agent_file,
    spec_of,
    with_model,
)
from clew.core.agent import Agent
from clew.core.errors import ConfigError
from clew.core.events import AgentSpec, encode
from clew.core.runner import changes_to_accept, redact
from clew.core.trajectory import Trajectory
from clew.workers.run_one import Agents

FOREIGN: Final = (
    "the agent {setting} is of a run that you did not begin on this machine ({names}): name it "
    "with --agent FILE, or start a worker with --trust-origin that makes what any record names"
)

_KEPT: Final = 256
"""So many agents that were made from records are kept for further runs."""


async def agents_for(
    files: Sequence[str] = (), *, only: bool = False, trust_origin: bool = False
) -> Agents:
    """The agents of these agent files; without `only` also any that the user's records describe.

    With `trust_origin` also what the records of others describe. Raises `ConfigError` where a file
    does not fit.
    """
    given: dict[str, Agent] = {}
    for file in files:
        spec, _ = await with_model(read_agent_file(file))
        given[file] = make_agent(spec)
    return _Known(given, recorded=not only, trusting=trust_origin)


def agents_of(*given: Agent, recorded: bool = False, trust_origin: bool = False) -> Agents:
    """These agents; with `recorded` also any that a record of this user describes.

    Only records begun by `clew` or from an agent file describe their agent. With `trust_origin`
    also what the records of others describe is made.
    """
    named = {f"agent {number}": agent for number, agent in enumerate(given, start=1)}
    return _Known(named, recorded=recorded, trusting=trust_origin)


@dataclass(slots=True)
class _Known:
    """Finds the agent whose setting is the record's, to the last part."""

    given: dict[str, Agent]
    recorded: bool
    trusting: bool
    made: dict[bytes, Agent] = field(default_factory=dict[bytes, Agent])

    async def __call__(self, record: Trajectory) -> Agent:
        setting = record.setting or record.started.setting
        for agent in self.given.values():
            if not changes_to_accept(setting, redact(agent.setting)):
                return agent
        spec = spec_of(record) if self.recorded else None
        if spec is None:
            raise ConfigError(self._lacking(setting))
        if not self.trusting and is_foreign(record):
            raise ConfigError(FOREIGN.format(setting=_named(setting), names=_outside(spec)))
        agent = self._make(spec)
        if different := changes_to_accept(setting, redact(agent.setting)):
            what = f"{_named(setting)} differs in {', '.join(different)} from what is made of it"
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

    def _lacking(self, setting: AgentSpec) -> str:
        """What is said of a run whose agent is not among the given ones."""
        wanted = f"the agent {_named(setting)} is not here"
        if not self.given:
            return f"{wanted}, and a program began the run: give it to a worker of that program"
        differs = {
            name: changes_to_accept(setting, one.setting) for name, one in self.given.items()
        }
        nearest = min(differs, key=lambda name: len(differs[name]))
        has = ", ".join(f"{name} {_named(one.setting)}" for name, one in self.given.items())
        return f"{wanted}: {nearest} differs in {', '.join(differs[nearest])} (here: {has})"


def _outside(spec: Spec) -> str:
    return "; ".join(named(spec)) or "it names nothing outside of clew"


def _named(setting: AgentSpec) -> str:
    return f"{setting.model} ({setting.fingerprint[:8]})"
