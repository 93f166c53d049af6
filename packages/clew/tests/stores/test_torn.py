"""Torn writes: files cut at any byte open again, keep what was committed, and say what was cut."""

import os
import shutil
import struct
from pathlib import Path

import pytest

from clew import SqliteStore
from clew.core.contents import text_parts
from clew.core.events import Note
from clew.core.journal import Journal, chain
from clew.core.stores import Append, Line
from clew.core.values import encode
from clew.retention import verify
from clew.stores.sqlite.witness import ends_torn

HEADER, FRAME = 32, 24  # bytes, https://www.sqlite.org/fileformat2.html#the_write_ahead_log
STRIDE = int(os.environ.get("CLEW_TORN_STRIDE", "997"))
"""Cuts of SQLite's log are this far apart, beside those at the edges of its frames; 1 is all."""


def line(seq: int, before: bytes, text: str) -> Line:
    body = encode(Note(text_parts(text)))
    return Line(seq, 5, 1, body, chain(before, seq, 5, 1, body))


def frames(log: bytes) -> list[tuple[int, bool]]:
    """Where each frame of the log ends, and whether a commit ends with it."""
    step = FRAME + struct.unpack_from(">I", log, 8)[0]
    return [
        (at + step, struct.unpack_from(">I", log, at + 4)[0] > 0)
        for at in range(HEADER, len(log) - step + 1, step)
    ]


@pytest.mark.slow
@pytest.mark.parametrize("anyio_backend", ["asyncio"])  # nothing here waits for anything
async def test_a_log_cut_in_its_last_three_commits_keeps_the_rest_and_says_so(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    place, before, entries = tmp_path / "runs.sqlite", b"", {0: 0}
    log, heads = place.with_name("runs.sqlite-wal"), place.with_name("runs.sqlite.heads")
    store = SqliteStore(place)
    had = {0: heads.read_bytes()}
    await store.create("r")
    for seq in range(1, 7):
        one = line(seq, before, "x" * 20_000 if seq % 2 else "short")
        await store.append(Append("r", 1, (one,), barrier=True))
        before = one.hash
        entries[log.stat().st_size] = seq
        had[seq] = heads.read_bytes()
    data, main = log.read_bytes(), place.read_bytes()
    await store.close()
    commits = [end for end, commit in frames(data) if commit]
    edges = [end + off for end, _ in frames(data) for off in (-1, 0, 1, 15, 16, 23, 24, 25)]
    start = commits[-4]
    cuts = {*range(start, len(data), STRIDE), *edges, len(data)}
    torn = tmp_path / "torn" / "runs.sqlite"
    for cut in sorted(cut for cut in cuts if start <= cut <= len(data)):
        shutil.rmtree(torn.parent, ignore_errors=True)
        torn.parent.mkdir()
        torn.write_bytes(main)
        torn.with_name(log.name).write_bytes(data[:cut])
        committed = max(end for end in commits if end <= cut)
        torn.with_name(heads.name).write_bytes(had[entries[committed]])
        caplog.clear()
        again = SqliteStore(torn)
        told = [message for message in caplog.messages if "in the midst of a commit" in message]
        assert len(told) == (cut != committed), "only a cut between two commits leaves no trace"
        (found,), lost = await verify(store=again)
        assert (found.ok, found.entries, lost) == (True, entries[committed], [])
        journal = await Journal.open(again, "r")
        await journal.record(Note(text_parts("it goes on")))
        await again.close()
        caplog.clear()
        again = SqliteStore(torn)
        assert [line.seq for line in await again.read("r")] == [*range(1, found.entries + 2)]
        assert caplog.messages == [], "and it is told once"
        await again.close()


async def test_a_log_that_is_whole_is_not_called_torn(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    place = tmp_path / "runs.sqlite"
    log = place.with_name("runs.sqlite-wal")
    assert not ends_torn(log)
    store = SqliteStore(place)
    await store.create("r")
    before = b""
    for seq in range(1, 40):
        one = line(seq, before, "x" * 100_000)
        await store.append(Append("r", 1, (one,)))
        before = one.hash
    store._connection.execute("PRAGMA wal_checkpoint(RESTART)")  # noqa: SLF001 - what SQLite does by itself at 16 MB
    for seq in range(40, 43):  # at the beginning of the log again, before frames of an older one
        one = line(seq, before, "y")
        await store.append(Append("r", 1, (one,)))
        before = one.hash
        assert not ends_torn(log)
        other = SqliteStore(place)
        await other.close()
    assert caplog.messages == []
    await store.close()


async def test_a_commit_under_way_is_not_called_torn(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    place = tmp_path / "runs.sqlite"
    store = SqliteStore(place)
    await store.create("r")
    connection = store._connection  # noqa: SLF001 - a commit of the store has no moment to look in
    connection.execute("PRAGMA cache_size = 1")
    connection.execute("BEGIN IMMEDIATE")
    for number in range(60):
        connection.execute("INSERT INTO blobs VALUES (?, ?)", (str(number), b"x" * 50_000))
    assert ends_torn(place.with_name("runs.sqlite-wal")), "pages were spilled before the commit"
    other = SqliteStore(place, patience=0.01)
    assert caplog.messages == []
    connection.execute("COMMIT")
    await other.close()
    await store.close()
