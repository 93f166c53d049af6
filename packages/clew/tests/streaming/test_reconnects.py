"""Browsers that lose their connection at any event come back behind the last one that they saw."""

import json
import re
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, Literal

import anyio
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from clew import Agent, MemoryStore, SqliteStore, Stream, delegate, follow, start
from clew.core.stores import Store
from clew.testing import act, say
from tests.streaming.pieces import InPieces, standing
from tests.streaming.runs import agent, look_up, numbered

TEXT: Final = "It is there, and everywhere else."
EACH: Final = [number / 12 for number in range(12)]
THOUGHTS: Final = ("I look for the 0. time.", "I look for the 1. time.", "I ask.")


def talking(*script: Any, tools: Sequence[Any]) -> Agent[Any]:
    """An agent whose model speaks in small pieces, and waits for whoever listens."""
    return agent(tools=tools).replace(model=InPieces(script, cuts=EACH))


def family() -> Agent[Any]:
    """It looks something up, asks another one that does too, and answers."""
    below = talking(act("look", thought="I look there."), say("There."), tools=[look_up()])
    ask = delegate(below, name="ask", description="Ask.")
    looks = [act("look", thought=thought) for thought in THOUGHTS[:2]]
    script = [*looks, act("ask", thought=THOUGHTS[2], task="Where?"), say(TEXT)]
    return talking(*script, tools=[look_up(), ask])


@dataclass
class Browser:
    """It shows the words of the answer and keeps all that it was told, over its connections."""

    show: Literal["answer", "all"]
    seen: str = "0"
    words: str = ""
    told: list[tuple[str, dict[str, Any]]] = field(default_factory=list[tuple[str, dict[str, Any]]])
    connections: int = 0

    async def connect(self, store: Store, events: int) -> bool:
        """Take so many events and lose the connection; whether there was anything more."""
        self.connections += 1
        came = 0
        stream: Stream[Any] = follow("r", after=self.seen, store=store)
        async with aclosing(stream.sse(self.show)) as lines:
            async for line in lines:
                self._take(line)
                came += 1
                if came == events:
                    return True
        return came > 0

    def _take(self, line: str) -> None:
        for number, kind, text in re.findall(r"(?:id: (.*)\n)?event: (.*)\ndata: (.*)\n\n", line):
            self.seen = number or self.seen
            data = json.loads(text)
            self.told.append((kind, data))
            if kind == "Withdrawn":
                self.words = ""
            elif kind == "Token" and data["field"] == "answer":
                self.words += data["text"]
            whole = [text for text in (TEXT, *THOUGHTS) if text.startswith(self.words)]
            assert whole or self.show == "all", f"no reply begins with {self.words!r}"


def entries(browser: Browser) -> list[tuple[tuple[str, ...], int]]:
    """The entries that came, each by its run and its number."""
    places = list[tuple[tuple[str, ...], int]]()
    for _, data in browser.told:
        item = data.get("item", data)
        if "seq" in item:
            places.append((tuple(data.get("path", ())), item["seq"]))
    return places


def states(browser: Browser) -> list[tuple[str, str, str]]:
    """How calls ended; that one runs is told only to who is there."""
    calls = list[tuple[str, str, str]]()
    for kind, data in browser.told:
        item = data.get("item", data)
        if item.get("event") == "call":
            calls.append((kind, item["call"], item["state"]))
    return [each for each in calls if each[2] != "running"]


async def reconnected(store: Store, takes: list[int]) -> int:
    """How often two browsers came back that lose their connection after so many events."""
    browsers = [Browser("all"), Browser("answer")]
    stalled = await start(family(), "Where?", store=store, run_id="r")  # it takes nothing

    async def browse(browser: Browser) -> None:
        while await browser.connect(store, takes[browser.connections % len(takes)]):
            for _ in range(10 * takes[-browser.connections % len(takes)] - 9):
                await anyio.lowlevel.checkpoint()  # a new connection takes time

    async with anyio.create_task_group() as group:
        for browser in browsers:
            group.start_soon(browse, browser)
        await stalled.wait()
    whole = [item async for item in follow("r", store=store)]
    assert entries(browsers[0]) == numbered(whole)
    reread = Browser("answer")
    await reread.connect(store, -1)
    assert states(browsers[1]) == states(reread)
    assert browsers[1].told[-1] == reread.told[-1]
    assert browsers[1].told[-1][0] == "Result"
    assert standing([item async for item in stalled]) == TEXT
    return sum(browser.connections for browser in browsers)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_a_thousand_reconnects_lose_nothing_and_tell_nothing_twice(kind: str) -> None:
    connections = 0

    async def check(takes: list[int]) -> int:
        with TemporaryDirectory() as folder:
            store: Store = MemoryStore()
            if kind == "sqlite":
                store = SqliteStore(Path(folder) / "runs.sqlite")
            made = await reconnected(store, takes)
            await store.close()
            return made

    @settings(max_examples=20)
    @given(takes=st.lists(st.integers(1, 6), min_size=1, max_size=20))
    @example([1])
    @example([2])
    @example([2, 3])
    def many(takes: list[int]) -> None:
        nonlocal connections
        connections += anyio.run(check, takes)

    many()
    assert connections >= 1_000
