"""Plan and solve: make a plan, execute it step by step, and plan again if a step fails.

Wang et al., arXiv 2305.04091, over runs with tools instead of one prompt.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from clew import Agent, Limits
from clew.interfaces import Json
from clew.support.settings import check_fields, check_minimum
from clew_strategies.default_roles import solver, tool_list, typed_agent, worker
from clew_strategies.interface import NoAnswerError, Runs
from clew_strategies.limits import scaled_limits
from clew_strategies.roles import Role

PLAN: Final = (
    "You plan the work of an assistant that has these tools: {tools}. Understand the task and "
    "divide it into at most {max_steps} steps, each one thing to find out or do, in an order in "
    "which each needs only the steps before it. Do not carry them out."
)


class StepPlan(msgspec.Struct, frozen=True):
    """The steps of a plan, in order."""

    steps: list[str]


@dataclass(frozen=True)
class PlanAndSolve:
    """The strategy `plan_and_solve`: a plan, one run of the agent for each step, one answer.

    A plan has at most `max_steps` steps. If a step fails or a plan is too long, the rest is planned
    again, at most `replans` times. `planner` answers with a `StepPlan`.
    """

    agent: Agent[Any]
    planner: Agent[Any] | None = None
    max_steps: int = 8
    replans: int = 2

    def __post_init__(self) -> None:
        """Raise `ConfigError` for settings that allow no work."""
        check_fields(self)
        check_minimum(self, "max_steps")

    @property
    def name(self) -> str:
        return "plan_and_solve"

    @property
    def answering(self) -> str:
        """The role that gives the answer."""
        return "solve"

    @property
    def params(self) -> Mapping[str, Json]:
        return {"max_steps": self.max_steps, "replans": self.replans}

    @property
    def defaults(self) -> Mapping[str, Agent[Any]]:
        """The agents used where none is given."""
        prompt = PLAN.format(tools=tool_list(self.agent), max_steps=self.max_steps)
        return {"planner": typed_agent(self.agent, prompt, StepPlan)}

    @property
    def roles(self) -> Mapping[str, Role]:
        planner = self.planner or self.defaults["planner"]
        return {"plan": planner, "step": worker(self.agent), "solve": solver(self.agent)}

    def extended_limits(self, limits: Limits) -> Limits:
        """Steps and calls for all steps of all plans."""
        return scaled_limits(limits, self.max_steps * (self.replans + 1), self.replans + 2)

    async def __call__(self, runs: Runs, task: str) -> Json:
        """The answer. Raises `NoAnswerError` if no plan can be made."""
        done: list[str] = []
        problem = ""
        for attempt in range(self.replans + 1):
            runs.say(f"A new plan: {problem}" if attempt else "First a plan.")
            planned = await runs.run("plan", _with_progress(task, done, problem))
            steps = msgspec.convert(planned.answer, StepPlan).steps if planned.ok else []
            problem = self._plan_error(steps) if planned.ok else planned.problem
            if problem:
                continue
            for number, step in enumerate(steps, 1):
                runs.say(f"Step {number} of {len(steps)}.")
                result = await runs.run("step", _step_task(task, done, step))
                if not result.ok:
                    problem = f"the step {step!r} failed: {result.problem}"
                    break
                done.append(f"{step}\n  Result: {result.text}")
            else:
                break
        if not done:
            raise NoAnswerError(f"There was no plan that could be carried out: {problem}")
        runs.say("All that can be done is done." if problem else "The plan is carried out.")
        solved = await runs.run("solve", _with_progress(task, done, problem))
        if not solved.ok:
            raise NoAnswerError(solved.problem)
        return solved.answer

    def _plan_error(self, steps: list[str]) -> str:
        """Why a plan is unusable, or ""."""
        if not steps:
            return "the plan has no steps"
        if len(steps) > self.max_steps:
            return f"the plan has {len(steps):,} steps, and may have {self.max_steps}"
        return ""


def _with_progress(task: str, done: list[str], problem: str) -> str:
    """The task, with the finished steps and the last problem."""
    lines = [task]
    if done:
        lines += ["", "Done so far:", *(f"- {each}" for each in done)]
    if problem:
        lines += ["", f"What went wrong: {problem}"]
    return "\n".join(lines)


def _step_task(task: str, done: list[str], step: str) -> str:
    trajectory = _with_progress(task, done, "")
    return (
        f"This task is answered later, from the results of steps:\n{trajectory}\n\n"
        "Do now only one step. Answer with all that it found, every name with its value: nobody "
        f"sees more of it. The step: {step}"
    )
