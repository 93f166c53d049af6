"""Orchestrator and workers: divide a task, work on the parts at once, combine the results.

The pattern of Anthropic's "Building effective agents" (2024), with a typed plan and a
separate run for each part.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final

import msgspec

from clew import Agent, Limits
from clew.interfaces import Json
from clew.support.settings import check_fields, check_minimum
from clew_strategies.default_roles import solver, tool_list, typed_agent, worker
from clew_strategies.interface import NoAnswerError, Runs
from clew_strategies.limits import scaled_limits
from clew_strategies.roles import Role

DIVIDE: Final = (
    "Divide a task into at most {max_workers} parts that can be worked on at the same time, by "
    "workers who know nothing of each other and only what you write to them. Workers have these "
    "tools: {tools}. Say for each part exactly what to find out or do, with all that must be "
    "known for it, and as its weight how much work it is beside the others: what may be spent is "
    "divided by weight. If the task cannot be divided, give one part."
)


class SubTask(msgspec.Struct, frozen=True):
    """A part of a task as a worker is told it, and its share of the budget beside the others'."""

    task: str
    weight: Annotated[float, msgspec.Meta(gt=0)] = 1.0


class Subtasks(msgspec.Struct, frozen=True):
    """The parts of a task."""

    parts: list[SubTask]


@dataclass(frozen=True)
class Orchestrator:
    """The strategy `orchestrator`: at most `max_workers` workers at once, each a run of the agent.

    Each worker may use a share of what is left, by the weight of its part. `divider` answers with
    `Subtasks`; if it gives too many, it is asked once more. The solver is told which parts failed.
    """

    agent: Agent[Any]
    divider: Agent[Any] | None = None
    max_workers: int = 6

    def __post_init__(self) -> None:
        """Raise `ConfigError` for settings that allow no work."""
        check_fields(self)
        check_minimum(self, "max_workers")

    @property
    def name(self) -> str:
        return "orchestrator"

    @property
    def answering(self) -> str:
        """The role that gives the answer."""
        return "solve"

    @property
    def params(self) -> Mapping[str, Json]:
        return {"max_workers": self.max_workers}

    @property
    def defaults(self) -> Mapping[str, Agent[Any]]:
        """The agents used where none is given."""
        prompt = DIVIDE.format(max_workers=self.max_workers, tools=tool_list(self.agent))
        return {"divider": typed_agent(self.agent, prompt, Subtasks)}

    @property
    def roles(self) -> Mapping[str, Role]:
        return {
            "divide": self.divider or self.defaults["divider"],
            "work": worker(self.agent),
            "solve": solver(self.agent),
        }

    def extended_limits(self, limits: Limits) -> Limits:
        """Steps and calls for all workers."""
        return scaled_limits(limits, self.max_workers, 3)

    async def __call__(self, runs: Runs, task: str) -> Json:
        """The answer. Raises `NoAnswerError` if no part has a result."""
        parts = await self._divide(runs, task)
        runs.say(f"{len(parts)} parts, at once." if len(parts) > 1 else "One part.")
        results = await runs.together(
            [runs.run("work", part.task, weight=part.weight) for part in parts]
        )
        if not any(each.ok for each in results):
            raise NoAnswerError(f"No part has a result: {results[0].problem}")
        lines = [
            f"{number}. {part.task}\n   {'Result' if result.ok else 'Failed'}: {result.text}"
            for number, (part, result) in enumerate(zip(parts, results, strict=True), 1)
        ]
        runs.say("The parts are done.")
        solved = await runs.run("solve", "\n".join([task, "", "Parts:", *lines]))
        if not solved.ok:
            raise NoAnswerError(solved.problem)
        return solved.answer

    async def _divide(self, runs: Runs, task: str) -> list[SubTask]:
        problem = ""
        for _ in range(2):
            runs.say(f"Divided anew: {problem}" if problem else "The task is divided.")
            wrong = f"\n\nThe last division will not do: {problem}" if problem else ""
            divided = await runs.run("divide", task + wrong)
            if not divided.ok:
                raise NoAnswerError(divided.problem)
            parts = msgspec.convert(divided.answer, Subtasks).parts
            if 0 < len(parts) <= self.max_workers:
                return parts
            problem = f"it has {len(parts):,} parts, and must have 1 to {self.max_workers}"
        raise NoAnswerError(f"The task was not divided: {problem}")
