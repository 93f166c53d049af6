"""Deps in programs of a model, in the runs of a vote and of a strategy."""

from typing import Any

from clew import Agent, MemoryStore, RunContext, read, run, tool
from clew.deps import RunIdentity
from clew.testing import ScriptedModel, say
from clew_code.programs import run_code
from clew_strategies import vote

REPLY = """I add them up.
```python
print(sum(price(item) for item in ["bread", "milk"]))
```"""


@tool(effect="read")
def price(item: str, ctx: RunContext[dict[str, int]]) -> int:
    """Look up what an item costs, in cents."""
    return ctx.deps[item]


async def test_calls_of_a_program_have_them() -> None:
    model = ScriptedModel([REPLY, "Answer: 430"])
    coder: Agent[str, Any] = Agent(model, tools=[price, run_code()], codec="code")
    prices = {"bread": 320, "milk": 110}
    result = await run(coder, "What do they cost?", store=(store := MemoryStore()), deps=prices)
    record = await read(result.run_id, store=store)
    seen = [call.observation.content for call in record.call("1.1").asked if call.observation]
    assert seen == [320, 110]


async def test_the_runs_of_a_vote_share_what_is_made_for_the_whole() -> None:
    made: list[str] = []

    def make(run: RunIdentity) -> dict[str, int]:
        made.append(run.run_id)
        return {}

    agent = Agent(ScriptedModel([say("42")]), tools=[price], deps=make)
    voted = await vote(agent, "?", 3, store=MemoryStore(), run_id="v")
    assert voted.answer == "42"
    assert made == ["v"]
