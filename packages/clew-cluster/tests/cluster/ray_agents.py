"""Agents for Ray's actors, which make them for themselves: named `tests.cluster.ray_agents:name`.

Effects are written to the file that `$LEDGER` names, a line for each time one happens.
"""

import os
from dataclasses import dataclass
from pathlib import Path

import anyio

from clew import Agent, RunContext, tool
from clew.core.contents import Reply
from clew.core.models import ModelInfo, OnText
from clew.core.prompts import Prompt
from clew.core.tools import Tool
from clew.guards import Provenance
from clew.testing.models import Move, ScriptedModel, act, finish, position
from clew_mcp import mcp_tools_sync
from tests.mcp.servers import Plain


def effect(key: str) -> None:
    """Have an effect: durably enough for a killed process."""
    with Path(os.environ["LEDGER"]).open("a") as file:
        file.write(key + "\n")


@tool(effect="pure")
async def reverse(text: str) -> str:
    """Turn a text round.

    Args:
        text: The text.
    """
    return text[::-1]


@tool(effect="unsafe")
async def send(text: str, ctx: RunContext) -> str:
    """Send a letter; it takes a while, so that kills fall into it.

    Args:
        text: The letter.
    """
    effect(f"send {ctx.key}")
    await anyio.sleep(0.02)
    return f"sent {text}"


@tool(effect="idempotent")
async def put(text: str, ctx: RunContext) -> str:
    """Store a text under its key.

    Args:
        text: The text.
    """
    effect(f"put {ctx.key}")
    await anyio.sleep(0.01)
    return f"stored {text}"


@dataclass(frozen=True)
class Clerk:
    """A scripted model that says how often it was asked how it does, and answers by the goal."""

    tools: tuple[Tool, ...]
    delay: float
    info = ModelInfo("scripted:clerk", priced=True)

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        """The next line."""
        await anyio.sleep(self.delay)
        goal = prompt.head[-1].text.strip().splitlines()[-1]
        script = self._script(goal)
        return ScriptedModel(script, tools=self.tools, name=self.info.name).reply(
            prompt, position(prompt)
        )

    def _script(self, goal: str) -> list[Move]:
        if len(self.tools) == 1:
            return [act("reverse", text=goal), act("reverse", text=goal[::-1]), finish(goal[::-1])]
        return [
            act("reverse", text=goal),
            act("put", text=goal),
            act("send", text=goal),
            finish(goal[::-1]),
        ]


def asker() -> Agent:
    """Asks an MCP server, whose settings lie beside the ledger, for its process's number."""
    folder = Path(os.environ["LEDGER"]).parent
    server = Plain(folder / "plain").server(only=("pid",))
    tools = mcp_tools_sync(server, pins=folder / "plain" / "pins.json")
    return Agent(
        model=ScriptedModel([act("plain_pid"), finish("told")]),
        tools=tools,
        guards=[Provenance("off")],
    )


def reader() -> Agent:
    """Three steps without an effect."""
    return Agent(model=Clerk((reverse,), 0.0), tools=[reverse], guards=[Provenance("off")])


def clerk() -> Agent:
    """Four steps with effects."""
    tools = (reverse, put, send)
    return Agent(model=Clerk(tools, 0.02), tools=list(tools), guards=[Provenance("off")])
