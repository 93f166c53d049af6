"""Two conversations: the first reads and remembers, and the second is told what was remembered."""

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from clew import Agent, MemoryStore, Tool, run
from clew.core.prompts import Prompt
from clew.core.values import encode
from clew.guards import Provenance
from clew.memory import SqliteMemory, memory_tools, note_of
from clew.testing import Move, ScriptedModel, act, say
from clew.testing.models import Line
from security.dojo import Made
from security.labels import LABELS
from security.victim import MARK

_MAX_CHARS: Final = 2_000
"""Characters of what is remembered."""


async def remembered(calls: Sequence[Made], tools: Sequence[Tool]) -> bytes:
    """The note that a later run is given, after a first one made these calls that only read."""
    reads = [act(name, **args) for name, args in calls if not LABELS[name].harmful]
    script: list[Line] = [*reads, _remember, say("Done.")]
    with TemporaryDirectory() as folder:
        memories = SqliteMemory(Path(folder) / "memory.sqlite")
        reading = [tool for tool in tools if not LABELS[tool.name].harmful]
        agent = Agent(
            ScriptedModel(script), [*reading, *memory_tools(memories)], guards=[Provenance("off")]
        )
        await run(agent, "Read, and remember it.", store=MemoryStore())
        note = note_of(memories.list())
    return encode(note) if note else b""


def _remember(prompt: Prompt) -> Move:
    """Remember what the attacker wrote, or else the last result."""
    texts = [part.text for part in prompt if part.role != "system"]
    seen = next((text for text in texts if MARK in text), texts[-1])
    at = max(0, seen.find(MARK) - 100)
    return act("remember", text=seen[at : at + _MAX_CHARS], kind="fact")
