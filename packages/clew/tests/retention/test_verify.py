"""Verification: whatever was changed, lost or cut off is found, and named where it can be."""

import random
import sqlite3
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew import SqliteStore
from clew.concurrency.portal import wait_for
from clew.core.contents import text_parts
from clew.core.events import Note
from clew.core.journal import Journal, chain
from clew.core.stores import Append, Line, Store
from clew.retention import Verification, verify, verify_sync
from clew.retention.verify import EMPTY
from clew.stores.memory import MemoryStore
from tests.retention.records import MAKERS, NOW, Maker, contents, everything, family, run


async def one(store: Store, run_id: str, **how: Any) -> Verification:
    (found,), lost = await verify([run_id], store=store, **how)
    assert lost == []
    return found


@pytest.mark.parametrize("make", MAKERS)
async def test_what_was_written_is_found_so(make: Maker, tmp_path: Path) -> None:
    store = make(tmp_path)
    await everything(store)
    seen: list[Any] = []
    found, lost = await verify(store=store, on_run=lambda *told: seen.append(told))
    assert [told[0] for told in seen] == list(range(1, len(found) + 1))
    assert lost == []
    wanted = await contents(store)
    assert {one.run_id: (one.entries, one.hash, one.ok) for one in found} == {
        run_id: (len(lines), lines[-1].hash.hex(), True) for run_id, (lines, _, _) in wanted.items()
    }
    await store.close()


async def test_an_end_that_was_cut_off_whole_is_known_by_the_expected_hash_alone() -> None:
    store, cut = MemoryStore(), MemoryStore()
    await run(store, "r", Note(text_parts("the end")))
    lines = await store.read("r")
    await cut.create("r")
    blobs = {digest: await store.blob(digest) for digest in store._blobs}  # noqa: SLF001 - all of them
    await cut.append(Append("r", 1, tuple(lines[:-1]), blobs=blobs))
    last = lines[-1].hash.hex()
    assert (await one(cut, "r")).ok, "a chain alone cannot know"
    assert (await one(store, "r", expect=last.upper())).expected == len(lines)
    assert not (await one(cut, "r", expect=last)).ok
    journal = await Journal.open(store, "r", clock=lambda: NOW)
    await journal.record(Note(text_parts("it goes on")))
    found = await one(store, "r", expect=last)
    assert (found.ok, found.expected, found.entries) == (True, len(lines), len(lines) + 1)


async def test_an_entry_that_was_taken_out_of_the_middle_is_missing(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "runs.sqlite")
    await run(store, "r", Note(text_parts("one")), Note(text_parts("two")))
    await store.close()
    with closing(sqlite3.connect(tmp_path / "runs.sqlite")) as file, file:
        keys = [key for (key,) in file.execute("SELECT key FROM entries ORDER BY key")]
        file.execute("DELETE FROM entries WHERE key = ?", (keys[1],))
    store = SqliteStore(tmp_path / "runs.sqlite")
    found = await one(store, "r")
    await store.close()
    assert not found.ok
    assert "entry 2: it is missing: entry 3 stands in its place" in str(found)


async def line(store: Store, run_id: str, *bodies: bytes, epochs: tuple[int, ...] = ()) -> None:
    """A run with these events, chained as they should be."""
    before, lines = b"", list[Line]()
    for seq, body in enumerate(bodies, start=1):
        epoch = epochs[seq - 1] if epochs else 1
        before = chain(before, seq, 5, epoch, body)
        lines.append(Line(seq, 5, epoch, body, before))
    await store.create(run_id)
    await store.append(Append(run_id, 1, tuple(lines)))


NOTE = b'{"event":"note","parts":[{"type":"text","text":"x"}]}'


@pytest.mark.parametrize("message", [b"\xff\xfe", NOTE + b"\n", b'{"event":'])
async def test_a_message_that_no_archive_could_hold_is_found(message: bytes) -> None:
    store = MemoryStore()
    await run(store, "r", Note(text_parts("hm")))
    await store.post("r", NOTE)
    assert (await one(store, "r")).ok
    await store.post("r", message)
    found = await one(store, "r")
    assert found.wrong == "a message in its inbox is no compact JSON on one line"
    assert found.entries == len(await store.read("r")), "the record itself is right"


