"""Long arguments lie in a blob, once, however often a thought says them."""

from pathlib import Path

import pytest

from clew import Agent, Limits, read, replay, run, tool
from clew.core.actions import Action
from clew.core.contents import RawCall, Reply
from clew.core.entries import decode
from clew.core.events import Thought
from clew.core.journal import Journal, load
from clew.guards import Provenance
from clew.retention import export_runs, gc, import_runs, verify
from clew.stores.memory import MemoryStore
from clew.testing.models import ScriptedModel, act, finish
from tests.core.test_journal import PRINTS, STARTED
from tests.retention.records import MAKERS, Maker

LONG = "thread " * 20_000


@tool(effect="idempotent")
def write(text: str) -> str:
    """Write a text."""
    return f"{len(text)} written"


@pytest.mark.parametrize("maker", MAKERS)
async def test_long_arguments_are_stored_once(maker: Maker, tmp_path: Path) -> None:
    store = maker(tmp_path)
    script = [act("write", text=LONG), act("write", text=f"{LONG}."), finish("done")]
    off = [Provenance("off")]  # else its plan has them once more
    agent = Agent(ScriptedModel(script), [write], limits=Limits(steps=5), guards=off)
    result = await run(agent, "Write", store=store, run_id="run")
    assert result.answer == "done"
    assert sum(len(line.body) for line in await store.read("run")) < len(LONG) / 4
    record = await read("run", store=store)
    assert record.call("1.1").action.args == {"text": LONG}
    thought, written = record.steps[0].thought, decode((await store.read("run"))[1].body)
    assert thought is not None
    assert LONG in (thought.reply.calls[0].arguments or "")
    assert isinstance(written, Thought)
    assert written.actions[0].blob == written.reply.calls[0].blob != "", "one for both"
    assert (await replay(agent, "run", store=store)).trajectory.entries == record.entries
    (found,), lost = await verify(store=store)
    assert (found.ok, lost) == (True, [])
    await export_runs(tmp_path / "archive", store=store)
    other = MemoryStore()
    await import_runs(tmp_path / "archive", store=other)
    assert (await load(other, "run")).entries == record.entries
    assert (await gc(status=["answered"], store=store)).removed == ("run",)
    await store.close()


@pytest.mark.parametrize("raw", ['{"text": "%s", }', None, '{"text":  "%s!"}'])
async def test_a_text_that_says_something_else_has_a_blob_of_its_own(raw: str | None) -> None:
    store = MemoryStore()
    journal = await Journal.create(store, STARTED, "r")
    calls = (RawCall(name="write", arguments=None if raw is None else raw % LONG),)
    actions = (Action("write", {"text": LONG}), Action("write", {"text": "short"}))
    await journal.record(Thought(Reply(calls=calls), PRINTS, actions=actions))
    again = await load(store, "r")
    assert again.entries == journal.trajectory.entries
    event = again.entries[1].event
    assert isinstance(event, Thought)
    assert event.reply.calls[0].arguments == calls[0].arguments
    assert [action.args for action in event.actions] == [action.args for action in actions]
    written = decode((await store.read("r"))[1].body)
    assert isinstance(written, Thought)
    assert "" != written.actions[0].blob != written.reply.calls[0].blob
