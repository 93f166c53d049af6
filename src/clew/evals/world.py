"""Where cases are worked on: given documents, or an environment that is acted on and pays reward.

An evaluation asks a `World` for its cases, enters an `Episode` for each trial, gives its tools to
the agent, and asks for the reward when the run has stopped.
"""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from clew.core.interfaces import Guard, Tool
from clew.core.trajectory import Trajectory
from clew.evals.case import Case


class Episode(Protocol):
    """One trial's share of an environment."""

    @property
    def tools(self) -> Sequence[Tool]:
        """What the agent may do there, beside its own tools."""
        ...

    @property
    def guards(self) -> Sequence[Guard]:
        """What these tools need to be judged by, such as `KeepPlace` for `lookup`."""
        ...

    async def catch_up(self, so_far: Trajectory) -> None:
        """Bring the environment to where a record has come: a worker may have died on the way."""
        ...

    async def reward(self, so_far: Trajectory) -> float | None:
        """What the run came to, in [0, 1]; None where the environment does not judge."""
        ...


Open: TypeAlias = Callable[[Case], AbstractAsyncContextManager[Episode]]
"""Enters an episode for a case: every trial has one of its own."""


@dataclass(frozen=True)
class Quiet:
    """The episode of a plain dataset: no tools, no reward."""

    tools: Sequence[Tool] = ()
    guards: Sequence[Guard] = ()

    async def catch_up(self, so_far: Trajectory) -> None:
        """Nothing happens here."""

    async def reward(self, so_far: Trajectory) -> float | None:
        """The gold alone judges."""
        return None


@asynccontextmanager
async def quiet(case: Case) -> AsyncGenerator[Episode]:
    """Enter the episode of a plain dataset."""
    del case
    yield Quiet()


@dataclass(frozen=True)
class World:
    """Cases, and how an episode for each is entered. `name` is told in reports."""

    name: str
    cases: Sequence[Case]
    open: Open = quiet
