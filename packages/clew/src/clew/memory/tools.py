"""The tools by which a model remembers, and looks up what earlier runs remembered."""

from typing import Any, Final

from anyio import to_thread

from clew.core.call_context import CALL
from clew.core.codes import Trust
from clew.core.contents import Observation
from clew.core.events import Thought
from clew.core.tools import Labels, Parameters, Tool
from clew.core.trajectory import Trajectory
from clew.core.values import Json
from clew.memory.interface import Memories, MemorySource
from clew.memory.render import rendered
from clew.memory.rows import MAX_CHARS
from clew.memory.sqlite import open_memory
from clew.support.errors import ConfigError, ToolError

_REMEMBER: Final = (
    "Remember one fact or preference for later runs: a sentence that can be understood alone, with "
    "names instead of pronouns. What says the same as before is not stored twice."
)
_MEMORIES: Final = (
    "Look up what was remembered in earlier runs. Use the few words that must be there, names "
    "first."
)


def memory_tools(memories: Memories, *, k: int = 5) -> tuple[Tool, Tool]:
    """The tools `remember` and `memories`, which shows the `k` best.

    A memory leads to its run and to the thought that wrote it, and is trusted only if the run had
    read nothing untrusted. A result is untrusted if a memory in it is: so is the run from then on.
    """

    async def remember(args: dict[str, Json], key: str) -> Observation:
        source, trust = _origin(None if (made := CALL.get()) is None else made.record)

        def work() -> Observation:
            made = memories.add(args["text"], kind=args["kind"], trust=trust, source=source)
            return Observation(content=f"remembered as {made.id}", trust="trusted")

        try:
            return await to_thread.run_sync(work)
        except ConfigError as error:
            raise ToolError(str(error)) from error

    async def look_up(args: dict[str, Json], key: str) -> Observation:
        results = await to_thread.run_sync(memories.search, args["query"], k)
        trust: Trust = "trusted" if all(it.trust == "trusted" for it in results) else "untrusted"
        text = rendered(results) or "no memory fits: try other words for the same thing"
        return Observation(content=text, trust=trust)

    return (
        Tool(
            "remember",
            _REMEMBER,
            _TEXT,
            remember,
            effect="idempotent",
            trust="trusted",
            labels=Labels(content=("text",)),
        ),
        Tool("memories", _MEMORIES, _QUERY, look_up, effect="read", trust="trusted"),
    )


def tools_of(file: str) -> tuple[Tool, Tool]:
    """The same tools for a file of memories, which is made if it is missing."""
    return memory_tools(open_memory(file))


_TEXT: Final[Parameters] = {
    "type": "object",
    "properties": {
        "text": {"type": "string", "minLength": 1, "maxLength": MAX_CHARS},
        "kind": {
            "type": "string",
            "enum": ["fact", "preference"],
            "description": "What is the case, or how the person wants things done",
        },
    },
    "required": ["text", "kind"],
    "additionalProperties": False,
}
_QUERY: Final[Parameters] = {
    "type": "object",
    "properties": {"query": {"type": "string", "minLength": 1, "maxLength": 1_000}},
    "required": ["query"],
    "additionalProperties": False,
}


def _origin(trajectory: Trajectory | None) -> tuple[MemorySource, Trust]:
    """Where a memory comes from that is made now, and how far that can be trusted."""
    if trajectory is None:
        return MemorySource(by="remember"), "untrusted"
    thoughts: Any = (it.seq for it in reversed(trajectory.entries) if isinstance(it.event, Thought))
    return MemorySource(run=trajectory.run_id, seq=next(thoughts), by="remember"), trajectory.trust
