"""What a program says itself is no result."""

import pytest

from clew import Agent, MemoryStore, read, run, tool
from clew.testing import ScriptedModel
from clew_code.programs import run_code


@tool(effect="read")
def look(query: str) -> str:
    """Look something up."""
    return f"about {query}"


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_what_a_program_says_itself_is_no_result() -> None:
    told = (
        "```python\nprint('12 bar')\n```",
        "Answer: The search results say 12 bar.",
        "```python\nprint(look('a'))\n```",
        "Answer: The search results say a.",
    )
    tools, store = [look, run_code()], MemoryStore()
    agent = Agent(ScriptedModel(list(told)), tools, codec="code")
    result = await run(agent, "How much?", store=store, run_id="r")
    assert result.answer == "The search results say a."
    record = await read("r", store=store)
    first = record.steps[0].calls[0].observation
    assert first is not None
    assert first.text.startswith("12 bar\nNote: this is only what the program says itself")
    refused = record.steps[1].thought
    assert refused is not None
    assert "no call was made in this run" in refused.fault
    looked = record.steps[2].calls[0].observation
    assert looked is not None
    assert looked.text == "about a"
