"""Evaluator and optimizer: one agent answers, another says what is missing, the first improves it.

Self-Refine, Madaan et al., arXiv 2303.17651; here the feedback comes from a separate agent. Unlike
Reflexion, each further round improves the last answer instead of starting over.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from clew import Agent, Limits
from clew.interfaces import Json
from clew.support.settings import check_fields, check_minimum
from clew_strategies.default_roles import JUDGE, AnswerVerdict, typed_agent
from clew_strategies.interface import NoAnswerError, Runs
from clew_strategies.limits import scaled_limits
from clew_strategies.roles import Reader, Role

AGAIN: Final = (
    "{task}\n\nAn earlier answer was:\n{answer}\n\nWhat is wrong with it or missing: {why}\n"
    "Give a better answer. Keep what is right."
)


@dataclass(frozen=True)
class EvaluatorOptimizer:
    """The strategy `evaluator_optimizer`: an answer, improved until the evaluator passes it.

    There are at most `rounds` answers. The last one counts whether it passed or not; the record
    says which. The `evaluator` is an agent that reads the run and answers with a `AnswerVerdict`.
    """

    agent: Agent[Any]
    evaluator: Agent[Any] | None = None
    rounds: int = 3

    def __post_init__(self) -> None:
        """Raise `ConfigError` for settings that allow no work."""
        check_fields(self)
        check_minimum(self, "rounds")

    @property
    def name(self) -> str:
        return "evaluator_optimizer"

    @property
    def params(self) -> Mapping[str, Json]:
        return {"rounds": self.rounds}

    @property
    def defaults(self) -> Mapping[str, Agent[Any]]:
        """The agents used where none is given."""
        return {"evaluator": typed_agent(self.agent, JUDGE, AnswerVerdict)}

    @property
    def roles(self) -> Mapping[str, Role]:
        evaluator = self.evaluator or self.defaults["evaluator"]
        return {"answer": self.agent, "evaluate": Reader(evaluator)}

    def extended_limits(self, limits: Limits) -> Limits:
        """Steps and calls for all rounds."""
        return scaled_limits(limits, self.rounds, self.rounds)

    async def __call__(self, runs: Runs, task: str) -> Json:
        """The last answer. Raises `NoAnswerError` if there is none."""
        best, goal = None, task
        for number in range(1, self.rounds + 1):
            runs.say(f"Answer {number} of at most {self.rounds}.")
            result = await runs.run("answer", goal)
            if not result.ok:
                if best is None:
                    raise NoAnswerError(result.problem)
                runs.say(f"Answer {number} failed: the one before it counts.")
                return best.answer
            best = result
            if number == self.rounds:
                runs.say("The last answer, which nobody judged.")
                break
            evaluated = await runs.read("evaluate", task, result)
            judgement = msgspec.convert(evaluated.answer, AnswerVerdict) if evaluated.ok else None
            if judgement is None or judgement.passed:
                why = evaluated.problem if judgement is None else judgement.why
                runs.say(f"{'Not judged' if judgement is None else 'Passed'}: {why}")
                break
            runs.say(f"Not yet: {judgement.why}")
            goal = AGAIN.format(task=task, answer=result.text, why=judgement.why)
        return None if best is None else best.answer
