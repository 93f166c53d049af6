"""Errors of a store have kinds, so that nobody takes a locked file for a run that is there."""

import sqlite3
from collections.abc import Generator
from contextlib import closing
from pathlib import Path

import pytest

from clew import (
    Agent,
    JsonlStore,
    RunExistsError,
    RunNotFoundError,
    SqliteStore,
    StoreBusyError,
    StoreDamagedError,
    read,
    run,
)
from clew.begin import begun, start
from clew.protocols import Base
from clew.strategies import vote
from clew.testing.models import ScriptedModel, act, finish, say
from clew.tools.calc import calc

pytestmark = pytest.mark.anyio

AGENT = Agent(model=ScriptedModel([say("4")]))


@pytest.fixture
def locked(tmp_path: Path) -> Generator[SqliteStore]:
    """A store whose file another program has locked, and does not let go of."""
    store = SqliteStore(tmp_path / "runs.sqlite", patience=0.01)
    with closing(sqlite3.connect(tmp_path / "runs.sqlite", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield store


async def test_a_locked_file_is_busy_whoever_writes(locked: SqliteStore) -> None:
    """A new run with an id of its own, as a fan-out and a vote begin them: it was never there."""
    with pytest.raises(StoreBusyError, match="kept locked by another process"):
        await start(AGENT, "2 + 2?", locked, run_id="storm-26")
    with pytest.raises(StoreBusyError, match="kept locked by another process"):
        await vote(AGENT, "2 + 2?", 3, store=locked, run_id="vote")
    with pytest.raises(StoreBusyError, match="kept locked by another process"):
        await run(AGENT, "2 + 2?", store=locked)


async def test_a_store_that_cannot_be_read_does_not_say_that_nothing_was_begun(
    tmp_path: Path,
) -> None:
    """A damaged file is no run that is missing: whoever asks hears of it."""
    folder = tmp_path / "runs"
    store = JsonlStore(folder)
    await start(AGENT, "2 + 2?", store, run_id="r")
    assert await begun(store, "r")
    assert not await begun(store, "another")
    (folder / "r.jsonl").write_text("no row\n")
    with pytest.raises(StoreDamagedError, match=r"r.jsonl is damaged"):
        await begun(JsonlStore(folder), "r")


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
    """`SqliteStore("runs.sqlite")`, as everybody writes it first; a folder too."""
    agent = Agent(
        model=ScriptedModel([act("calc", expression="2 + 2"), finish("4")]), tools=[calc()]
    )
    for store in (SqliteStore(str(tmp_path / "a.sqlite")), JsonlStore(str(tmp_path / "folder"))):
        result = await run(agent, "2 + 2?", store=store, run_id="r")
        assert result.answer == "4"
        assert await store.create("fork", Base("r", 1)) == 1
        await store.close()
    assert sorted(path.name for path in (tmp_path / "folder").glob("*.jsonl")) == [
        "fork.jsonl",
        "r.jsonl",
    ]
    assert (tmp_path / "a.sqlite").is_file()
    assert repr(store) != repr(SqliteStore(str(tmp_path / "a.sqlite"))), "which name their places"
