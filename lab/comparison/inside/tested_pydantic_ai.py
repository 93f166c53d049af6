"""Tests of the research script in Pydantic AI, and its evaluation with Pydantic Evals."""

import json
from dataclasses import dataclass

from library import PEOPLE
from pydantic_ai import ModelMessage, ModelResponse, RunUsage, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_evals import Case, Dataset
from pydantic_evals.evaluators import Contains
from research_pydantic_ai import research

# --- begins

RIGHT = "Rome has 2.8 million people [Rome]."


@dataclass
class Script:
    answers: list[str]

    def __call__(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        if len(messages) == 1:
            return ModelResponse([ToolCallPart("look_up", {"city": each}) for each in PEOPLE])
        return ModelResponse([TextPart(self.answers.pop(0))])


def test_looks_five_up() -> None:
    with research.override(model=FunctionModel(Script([RIGHT]))):
        done = research.run_sync("Which is the largest?")
    replies = [each for each in done.all_messages() if isinstance(each, ModelResponse)]
    cities = [call.args_as_dict()["city"] for each in replies for call in each.tool_calls]
    assert cities == [*PEOPLE]


def test_sends_an_invented_source_back() -> None:
    script = Script(["Rome has 2.8 million people [Atlantis].", RIGHT])
    with research.override(model=FunctionModel(script)):
        assert research.run_sync("How big is Rome?").output == RIGHT


CASES = [Case(name=f"{n}", inputs=f"Case {n}: compare the capitals.") for n in range(6)]

if __name__ == "__main__":
    usage = RunUsage()

    async def task(question: str) -> str:
        return (await research.run(question, usage=usage)).output

    dataset = Dataset(name="capitals", cases=CASES, evaluators=[Contains("2.0")])
    report = dataset.evaluate_sync(task, max_concurrency=1, progress=False)
    right = sum(each.assertions["Contains"].value for each in report.cases)
    print(json.dumps([right / len(CASES), len(report.failures), float(usage.cost or 0)]))
