"""A store that an older clew wrote is brought up to date, and never called damaged for its age."""

import logging
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from clew import Agent, SqliteStore, StoreError, fork, list_runs, read, resume, run, tool
from clew.stores.sqlite.file import VERSION
from clew.testing import ScriptedModel, act, say
from tests.stores.test_open_store import read_only

LATER = {"forks", "uses", "open_runs", "stopped_runs", "labels", "notices"}
"""The tables that came after the first version of the tables."""


@tool(effect="read")
def look(place: str) -> str:
    """Look at a place."""
    return f"{place} " * 30_000  # goes to a blob


AGENT = Agent(ScriptedModel([act("look", place="Ulm"), say("Seen.")]), tools=[look])


def without_index(file: sqlite3.Connection) -> None:
    """Take away what says which runs' labels are noted."""
    file.execute("DROP INDEX not_indexed")
    file.execute("ALTER TABLE runs DROP COLUMN indexed")


def age(path: Path, version: int, *, forks: bool) -> None:
    """Give a store the tables of an older clew: no column `mark`, and maybe fewer tables."""
    with closing(sqlite3.connect(path)) as file, file:
        file.execute("DROP INDEX inbox_of_run")
        file.execute("ALTER TABLE entries DROP COLUMN mark")
        file.execute("ALTER TABLE inbox DROP COLUMN mark")
        without_index(file)
        file.execute("CREATE INDEX inbox_of_run ON inbox (number)")
        for table in LATER if not forks else ():
            file.execute(f"DROP TABLE {table}")
        file.execute(f"PRAGMA user_version = {version}")


async def written(path: Path, *, forks: bool) -> dict[str, Any]:
    """Runs of several kinds in a store, as they are read and listed."""
    store = SqliteStore(path)
    await run(AGENT, "Where?", store=store, run_id="answered")
    short = AGENT.replace(model=ScriptedModel([act("look", place="Ulm")]))
    with pytest.raises(Exception, match="the script is over"):
        await run(short, "Where?", store=store, run_id="open", labels={"user": "ada"})
    if forks:
        await fork(AGENT, "answered", at=1, store=store, new_id="fork")
    await store.post("open", b'{"event":"note","text":"hi","by":"Ada"}')
    before = await content(store)
    await store.close()
    return before


async def content(store: SqliteStore) -> dict[str, Any]:
    listed = await store.runs()
    return {
        "runs": listed,
        "open": [info.run_id for info in await store.runs(status="open")],
        "answered": [info.run_id for info in await store.runs(status="answered")],
        "lines": {info.run_id: await store.read(info.run_id) for info in listed},
        "texts": [
            call.observation and call.observation.content
            for info in listed
            for call in (await read(info.run_id, store=store)).calls
        ],
    }


