"""Chaining: agents in sequence, each given the answer of the one before it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from clew import Agent, ConfigError, Limits
from clew.interfaces import Json
from clew_strategies.interface import NoAnswerError, Runs
from clew_strategies.limits import scaled_limits
from clew_strategies.policy import check_by_name
from clew_strategies.roles import Role


@dataclass(frozen=True)
class Chaining:
    """The strategy `chaining`: `agents` by name, in order.

    The first agent gets the task, each later one the task and the answer before it. The result is
    the last answer. A stage without an answer ends the chain. A model that keeps no format can be
    followed by one that reads its free text into the answer type.
    """

    agents: Mapping[str, Agent[Any]]

    def __post_init__(self) -> None:
        """Raise `ConfigError` if there are no agents, or agents without names."""
        if not self.agents:
            message = "a chain needs agents: give one or more"
            raise ConfigError(message)
        check_by_name("chaining: agents", self.agents)

    @property
    def name(self) -> str:
        return "chaining"

    @property
    def params(self) -> Mapping[str, Json]:
        return {"stages": list(self.agents)}

    @property
    def roles(self) -> Mapping[str, Role]:
        return self.agents

    def extended_limits(self, limits: Limits) -> Limits:
        """Steps and calls for all stages."""
        return scaled_limits(limits, len(self.agents))

    async def __call__(self, runs: Runs, task: str) -> Json:
        """The last answer. Raises `NoAnswerError` if a stage has none."""
        goal, answer = task, None
        for number, name in enumerate(self.agents, 1):
            runs.say(f"Stage {number} of {len(self.agents)}: {name}.")
            result = await runs.run(name, goal)
            if not result.ok:
                raise NoAnswerError(f"the stage {name}: {result.problem}")
            answer = result.answer
            goal = f"{task}\n\nThe answer of the stage before ({name}):\n{result.text}"
        return answer
