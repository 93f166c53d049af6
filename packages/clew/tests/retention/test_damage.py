"""A damaged SQLite file: what is left is listed and exported whole, and what is lost is named."""

import io
import random
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew import SqliteStore
from clew.concurrency.portal import wait_for
from clew.core.contents import text_parts
from clew.core.events import Note
from clew.core.stores import Base
from clew.core.values import encode
from clew.retention import (
    export_runs,
    export_runs_sync,
    import_runs_sync,
    run_ids,
    verify,
    verify_sync,
)
from clew.stores.memory import MemoryStore
from clew.support.errors import StoreError
from clew_testing.store_contract import append, blob
from tests.retention.records import contents, file_with, fork, run, without_messages

PAGE = 512


async def _runs(store: SqliteStore) -> None:
    for number in range(12):
        await run(
            store,
            f"run-{number}",
            *(Note(text_parts(f"{n} " * 900)) for n in range(6)),
            days=number,
        )
        await fork(store, f"fork-{number}", Base(f"run-{number}", 5))
        await store.post(f"fork-{number}", encode(Note(text_parts("waits"))))


def made() -> tuple[bytes, dict[str, Any]]:
    """A real file of some dozen pages, and all that is in it."""
    return file_with(_runs)


def damaged(place: random.Random, pages: list[int]) -> Path:
    """The file with these pages overwritten: by anything, by zeros, or by another page of it."""
    data = bytearray(made()[0])
    for page in pages:
        at = page * PAGE
        size = place.choice([PAGE, PAGE, 40])
        start = at + place.randrange(PAGE - size + 1)
        other = place.randrange(len(data) // PAGE) * PAGE
        data[start : start + size] = place.choice([
            place.randbytes(size), bytes(size), made()[0][other : other + size],
        ])  # fmt: skip
    path = Path("damaged.sqlite")
    path.write_bytes(data)
    return path


@pytest.mark.slow
@settings(max_examples=50)
@given(st.integers(0, 1 << 60).map(random.Random), st.integers(1, 6))
def test_whatever_is_broken_each_run_is_saved_whole_or_named(
    place: random.Random, number: int
) -> None:
    _, wanted = made()
    path = damaged(place, place.choices(range(1, len(made()[0]) // PAGE), k=number))
    seen = path.read_bytes()
    archive = io.BytesIO()
    done = export_runs_sync(archive, store=path)
    assert path.read_bytes() == seen, "saving changes nothing"
    other = MemoryStore()
    archive.seek(0)
    imported = import_runs_sync(archive, store=other)
    assert imported.complete
    assert set(imported.runs) | {told.run_id for told in imported.refused} == set(done.runs)
    for run_id, (lines, inbox, base) in wait_for(contents, other).items():
        assert (lines, base) == (wanted[run_id][0], wanted[run_id][2])
        assert inbox == []
    missing = wanted.keys() - set(imported.runs)
    named = {told.run_id for told in (*done.unreadable, *imported.refused)}
    untold = [told.why for told in done.unreadable if not told.run_id]
    lost = sum("has lost its id" in why for why in untold)
    may_be_more = any("there may be more" in why for why in untold)
    assert len(missing - named) <= lost or may_be_more, "no silent loss"
    found, _ = verify_sync(store=path)
    wrong = {one.run_id for one in found if not one.ok}
    assert wrong >= named & {one.run_id for one in found} - {
        told.run_id for told in imported.refused
    }


def pages(data: bytes) -> dict[str, int]:
    """The first page of each table and index."""
    Path("look.sqlite").write_bytes(data)
    with closing(sqlite3.connect("look.sqlite")) as connection:
        return dict(connection.execute("SELECT name, rootpage FROM sqlite_master"))


def test_a_broken_list_of_runs_is_read_around(caplog: pytest.LogCaptureFixture) -> None:
    data, wanted = made()
    places = pages(data)
    for lost in ("runs", "sqlite_autoindex_runs_1"):
        path = Path("damaged.sqlite")
        at = (places[lost] - 1) * PAGE
        path.write_bytes(data[:at] + b"\xff" * PAGE + data[at + PAGE :])
        done = export_runs_sync(archive := io.BytesIO(), store=path)
        assert set(done.runs) == wanted.keys(), lost
        (told,) = done.unreadable
        assert told.why.startswith(f"{path} is damaged: ")
        archive.seek(0)
        other = MemoryStore()
        assert set(import_runs_sync(archive, store=other).runs) == wanted.keys()
        assert wait_for(contents, other) == without_messages(wanted)
    both = bytearray(data)
    for lost in ("runs", "sqlite_autoindex_runs_1"):
        at = (places[lost] - 1) * PAGE
        both[at : at + PAGE] = bytes(PAGE)
    path.write_bytes(both)
    done = export_runs_sync(io.BytesIO(), store=path)
    whys = [told.why for told in done.unreadable]
    assert done.runs == ()
    assert "the list of runs is damaged: there may be more than are found" in whys
    assert sum("has lost its id" in why for why in whys) == len(wanted)
    assert any("what is left is listed" in message for message in caplog.messages)


async def test_a_damaged_file_is_only_read() -> None:
    data, wanted = made()
    path = Path("damaged.sqlite")
    at = (pages(data)["runs"] - 1) * PAGE
    path.write_bytes(data[:at] + bytes(PAGE) + data[at + PAGE :])
    store = SqliteStore(path)
    assert {info.run_id for info in await store.runs()} == wanted.keys()
    assert set(await run_ids(store)) == wanted.keys()
    rest = await store.salvage()
    assert rest is not None
    left, ids, _ = rest
    assert set(ids) == wanted.keys()
    for work in (
        left.create("new"),
        left.open("plain"),
        left.epoch("plain"),
        left.append(append("plain", 9, 8)),
        left.post("plain", b"1"),
    ):
        with pytest.raises(StoreError, match="is damaged and only read here"):
            await work
    with pytest.raises(StoreError, match="there is no run 'nobody'"):
        await left.read("nobody")
    with pytest.raises(StoreError, match="is not in this store"):
        await left.blob(blob("nobody's")[1])
    assert len(await left.read("plain", 5)) == 2
    await left.close()
    await store.close()


async def test_a_run_that_was_never_begun_is_named_where_the_list_is_broken() -> None:
    path = Path("hollow.sqlite")
    store = SqliteStore(path)
    await run(store, "r")
    await store.create("hollow")
    await store.close()
    data = path.read_bytes()
    at = (pages(data)["runs"] - 1) * PAGE
    path.write_bytes(data[:at] + bytes(PAGE) + data[at + PAGE :])
    store = SqliteStore(path)
    assert [info.run_id for info in await store.runs()] == ["r"]
    done = await export_runs(io.BytesIO(), store=store)
    assert done.runs == ("r",)
    assert "run 'hollow' has no entry" in [told.why for told in done.unreadable]
    await store.close()


async def test_what_is_wrong_but_not_broken_is_told_as_it_was() -> None:
    store = SqliteStore(Path("whole.sqlite"))
    await run(store, "r")
    assert await store.salvage() is None
    await store.close()
    for work in (store.runs(), store.salvage(), export_runs(io.BytesIO(), store=store)):
        with pytest.raises(StoreError, match="closed database"):
            await work


async def test_a_run_whose_stop_is_lost_may_have_lost_more() -> None:
    path = Path("endless.sqlite")
    store = SqliteStore(path)
    journal = await run(store, "r")
    await run(store, "whole")
    end = len(journal.trajectory)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("DELETE FROM entries WHERE key = (1 << 32) + ?", (end,))
    done = await export_runs(io.BytesIO(), store=store)
    assert done.runs == ("whole",)
    file, head, lost = [told.why for told in done.unreadable]
    assert file == "endless.sqlite is damaged: run 'r' has lost its end"
    assert head == lost
    assert f"run 'r' lost its last entries (entry {end} was on the disk)" in lost
    path.with_name("endless.sqlite.heads").unlink()
    done = await export_runs(io.BytesIO(), store=store)
    assert done.runs == ("whole",)
    file, lost = [told.why for told in done.unreadable]
    assert lost == f"run 'r' may have lost what stood behind entry {end - 1}"
    await store.close()


async def test_a_fork_whose_base_is_lost_says_so() -> None:
    path = Path("lost.sqlite")
    store = SqliteStore(path)
    await run(store, "base")
    for name in ("fork", "odd"):
        await fork(store, name, Base("base", 3))
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("UPDATE forks SET shared = x'ff' WHERE number = 3")
        found, lost = await verify(store=store)
        assert lost == []
        assert [one.run_id for one in found if not one.ok] == ["odd"]
        done = await export_runs(io.BytesIO(), store=store)
        assert [told.run_id for told in done.unreadable] == ["odd"]
        connection.execute("DELETE FROM runs WHERE number = 1")
        connection.execute("DELETE FROM entries WHERE key = (1 << 32) + 1")
    found, lost = await verify(store=store)
    wrong = {one.run_id: one.wrong for one in found}
    assert wrong.keys() == {"fork", "odd"}
    assert wrong["odd"] == "what run number 3 shares with another cannot be read"
    assert "shares lines 1 to 3 with run 'number 1', which are not in this store" in wrong["fork"]
    assert "run number 1 has lost its id" in [told.why for told in lost]
    await store.close()


async def test_a_file_that_no_longer_says_what_is_in_it_is_told() -> None:
    path = Path("schemaless.sqlite")
    store = SqliteStore(path)
    await run(store, "r")
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("UPDATE sqlite_master SET sql = 'CREATE TABLE (' WHERE name = 'runs'")
        connection.execute("PRAGMA schema_version = 999")
    done = await export_runs(io.BytesIO(), store=store)
    assert done.runs == ()
    first, second = [told.why for told in done.unreadable]
    assert first.startswith("schemaless.sqlite is damaged: malformed database schema")
    assert "there may be more" in second
    await store.close()
    again = SqliteStore(path)
    assert (await export_runs(io.BytesIO(), store=again)).runs == ("r",), "opened anew it is saved"
    await again.close()
