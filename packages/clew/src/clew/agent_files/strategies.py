"""The strategy of an agent file: the agent that answers by it."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import msgspec

from clew.agent.agent import Agent
from clew.agent.declared_answer import decoded_fallback
from clew.agent.subagents import reachable, with_limits
from clew.agent.validate import check_tool_names
from clew.agent_files.imports import imported_function
from clew.agent_files.spec import Spec, part
from clew.agent_files.strategy_table import StrategyTable
from clew.agent_files.tool_tables import inner_spec
from clew.core.specs import AgentSpec
from clew.core.tools import AnyTool
from clew.core.values import Json
from clew.guards.limits import Limits
from clew.support.errors import ConfigError
from clew.support.street import names_of
from clew.support.wings import STRATEGIES, find, names, require

_MAKE = "strategy_agent"
"""The entry that makes an agent of a strategy; all others of the group are strategies."""


def with_strategy(
    spec: Spec, table: StrategyTable, agent: Agent[Any], make: Callable[[Spec], Agent[Any]]
) -> Agent[Any]:
    """The agent that answers by a strategy, with `agent` for the work; `make` makes the others.

    Raises `PartError`.
    """
    with part("strategy"):
        strategy = strategy_named(table.name, spec.folder)
        known = inspect.signature(strategy).parameters
        for name in {**table.settings, **table.others}:
            if name not in known:
                has = ", ".join(each for each in known if each in _SETTINGS) or "none"
                message = f"{table.name} has no setting {name!r}; its settings: {has}"
                raise ConfigError(message)
    tested = {name: tool for name, tool in table.others.items() if name not in table.files}
    with part("strategy"):
        strategy_tools: dict[str, Any] = {name: _tool(agent, tool) for name, tool in tested.items()}
        agent = agent.replace(tools=[it for it in agent.tools if it.name not in tested.values()])
        plain = strategy(agent, **table.settings)
        usual: Mapping[str, Agent[Any]] = getattr(plain, "defaults", {})
    for name, file in table.files.items():
        with part("strategy", name):
            strategy_tools[name] = _other(inner_spec(name, file, spec), usual.get(name), make)
    with part("strategy"):
        planned = strategy(agent, **table.settings, **strategy_tools) if strategy_tools else plain
        made: Agent[Any] = require(STRATEGIES, _MAKE, "a strategy")(planned, agent)
    with part("limits", "calls_per_tool"):
        return _with_caps(made, spec.limits.limits.calls_per_tool)


def _with_caps(made: Agent[Any], caps: Mapping[str, int]) -> Agent[Any]:
    """The strategy's agent with limits on tools: its own, and those that any of its runs calls."""
    if not caps:
        return made
    check_tool_names("limits: calls_per_tool", caps, reachable(made))
    return with_limits(made, replace(made.limits, calls_per_tool=caps))


def _tool(agent: Agent[Any], name: str) -> AnyTool:
    """The agent's tool of that name, which judges its work and is no longer its own."""
    match = next((tool for tool in agent.tools if tool.name == name), None)
    if match is None:
        has = ", ".join(tool.name for tool in agent.tools) or "none"
        message = f"{name!r} is no agent file (….toml), and no tool of the agent: those are {has}"
        raise ConfigError(message)
    return match


def _other(spec: Spec, usual: Agent[Any] | None, make: Callable[[Spec], Agent[Any]]) -> Agent[Any]:
    """The agent of another file: what it leaves out is as the strategy has it."""
    typed = usual is None or spec.answer or usual.answer is str
    spec = spec if spec.tools is not None else spec.replace({"tools": []})
    made = make(spec if typed else msgspec.structs.replace(spec, fallback=None))
    if usual is None:
        return made
    if spec.prompt is None:
        made = made.replace(prompt=usual.prompt)
    if typed:
        return made
    return made.replace(answer=usual.answer, fallback=decoded_fallback(usual.answer, spec.fallback))


_SETTINGS = frozenset(StrategyTable.__struct_fields__)


def strategy_named(name: str, folder: str) -> Any:
    """What makes the strategy of that name. Raises `ConfigError`."""
    if ":" in name:
        return imported_function(name, "strategy", folder)
    if name == _MAKE or (entry := find(STRATEGIES, name, f"the strategy {name}")) is None:
        known = {*names(STRATEGIES), *names_of(STRATEGIES)} - {_MAKE}
        there = ", ".join(sorted(known))
        message = f"there is no strategy {name!r}: there are {there}, or write module:name"
        raise ConfigError(message)
    return entry


class _Recorded:
    """A strategy that is only replayed: what it decided is in the record."""

    def __init__(self, spec: AgentSpec, limits: Limits) -> None:
        self.limits = limits
        self.name = spec.model.partition(":")[2]
        self.params: Mapping[str, Json] = spec.params
        self.roles: Mapping[str, Any] = {}

    def extended_limits(self, limits: Limits) -> Limits:
        """The limits that the strategy of the time had."""
        del limits
        return self.limits


def recorded_strategy(table: StrategyTable, agent: Agent[Any], spec: AgentSpec) -> Agent[Any]:
    """The agent of a strategy's record for a replay, without its roles; `agent` does the work."""
    limits = agent.limits
    if ":" not in table.name:
        strategy = strategy_named(table.name, "")(agent, **table.settings)
        limits = (
            strategy.extended_limits(limits) if hasattr(strategy, "extended_limits") else limits
        )
    made: Agent[Any] = require(STRATEGIES, _MAKE, "a strategy")(_Recorded(spec, limits), agent)
    return made
