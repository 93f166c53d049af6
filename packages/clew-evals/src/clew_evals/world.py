"""Where cases are worked on: given documents, or an environment that is acted on and pays reward.

An evaluation asks a `World` for its cases, enters an `Episode` for each trial, gives its tools to
the agent, and asks for the reward when the run has stopped.
"""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeAlias

from clew import Tool, Trajectory
from clew.interfaces import Guard
from clew_evals.case import Case


class Episode(Protocol):
    """The environment of one trial."""

    @property
    def tools(self) -> Sequence[Tool]:
        """The tools of the environment, besides the agent's own."""
        ...

    @property
    def guards(self) -> Sequence[Guard]:
        """The guards that these tools need, such as `KeepPlace` for `lookup`."""
        ...

    async def catch_up(self, trajectory: Trajectory) -> None:
        """Bring the environment to the state of a record, whose worker may have died."""
        ...

    async def reward(self, trajectory: Trajectory) -> float | None:
        """The score of the run in [0, 1]; None if the environment does not score."""
        ...


Open: TypeAlias = Callable[[Case], AbstractAsyncContextManager[Episode]]
"""Enters an episode for a case: every trial has one of its own."""


@dataclass(frozen=True)
class Quiet:
    """The episode of a plain dataset: no tools, no reward."""

    tools: Sequence[Tool] = ()
    guards: Sequence[Guard] = ()

    async def catch_up(self, trajectory: Trajectory) -> None:
        """Nothing happens here."""

    async def reward(self, trajectory: Trajectory) -> float | None:
        """The gold alone judges."""
        return None


@asynccontextmanager
async def quiet(case: Case) -> AsyncGenerator[Episode]:
    """Enter the episode of a plain dataset."""
    del case
    yield Quiet()


@dataclass(frozen=True)
class World:
    """Cases, and a function that enters an episode for each. Reports show `name`."""

    name: str
    cases: Sequence[Case]
    open: Open = quiet
    folder: Path = Path()
    """Where files lie that go with questions."""
