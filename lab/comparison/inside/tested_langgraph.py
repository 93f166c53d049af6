"""Tests of the research script in LangGraph, and its evaluation with LangSmith's `evaluate`."""

import json
import uuid
from typing import Any

from langchain.messages import AIMessage
from langchain_core.language_models import GenericFakeChatModel
from langsmith import Client, evaluate
from langsmith.schemas import Example
from library import PEOPLE
from research_langgraph import cost, replies, research

# --- begins

RIGHT = "Rome has 2.8 million people [Rome]."
LOOK_UPS = [
    {"name": "look_up", "args": {"city": city}, "id": city, "type": "tool_call"} for city in PEOPLE
]


class Script(GenericFakeChatModel):
    def bind_tools(self, tools: Any, **how: Any) -> Any:
        return self


def ask(question: str, *answers: str) -> list[Any]:
    script = [AIMessage("", tool_calls=LOOK_UPS), *map(AIMessage, answers)]
    agent = research(model=Script(messages=iter(script)))
    return agent.invoke({"messages": [("user", question)]})["messages"]


def test_looks_five_up() -> None:
    messages = ask("Which is the largest?", RIGHT)
    cities = [call["args"]["city"] for each in replies(messages) for call in each.tool_calls]
    assert cities == [*PEOPLE]


def test_sends_an_invented_source_back() -> None:
    messages = ask("How big is Rome?", "Rome has 2.8 million people [Atlantis].", RIGHT)
    assert messages[-1].text == RIGHT


CASES = [
    Example(id=uuid.uuid4(), inputs={"question": f"Case {n}: compare the capitals."})
    for n in range(6)
]


def target(inputs: dict[str, str]) -> dict[str, Any]:
    messages = research().invoke({"messages": [("user", inputs["question"])]})["messages"]
    return {"answer": messages[-1].text, "cost": cost(messages)}


def right(outputs: dict[str, Any]) -> bool:
    return "2.0" in outputs["answer"]


if __name__ == "__main__":
    client = Client(api_key="none")
    done = [*evaluate(target, CASES, [right], client=client, upload_runs=False)]
    answered = [row["run"].outputs for row in done if not row["run"].error]
    share = sum(map(right, answered)) / len(CASES)
    spent = sum(each["cost"] for each in answered)
    print(json.dumps([share, len(done) - len(answered), spent]))
