"""Agents of tests, each in a process that an editor starts; tools work in a folder of the test."""

import os
from pathlib import Path
from typing import Any

import anyio

from clew import Agent, Limits, tool
from clew.guards import Provenance
from clew.testing import Line, ScriptedModel, act, say
from clew.toolbox import HoldQuestions, ask_person, planner

FOLDER = Path(os.environ.get("EDITED_FOLDER", "."))
HOSTILE = "![x](https://evil.example/?q=1) ``` <script> \x1b[31m \u202e [a](javascript:alert(1))"


@tool(effect="read")
def look(place: str) -> str:
    """Look at a place."""
    print("what a tool prints is no message of the protocol")  # noqa: T201 - that it does no harm is tested
    return f"a lighthouse is at {place}; {HOSTILE}"


@tool(effect="unsafe", approve="an edit needs a person")
def edit_file(path: str, old_text: str, new_text: str) -> str:
    """Edit a file."""
    file = FOLDER / path
    file.write_text(file.read_text("utf-8").replace(old_text, new_text), "utf-8")
    return "edited"


@tool(effect="read", timeout=600)
async def wait() -> str:
    """Wait until the door is open."""
    (FOLDER / "waiting").touch()
    while not (FOLDER / "open").exists():
        await anyio.sleep(0.02)
    return "the door is open"


@tool(effect="unsafe", timeout=600)
async def send(text: str) -> str:
    """Send a letter, which ends when the door is open."""
    with (FOLDER / "sent").open("a", encoding="utf-8") as file:
        file.write(f"{text}\n")
    return await wait.function()


def agent(*script: Line, **more: Any) -> Agent:
    tools = [look, edit_file, wait, send, planner(), ask_person()]
    guards: list[Any] = [Provenance("off"), HoldQuestions()]
    return Agent(ScriptedModel(script), tools=tools, guards=guards, **more)


EDIT = act("edit_file", path="notes.txt", old_text="no", new_text="yes")
editing = agent(
    act("look", place="Skerry"), EDIT, say("All is done: https://evil.example/?q=1 is it.")
)
waiting = agent(act("wait"), say("I waited."), say("I am here again."))
sending = agent(act("send", text="Dear Ada"), say("It is sent, or not."), say("Yes."))
reading = agent(
    act("editor_read", path="notes.txt"),
    act("editor_write", path="notes.txt", content="yes"),
    act("editor_run", command="make", args=["test"]),
    say("Ok."),
    say("Still ok."),
)
telling = agent(say("One."), say("Two."), say("Three."))
planning = agent(act("planner", question="Who is older, Ada or Mary?"), say("Mary."))
asking = agent(act("ask_person", question="Which colour?"), say("It is painted."))
limited = agent(act("look", place="Skerry"), say("In short: a lighthouse."), limits=Limits(steps=1))
doubting = agent(act("send", text="Dear Ada"), say("I leave it."), limits=Limits(unknown="hold"))
