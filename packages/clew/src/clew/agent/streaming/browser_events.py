"""What a browser is told of a run: its answer, how far its calls are, and what it came to.

Prompts, thoughts, arguments and results of calls stay here. Each item gives one event at most, so
that a reader who comes back behind the last one that it saw misses nothing.
"""

from typing import Any, Final, TypeAlias

from clew.agent.read_result import recorded_result
from clew.agent.streaming.answer_words import is_of_answer
from clew.agent.streaming.items import (
    Calling,
    Dropped,
    Idle,
    Nested,
    Partial,
    Retrying,
    StreamItem,
    Token,
    Withdrawn,
)
from clew.context.prompt_spec import recorded_prompt_spec
from clew.core.codes import FINISH
from clew.core.contents import Observation
from clew.core.entries import Entry
from clew.core.events import Attempt, Judged, Stop
from clew.core.journal import load
from clew.core.pending import PendingApproval, pending_in
from clew.core.specs import AgentSpec
from clew.core.stores import Store
from clew.core.trajectory import Trajectory
from clew.core.values import Json
from clew.stores import Where, store_at
from clew.support.errors import ConfigError

_PRIVATE: Final = ("raw_answer", "evidence")
"""What a result has that is not for whoever asked."""
_WAITING: Final = ("id", "run_id", "call", "tool", "why", "wants", "until")
"""What is told of a call that waits for a person: not its arguments, nor where they come from."""


BrowserEvent: TypeAlias = tuple[str, dict[str, Json]]
"""A kind, and its JSON."""


class BrowserEvents:
    """The events of one stream, in the order of its items; without `words` none of an answer that
    has not passed its checks.
    """

    def __init__(self, run_id: str, store: Where, *, words: bool) -> None:
        self._run_id, self._store, self.words = run_id, store, words
        self._tools: dict[tuple[str, str], str] = {}
        """The tools of calls, by the ids of their runs and their keys."""

    async def event_of(self, item: StreamItem[Any]) -> BrowserEvent | None:
        """The kind and the JSON of the event for an item; None where it is not for a browser."""
        if isinstance(item, Nested):
            below = await self._state(item.path[-1], item.item)
            if below is None:
                return None
            return "Nested", {"event": "nested", "path": [*item.path], "item": below}
        if isinstance(item, Token | Partial | Withdrawn):
            told = self.words and not (isinstance(item, Token) and not is_of_answer(item.field))
            return (type(item).__name__, item.to_json()) if told else None
        if isinstance(item, Idle | Dropped):
            return type(item).__name__, item.to_json()
        if isinstance(item, Entry) and isinstance(item.event, Stop):
            return "Result", {"event": "result", **await self._result(item.seq, item.event)}
        data = await self._state(self._run_id, item)
        return None if data is None else (str(data["event"]).capitalize(), data)

    async def _state(self, run_id: str, item: object) -> dict[str, Json] | None:
        """A new state of a call, or why something is tried again."""
        if isinstance(item, Retrying):
            return item.to_json()
        if isinstance(item, Calling):
            return await self._call(run_id, item.call, "running", item.tool)
        event = item.event if isinstance(item, Entry) else None
        if isinstance(event, Attempt):
            return await self._call(run_id, event.call, "running", event.tool)
        if isinstance(event, Judged) and event.verdict.kind == "hold":
            return await self._call(run_id, event.call, "waiting")
        if isinstance(event, Observation):
            return await self._call(run_id, event.call, _ended(event))
        return None

    async def _call(
        self, run_id: str, call: str, state: str, tool: str = ""
    ) -> dict[str, Json] | None:
        """A call by the name of its tool; None for what is no call of a tool, as the answer."""
        name = tool or self._tools.get((run_id, call))
        if name is None:
            for each in (await self._load(run_id)).calls:
                self._tools[run_id, each.key] = each.action.name
            name = self._tools.get((run_id, call), FINISH)
        self._tools[run_id, call] = name
        if name == FINISH:
            return None
        return {"event": "call", "call": call, "tool": name, "state": state}

    async def _load(self, run_id: str) -> Trajectory:
        async with store_at(self._store) as opened:
            return await load(opened, run_id)

    async def _result(self, seq: int, stop: Stop) -> dict[str, Json]:
        """The result at a stop, as far as it is for a browser."""
        async with store_at(self._store) as opened:
            record = await load(opened, self._run_id)
            entries = [entry for entry in record.entries if entry.seq <= seq]
            then = Trajectory(self._run_id, entries)
            then.foreign = record.foreign
            held = await pending_in(opened, then) if stop.status == "held" else ()
            prompt = await _prompt(opened, then.spec)
        result = recorded_result(then, stop, prompt)
        kept = {name: each for name, each in result.to_json().items() if name not in _PRIVATE}
        kept["pending_approvals"] = [*map(_waiting, held)]
        kept["unknown"] = [{"id": it.id, "tool": it.tool} for it in result.unknown]
        return kept


def _ended(seen: Observation) -> str:
    """How a call ended: `unknown` where nobody knows whether it had its effect."""
    if seen.code == "waits":
        return "waiting"
    if seen.outcome == "unknown":
        return "unknown"
    return "done" if seen.ok else "failed"


def _waiting(held: PendingApproval) -> dict[str, Json]:
    """What a browser may know of a call that waits."""
    return {name: getattr(held, name) for name in _WAITING}


async def _prompt(store: Store, spec: AgentSpec | None) -> str:
    """The agent's instructions, whose addresses are trusted; "" where they cannot be read."""
    if spec is None or not spec.prompt_blob:
        return ""
    try:
        return recorded_prompt_spec(await store.blob(spec.prompt_blob))[0].prompt
    except ConfigError:  # of another version: more addresses lead nowhere then
        return ""
