"""`Auto` with ways that are set beforehand: else it would make them with the defaults."""

from collections.abc import Mapping
from dataclasses import dataclass

from clew import Agent, Limits
from clew.core.values import Json
from clew_strategies import Auto, Role, Runs


@dataclass(frozen=True)
class Settled:
    """`auto`, and the agents that work in some of its ways."""

    auto: Auto
    ways: Mapping[str, Agent]

    @property
    def name(self) -> str:
        return self.auto.name

    @property
    def params(self) -> Mapping[str, Json]:
        return self.auto.params

    @property
    def defaults(self) -> Mapping[str, Agent]:
        return self.auto.defaults

    @property
    def roles(self) -> Mapping[str, Role]:
        return {**self.auto.roles, **self.ways}

    def extended_limits(self, limits: Limits) -> Limits:
        return self.auto.extended_limits(limits)

    async def __call__(self, runs: Runs, task: str) -> Json:
        return await self.auto(runs, task)
