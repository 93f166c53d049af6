"""What the tests of the workspace share: calls of its tools, in runs and without."""

from pathlib import Path
from typing import Any

from clew import Agent, Limits, MemoryStore, Observation, Tool, read, run
from clew.testing import ScriptedModel, finish
from clew_code.workspace import workspace_tools

STORE = MemoryStore()


def tools_of(root: Path, **settings: Any) -> dict[str, Tool]:
    """The tools of a folder, by name."""
    return {tool.name: tool for tool in workspace_tools(root, **settings)}


async def ran(root: Path, *moves: Any, **settings: Any) -> list[Observation]:
    """What each call of a run came to."""
    limits = Limits(steps=len(moves) + 2, tool_calls=len(moves) + 2)
    agent = Agent(
        model=ScriptedModel([*moves, finish("Done.")]),
        tools=workspace_tools(root, **settings),
        limits=limits,
    )
    result = await run(agent, "Work in the folder.", store=STORE)
    assert result.status == "answered", result.reason
    record = await read(result.run_id, store=STORE)
    return [call.observation for call in record.calls[:-1] if call.observation is not None]


def without_remark(text: str) -> str:
    """The text of a search, without the line on what it left out."""
    *lines, last = text.split("\n")
    return "\n".join(lines) if last.startswith("[looked at ") else text


async def one(root: Path, move: Any, **settings: Any) -> Observation:
    """What one call came to."""
    (seen,) = await ran(root, move, **settings)
    return seen
