"""Pydantic AI's `Agent` with the compaction of `pydantic-ai-harness`, by its own examples."""

import json
import sys
from typing import Any

from pydantic_ai import Agent, UsageLimits
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai_harness.compaction import (
    ClearToolResults,
    SlidingWindowCompaction,
    SummarizingCompaction,
    TieredCompaction,
)


def capability(form: str, window: int) -> Any:
    if form == "summary":
        return SummarizingCompaction(max_fraction=0.9, keep_messages=20, context_window=window)
    if form == "sliding":
        return SlidingWindowCompaction(max_fraction=0.9, keep_messages=20, context_window=window)
    tiers = [ClearToolResults(max_tokens=1), SummarizingCompaction(max_messages=1)]
    return TieredCompaction(tiers=tiers, target_fraction=0.8, context_window=window)


def answer(asked: dict[str, Any]) -> str:
    pages = asked["pages"]

    def page(number: int) -> str:
        """Read a page of the harbour's book."""
        return str(pages[number - 1])

    provider = OpenAIProvider(base_url=asked["address"], api_key="none")
    agent = Agent(
        OpenAIChatModel("local", provider=provider),
        instructions="Read.",
        tools=[page],
        capabilities=[capability(asked["form"], asked["window"])],
    )
    limits = UsageLimits(request_limit=10_000)
    return str(agent.run_sync(asked["question"], usage_limits=limits).output)


print(json.dumps(answer(json.loads(sys.stdin.readline()))))
