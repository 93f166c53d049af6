"""Errors of a store have kinds, so that nobody takes a locked file for a run that is there."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from typing_extensions import override

from clew import Agent, MemoryStore, SqliteStore, StoreError, read, run, tool
from clew.agent.runner import has_begun, start
from clew.core.stores import Base, Line
from clew.stores import (
    RunExistsError,
    RunNotFoundError,
    StoreDamagedError,
    StoreUnreachableError,
)
from clew.testing.models import ScriptedModel, act, finish, say
from clew.toolbox.calc import calc
from tests.cli.shell import clew

pytestmark = pytest.mark.both_loops

AGENT = Agent(model=ScriptedModel([say("4")]))


class Damaged(MemoryStore):
    """None of its runs can be read."""

    @override
    async def read(self, run_id: str, after: int = 0) -> list[Line]:
        raise StoreDamagedError("the store is damaged: restore a copy")


async def test_a_store_that_cannot_be_read_does_not_say_that_nothing_was_begun() -> None:
    """What is damaged is no run that is missing: whoever asks hears of it."""
    store = MemoryStore()
    await start(AGENT, "2 + 2?", store, run_id="r")
    assert await has_begun(store, "r")
    assert not await has_begun(store, "another")
    with pytest.raises(StoreDamagedError, match="restore a copy"):
        await has_begun(Damaged(), "r")


async def test_a_changed_entry_is_damage(tmp_path: Path) -> None:
    """Somebody wrote into the file by hand."""
    store = SqliteStore(tmp_path / "runs.sqlite")
    result = await run(AGENT, "2 + 2?", store=store)
    await store.close()
    with closing(sqlite3.connect(tmp_path / "runs.sqlite")) as other, other:
        other.execute("UPDATE entries SET at = at + 1")
    with pytest.raises(StoreDamagedError, match="entry 1 was changed"):
        await read(result.run_id, store=tmp_path / "runs.sqlite")


async def test_what_is_there_and_what_is_not(tmp_path: Path) -> None:
    """Through the functions of the package, on the default store."""
    place = tmp_path / "runs.sqlite"
    await run(AGENT, "2 + 2?", store=place, run_id="r")
    with pytest.raises(RunExistsError, match="choose another id"):
        await run(AGENT, "2 + 2?", store=place, run_id="r")
    with pytest.raises(RunNotFoundError, match="there is no run 's'"):
        await read("s", store=place)


async def test_a_store_takes_its_place_as_a_string(tmp_path: Path) -> None:
    """`SqliteStore("runs.sqlite")`, as everybody writes it first."""
    agent = Agent(
        model=ScriptedModel([act("calc", expression="2 + 2"), finish("4")]), tools=[calc()]
    )
    store = SqliteStore(str(tmp_path / "a.sqlite"))
    result = await run(agent, "2 + 2?", store=store, run_id="r")
    assert result.answer == "4"
    assert await store.create("fork", Base("r", 1)) == 1
    await store.close()
    assert (tmp_path / "a.sqlite").is_file()


async def test_a_store_that_is_removed_in_mid_run_is_told(tmp_path: Path) -> None:
    """Whatever is written into a removed file is lost: a run must not end as answered there."""

    @tool(effect="read")
    def remove() -> str:
        """Remove the store."""
        for path in tmp_path.glob("runs.sqlite*"):
            path.unlink()
        return "removed"

    agent = Agent(model=ScriptedModel([act("remove"), finish("done")]), tools=[remove])
    with pytest.raises(StoreError) as told:
        await run(agent, "Well?", store=tmp_path / "runs.sqlite")
    assert "\n" not in str(told.value)


async def test_a_file_that_was_replaced_is_told(tmp_path: Path) -> None:
    """By a copy, say: the run would go on in the file that nobody finds any more."""
    place = tmp_path / "runs.sqlite"

    @tool(effect="unsafe")
    def replace() -> str:
        """Put a copy in the place of the store."""
        shutil.copy(place, tmp_path / "copy")
        (tmp_path / "copy").replace(place)
        return "replaced"

    agent = Agent(model=ScriptedModel([act("replace"), finish("done")]), tools=[replace])
    with pytest.raises(StoreUnreachableError, match="was removed or replaced"):
        await run(agent, "Well?", store=place)


async def test_nothing_begins_in_a_file_that_was_moved(tmp_path: Path) -> None:
    """What is begun there would be lost with the process; put back, all goes on."""
    async with SqliteStore(tmp_path / "runs.sqlite") as store:
        await store.create("run")
        (tmp_path / "runs.sqlite").rename(tmp_path / "moved")
        begun = (
            lambda: store.create("other"),
            lambda: store.open("run"),
            lambda: store.post("run", b"words"),
            lambda: store.runs(1),
        )
        for begin in begun:
            with pytest.raises(StoreUnreachableError, match="was removed or replaced"):
                await begin()
        (tmp_path / "moved").rename(tmp_path / "runs.sqlite")
        await store.post("run", b"words")
        assert [body for _, body in await store.inbox("run")] == [b"words"]
        assert await store.open("run") == 2


@pytest.mark.parametrize("votes", ["-2", "0"])
def test_votes_are_one_or_more(votes: str) -> None:
    """What cannot be is refused as usage, before there is a record."""
    done = clew("ask", "Well?", "--model", "offline", "--votes", votes)
    assert (done.code, done.out) == (2, "")
    assert "the record is open" not in done.err
