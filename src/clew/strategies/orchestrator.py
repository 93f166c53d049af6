"""Orchestrator and workers: a task is divided, workers do the parts at once, one answer is made.

The pattern of Anthropic's "Building effective agents" (2024), with a typed plan, and a run of its
own for each part.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Final

import msgspec

from clew.core.agent import Agent
from clew.core.events import Json
from clew.guards.limits import Limits
from clew.strategies.plan_and_solve import SOLVE
from clew.strategies.program import NoAnswerError, Runs
from clew.strategies.reflexion import asking
from clew.strategies.roles import Role
from clew.strategies.room import room

DIVIDE: Final = (
    "Divide a task into at most {most} parts that can be worked on at the same time, by workers "
    "who know nothing of each other and only what you write to them. Workers have these tools: "
    "{tools}. Say for each part exactly what to find out or do, with all that must be known for "
    "it, and as its weight how much work it is beside the others: what may be spent is divided by "
    "weight. If the task cannot be divided, give one part."
)


class SubTask(msgspec.Struct, frozen=True):
    """A part of a task as a worker is told it, and its share of the budget beside the others'."""

    task: str
    weight: Annotated[float, msgspec.Meta(gt=0)] = 1.0


class Parts(msgspec.Struct, frozen=True):
    """The parts of a task."""

    parts: list[SubTask]


@dataclass(frozen=True)
class Orchestrator:
    """The strategy `orchestrator`: at most `most` workers, runs of the agent, at once.

    Each worker may take a share of what is left, by the weight of its part. `divider` answers with
    `Parts`; a division into more parts is made anew once. A part that fails is told to whoever
    makes the answer.
    """

    agent: Agent
    divider: Agent | None = None
    most: int = 6

    @property
    def name(self) -> str:
        return "orchestrator"

    @property
    def params(self) -> Mapping[str, Json]:
        return {"most": self.most}

    @property
    def defaults(self) -> Mapping[str, Agent]:
        """Who does what nobody else was given for."""
        tools = ", ".join(tool.name for tool in self.agent.tools if not tool.hidden) or "none"
        prompt = DIVIDE.format(most=self.most, tools=tools)
        return {"divider": asking(self.agent, prompt, Parts)}

    @property
    def roles(self) -> Mapping[str, Role]:
        return {
            "divide": self.divider or self.defaults["divider"],
            "work": self.agent.replace(answer=str, checks=()),
            "solve": Agent(self.agent.model, prompt=SOLVE, answer=self.agent.answer),
        }

    def widened(self, limits: Limits) -> Limits:
        """Room for all workers."""
        return room(limits, self.most, 3)

    async def __call__(self, runs: Runs, task: str) -> Json:
        """The answer. Raises `NoAnswerError` where no part has a result."""
        parts = await self._divided(runs, task)
        runs.say(f"{len(parts)} parts, at once." if len(parts) > 1 else "One part.")
        ended = await runs.together(
            [runs.run("work", part.task, weight=part.weight) for part in parts]
        )
        if not any(each.ok for each in ended):
            raise NoAnswerError(f"No part has a result: {ended[0].text}")
        lines = [
            f"{number}. {part.task}\n   {'Result' if came.ok else 'Failed'}: {came.text}"
            for number, (part, came) in enumerate(zip(parts, ended, strict=True), 1)
        ]
        runs.say("The parts are done.")
        solved = await runs.run("solve", "\n".join([task, "", "Parts:", *lines]))
        if not solved.ok:
            raise NoAnswerError(solved.text)
        return solved.answer

    async def _divided(self, runs: Runs, task: str) -> list[SubTask]:
        problem = ""
        for _ in range(2):
            runs.say(f"Divided anew: {problem}" if problem else "The task is divided.")
            wrong = f"\n\nThe last division will not do: {problem}" if problem else ""
            divided = await runs.run("divide", task + wrong)
            if not divided.ok:
                raise NoAnswerError(divided.text)
            parts = msgspec.convert(divided.answer, Parts).parts
            if 0 < len(parts) <= self.most:
                return parts
            problem = f"it has {len(parts):,} parts, and must have 1 to {self.most}"
        raise NoAnswerError(f"The task was not divided: {problem}")
