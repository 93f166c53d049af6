"""Beside an answer stands what the record says was done, whatever the answer says."""

from typing import Any

import pytest

from clew import Agent, MemoryStore, Result, Tool, ToolError, Verdict, delegate, run, tool
from clew.testing.models import ScriptedModel, act, acts, finish, say


@tool
def edit(path: str) -> str:
    """Edit a file."""
    if path == "locked":
        raise ToolError("it is locked")
    if path == "lost":
        raise OSError("the disk went away")
    return "edited"


@tool(effect="read")
def look(path: str) -> str:
    """Look at a file."""
    if path == "gone":
        raise ToolError("it is not there")
    return "text"


@tool(effect="pure")
def double(number: int) -> int:
    """Double a number."""
    return 2 * number


def deny(call: Any, _record: Any) -> Verdict | None:
    return Verdict("deny", "not that one") if call.args.get("path") == "secret" else None


async def ended(*script: Any, tools: list[Tool]) -> Result:
    agent = Agent(ScriptedModel(script, plan=None), tools, guards=[deny])
    return await run(agent, "Do it.", store=MemoryStore())


@pytest.mark.parametrize(
    ("script", "line"),
    [
        ([say("It was deleted.")], "nothing was looked at or changed"),
        ([act("look", path="a"), say("It has the right content.")], "nothing was changed"),
        (
            [act("look", path="gone"), say("It is not there.")],
            "nothing was changed; nothing was read: look failed 1 of 1 time",
        ),
        (
            [act("edit", path="locked"), act("edit", path="secret"), say("Done.")],
            "nothing was changed: edit failed 2 of 2 times",
        ),
        ([act("edit", path="a"), act("edit", path="b"), say("Done.")], "changed: edit 2 times"),
        (
            [acts(act("edit", path="a"), act("edit", path="locked")), say("Done.")],
            "changed: edit 1 time; edit failed 1 of 2 times",
        ),
        ([act("edit", path="lost"), say("Done.")], "unknown whether it happened: edit 1 time"),
    ],
)
async def test_an_agent_that_acts_is_shown_beside_what_it_did(script: Any, line: str) -> None:
    result = await ended(*script, tools=[edit, look])
    assert result.ok
    assert result.work.line == line
    assert result.to_json()["work"]["line"] == line


@pytest.mark.parametrize(
    ("script", "tools", "line"),
    [
        ([say("Not found.")], [look], "nothing was looked at"),
        ([act("look", path="a"), say("Found.")], [look], ""),
        ([say("Done.")], [edit], "nothing was changed"),
        ([say("Four.")], [double], ""),
        ([say("Hello.")], [], ""),
    ],
)
async def test_only_what_a_reader_should_know_is_said(
    script: Any, tools: list[Tool], line: str
) -> None:
    assert (await ended(*script, tools=tools)).work.line == line


async def test_what_was_delegated_is_not_called_undone() -> None:
    below = Agent(ScriptedModel([act("edit", path="a"), say("Edited.")], plan=None), [edit])
    other = delegate(below, name="editor", description="Edits files.")
    agent = Agent(ScriptedModel([act("editor", task="edit a"), finish("Done.")]), [edit, other])
    result = await run(agent, "Edit a.", store=MemoryStore())
    assert (result.work.line, dict(result.work.delegated)) == (
        "delegated: editor 1 time",
        {"editor": 1},
    )
