"""The research script in Pydantic AI, with the step persistence of its harness."""

import asyncio
import json
import re
import sys

import library
from pydantic_ai import (
    Agent,
    ModelResponse,
    ModelRetry,
    RunContext,
    RunUsage,
    UsageLimitExceeded,
    UsageLimits,
)
from pydantic_ai_harness import StepPersistence
from pydantic_ai_harness.step_persistence import SqliteStepStore

# --- begins

store = SqliteStepStore(database="runs.sqlite")
research = Agent(
    "openai-chat:gpt-4.1-mini",
    instructions="Answer from the library. Cite as [city].",
    capabilities=[StepPersistence(store=store)],
)


@research.tool_plain
def look_up(city: str) -> str:
    """Look a city up."""
    return library.look_up(city)


@research.output_validator
def cited(ctx: RunContext, answer: str) -> str:
    replies = [each for each in ctx.messages if isinstance(each, ModelResponse)]
    cities = {call.args_as_dict()["city"] for each in replies for call in each.tool_calls}
    if strange := set(re.findall(r"\[(.+?)\]", answer)) - cities:
        raise ModelRetry(f"nobody looked {strange} up")
    return answer


async def main(question: str) -> None:
    snapshots = [
        await store.latest_snapshot(run_id=run.run_id)
        for run in await store.list_runs(conversation_id="research")
    ]
    history = next((each.messages for each in reversed(snapshots) if each), None)
    usage = RunUsage()
    for each in history or ():
        if isinstance(each, ModelResponse):
            usage.incr(each.usage)
    try:
        done = await research.run(
            None if history else question,
            message_history=history,
            conversation_id="research",
            usage=usage,
            usage_limits=UsageLimits(cost_limit=0.01),
        )
        status, answer = "answered", done.output
    except UsageLimitExceeded as error:
        status, answer = "bound", str(error)
    print(json.dumps([status, answer, float(usage.cost or 0)]))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
