"""The agents that are served, each by its name."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from clew import Agent, ConfigError, Trajectory
from clew.agent_files import agent_named
from clew.interfaces import Json

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
ORIGIN: Final = "serve"
"""What the record of a run has, beside the agent file, that this server began."""


@dataclass(frozen=True)
class ServedAgent:
    """An agent by its name; `origin` is what a record says of it, if it is of an agent file."""

    name: str
    agent: Agent[Any]
    origin: Mapping[str, Json] = field(default_factory=dict[str, Json])

    @property
    def recorded(self) -> dict[str, Json]:
        """What the record of a run says that it begins."""
        return {**self.origin, ORIGIN: {"agent": self.name}}


async def load_agents(agents: Mapping[str, Agent[Any] | str]) -> dict[str, ServedAgent]:
    """The agents of their files or modules.

    Raises `ConfigError`, also for two that a record could not tell apart: the one would go on with
    runs of the other, and its deps and connections may be others.
    """
    loaded = {name: await _load(name, agent) for name, agent in agents.items()}
    known = dict[str, str]()
    for name, served in loaded.items():
        same = known.setdefault(served.agent.spec.fingerprint, name)
        if same != name:
            message = (
                f"the agents {same} and {name} look alike in a record, which tells them apart by "
                "model, tools, prompt and settings: give one a line of instructions of its own, or "
                "serve it by another server with another queue"
            )
            raise ConfigError(message, field="agents")
    return loaded


async def _load(name: str, agent: Agent[Any] | str) -> ServedAgent:
    if isinstance(agent, str):
        made, origin = await agent_named(agent)
        return ServedAgent(name, made, origin)
    return ServedAgent(name, agent)


def check_name(name: str) -> None:
    """Raise `ConfigError` for what cannot be the name of an agent in an address."""
    if not _NAME.fullmatch(name):
        legal = "1 to 64 letters, digits, . _ and -"
        raise ConfigError(f"{name!r} cannot name an agent: write NAME=AGENT, with {legal}")


def names_of(arguments: tuple[str, ...]) -> dict[str, str]:
    """Agents as the command line names them: `AGENT` or `NAME=AGENT`, by their names.

    Without a name it is that of the file or object. Raises `ConfigError` for two of one name.
    """
    agents: dict[str, str] = {}
    for argument in arguments:
        name, equals, path = argument.partition("=")
        if not equals or not _NAME.fullmatch(name):
            path = argument
            last = path.rpartition(":")[2] if not path.endswith(".toml") else Path(path).stem
            name = re.sub(r"[^A-Za-z0-9._-]+", "_", last).strip("._-")[:64] or "agent"
        if name in agents:
            raise ConfigError(f"two agents have the name {name}: write NAME=AGENT for one of them")
        agents[name] = path
    return agents


def agent_of(
    record: Trajectory, agents: Mapping[str, ServedAgent], *, accept_change: bool = False
) -> ServedAgent | None:
    """The agent with which a run goes on: the one that it was begun with, if it is the same yet.

    Else another one that is; with `accept_change` the one of its name. None where none is.
    """
    spec = record.spec or record.started.spec
    same = [it for it in agents.values() if it.agent.spec.fingerprint == spec.fingerprint]
    name = agent_name(record)
    otherwise = same[0] if same else agents.get(name) if accept_change else None
    return next((it for it in same if it.name == name), otherwise)


def agent_name(record: Trajectory) -> str:
    """The name of the agent with which this server began a run; "" for a run of others."""
    match record.started.origin:
        case {"serve": {"agent": str(name)}}:
            return name
        case _:
            return ""
