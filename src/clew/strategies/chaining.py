"""Chaining: agents one after the other, each with the answer of the one before it."""

from collections.abc import Mapping
from dataclasses import dataclass

from clew.core.agent import Agent
from clew.core.errors import ConfigError
from clew.core.events import Json
from clew.guards.limits import Limits
from clew.strategies.program import NoAnswerError, Runs
from clew.strategies.roles import Role
from clew.strategies.room import room


@dataclass(frozen=True)
class Chaining:
    """The strategy `chaining`: the `agents` by name, in their order.

    The first is given the task, each further one the task and the answer before it; the answer of
    the whole is the last one's. A model that will not keep a format may be followed by one that
    reads its free text into the type that is wanted. A stage without an answer ends the chain.
    """

    agents: Mapping[str, Agent]

    def __post_init__(self) -> None:
        """Raise `ConfigError` where there is nobody to ask."""
        if not self.agents:
            message = "a chain needs agents: give one or more"
            raise ConfigError(message)

    @property
    def name(self) -> str:
        return "chaining"

    @property
    def params(self) -> Mapping[str, Json]:
        return {"stages": list(self.agents)}

    @property
    def roles(self) -> Mapping[str, Role]:
        return self.agents

    def widened(self, limits: Limits) -> Limits:
        """Room for all stages."""
        return room(limits, len(self.agents))

    async def __call__(self, runs: Runs, task: str) -> Json:
        """The last answer. Raises `NoAnswerError` where a stage has none."""
        goal, answer = task, None
        for number, name in enumerate(self.agents, 1):
            runs.say(f"Stage {number} of {len(self.agents)}: {name}.")
            found = await runs.run(name, goal)
            if not found.ok:
                raise NoAnswerError(f"the stage {name}: {found.text}")
            answer = found.answer
            goal = f"{task}\n\nThe answer of the stage before ({name}):\n{found.text}"
        return answer
