"""Servers for tests: one written by hand, over stdio, whose tools and behaviour are in a file."""

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clew import Agent, MemoryStore, Tool, read, run
from clew.core.contents import Observation
from clew.testing.models import Move, ScriptedModel, finish
from clew_mcp import McpServer

SCRIPT = Path(__file__).with_name("plain_server.py")


def definition(name: str, *, required: tuple[str, ...] = (), **more: Any) -> dict[str, Any]:
    """The definition of a tool of the plain server."""
    properties: dict[str, Any] = {
        "text": {"type": "string"},
        "numbers": {"type": "array", "items": {"type": "number"}},
        "tokens": {"type": "integer"},
    }
    schema = {"type": "object", "properties": properties, "required": [*required]}
    return {"name": name, "description": f"The tool {name}.", "inputSchema": schema, **more}


TOTAL = {"type": "object", "properties": {"total": {"type": "number"}}, "required": ["total"]}
TOOLS = (
    definition("echo", required=("text",)),
    definition("sum", required=("numbers",), outputSchema=TOTAL),
    definition("build", execution={"taskSupport": "required"}),
    definition("unfit", outputSchema=TOTAL),
    *map(definition, ("fail", "die", "huge", "never", "slow", "order", "visit", "think", "where",
                      "grow", "hasty", "mute", "drop", "deaf", "picture", "lie", "sign_in",
                      "garbled", "noise", "pid", "env")),
)  # fmt: skip


@dataclass(frozen=True)
class Plain:
    """The plain server in a folder of its own."""

    folder: Path

    @property
    def file(self) -> Path:
        return self.folder / "server.json"

    @property
    def pins(self) -> Path:
        return self.folder / "pins.json"

    @property
    def calls(self) -> list[str]:
        """What it was called for, in order."""
        place = self.folder / "calls"
        return place.read_text().splitlines() if place.exists() else []

    @property
    def lists(self) -> int:
        """How often it was asked for its tools."""
        return len((self.folder / "lists").read_text())

    def server(self, **more: Any) -> McpServer:
        """Its settings."""
        args = (str(SCRIPT), str(self.file))
        return McpServer(**{"name": "plain", "command": sys.executable, "args": args, **more})

    def says(self, **more: Any) -> None:
        """Change what it says from now on."""
        self.file.write_text(json.dumps({**self.said, **more}))

    @property
    def said(self) -> dict[str, Any]:
        """What it says now."""
        said: dict[str, Any] = json.loads(self.file.read_text())
        return said

    def task_goes_on(self) -> None:
        """Let its tasks come to their ends."""
        (self.folder / "go").touch()


def plain_server(folder: Path, **more: Any) -> Plain:
    """A plain server whose files are in `folder`."""
    folder.mkdir(exist_ok=True)
    made = Plain(folder)
    said = {"tools": TOOLS, "log": str(folder / "calls"), **more}
    made.file.write_text(json.dumps(said))
    return made


async def seen(tools: Sequence[Tool], *moves: Move) -> list[Observation]:
    """What these calls of the tools gave."""
    store = MemoryStore()
    agent = Agent(ScriptedModel([*moves, finish("done")]), tools=tools)
    result = await run(agent, "go", store=store)
    assert result.status == "answered", result
    record = await read(result.run_id, store=store)
    return [call.observation for call in record.calls if call.observation][:-1]
