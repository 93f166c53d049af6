"""An agent whose process ends itself by SIGKILL at an append to its store, before or after it.

`KILLED_AT` counts the appends of the process from 1 (0: never); `KILLED` is "before" or "after".
Effects are lines of the file `effects` in the test's folder.
"""

import os
import signal
from pathlib import Path
from typing import Any

from clew import Agent, RunContext, open_store, tool
from clew.guards import Provenance
from clew.testing import ScriptedModel, act, say

FOLDER = Path(os.environ.get("EDITED_FOLDER", "."))


class Killing:
    """A store that ends the process at an append."""

    def __init__(self, store: Any, at: int, when: str) -> None:
        self._store, self._left, self._when = store, at, when

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def append(self, append: Any) -> Any:
        self._left -= 1
        if not self._left and self._when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        appended = await self._store.append(append)
        if not self._left:
            os.kill(os.getpid(), signal.SIGKILL)
        return appended


def happen(effect: str) -> str:
    with (FOLDER / "effects").open("a", encoding="utf-8") as file:
        file.write(f"{effect}\n")
    return "done"


@tool(effect="unsafe", approve="an edit needs a person")
def edit(text: str) -> str:
    """Edit."""
    return happen(f"edit {text}")


@tool(effect="unsafe")
def send(text: str) -> str:
    """Send."""
    return happen(f"send {text}")


@tool(effect="idempotent")
def put(text: str, ctx: RunContext) -> str:
    """Put."""
    done = FOLDER / "effects"
    known = done.read_text("utf-8") if done.exists() else ""
    return "done" if ctx.key in known else happen(f"put {text} {ctx.key}")


store: Any = Killing(
    open_store(str(FOLDER / "runs.sqlite")),
    int(os.environ.get("KILLED_AT", "0")), os.environ.get("KILLED", "after"),
)  # fmt: skip
agent = Agent(
    ScriptedModel([
        act("send", text="a"), act("edit", text="b"), act("put", text="c"), say("All is done."),
        say("Nothing is left to do."),
    ]),
    tools=[edit, send, put], guards=[Provenance("off")], store=store,
)  # fmt: skip
