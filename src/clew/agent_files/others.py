"""Agents of other files as tools of one."""

from collections.abc import Callable

from clew.agent_files.origin import origin
from clew.agent_files.read import read_agent_file
from clew.agent_files.spec import AgentTable, Spec
from clew.core.agent import Agent
from clew.core.errors import ConfigError
from clew.core.interfaces import AgentTool
from clew.subagents import delegate


def other_agent(each: AgentTable, spec: Spec, make: Callable[[Spec], Agent]) -> AgentTool:
    """The tool that hands on to the agent of another file; without a model that has this one's.

    Raises `ConfigError` where the files lead round in a circle.
    """
    _check_circle(each, (spec.file,))
    inner = read_agent_file(each.file)
    if not inner.model:
        inner = inner.replace({"model": spec.model})
    return delegate(make(inner), name=each.name, description=each.description, origin=origin(inner))


def _check_circle(each: AgentTable, above: tuple[str, ...]) -> None:
    """Raise where a file is among those that lead to it."""
    inner = read_agent_file(each.file)
    if inner.file in above:
        message = f"{each.name} leads back to {inner.file}: no agent can hand on to itself for ever"
        raise ConfigError(message)
    for other in inner.agents:
        _check_circle(other, (*above, inner.file))
