"""An SQLite file that was cut off: every run that lies wholly in what remains is saved."""

import io
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from clew import SqliteStore
from clew.concurrency.portal import wait_for
from clew.core.contents import text_parts
from clew.core.events import Note, Stop
from clew.core.journal import Journal, load
from clew.core.stores import Base
from clew.core.values import encode
from clew.retention import export_runs_sync, import_runs_sync, verify, verify_sync
from clew.stores.memory import MemoryStore
from clew.support.errors import StoreError
from tests.cli.shell import clew
from tests.retention.records import contents, file_with, fork, run

PAGE = 512
SHARES = (0.02, 0.1, 0.25, 0.4, 0.55, 0.7, 0.85, 0.95, 0.994)
PLACE = Path("runs.sqlite")


async def _runs(store: SqliteStore) -> None:
    for number in range(30):
        await run(
            store,
            f"run-{number}",
            *(Note(text_parts(f"{n} " * 400)) for n in range(6)),
            days=number,
        )
    await fork(store, "late-fork", Base("run-3", 5))
    await store.post("run-29", encode(Note(text_parts("waits"))))


def made() -> tuple[bytes, dict[str, Any]]:
    """A real file of some thousand pages, and all that is in it."""
    return file_with(_runs)


@pytest.mark.parametrize("share", SHARES)
def test_what_lies_wholly_in_what_is_left_is_saved_and_the_rest_is_named(share: float) -> None:
    data, wanted = made()
    cut = data[: int(len(data) * share)]
    PLACE.write_bytes(cut)
    done = clew("records", "export", "--archive", "archive", "--store", str(PLACE))
    assert done.code == 5
    assert PLACE.read_bytes() == cut, "saving changes nothing"
    assert "pages are there" in done.err
    clew("records", "import", "archive", "--store", "other.sqlite")
    came = wait_for(contents, SqliteStore(Path("other.sqlite")))
    for one in verify_sync(store="other.sqlite")[0]:
        assert one.ok or "its sub-run" in one.wrong or "blob" in one.wrong, "that was left out"
    lines = {tuple(line.hash for line in lines): name for name, (lines, _, _) in wanted.items()}
    saved = {lines[tuple(line.hash for line in found)] for found, _, _ in came.values()}
    assert len(saved) == len(came), "each whole, and once"
    there = [name for name in wanted if all(line.hash in cut for line in wanted[name][0])]
    missed = set(there) - saved
    assert len(missed) <= (6 if share < 0.2 else 1), missed  # cut within its last entry or blob
    left_out = done.err.count("is left out") + done.err.count("is kept without blob")
    assert left_out >= len(missed), "each is named"
    verified = clew("records", "verify", "--store", str(PLACE))
    assert (verified.code, "all is well" in verified.out) == (5, False)
    assert verified.out.count("wrong  ") == left_out


def test_a_run_whose_id_is_lost_is_saved_by_another_and_that_is_said() -> None:
    data, _ = made()
    cut = bytearray(data[: len(data) // 2])
    for at in range(0, len(cut), PAGE):
        page = cut[at : at + PAGE]
        if page[0] in {2, 10, 13} and b"run-3" in page and b"run-4" in page:
            cut[at : at + PAGE] = bytes(PAGE)
    PLACE.write_bytes(cut)
    done = clew("records", "export", "--archive", "archive", "--store", str(PLACE))
    assert "run number 12 has lost its id, and is called 'id-lost-12'" in done.err
    clew("records", "import", "archive", "--store", "other.sqlite")
    assert clew("show", "id-lost-12", "--store", "other.sqlite").code == 0


async def test_a_run_that_may_have_gone_on_is_not_taken_for_whole() -> None:
    store = SqliteStore(PLACE)
    for number in range(3):
        await run(store, f"run-{number}", status=None)
    journal = await Journal.open(store, "run-2")
    await journal.record(*(Note(text_parts(f"{n} " * 300)) for n in range(40)), Stop("answered"))
    await store.close()
    data = PLACE.read_bytes()
    PLACE.write_bytes(data[: len(data) // 2])
    rest = SqliteStore(PLACE)
    found = {one.run_id: one for one in (await verify(store=rest))[0]}
    assert {name for name, one in found.items() if one.ok} == {"run-0", "run-1"}
    with pytest.raises(StoreError, match=r"entry \d+ was changed|is not in this store"):
        await load(rest, "run-2")
    await rest.close()


async def test_what_is_left_of_a_cut_file_is_only_read(caplog: pytest.LogCaptureFixture) -> None:
    data, _ = made()
    PLACE.write_bytes(data[:-PAGE])
    store = SqliteStore(PLACE)
    pages = len(data) // PAGE
    assert f"was cut off: {pages - 1:,} of its {pages:,} pages are there" in caplog.text
    way_out = (
        "is damaged and is only read: save it with `clew records export --archive` and import that"
    )
    for work in (store.create("new"), store.open("plain"), store.post("plain", b"{}")):
        with pytest.raises(StoreError, match=way_out):
            await work
    assert await store.runs(limit=3), "it can be listed"
    assert PLACE.read_bytes() == data[:-PAGE]
    await store.close()


@settings(max_examples=20)
@given(st.integers(0, 1 << 60).map(random.Random), st.integers(1, 40))
@example(random.Random(1), 40)
def test_pages_of_anything_else_do_no_harm(place: random.Random, many: int) -> None:
    data, wanted = made()
    cut = bytearray(data[: len(data) * 2 // 3])
    for _ in range(many):
        at = place.randrange(60, len(cut) // PAGE) * PAGE
        first = bytes([place.choice([2, 5, 10, 13]), 0, 0, 0, place.randrange(9)])
        cut[at : at + PAGE] = first + place.randbytes(PAGE - 5)
    at = 100 * PAGE  # a page with one row, whose length has no end
    cut[at : at + PAGE] = b"\r\0\0\0\x01\0\0\0\x01\0" + b"\xff" * (PAGE - 10)
    PLACE.write_bytes(cut)
    export_runs_sync(archive := io.BytesIO(), store=PLACE)
    archive.seek(0)
    import_runs_sync(archive, store=(other := MemoryStore()))
    known = {tuple(line.hash for line in lines) for lines, _, _ in wanted.values()}
    for lines, _, _ in wait_for(contents, other).values():
        assert tuple(line.hash for line in lines) in known


def test_a_cut_database_of_another_program_is_none_of_ours() -> None:
    data, _ = made()
    PLACE.write_bytes(data[:68] + bytes(4) + data[72:-PAGE])
    with pytest.raises(StoreError, match="is damaged: restore a copy"):
        SqliteStore(PLACE)
