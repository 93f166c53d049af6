"""Agents, tools and stores of the tests of streams."""

from collections.abc import Sequence
from typing import Any

import anyio

from clew import Agent, Entry, Nested, Tool, delegate
from clew.guards import Provenance
from clew.testing import ScriptedModel, act, say

NONE = {"type": "object", "properties": {}, "additionalProperties": False}


class Gate:
    """A tool that waits until it is let go, with an effect that is counted."""

    def __init__(self, name: str = "pay", effect: Any = "unsafe") -> None:
        self.begun, self.go, self.calls = anyio.Event(), anyio.Event(), 0

        async def call(args: dict[str, Any], key: str) -> str:
            del args, key
            self.begun.set()
            await self.go.wait()
            self.calls += 1
            return "paid"

        self.tool = Tool(name, "Pay it back.", NONE, call, effect=effect)


def agent(*script: Any, tools: Sequence[Any] = (), **more: Any) -> Agent:
    """An agent that follows a script."""
    return Agent(ScriptedModel(script), tools=tools, guards=[Provenance("off")], **more)


def paying(gate: Gate) -> Agent:
    """An agent that pays, and says so."""
    return agent(act(gate.tool.name), say("It is paid."), tools=[gate.tool])


def look_up() -> Tool:
    """A tool that looks something up."""

    async def call(args: dict[str, Any], key: str) -> str:
        del args, key
        return "found"

    return Tool("look", "Look it up.", NONE, call, effect="read")


def family() -> Agent:
    """An agent that delegates twice, the second time to one that delegates too."""
    child = agent(act("look"), say("It is there."), tools=[look_up()])
    other = delegate(child, name="ask", description="Ask.")
    middle = agent(act("ask", task="Where?"), say("There."), tools=[other])
    return agent(
        act("ask", task="Where is it?"),
        act("hand_on", task="Where else?"),
        say("Everywhere."),
        tools=[other, delegate(middle, name="hand_on", description="Hand on.")],
    )


def numbered(items: Sequence[object]) -> list[tuple[tuple[str, ...], int]]:
    """Which entries of which runs these are."""
    places = []
    for item in items:
        path, inner = (item.path, item.item) if isinstance(item, Nested) else ((), item)
        if isinstance(inner, Entry):
            places.append((path, inner.seq))
    return places
