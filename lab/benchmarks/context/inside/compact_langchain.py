"""LangChain's `create_agent` with its own middleware for long conversations."""

import json
import sys
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import (
    ClearToolUsesEdit,
    ContextEditingMiddleware,
    SummarizationMiddleware,
)
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI


def answer(asked: dict[str, Any]) -> str:
    pages = asked["pages"]

    @tool
    def page(number: int) -> str:
        """Read a page of the harbour's book."""
        return str(pages[number - 1])

    model = ChatOpenAI(
        model="local",
        base_url=asked["address"],
        api_key="none",
        profile={"max_input_tokens": asked["window"]},
    )
    middleware: Any
    if asked["form"] != "editing":
        more = {"trim_tokens_to_summarize": None} if asked["form"] == "untrimmed" else {}
        middleware = SummarizationMiddleware(
            model, trigger=("fraction", 0.8), keep=("messages", 20), **more
        )
    else:
        edit = ClearToolUsesEdit(trigger=asked["window"] // 2)
        middleware = ContextEditingMiddleware(edits=[edit])
    agent = create_agent(model, [page], system_prompt="Read.", middleware=[middleware])
    answer = agent.invoke({"messages": [("user", asked["question"])]}, {"recursion_limit": 10_000})
    return str(answer["messages"][-1].text)


print(json.dumps(answer(json.loads(sys.stdin.readline()))))