@pytest.mark.parametrize(("version", "forks"), [(1, True), (4, True), (1, False), (3, False)])
async def test_an_older_store_is_read_and_written(
    version: int, forks: bool, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "runs.sqlite"
    before = await written(path, forks=forks)
    age(path, version, forks=forks)
    with caplog.at_level(logging.WARNING, "clew"):
        store = SqliteStore(path)
    assert f"was of an older format (version {version})" in caplog.text
    assert "trust them one by one (clew resume RUN --trust-origin)" in caplog.text
    assert await content(store) == before
    assert [one.run_id for one in await list_runs(store=store, labels={"user": "ada"})] == ["open"]
    assert await store.foreign("open")  # nothing shows that this user's processes wrote it
    assert (await resume(AGENT, "open", store=store)).ok
    assert (await run(AGENT, "Again?", store=store)).ok
    for run_id in ["fork"] if forks else []:
        await store.forget(run_id)
    await store.forget("answered")
    assert len((await read("open", store=store)).calls) == 1  # it has its blob still
    assert await store.salvage() is None
    await store.close()
    caplog.clear()
    await SqliteStore(path).close()
    assert not caplog.text
    with closing(sqlite3.connect(path)) as file:
        assert file.execute("PRAGMA user_version").fetchone() == (VERSION,)


async def test_the_labels_of_an_older_store_are_those_of_its_lines(tmp_path: Path) -> None:
    """Of the last version without a table of them, runs of that and forks among them."""
    path = tmp_path / "runs.sqlite"
    await written(path, forks=True)
    async with SqliteStore(path) as store:
        await run(AGENT, "?", store=store, run_id="bob", labels={"user": "bob"}, owner="Bob")
        await fork(AGENT, "bob", at=1, store=store, new_id="bob-fork")
    with closing(sqlite3.connect(path)) as file, file:
        without_index(file)
        file.execute("DROP TABLE labels")
        file.execute("PRAGMA user_version = 5")
    async with SqliteStore(path) as store:
        for labels, owner, ids in (
            ({"user": "ada"}, None, {"open"}),
            ({"user": "bob"}, None, {"bob", "bob-fork"}),
            ({}, "Bob", {"bob", "bob-fork"}),
            ({"user": "ada"}, "Bob", set[str]()),
        ):
            listed = await list_runs(store=store, labels=labels, owner=owner)
            assert {one.run_id for one in listed} == ids
        assert not await store.foreign("bob")  # its lines have their marks
        await store.forget("bob-fork")
        assert [one.run_id for one in await list_runs(store=store, owner="Bob")] == ["bob"]


async def test_runs_that_a_process_of_before_begins_are_found_by_their_labels(
    tmp_path: Path,
) -> None:
    """It has the file open while that is brought up to date, and knows no table of labels."""
    path = tmp_path / "runs.sqlite"
    async with SqliteStore(path) as store:
        await run(AGENT, "?", store=store, run_id="bob", labels={"user": "bob"})
        (first, second, *_) = await store.read("bob")
    with closing(sqlite3.connect(path)) as file, file:
        without_index(file)
        file.execute("DROP TABLE labels")
        file.execute("PRAGMA user_version = 5")
    with closing(sqlite3.connect(path, isolation_level=None)) as before:
        assert before.execute("SELECT count(*) FROM runs").fetchone() == (1,)
        async with SqliteStore(path) as store:

            async def listed(user: str) -> set[str]:
                return {each.run_id for each in await list_runs(store=store, labels={"user": user})}

            before.execute("INSERT INTO runs (number, run_id, epoch) VALUES (2, 'ada', 1)")
            before.execute("INSERT INTO open_runs VALUES (2)")
            assert await listed("ada") == set()  # it has no line
            body = first.body.replace(b'"user":"bob"', b'"user":"ada"')
            line = ((2 << 32) + 1, 1, 1, b"", None, body)
            before.execute("INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?)", line)
            before.execute("INSERT INTO runs (number, run_id, epoch) VALUES (3, 'fork', 1)")
            before.execute("INSERT INTO open_runs VALUES (3)")
            before.execute("INSERT INTO forks VALUES (3, 1, 1, 1)")
            line = ((3 << 32) + 2, 1, 1, b"", None, second.body)
            before.execute("INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?)", line)
            assert (await listed("ada"), await listed("bob")) == ({"ada"}, {"bob", "fork"})


async def test_the_labels_of_a_damaged_store_are_found(tmp_path: Path) -> None:
    """Where its index is damaged, and where it is read page by page."""
    path = tmp_path / "runs.sqlite"
    await written(path, forks=True)
    whole = path.read_bytes()
    with closing(sqlite3.connect(path)) as file:
        (page,) = file.execute(
            "SELECT rootpage FROM sqlite_master WHERE name = 'labels'"
        ).fetchone()
        (size,) = file.execute("PRAGMA page_size").fetchone()
    index = bytearray(whole)
    index[(page - 1) * size : page * size] = b"\xff" * size
    for damaged in (bytes(index), whole.replace(b"epoch INTEGER", b"epocx INTEGER")):
        path.write_bytes(damaged)
        async with SqliteStore(path) as store:
            listed = await list_runs(store=store, labels={"user": "ada"})
            assert [one.run_id for one in listed] == ["open"]


async def test_the_id_of_a_message_is_not_given_again(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    await written(path, forks=True)
    with closing(sqlite3.connect(path)) as file, file:
        file.execute("DELETE FROM inbox")  # it was taken
    age(path, 1, forks=True)
    store = SqliteStore(path)
    await store.post("open", b'{"event":"note","text":"ho","by":"Ada"}')
    assert [number for number, _ in await store.inbox("open")] == [2]
    await store.close()


async def test_a_damaged_store_of_an_older_format_is_damaged(tmp_path: Path) -> None:
    """A name that no version had; it is read page by page, and nothing of it is changed."""
    path = tmp_path / "runs.sqlite"
    before = await written(path, forks=True)
    age(path, 1, forks=True)
    path.write_bytes(path.read_bytes().replace(b"epoch INTEGER", b"epocx INTEGER"))
    bytes_before = path.read_bytes()
    store = SqliteStore(path)
    assert {info.run_id for info in await store.runs()} == {"answered", "open", "fork"}
    assert await store.read("answered") == before["lines"]["answered"]
    with pytest.raises(StoreError):
        await store.create("new")
    await store.close()
    assert path.read_bytes() == bytes_before


@pytest.fixture
def shared() -> Iterator[Path]:
    """A folder everybody may look into, as pytest's own are not."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


async def test_an_older_store_that_may_not_be_written_says_what_to_do(shared: Path) -> None:
    path = shared / "runs.sqlite"
    await written(path, forks=True)
    age(path, 1, forks=True)
    with read_only(shared), pytest.raises(StoreError, match=r"older format .* open a copy of it"):
        SqliteStore(path)
