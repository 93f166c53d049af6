"""What the tests of votes are made of: models that answer by the run, a tape of what is written."""

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

import anyio
import anyio.lowlevel

from clew import Agent, MemoryStore, tool
from clew.core.contents import Reply
from clew.core.models import ModelInfo, OnText
from clew.core.prompts import Prompt
from clew.core.stores import Append, Base, Line, RunInfo
from clew.testing.models import Line as Said
from clew.testing.models import ScriptedModel, act, position, say
from clew_strategies import Vote, vote

QUESTION = "Which is it?"


@tool(effect="read")
async def look(page: int) -> str:
    """Look at a page.

    Args:
        page: Its number.
    """
    return f"page {page}"


NUMBER: ContextVar[int] = ContextVar("number")
"""Of the run at hand: whoever is asked to watch it says it to the model."""


def watched(number: int) -> None:
    """Watch a run without looking."""
    NUMBER.set(number)


async def ask(agent: Agent[Any], k: int = 3, **options: Any) -> Vote[Any]:
    """Vote on the question of these tests."""
    return await vote(agent, QUESTION, k, watch=watched, **options)


@dataclass
class Voters:
    """Looks at the page with its run's number, then plays that run's script; says what was paid."""

    scripts: Sequence[Sequence[Said]]
    meet: int = 1
    """A completion waits until so many wait together."""
    paid: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    meetings: int = 0
    info = ModelInfo("voters:test", priced=True)
    _waiting: int = 0
    _met: anyio.Event | None = None

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        """The next line of the run that asks."""
        await self._meet()
        run = NUMBER.get()
        script = [act("look", page=run), *self.scripts[run - 1]]
        reply = await ScriptedModel(script, tools=[look]).complete(prompt, on_text)
        self.paid.append((run, position(prompt) + 1))
        return reply

    async def _meet(self) -> None:
        if self.meet == 1:
            self.meetings += 1
            await anyio.lowlevel.checkpoint()
            return
        met = self._met = self._met or anyio.Event()
        self._waiting += 1
        if self._waiting == self.meet:
            self._waiting, self._met = 0, None
            self.meetings += 1
            met.set()
        await met.wait()


def voters(*answers: str | Sequence[Said], meet: int = 1, **options: Any) -> Agent:
    """An agent whose runs look something up and give these answers."""
    scripts = [[say(each)] if isinstance(each, str) else each for each in answers]
    return Agent(**{"model": Voters(scripts, meet), "tools": [look], **options})


def model_of(agent: Agent) -> Voters:
    """The agent's model, as what it is here."""
    assert isinstance(agent.model, Voters)
    return agent.model


@dataclass
class Tape:
    """A store that keeps in order what was written, so that it can be cut after every append."""

    store: MemoryStore = field(default_factory=MemoryStore)
    written: list[Append | tuple[str, Base | None]] = field(
        default_factory=list[Append | tuple[str, Base | None]]
    )
    fails: Callable[[Append], Exception | None] = lambda _: None

    async def create(self, run_id: str, base: Base | None = None) -> int:
        epoch = await self.store.create(run_id, base)
        self.written.append((run_id, base))
        return epoch

    async def open(self, run_id: str) -> int:
        return await self.store.open(run_id)

    async def append(self, append: Append) -> bool:
        if (error := self.fails(append)) is not None:
            raise error
        quiet = await self.store.append(append)
        self.written.append(append)
        return quiet

    async def read(self, run_id: str, after: int = 0) -> list[Line]:
        return await self.store.read(run_id, after)

    async def blob(self, digest: str) -> bytes:
        return await self.store.blob(digest)

    async def post(self, run_id: str, body: bytes) -> None:
        await self.store.post(run_id, body)

    async def inbox(self, run_id: str) -> list[tuple[int, bytes]]:
        return await self.store.inbox(run_id)

    async def runs(
        self, limit: int = 0, after: RunInfo | None = None, status: str = ""
    ) -> list[RunInfo]:
        return await self.store.runs(limit, after, status)

    async def epoch(self, run_id: str) -> int:
        return await self.store.epoch(run_id)

    async def ids(self, part: str, limit: int = 20) -> list[str]:
        return await self.store.ids(part, limit)

    async def close(self) -> None:
        await self.store.close()

    async def cut(self, after: int) -> MemoryStore:
        """What a process that died after so many writes has left."""
        left = MemoryStore()
        for each in self.written[:after]:
            if isinstance(each, Append):
                await left.append(each)
            else:
                await left.create(*each)
        return left
