"""Agents that are made where they are to work: of a name, or of what a run's record says."""

from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from clew.agent.agent import Agent, is_agent
from clew.agent.compare import as_begun
from clew.agent_files.build import make_agent, with_model
from clew.agent_files.imports import imported
from clew.agent_files.provenance import is_foreign, spec_of
from clew.agent_files.read import read_agent_file
from clew.agent_files.spec import Spec, origin
from clew.agent_files.untrusted import outside_parts
from clew.core.redaction import redact
from clew.core.spec_changes import changes_to_accept
from clew.core.specs import AgentSpec
from clew.core.trajectory import Trajectory
from clew.core.values import Json, encode
from clew.support.errors import ConfigError

FOREIGN: Final = (
    "the agent {spec} is of a run that you did not begin on this machine ({names}): look at it "
    "(clew show), then name an agent of yours with --agent FILE, or start a worker with "
    "--trust-origin that makes what any record names"
)

_KEPT: Final = 256
"""So many agents that were made from records are kept for further runs."""


async def agent_named(name: str, folder: str = "") -> tuple[Agent[Any], dict[str, Json]]:
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
class RecordedAgents:
    """Makes the agent that a record describes, to the last part.

    The run was begun by this user on this machine, or by anybody (`trusting`).
    """

    trusting: bool = False
    made: dict[bytes, Agent[Any]] = field(default_factory=dict[bytes, Agent[Any]])

    def __call__(self, record: Trajectory) -> Agent[Any] | None:
        """The agent; None where the record says nothing. Raises `ConfigError`."""
        if (spec := spec_of(record)) is None:
            return None
        recorded_spec = record.spec or record.started.spec
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

    def _make(self, spec: Spec) -> Agent[Any]:
        key = encode(msgspec.to_builtins(spec))
        if (agent := self.made.get(key)) is None:
            agent = self.made[key] = make_agent(spec)
            if len(self.made) > _KEPT:
                del self.made[next(iter(self.made))]
        return agent


def _outside(spec: Spec) -> str:
    return "; ".join(outside_parts(spec)) or "it names nothing outside of clew"


def _named(spec: AgentSpec) -> str:
    return f"{spec.model} ({spec.fingerprint[:8]})"
