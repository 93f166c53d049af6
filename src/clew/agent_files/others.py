"""Agents of other files as tools of one."""

from collections.abc import Callable
from dataclasses import replace
from typing import get_args

import msgspec

from clew.agent import Agent
from clew.agent_files.origin import origin
from clew.agent_files.read import read_agent_file
from clew.agent_files.spec import Other, Spec
from clew.errors import ConfigError
from clew.events import Effect, Grant, Setting
from clew.protocols import Tool
from clew.subagents import delegate, handing_on


def other_agent(each: Other, spec: Spec, make: Callable[[Spec], Agent]) -> Tool:
    """The tool that hands on to the agent of another file; without a model that has this one's.

    Raises `ConfigError` where the files lead round in a circle.
    """
    _check_circle(each, (spec.file,))
    inner = read_agent_file(each.file)
    if not inner.model:
        inner = inner.but({"model": spec.model})
    return delegate(make(inner), name=each.name, description=each.description, origin=origin(inner))


def without_others(spec: Spec, setting: Setting, make: Callable[[Spec], Agent]) -> Agent:
    """The agent of a record for a replay: no agent of another file is made, nor its model.

    Their tools are as the record's setting names them, in its order.
    """
    agent = make(msgspec.structs.replace(spec, agents=()))
    found = {tool.name: tool for tool in agent.tools}
    most = msgspec.convert(setting.parts.get("granted", {}), dict[str, Grant])
    for each in spec.agents:
        if (said := setting.tools.get(each.name)) is not None:
            version, effect, _ = said.split()
            found[each.name] = replace(
                handing_on(each.name, each.description),
                version=version,
                effect=next(known for known in get_args(Effect) if known == effect),
                most=most.get(each.name),
            )
    order = [*setting.tools, *found]
    return agent.but(tools=sorted(found.values(), key=lambda tool: order.index(tool.name)))


def _check_circle(each: Other, above: tuple[str, ...]) -> None:
    """Raise where a file is among those that lead to it."""
    inner = read_agent_file(each.file)
    if inner.file in above:
        message = f"{each.name} leads back to {inner.file}: no agent can hand on to itself for ever"
        raise ConfigError(message)
    for other in inner.agents:
        _check_circle(other, (*above, inner.file))
