"""Taking a run up: its record is read once, and a resume that is refused fences nobody off."""

import pytest

from clew import Agent, ConfigError, MemoryStore, read, resume, run
from clew.agent.runner import drive, take_up
from clew.core.contents import text_parts
from clew.core.events import Note
from clew.core.journal import Journal
from clew.core.stores import Line
from clew.testing.models import ScriptedModel, act, say
from tests.core.scenarios import TOOLS


class Counting(MemoryStore):
    """A store that counts the lines it was asked for, and lets a worker in before the next."""

    def __init__(self) -> None:
        super().__init__()
        self.told = 0
        self.worker: Journal | None = None

    async def read(self, run_id: str, after: int = 0) -> list[Line]:
        lines = await super().read(run_id, after)
        self.told += len(lines)
        return lines

    async def open(self, run_id: str) -> int:
        if self.worker is not None:
            await self.worker.record(Note(text_parts("And in the last moment?"), source="late"))
        return await super().open(run_id)


AGENT = Agent(model=ScriptedModel([act("lookup", key="a"), say("a"), say("b")]), tools=TOOLS)


async def test_a_record_is_read_once() -> None:
    await run(AGENT, "What is a?", store=(store := Counting()), run_id="run")
    entries, store.told = len(await store.read("run")), 0
    journal = await take_up(AGENT, "run", store)
    assert (store.told, len(journal.trajectory)) == (entries, entries)


async def test_what_is_written_until_the_last_moment_is_taken_up_too() -> None:
    await run(AGENT, "What is a?", store=(store := Counting()), run_id="run")
    store.worker = await Journal.open(store, "run")
    found = await resume(AGENT, "run", say="And b?", store=store)
    assert (found.status, found.answer) == ("answered", "b")
    notes = [e.event for e in (await read("run", store=store)).entries if isinstance(e.event, Note)]
    assert [note.text for note in notes] == ["And in the last moment?", "And b?"]


async def test_a_resume_that_is_refused_fences_nobody_off() -> None:
    await run(AGENT, "What is a?", store=(store := MemoryStore()), run_id="run")
    worker = await Journal.open(store, "run")
    with pytest.raises(ConfigError, match="accept the change"):
        await resume(AGENT.replace(prompt="Other"), "run", store=store)
    await worker.record(Note(text_parts("I am still here")))
    assert len(await read("run", store=store)) == len(worker.trajectory)


async def test_an_agent_that_another_worker_changed_meanwhile_is_asked_about_again() -> None:
    other = AGENT.replace(prompt="Other")

    class Racing(MemoryStore):
        async def open(self, run_id: str) -> int:
            if self.changing:
                self.changing = False
                journal = await take_up(other, "run", self, accept_change=True)
                await journal.record(Note(text_parts("And b?")))
                await drive(other, journal)
            return await super().open(run_id)

        changing = False

    await run(AGENT, "What is a?", store=(store := Racing()), run_id="run")
    store.changing = True
    with pytest.raises(ConfigError, match="differs from the record's in prompt"):
        await resume(AGENT, "run", say="And c?", store=store)
