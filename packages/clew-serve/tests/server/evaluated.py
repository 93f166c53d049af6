"""An evaluation of two agents, of which the one knows more than the other."""

from typing import Any

from clew import Agent
from clew.interfaces import Prompt
from clew.testing import Move, ScriptedModel, finish
from clew_evals import Case, Configuration, Plan, World, evaluate

CASES = [
    Case("sum", "2 + 2?", "4", "arithmetic"),
    Case("product", "2 * 3?", "6", "arithmetic"),
    Case("capital", "France?", "Paris", "geography"),
]
ANSWERS = {
    "careful": {"2 + 2?": "4", "2 * 3?": "6", "France?": "Rome"},
    "quick": {"2 + 2?": "4", "2 * 3?": "5", "France?": "Oslo"},
}


def knowing(answers: dict[str, str]) -> Agent[Any]:
    def reply(prompt: Prompt) -> Move:
        text = str(prompt)
        return next(finish(answer) for question, answer in answers.items() if question in text)

    return Agent(ScriptedModel([reply]))


async def evaluated(file: str) -> None:
    """Three cases by two configurations: both are right, one of them, and neither."""
    several = [Configuration(name, knowing(answers)) for name, answers in ANSWERS.items()]
    await evaluate(Plan("sums", World("cases", CASES), several), file)
