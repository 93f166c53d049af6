"""Evaluator and optimizer: one agent answers, another says what is missing, the first improves it.

Self-Refine, Madaan et al., arXiv 2303.17651; here the feedback comes from an agent of its own.
Unlike Reflexion, a further round works on the last answer and does not begin the task anew.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import msgspec

from clew.core.agent import Agent
from clew.core.events import Json
from clew.guards.limits import Limits
from clew.strategies.program import NoAnswerError, Runs
from clew.strategies.reflexion import JUDGE, Judgement, asking
from clew.strategies.roles import Reads, Role
from clew.strategies.room import room

AGAIN: Final = (
    "{task}\n\nAn earlier answer was:\n{answer}\n\nWhat is wrong with it or missing: {why}\n"
    "Give a better answer. Keep what is right."
)


@dataclass(frozen=True)
class EvaluatorOptimizer:
    """The strategy `evaluator_optimizer`: an answer, improved until the evaluator passes it.

    At most `rounds` answers are given; the last one counts, passed or not, and the record says
    which. The `evaluator` is an agent that reads the run and answers with a `Judgement`.
    """

    agent: Agent
    evaluator: Agent | None = None
    rounds: int = 3

    @property
    def name(self) -> str:
        return "evaluator_optimizer"

    @property
    def params(self) -> Mapping[str, Json]:
        return {"rounds": self.rounds}

    @property
    def defaults(self) -> Mapping[str, Agent]:
        """Who does what nobody else was given for."""
        return {"evaluator": asking(self.agent, JUDGE, Judgement)}

    @property
    def roles(self) -> Mapping[str, Role]:
        evaluator = self.evaluator or self.defaults["evaluator"]
        return {"answer": self.agent, "evaluate": Reads(evaluator)}

    def widened(self, limits: Limits) -> Limits:
        """Room for all rounds."""
        return room(limits, self.rounds, self.rounds)

    async def __call__(self, runs: Runs, task: str) -> Json:
        """The last answer. Raises `NoAnswerError` where there was none."""
        best, goal = None, task
        for number in range(1, self.rounds + 1):
            runs.say(f"Answer {number} of at most {self.rounds}.")
            found = await runs.run("answer", goal)
            if not found.ok:
                if best is None:
                    raise NoAnswerError(found.text)
                runs.say(f"Answer {number} failed: the one before it counts.")
                return best.answer
            best = found
            if number == self.rounds:
                runs.say("The last answer, which nobody judged.")
                break
            said = await runs.read("evaluate", task, found)
            judgement = msgspec.convert(said.answer, Judgement) if said.ok else None
            if judgement is None or judgement.passed:
                why = said.text if judgement is None else judgement.why
                runs.say(f"{'Not judged' if judgement is None else 'Passed'}: {why}")
                break
            runs.say(f"Not yet: {judgement.why}")
            goal = AGAIN.format(task=task, answer=found.text, why=judgement.why)
        return None if best is None else best.answer
