"""A server whose agents play scripts: `python -m benchmarks.viewers.crowd_server FOLDER`.

It prints the link to itself. Each letter that is sent is a line of the file `sent` in the folder.
"""

import asyncio
import sys
from pathlib import Path

from clew import Agent, Call, Trajectory, Verdict, tool
from clew.guards import Provenance
from clew.testing import ScriptedModel, act, finish
from clew_serve import ServeConfig, serve

AT_ONCE = 50
"""So many runs are executed at once."""


async def hold_letters(call: Call, trajectory: Trajectory) -> Verdict | None:
    """Every letter needs a person."""
    del trajectory
    return Verdict("hold", "letters need a person") if call.action.name == "send" else None


def writer(folder: Path) -> Agent:
    """An agent that looks twice, writes a letter, which is held, and looks once more."""

    @tool(effect="read")
    async def look(number: int) -> str:
        """Look."""
        return f"{number} is here " * 20

    @tool(effect="unsafe")
    def send(text: str) -> str:
        """Send a letter."""
        with (folder / "sent").open("a", encoding="utf-8") as file:
            file.write(f"{text}\n")
        return "sent"

    script = [act("look", number=1), act("look", number=2), act("send", text="Dear Ada"),
              act("look", number=3), finish("It is sent.")]  # fmt: skip
    tools = [look, send]
    model = ScriptedModel(script, tools=tools)
    return Agent(model, tools=tools, guards=[hold_letters, Provenance("off")])


async def main(folder: Path) -> None:
    """Serve until the process is ended."""
    config = ServeConfig(
        store=str(folder / "crowd.sqlite"), port=0, at_once=AT_ONCE,
        agents={"writer": writer(folder)}, max_connections=2_000,
    )  # fmt: skip
    await serve(config, on_ready=lambda link: print(link, flush=True))


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
