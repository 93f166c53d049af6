"""The served agents, each under the name of its tool."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import mcp_types as types

from clew import Agent, ConfigError
from clew.agent.agent import is_agent
from clew.agent_files import agent_named
from clew.interfaces import EFFECTFUL, Json
from clew.support.settings import check_fields
from clew.tools.finish import answer_schema
from clew_mcp.serve.questions import question_schema

_LEGAL: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
_MAX_NAMED_TOOLS: Final = 12
"""How many of an agent's tools its default description names."""

_STATUSES: Final = (
    "answered", "declined", "bound", "held", "failed", "refused", "interrupted", "open",
)  # fmt: skip

_EVIDENCE: Final[dict[str, Json]] = {
    "type": "array",
    "description": "What the answer cites.",
    "items": {
        "type": "object",
        "properties": {
            "id": {"type": "string"},
            "source": {"type": "string"},
            "text": {"type": "string"},
        },
        "required": ["id", "source", "text"],
    },
}
_PENDING: Final[dict[str, Json]] = {
    "type": "array",
    "description": "Calls that wait for a person's approval.",
    "items": {
        "type": "object",
        "properties": {
            "id": {"type": "string"},
            "run_id": {"type": "string"},
            "call": {"type": "string"},
            "tool": {"type": "string"},
            "arguments": {"type": "object"},
            "reason": {"type": "string"},
        },
        "required": ["run_id", "call", "tool", "arguments", "reason"],
    },
}

_NEUTRALISED: Final[dict[str, Json]] = {
    "type": "array",
    "description": "Addresses that a stranger could have planted: the answer shows them as text.",
    "items": {"type": "string"},
}


@dataclass(frozen=True)
class ServedAgent:
    """An agent and the name of its tool: 1 to 64 letters, digits, `_` and `-`.

    `description` says what it is good for; if empty, it lists the agent's tools. Its questions are
    untrusted, since a client's model may have written them, unless it is `trusted`. `origin` is
    recorded with its runs (make it with `clew.agent_files.provenance`), so that another process can
    rebuild the agent from a record. Raises `ConfigError` for an invalid name.
    """

    name: str
    agent: Agent[Any]
    description: str = ""
    origin: Mapping[str, Json] = field(default_factory=dict[str, Json])
    trusted: bool = False

    def __post_init__(self) -> None:
        """Refuse a name that some clients reject."""
        check_fields(self)
        if not _LEGAL.fullmatch(self.name):
            legal = "1 to 64 letters, digits, _ and -"
            message = f"{self.name!r} cannot be the name of a tool: write NAME=AGENT, with {legal}"
            raise ConfigError(message)

    def tool(self, longest: int) -> types.Tool:
        """The tool as clients list it; a question may have `longest` characters."""
        acts = any(tool.effect in EFFECTFUL for tool in self.agent.tools)
        return types.Tool(
            name=self.name,
            description=self.description or self._default_description(),
            input_schema=question_schema(longest),
            output_schema=output_schema(self.agent),
            annotations=types.ToolAnnotations(read_only_hint=not acts),
            execution=types.ToolExecution(task_support="optional"),
        )

    def _default_description(self) -> str:
        names = [tool.name for tool in _worker(self.agent).tools if not tool.hidden]
        more = " …" if len(names) > _MAX_NAMED_TOOLS else ""
        tools = ", ".join(names[:_MAX_NAMED_TOOLS]) + more
        has = f" Its tools: {tools}." if names else ""
        return f"Ask the agent {self.name}. It works in several steps and may take minutes.{has}"


def _worker(agent: Agent[Any]) -> Agent[Any]:
    """The agent that does the work. The tools of one that answers by a strategy are its runs."""
    while is_agent(like := getattr(agent.model, "like", None)):
        agent = like
    return agent


def output_schema(agent: Agent[Any]) -> dict[str, Any]:
    """The JSON Schema of a result's structured content."""
    answer = dict(answer_schema(agent.answer) or {"type": "string"})
    definitions = answer.pop("$defs", None)
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {
            "run_id": {"type": "string", "description": "The run's record: clew://runs/RUN_ID."},
            "status": {"type": "string", "enum": list(_STATUSES)},
            "answer": answer,
            "reason": {"type": "string", "description": "Why the run stopped."},
            "evidence": _EVIDENCE,
            "pending": _PENDING,
            "neutralised": _NEUTRALISED,
        },
        "required": ["run_id", "status"],
    }
    return schema | ({"$defs": definitions} if definitions else {})


async def read_agents(arguments: Iterable[str], *, trusted: bool = False) -> list[ServedAgent]:
    """Load agents from agent files or `module:name`. `NAME=AGENT` sets the tool's name.

    By default the name is that of the file or object. `trusted` is that of `ServedAgent`. Raises
    `ConfigError`.
    """
    return [await _read_agent(one, trusted=trusted) for one in arguments]


async def _read_agent(argument: str, *, trusted: bool) -> ServedAgent:
    name, equals, path = argument.partition("=")
    if not equals or not _LEGAL.fullmatch(name):
        path = argument
        last = path.rpartition(":")[2] if not path.endswith(".toml") else Path(path).stem
        name = re.sub(r"[^A-Za-z0-9_-]+", "_", last).strip("_")[:64]
    agent, origin = await agent_named(path)
    return ServedAgent(name, agent, origin=origin, trusted=trusted)


def by_name(agents: Iterable[ServedAgent]) -> dict[str, ServedAgent]:
    """The agents by name. Raises `ConfigError` if there are none, or two with one name."""
    by_agent_name: dict[str, ServedAgent] = {}
    for one in agents:
        if one.name in by_agent_name:
            message = f"two agents have the name {one.name}: write NAME=AGENT for one of them"
            raise ConfigError(message)
        by_agent_name[one.name] = one
    if not by_agent_name:
        message = "there is no agent to serve: name an agent file"
        raise ConfigError(message)
    return by_agent_name
