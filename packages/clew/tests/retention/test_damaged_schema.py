"""An SQLite file whose schema is damaged: no entry is lost by that, and every run is saved."""

import io
import random
import sqlite3
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest

from clew import SqliteStore
from clew.concurrency.portal import wait_for
from clew.core.contents import text_parts
from clew.core.events import Note
from clew.core.stores import Base
from clew.retention import export_runs_sync, gc, import_runs_sync
from clew.stores.memory import MemoryStore
from tests.cli.shell import clew
from tests.retention.records import NOW, contents, everything, fork, run

PAGE: Final = 512
HEADER: Final = 100
PLACE: Final = Path("runs.sqlite")


async def _made() -> tuple[bytes, bytes, dict[str, Any]]:
    await SqliteStore(Path("made.sqlite")).close()  # the schema stands in the file, not in the log
    store = SqliteStore(Path("made.sqlite"))
    await everything(store)
    for number in range(4):
        await run(store, f"run-{number}", Note(text_parts(f"{number} " * 900)), days=number)
    await fork(store, "late-fork", Base("run-1", 2))
    found = await contents(store)
    log = Path("made.sqlite-wal").read_bytes()
    main = Path("made.sqlite").read_bytes()
    await store.close()
    assert len(log) > len(main), "nearly all stands in the log"
    return main, log, found


@cache
def made() -> tuple[bytes, bytes, bytes, dict[str, Any]]:
    """A file, its log and what is in them; and the file as it is once the log is folded into it."""
    main, log, found = wait_for(_made)
    folded = Path("made.sqlite").read_bytes()
    for left in Path().glob("made.sqlite*"):
        left.unlink()
    return folded, main, log, found


@cache
def schema() -> list[int]:
    """Where the bytes of the schema stand: behind the header, and on the pages of no table."""
    wait_for(SqliteStore(Path("empty.sqlite")).close)
    with closing(sqlite3.connect("empty.sqlite")) as connection:
        roots = {root for (root,) in connection.execute("SELECT rootpage FROM sqlite_master")}
    pages = range(Path("empty.sqlite").stat().st_size // PAGE)
    places = [page * PAGE + at for page in pages if page + 1 not in roots for at in range(PAGE)]
    return places[HEADER:]


def saved() -> tuple[dict[str, Any], bytes]:
    """What an export of the file brings, and the archive."""
    archive = io.BytesIO()
    export_runs_sync(archive, store=PLACE)
    archive.seek(0)
    other = MemoryStore()
    assert import_runs_sync(archive, store=other).complete
    return wait_for(contents, other), archive.getvalue()


def lines(found: dict[str, Any]) -> dict[str, Any]:
    return {run_id: one[0] for run_id, one in found.items()}


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("many", [1, 40])
def test_whatever_is_changed_in_the_schema_all_runs_are_saved(seed: int, many: int) -> None:
    data, _, _, wanted = made()
    place, changed = random.Random(seed), bytearray(data)
    for at in place.sample(schema(), many):
        changed[at] ^= place.randrange(1, 256)
    PLACE.write_bytes(changed)
    found, _ = saved()
    assert lines(found) == lines(wanted)
    assert PLACE.read_bytes() == changed, "saving changes nothing"


@pytest.mark.parametrize(
    ("text", "instead"),
    [
        (b"CREATE TABLE runs", b"CREATE TABLE \xffuns"),
        (b"CREATE TABLE runs", b"CREATE TABLE ruin"),
        (b"CREATE TABLE entries", b"CREATE TABLE \x00ntries"),
        (b"run_id TEXT", b"run_it TEXT"),
        (b"run_id TEXT", b"\xf0un_id TEXT"),
        (b"body BLOB", b"bady BLOB"),
        (b"key INTEGER", b"key INTEGEN"),
        (b"digest TEXT", b"digest\xfeTEXT"),
        (b"CREATE INDEX", b"CREATE UNDEX"),
        (b"WITHOUT ROWID", b"WITHOUT ROWIT"),
        (b"tableentries", b"tablfentries"),
        (b"tableblobs", b"\x80ableblobs"),
    ],
    ids=ascii,
)
def test_what_a_table_is_called_is_known_without_its_schema(text: bytes, instead: bytes) -> None:
    data, _, _, wanted = made()
    assert text in data
    PLACE.write_bytes(data.replace(text, instead))
    found, _ = saved()
    assert lines(found) == lines(wanted)
    verified = clew("records", "verify", "--store", str(PLACE))
    whole = "all is well" in verified.out
    assert verified.code == (0 if whole else 5)
    done = clew("records", "export", "--archive", "archive", "--store", str(PLACE))
    assert done.code == verified.code, done.err
    if not whole:
        assert "is damaged" in verified.out or "damaged schema" in verified.out
        assert "Traceback" not in done.err


@pytest.mark.parametrize("seed", range(10))
def test_entries_that_stand_in_the_log_alone_are_saved_too(seed: int) -> None:
    _, main, log, wanted = made()
    place, changed = random.Random(seed), bytearray(main)
    for at in place.sample([at for at in schema() if at > PAGE], 40):  # the log has the first page
        changed[at] ^= place.randrange(1, 256)
    PLACE.write_bytes(changed)
    PLACE.with_name(f"{PLACE}-wal").write_bytes(log)
    found, _ = saved()
    assert lines(found) == lines(wanted)


def test_what_was_deleted_does_not_come_back() -> None:
    async def make() -> None:
        store = SqliteStore(PLACE)
        for number in range(6):
            await run(
                store, f"run-{number}", Note(text_parts(f"secret-{number} " * 300)), days=number
            )
        await gc(store=store, older=3 * 86_400, clock=lambda: NOW)
        await store.close()

    wait_for(make)
    PLACE.write_bytes(PLACE.read_bytes().replace(b"CREATE TABLE runs", b"CREATE TABLE \xffuns"))
    found, archive = saved()
    assert found
    assert sorted(found) == [name for name in sorted(found) if name.encode() in archive]
    gone = {f"run-{number}" for number in range(6)} - set(found)
    assert gone
    assert not [name for name in gone if name.replace("run", "secret").encode() in archive]


@pytest.mark.parametrize("kept", [HEADER, PAGE])
def test_a_file_without_a_readable_run_is_not_an_empty_store(kept: int) -> None:
    data, *_ = made()
    PLACE.write_bytes(data[:kept] + bytes(len(data) - kept))
    for command in (("runs",), ("records", "verify"), ("records", "export", "--archive", "a")):
        done = clew(*command, "--store", str(PLACE))
        assert done.code == 5, done.out
        assert "is damaged" in done.out + done.err
        assert "no runs yet" not in done.out + done.err
