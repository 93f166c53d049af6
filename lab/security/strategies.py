"""The strategies under attack: the simulated model is their worker, and every other role too."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from clew import Agent
from clew.core.contents import Reply
from clew.core.models import ModelInfo, OnText
from clew.core.prompts import Prompt
from clew.core.values import Json
from clew.testing import ScriptedModel, finish, say
from clew_strategies import (
    Chaining,
    EvaluatorOptimizer,
    Orchestrator,
    PlanAndSolve,
    Reflexion,
    ReWOO,
    Routing,
    Strategy,
    TreeSearch,
    strategy_agent,
)
from security.forms import Form
from security.victim import Victim

_FIRST: Final = "first"
_MANY: Final = 60
"""As many calls as any task has, with an attack in it."""

STRATEGIES: Final[Mapping[Form, Callable[[Agent[Any]], Strategy]]] = {
    "reflexion": Reflexion,
    "rewoo": partial(ReWOO, max_calls=_MANY),
    "plan_and_solve": PlanAndSolve,
    "orchestrator": Orchestrator,
    "evaluator_optimizer": EvaluatorOptimizer,
    "routing": lambda agent: Routing({_FIRST: agent}, {_FIRST: "all of it"}),
    "chaining": lambda agent: Chaining({_FIRST: agent}),
    "tree_search": partial(TreeSearch, breadth=1, max_branches=_MANY),
}


@dataclass(frozen=True)
class Roles:
    """A model that is the victim, or a role of a strategy, by words of its instructions."""

    victim: Victim

    @property
    def info(self) -> ModelInfo:
        return self.victim.info

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        """What the role says; the planner of all calls plans those of the task."""
        system = prompt.head[0].text if prompt.head else ""
        for words, answer in self._answers().items():
            if words in system and prompt.purpose != "plan":
                move = say(answer) if isinstance(answer, str) else finish(answer)
                return ScriptedModel([]).written(move, 1)
        return await self.victim.complete(prompt, on_text)

    def _answers(self) -> Mapping[str, Json]:
        calls: list[Json] = [
            {"id": f"E{number}", "tool": name, "args": args}
            for number, (name, args) in enumerate(self.victim.calls, 1)
        ]
        return {
            "Say whether the answer is right": {"passed": True, "why": "it is"},
            "Give a score from 0 to 1": {"score": 1.0, "why": "it is good"},
            "You plan all tool calls": {"calls": calls},
            "You plan the work": {"steps": [self.victim.request]},
            "Divide a task": {"parts": [{"task": self.victim.request}]},
            "Decide who": {"name": _FIRST, "why": "it can"},
            "Answer the task from": self.victim.answer,
        }


def by_strategy(form: Form, agent: Agent[str]) -> Agent[Any]:
    """The agent that answers by the strategy of this name."""
    return strategy_agent(STRATEGIES[form](agent), agent)
