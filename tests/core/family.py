"""Three runs below each other, what they do outside, and a store whose power can be cut."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from clew import Agent, Call, Key, Result, Tool, Trajectory, Verdict, delegate, resume, rule, run
from clew import tool as as_tool
from clew.core.errors import StoreError
from clew.core.interfaces import Append, Base, Line, RunInfo, Store
from clew.core.runner import has_begun, take_up
from clew.stores import MemoryStore
from clew.testing.models import Line as Said
from clew.testing.models import ScriptedModel, act, acts, say


@dataclass
class Switch:
    """A store in memory that takes `left` more writes and then none: its process was killed."""

    kept: MemoryStore = field(default_factory=MemoryStore)
    left: int = 1 << 30
    done: int = 0

    def _write(self) -> None:
        if self.left <= 0:
            raise StoreError("the power was cut")
        self.left -= 1
        self.done += 1

    async def create(self, run_id: str, base: Base | None = None) -> int:
        self._write()
        return await self.kept.create(run_id, base)

    async def open(self, run_id: str) -> int:
        self._write()
        return await self.kept.open(run_id)

    async def append(self, append: Append) -> bool:
        self._write()
        return await self.kept.append(append)

    async def post(self, run_id: str, body: bytes) -> None:
        self._write()
        await self.kept.post(run_id, body)

    async def read(self, run_id: str, after: int = 0) -> list[Line]:
        return await self.kept.read(run_id, after)

    async def blob(self, digest: str) -> bytes:
        return await self.kept.blob(digest)

    async def inbox(self, run_id: str) -> list[tuple[int, bytes]]:
        return await self.kept.inbox(run_id)

    async def runs(
        self, most: int = 0, after: RunInfo | None = None, status: str = ""
    ) -> list[RunInfo]:
        return await self.kept.runs(most, after, status)

    async def epoch(self, run_id: str) -> int:
        return await self.kept.epoch(run_id)

    async def ids(self, part: str, most: int = 20) -> list[str]:
        return await self.kept.ids(part, most)

    async def close(self) -> None:
        await self.kept.close()


async def hold_letters(call: Call, _so_far: Trajectory) -> Verdict | None:
    """Hold what leaves the house."""
    return Verdict("hold", "a letter leaves the house") if call.action.name == "send" else None


def scripted(*script: Said, **more: Any) -> ScriptedModel:
    return ScriptedModel(script, **more)


def letters(done: list[tuple[str, str]]) -> Tool:
    """The tool `send`: whatever it did is in the list."""

    @as_tool(effect="unsafe")
    def send(text: str, key: Key) -> str:
        """Send a letter.

        Args:
            text: What it says.
        """
        done.append((key, text))
        return f"sent {text}"

    return send


def family(done: list[tuple[str, str]], **root: Any) -> tuple[Agent, Agent, Agent]:
    """An agent that hands on twice at once to one that hands on to one that sends two letters."""
    send = letters(done)
    clerk = Agent(
        model=scripted(acts(act("send", text="a"), act("send", text="b")), say("both")),
        tools=[send],
        guards=[hold_letters],
    )
    office = Agent(
        model=scripted(act("clerk", task="send a and b"), say("the clerk did it")),
        tools=[delegate(clerk, name="clerk", description="Sends letters.")],
    )
    model = scripted(acts(act("office", task="one"), act("office", task="two")), say("done"))
    head = Agent(
        model=model, tools=[delegate(office, name="office", description="An office.")], **root
    )
    return head, office, clerk


def lone(agent: Agent, *script: Said, effect: Any = None, **root: Any) -> Agent:
    """An agent that hands a task to another: once, unless its script says otherwise."""
    tools = [delegate(agent, name="other", description="Another agent.", effect=effect)]
    script = script or (act("other", task="do it"), say("done"))
    return Agent(model=scripted(*script), tools=[*tools, *root.pop("more", ())], **root)


async def go_on(agent: Agent, store: Store, words: Mapping[str, bool] | None = None) -> Result:
    """Begin the run "r" or take it up, and rule on what is held until nothing is.

    The calls in `words` are allowed or refused; others are allowed.
    """
    if await has_begun(store, "r"):
        found = await resume(agent, "r", store=store)
    else:
        found = await run(agent, "Write.", store=store, run_id="r")
    while found.status == "held":
        for each in found.pending_approvals:
            allow = (words or {}).get(each.call, True)
            await rule(each.run_id, each.call, allow=allow, seen=each.seen, store=store)
        found = await resume(agent, "r", store=store)
    return found


__all__ = ["Switch", "family", "go_on", "hold_letters", "letters", "lone", "scripted", "take_up"]
