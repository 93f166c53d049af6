"""Pydantic AI's `Agent`, with its own limit on requests."""

from typing import Any

from pydantic_ai import Agent, Tool, UsageLimits
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from questions import ASK, caller, serve


def answer(asked: dict[str, Any]) -> str | None:
    tools = [
        Tool.from_schema(
            caller(asked["address"], tool["name"]),
            name=tool["name"],
            description=tool["description"],
            json_schema=tool["parameters"],
        )
        for tool in asked["tools"]
    ]
    provider = OpenAIProvider(base_url=f"{asked['address']}/v1", api_key="none")
    agent = Agent(
        OpenAIChatModel("local", provider=provider),
        instructions=ASK,
        tools=tools,
        model_settings={"temperature": 0.0, "max_tokens": asked["tokens"]},
    )
    limits = UsageLimits(request_limit=asked["steps"])
    return str(agent.run_sync(asked["question"], usage_limits=limits).output)


serve(answer)
