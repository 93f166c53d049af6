"""Reflexion: try, evaluate, reflect on what went wrong, and try again with the reflections.

Shinn et al., arXiv 2303.11366: an actor, an evaluator, and self-reflection with a bounded memory.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from textwrap import indent
from typing import Any, Final

import msgspec

from clew import Agent, Limits
from clew.core.tools import AnyTool
from clew.interfaces import Json
from clew.support.json_values import text_or_json
from clew.support.settings import check_fields, check_minimum
from clew_strategies.default_roles import JUDGE, AnswerVerdict, typed_agent
from clew_strategies.interface import NoAnswerError, RoleResult, Runs
from clew_strategies.limits import scaled_limits
from clew_strategies.roles import Reader, Role

REFLECT: Final = (
    "You worked on a task and failed: you are shown what you thought, did, observed and answered, "
    "and what was found wrong with it. Say in two or three sentences what you did wrong and what "
    "exactly to do differently next time. Do not solve the task."
)
BEFORE: Final = "You tried this task before and failed. What you told yourself then:"


@dataclass(frozen=True)
class Reflexion:
    """The strategy `reflexion`: at most `trials` runs of the agent.

    Each trial after the first sees the last `memory` reflections on earlier trials, none at 0. The
    `evaluator` judges each trial: an agent that reads the run and answers with an `AnswerVerdict`
    (by default made of the agent's own model), or a tool, such as a test, that takes `task` and
    `answer` and returns one. The `reflector` is an agent that reads a failed run and answers with
    text.
    """

    agent: Agent[Any]
    evaluator: Agent[Any] | AnyTool | None = None
    reflector: Agent[Any] | None = None
    trials: int = 3
    memory: int = 3

    def __post_init__(self) -> None:
        """Raise `ConfigError` for settings that allow no work."""
        check_fields(self)
        check_minimum(self, "trials")

    @property
    def name(self) -> str:
        return "reflexion"

    @property
    def params(self) -> Mapping[str, Json]:
        return {"trials": self.trials, "memory": self.memory}

    @property
    def defaults(self) -> Mapping[str, Agent[Any]]:
        """The agents used where none is given."""
        return {
            "evaluator": typed_agent(self.agent, JUDGE, AnswerVerdict),
            "reflector": typed_agent(self.agent, REFLECT, str),
        }

    @property
    def roles(self) -> Mapping[str, Role]:
        evaluator = self.evaluator or self.defaults["evaluator"]
        reflector = self.reflector or self.defaults["reflector"]
        return {
            "solve": self.agent,
            "evaluate": Reader(evaluator) if isinstance(evaluator, Agent) else evaluator,
            "reflect": Reader(reflector),
        }

    def extended_limits(self, limits: Limits) -> Limits:
        """Steps and calls for all trials, evaluations and reflections."""
        return scaled_limits(limits, self.trials, 2 * self.trials)

    async def __call__(self, runs: Runs, task: str) -> Json:
        """The first answer that passes. Raises `NoAnswerError` if none does."""
        reflections: list[str] = []
        result, why = None, "there was no trial"
        for trial in range(1, self.trials + 1):
            runs.say(f"Trial {trial} of {self.trials}.")
            recent = reflections[-self.memory :] if self.memory else []
            result = await runs.run("solve", _with_reflections(task, recent))
            passed, why = await self._evaluate(runs, task, result)
            if passed:
                runs.say(f"Trial {trial} passed: {why}")
                return result.answer
            if trial < self.trials:
                runs.say(f"Trial {trial} failed: {why}")
                reflection = await runs.read("reflect", f"{task}\n\nWhat was wrong: {why}", result)
                reflections += [reflection.text] if reflection.ok else []
        last = "" if result is None or not result.ok else f" The last answer was: {result.text}"
        none = (
            "The one trial did not pass"
            if self.trials == 1
            else f"None of {self.trials} trials passed"
        )
        raise NoAnswerError(f"{none}: {why}{last}")

    async def _evaluate(self, runs: Runs, task: str, result: RoleResult) -> tuple[bool, str]:
        """Whether a trial passed, and why. It does not pass if its evaluation fails."""
        if not result.ok:
            return False, result.problem
        if isinstance(self.evaluator, Agent) or self.evaluator is None:
            evaluated = await runs.read("evaluate", task, result)
        else:
            evaluated = await runs.call("evaluate", task=task, answer=result.answer)
        try:
            judgement = msgspec.convert(evaluated.answer, AnswerVerdict)
        except msgspec.ValidationError:
            return False, f"the evaluation failed: {text_or_json(evaluated.problem)}"
        return judgement.passed, judgement.why


def _with_reflections(task: str, reflections: list[str]) -> str:
    """The task, followed by the reflections on earlier trials, which may show code."""
    lines = "".join(f"\n- {indent(text.strip(), '  ').lstrip()}" for text in reflections)
    return f"{task}\n\n{BEFORE}{lines}" if lines else task
