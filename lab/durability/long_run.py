"""A run that outgrows its model's window, goes back twice, and remembers; for processes that die.

What its model says hangs on the marks in its prompt alone ("[at 7]"), so it goes on anywhere.
"""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import clew
from clew import Agent, Compaction, Context, Limits, Trajectory, tool
from clew.agent.runner import has_begun
from clew.context.summary import ASKED
from clew.core.contents import Reply, Usage
from clew.core.models import ModelInfo, OnText
from clew.core.prompts import Prompt
from clew.core.stores import Store
from clew.core.values import encode
from clew.guards import Provenance
from clew.memory import MemorySource, SqliteMemory, memory_tools, note_of
from clew.testing.models import Move, ScriptedModel, act, acts, finish
from clew.toolbox import backtrack
from durability import world

RUN: Final = "run"
PERSON: Final = "Ada"
GOAL: Final = "Where is the ledger?"
RESULTS: Final = "Brannock burns oil."
"""What the run remembers."""
TO: Final = 12
LESSON: Final = "Ask again, of the other harbour. [at 39]"
"""Where a person goes back to once it has answered, and why."""
ANSWER: Final = "in the cupboard"
WINDOW: Final = 5_000
SUMMARY: Final = "Pages were read, and nothing is left to be done with them."

_PAGE: Final = 2_000
_MARK: Final = re.compile(r"\[at (\d+)\]")


@tool(effect="read")
def page(number: int) -> str:
    """Read a page."""
    return (f"Page {number}: the tide was calm, and nobody came. " * 60)[:_PAGE]


def _pages(*numbers: int) -> Move:
    return acts(*(act("page", number=number) for number in numbers))


_MOVES: Final[Mapping[int, Move]] = {
    1: act("memories", query="ledger"),
    2: _pages(2),
    3: act("put", note="first"),
    4: _pages(4, 5, 6),
    5: act("send", note="a letter"),
    6: acts(act("post", note="a card"), act("page", number=7)),
    7: _pages(8),
    8: _pages(9, 10),
    9: act("put", note="by mistake"),
    10: act("backtrack", step=7, lesson="That was the wrong book. [at 19]"),
    20: _pages(20, 21),
    21: act("remember", text=RESULTS, kind="fact"),
    22: _pages(22, 23),
    23: act("recall", query="tide calm"),
    24: acts(act("send", note="another letter"), act("page", number=24)),
    25: _pages(25, 26),
    26: finish("nowhere"),
    40: _pages(40, 41),
    41: act("put", note="last"),
    42: act("read_more", handle="2.1"),
    43: _pages(43, 44),
    44: finish(ANSWER),
}


@dataclass(frozen=True)
class Model:
    """Follows the marks, and writes down what it was sent."""

    sent: Path
    info = ModelInfo("scripted:entries", window=WINDOW)

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        """What comes after the last mark in view; a summary, where it is asked for one."""
        if [part.text for part in prompt.tail] == [ASKED]:
            return Reply(SUMMARY, usage=Usage(), model=self.info.name)
        marks = [int(mark) for part in prompt.parts for mark in _MARK.findall(part.text)]
        number = 1 + max(marks, default=0)
        parts = [(p.role, p.text, p.calls, p.call_id) for p in prompt]
        seen = hashlib.sha256(encode([parts, [one.name for one in prompt.tools]])).hexdigest()
        with self.sent.open("a", encoding="utf-8") as file:
            file.write(f"{number} {seen}\n")
        move = _MOVES[number]
        numbered_move = Move(f"[at {number}]", move.actions, move.answer)
        return ScriptedModel([], usage=Usage()).written(numbered_move, number)


def memories(folder: Path) -> SqliteMemory:
    """The file of memories, with what earlier runs left in it."""
    kept = SqliteMemory(folder / "memory.sqlite")
    source = MemorySource(run="earlier", seq=3)
    kept.add("The ledger is in the cupboard.", trust="trusted", source=source)
    return kept


def agent(folder: Path) -> Agent:
    """The agent of the run."""
    tools = [page, *world.tools(world.Ledger(folder), 0.0), backtrack()]
    return Agent(
        Model(folder / "sent"), [*tools, *memory_tools(memories(folder), k=1)], prompt="Look.",
        context=Context(compaction=Compaction(("duplicates", "mask", "summary"))),
        limits=Limits(steps=100, tool_calls=200, tokens=10**9, no_progress=None),
        guards=[Provenance("off")],
    )  # fmt: skip


async def carry(folder: Path, store: Store) -> None:
    """Begin the run, or go on with it, to its end; a person then goes back once."""
    who = agent(folder)
    goal = None if await has_begun(store, RUN) else GOAL
    async with clew.open_run(who, goal, run_id=RUN, store=store) as opened:
        if not opened.record.steps and not await _told(opened.record, store):
            note = note_of(memories(folder).search(GOAL, 1))
            assert note is not None
            await store.post(RUN, encode(note))
        await opened.go_on()
    record = await clew.read(RUN, store=store)
    if not (_went_back(record) or await store.inbox(RUN)):
        await clew.rewind(RUN, to=TO, lesson=LESSON, by=PERSON, store=store)
    await clew.resume(who, RUN, store=store)


async def _told(record: Trajectory, store: Store) -> bool:
    """Whether the note from memory is on its way, or there."""
    return bool(record.before.notices) or bool(await store.inbox(RUN))


def _went_back(record: Trajectory) -> bool:
    return any(one.by == PERSON for one in record.omitted.rewinds)
