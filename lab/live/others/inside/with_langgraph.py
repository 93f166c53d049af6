"""LangChain's `create_agent`, which runs on LangGraph, with its own limit on steps."""

from typing import Any

from langchain.agents import create_agent
from langchain_core.tools import StructuredTool
from langchain_openai import ChatOpenAI
from questions import ASK, caller, serve


def answer(asked: dict[str, Any]) -> str | None:
    tools = [
        StructuredTool(
            name=tool["name"],
            description=tool["description"],
            args_schema=tool["parameters"],
            func=caller(asked["address"], tool["name"]),
        )
        for tool in asked["tools"]
    ]
    model = ChatOpenAI(
        model="local",
        base_url=f"{asked['address']}/v1",
        api_key="none",
        temperature=0.0,
        max_tokens=asked["tokens"],
        timeout=3_600,
    )
    agent = create_agent(model, tools, system_prompt=ASK)
    # A step is two of its graph's: the model, then its tools.
    results = agent.invoke(
        {"messages": [("user", asked["question"])]}, {"recursion_limit": 2 * asked["steps"] + 1}
    )
    return str(results["messages"][-1].text)


serve(answer)
