"""The strategy of an agent file: the agent that answers by it."""

import inspect
from collections.abc import Mapping
from typing import Any

from clew.agent_files.imports import imported_function
from clew.agent_files.spec import StrategyTable, part
from clew.core.agent import Agent
from clew.core.errors import ConfigError
from clew.core.events import AgentSpec, Json
from clew.guards.limits import Limits
from clew.support.wings import STRATEGIES, find, names, require

_MAKE = "strategy_agent"
"""The entry that makes an agent of a strategy; all others of the group are strategies."""


def with_strategy(said: StrategyTable, folder: str, agent: Agent) -> Agent:
    """The agent that answers by a strategy, with `agent` for the work. Raises `PartError`.

    `folder` is where modules are looked up first.
    """
    with part("strategy"):
        make = _found(said.name, folder)
        known = inspect.signature(make).parameters
        for name in said.settings:
            if name not in known:
                has = ", ".join(each for each in known if each in _SETTINGS) or "none"
                message = f"{said.name} has no setting {name!r}; its settings: {has}"
                raise ConfigError(message)
        made: Agent = require(STRATEGIES, _MAKE)(make(agent, **said.settings), agent)
        return made


_SETTINGS = frozenset(StrategyTable.__struct_fields__)


def _found(name: str, folder: str) -> Any:
    if ":" in name:
        return imported_function(name, "strategy", folder)
    if name == _MAKE or (found := find(STRATEGIES, name)) is None:
        known = ", ".join(each for each in names(STRATEGIES) if each != _MAKE)
        message = f"there is no strategy {name!r}: there are {known}, or write module:name"
        raise ConfigError(message)
    return found


class _Recorded:
    """A strategy that is only replayed: what it decided is in the record."""

    def __init__(self, setting: AgentSpec, limits: Limits) -> None:
        self.limits = limits
        self.name = setting.model.partition(":")[2]
        self.params: Mapping[str, Json] = setting.params
        self.roles: Mapping[str, Any] = {}

    def widened(self, limits: Limits) -> Limits:
        """The limits that the strategy of the time had."""
        del limits
        return self.limits


def recorded_strategy(said: StrategyTable, agent: Agent, setting: AgentSpec) -> Agent:
    """The agent of a strategy's record for a replay, without its roles; `agent` does the work."""
    whole = agent.limits
    if ":" not in said.name:
        strategy = _found(said.name, "")(agent, **said.settings)
        whole = strategy.widened(whole) if hasattr(strategy, "widened") else whole
    made: Agent = require(STRATEGIES, _MAKE)(_Recorded(setting, whole), agent)
    return made
