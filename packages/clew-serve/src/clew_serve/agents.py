"""The agents that are served, each by its name."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import msgspec

from clew import Agent, ConfigError, Trajectory
from clew.agent_files import agent_named
from clew.interfaces import Json
from clew.workers import Agents
from clew_serve.client_tools import KEPT, MAX_TOOLS, TOOLS, ClientTool, tools_of, with_tools

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
ORIGIN: Final = "serve"
"""What the record of a run has, beside the agent file, that this server began."""


@dataclass(frozen=True)
class ServedAgent:
    """An agent by its name; `origin` is what a record says of it, if it is of an agent file."""

    name: str
    agent: Agent[Any]
    origin: Mapping[str, Json] = field(default_factory=dict[str, Json])
    tools: tuple[ClientTool, ...] = ()
    """The tools of a client's that it has beside its own."""
    kept: dict[bytes, Agent[Any]] = field(
        default_factory=dict[bytes, "Agent[Any]"], compare=False, repr=False
    )
    """Agents that were made of it with tools of clients."""

    @property
    def recorded(self) -> dict[str, Json]:
        """What the record of a run says that it begins."""
        of_client = {TOOLS: msgspec.to_builtins(self.tools)} if self.tools else {}
        return {**self.origin, ORIGIN: {"agent": self.name, **of_client}}

    def with_tools(self, tools: Sequence[ClientTool]) -> "ServedAgent":
        """The same with these tools of a client's. Raises `ConfigError` where they do not fit."""
        if not tools:
            return self
        if len(tools) > MAX_TOOLS:
            message = f"there are {len(tools)} tools: name {MAX_TOOLS} at most"
            raise ConfigError(message, field="tools")
        key = msgspec.json.encode(tools)
        agent = self.kept.pop(key, None) or with_tools(self.agent, tools)
        while len(self.kept) >= KEPT:
            del self.kept[next(iter(self.kept))]
        self.kept[key] = agent
        return replace(self, agent=agent, tools=tuple(tools))


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
    if tools := tools_of(record):
        named = agents.get(agent_name(record))
        return None if named is None else named.with_tools(tools)
    spec = record.spec or record.started.spec
    same = [it for it in agents.values() if it.agent.spec.fingerprint == spec.fingerprint]
    name = agent_name(record)
    otherwise = same[0] if same else agents.get(name) if accept_change else None
    return next((it for it in same if it.name == name), otherwise)


@dataclass(frozen=True)
class WorkingAgents:
    """Finds the agent of a run for the worker here: one that is served, with its client's tools."""

    served: Mapping[str, ServedAgent]
    known: Agents

    async def __call__(self, record: Trajectory) -> Agent[Any]:
        """Raises `ConfigError` where none is."""
        if tools_of(record) and (one := agent_of(record, self.served)) is not None:
            return one.agent
        return await self.known(record)

    def origin_of(self, agent: Agent[Any]) -> dict[str, Json] | None:
        """What a record that goes on with the agent says of it."""
        same = (it for it in self.served.values() if it.agent.spec == agent.spec)
        return next((dict(it.origin) for it in same if it.origin), None)


def agent_name(record: Trajectory) -> str:
    """The name of the agent with which this server began a run; "" for a run of others."""
    match record.started.origin:
        case {"serve": {"agent": str(name)}}:
            return name
        case _:
            return ""