@pytest.mark.parametrize(
    ("bodies", "epochs", "seq", "why"),
    [
        ([NOTE, NOTE, NOTE], (1, 3, 2), 3, "entry 3: epoch 2 stands behind epoch 3"),
        ([NOTE, b'{"event":"levitated'], (), 2, "entry 2: it is not readable here"),
        (
            [b'{"event":"observation","call":"1.1","blob":"%s"}' % (b"0" * 64)], (), 1,
            "entry 1: blob '0000",
        ),
        (
            [
                b'{"event":"attempt","call":"1.1","tool":"t","hash":"h","timeout":1,"child":"c"}',
                b'{"event":"observation","call":"1.1","spent":{}}',
            ],
            (), 2, "entry 2: its sub-run 'c' is not in this store",
        ),
    ],
)  # fmt: skip
async def test_what_does_not_hold_is_told(
    bodies: list[bytes], epochs: tuple[int, ...], seq: int, why: str
) -> None:
    store = MemoryStore()
    await line(store, "r", *bodies, epochs=epochs)
    found = await one(store, "r")
    assert (found.ok, found.seq, found.entries) == (False, seq, seq - 1)
    assert found.wrong.startswith(why)


async def test_runs_that_are_not_there_or_empty_or_lack_a_sub_run_are_told() -> None:
    store = MemoryStore()
    await family(store)
    await store.create("empty")
    assert "there is no run 'nobody'" in (await one(store, "nobody")).wrong
    assert (await one(store, "empty")).wrong == EMPTY
    await store.forget("root-2.1")
    found, _ = await verify(store=store)
    wrong = {one.run_id: (one.seq, one.wrong) for one in found if not one.ok}
    assert wrong == {"root": (6, "entry 6: its sub-run 'root-2.1' is not in this store")}
    attempted = MemoryStore()
    body = b'{"event":"attempt","call":"1.1","tool":"t","hash":"h","timeout":1,"child":"c"}'
    await line(attempted, "r", body)
    assert (await one(attempted, "r")).ok, "a sub-run that was never begun is not missed"


async def _made() -> None:
    store = SqliteStore(Path("made.sqlite"))
    await everything(store)
    await store.close()


COLUMNS = [
    ("entries", "body"),
    ("entries", "hash"),
    ("entries", "at"),
    ("entries", "epoch"),
    ("blobs", "body"),
]


@cache
def made() -> bytes:
    """An SQLite file with everything in it."""
    wait_for(_made)
    data = Path("made.sqlite").read_bytes()
    Path("made.sqlite").unlink()
    return data


def changed(path: Path, place: random.Random) -> tuple[str, int, str]:
    """Change one byte, or number, of a row; the run's id and the entry that has it."""
    table, column = place.choice(COLUMNS)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        rows = connection.execute(f"SELECT rowid, {column} FROM {table}").fetchall()
        rowid, value = place.choice([row for row in rows if row[1] != b""])
        if isinstance(value, bytes):
            data = bytearray(value)
            data[place.randrange(len(data))] ^= place.randrange(1, 256)
            value = bytes(data)
        else:
            value += place.choice([-1, 1, 1 << 20])
        connection.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", (value, rowid))
        if table == "blobs":
            return "", 0, table
        query = "SELECT run_id FROM runs WHERE number = ?"
        (run_id,) = connection.execute(query, (rowid >> 32,)).fetchone()
        return run_id, rowid & 0xFFFFFFFF, column


@settings(max_examples=60)
@given(st.randoms(use_true_random=False))
def test_one_changed_byte_is_found_and_named(place: random.Random) -> None:
    path = Path("changed.sqlite")
    path.write_bytes(made())
    run_id, seq, column = changed(path, place)
    found, lost = verify_sync(store=path)
    wrong = {one.run_id: one for one in found if not one.ok}
    assert all(run_id in told.why and column == "body" for told in lost), "of a stop, no more one"
    if column == "blobs":
        assert wrong
        assert all("was changed after it was written" in one.wrong for one in wrong.values())
    else:
        assert wrong[run_id].seq == seq
        assert f"entry {seq}: it was changed after it was written" in wrong[run_id].wrong
        forks = {"plain": ("fork", "fork-of-the-fork"), "fork": ("fork-of-the-fork",)}
        assert wrong.keys() <= {run_id, *forks.get(run_id, ())}


async def test_a_value_of_another_type_is_a_change(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "runs.sqlite")
    await run(store, "r")
    with closing(sqlite3.connect(store.path, isolation_level=None)) as connection:
        connection.execute("UPDATE entries SET at = 'yesterday' WHERE key & 4294967295 = 2")
    found = await one(store, "r")
    assert (found.seq, found.entries) == (2, 1)
    await store.close()
