"""Agents for servers in processes of their own; a tool waits for a file that the test makes."""

import os
from pathlib import Path

import anyio

from clew import Agent, tool
from clew.testing import ScriptedModel, act, finish

FOLDER = Path(os.environ.get("SERVED_FOLDER", "."))


@tool(effect="read")
async def wait() -> str:
    """Wait until the door is open."""
    (FOLDER / "waiting").touch()
    while not (FOLDER / "open").exists():
        await anyio.sleep(0.02)
    return "the door is open"


@tool(effect="unsafe")
def send(text: str) -> str:
    """Send a letter."""
    with (FOLDER / "sent").open("a", encoding="utf-8") as file:
        file.write(f"{text}\n")
    return "sent"


SCRIPT = (act("send", text="Dear Ada"), act("wait"), finish("It is sent."))

keeper = Agent(ScriptedModel(SCRIPT, tools=[wait, send]), tools=[wait, send])
