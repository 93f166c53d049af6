"""What came of the task is said in programs and in declared commands too."""

from typing import Any

import pytest

from clew import Agent, MemoryStore, replay, run, tool
from clew.guards import Provenance
from clew.interfaces import Reply
from clew.testing import ScriptedModel
from clew_code.codec.commands import Command, Commands

COMMANDS = Commands((Command("edit", "EDIT {path}"),), dialect="test")


@tool
def edit(path: str) -> str:
    """Edit a file."""
    return f"edited {path}"


@tool(effect="read")
def look(path: str) -> str:
    """Look at a file."""
    return f"{path} is empty"


FORMATS: dict[str, tuple[Any, str, str, str]] = {
    "code": (
        "code",
        'Thought: Go.\n```python\nedit("a")\n```',
        'Thought: Go.\n```python\nlook("a")\n```',
        'Thought: End.\n```python\nfinish(answer="So.", outcome="{}")\n```',
    ),
    "commands": (
        COMMANDS,
        '@edit {"path": "a"}',
        '@look {"path": "a"}',
        '@finish {{"answer": "So.", "outcome": "{}"}}',
    ),
}


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize(
    ("acts", "outcome", "status", "contradicted"),
    [
        (True, "done", "answered", False),
        (False, "not_done", "answered", False),
        (False, "not_found", "declined", False),
        (False, "done", "answered", True),
    ],
)
async def test_it_is_told_and_read(
    name: str, acts: bool, outcome: str, status: str, *, contradicted: bool
) -> None:
    codec, edits, looks, ends = FORMATS[name]
    script = [Reply(edits if acts else looks), *[Reply(ends.format(outcome))] * 2]
    model = ScriptedModel(script)
    agent = Agent(model, [edit, look], codec=codec, guards=[Provenance("off")])
    store = MemoryStore()
    result = await run(agent, "See to it.", store=store)
    assert (result.status, result.outcome, result.contradicted) == (status, outcome, contradicted)
    assert agent.parts.first_prompt.head[0].text.count("not_found") >= 1
    await replay(agent, result.run_id, store=store)
