"""Damage that SQLite does not see: a file beside it has the last durable entry of each run."""

import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from clew import SqliteStore
from clew.core.contents import text_parts
from clew.core.events import Note
from clew.core.journal import chain
from clew.core.stores import Append, Base, Line
from clew.core.values import encode
from clew.retention import export_runs, import_runs, verify
from clew.stores.sqlite import heads
from clew.stores.sqlite.heads import Head, Heads
from clew.support.errors import RunNotFoundError, StoreDamagedError, StoreError

pytestmark = pytest.mark.anyio


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "runs.sqlite"


def append(run_id: str, epoch: int, *seqs: int, barrier: bool = False) -> Append:
    """Entries of a run; each is the same whenever it is written in an epoch."""
    before, lines = b"", list[Line]()
    for seq in range(1, seqs[-1] + 1):
        body = encode(Note(text_parts(f"entry {seq} of {run_id}")))
        before = chain(before, seq, 5, 1, body)
        lines.append(Line(seq, 5, 1, body, before))
    return Append(run_id, epoch, tuple(lines[seqs[0] - 1 :]), barrier)


async def write(place: Path, *run_ids: str, upto: int = 4) -> None:
    """Runs of so many durable entries each, in a store that is closed."""
    store = SqliteStore(place)
    for run_id in run_ids:
        epoch = await store.create(run_id)
        for seq in range(1, upto + 1):
            await store.append(append(run_id, epoch, seq, barrier=True))
    await store.close()


def beside(place: Path, suffix: str) -> Path:
    return place.with_name(place.name + suffix)


async def grown(place: Path) -> Path:
    """An older copy of the store's file: since it was made, `r` got two more entries."""
    await write(place, "q", "r")
    older = shutil.copy(place, place.with_name("older"))
    store = SqliteStore(place)
    epoch = await store.open("r")
    await store.append(append("r", epoch, 5, 6, barrier=True))
    await store.close()
    return Path(older)


async def test_several_runs_that_lost_entries_are_told_as_several(
    place: Path, caplog: pytest.LogCaptureFixture
) -> None:
    await write(place, "q")
    older = shutil.copy(place, place.with_name("older"))
    await write(place, "r", "s")
    shutil.copy(older, place)
    await SqliteStore(place).close()
    assert " and 1 more lost their last entries; `clew records verify` says more" in caplog.text


async def test_an_older_copy_of_the_file_is_named_and_the_run_that_lost_entries_refused(
    place: Path, caplog: pytest.LogCaptureFixture
) -> None:
    shutil.copy(await grown(place), place)
    store = SqliteStore(place)
    assert "run 'r' lost its last entries; `clew records verify` says more" in caplog.text
    for work in (store.open("r"), store.create("fork", Base("r", 2))):
        with pytest.raises(StoreDamagedError, match=r"run 'r' lost its last entries \(entry 6 was"):
            await work
    assert await store.open("q") == 2, "the other run has all of its entries"
    assert len(await store.read("r")) == 4, "what is left can be read"
    found, lost = await verify(store=store)
    assert {one.run_id: one.ok for one in found} == {"q": True, "r": False}
    assert [one.why for one in lost] == [found[[one.run_id for one in found].index("r")].wrong]
    await store.close()


async def test_the_heads_deleted_the_run_goes_on_without_what_is_lost(
    place: Path, caplog: pytest.LogCaptureFixture
) -> None:
    shutil.copy(await grown(place), place)
    beside(place, ".heads").unlink()
    store = SqliteStore(place)
    epoch = await store.open("r")
    await store.append(append("r", epoch, 5, barrier=True))
    assert caplog.messages == []
    assert (await verify(store=store))[1] == []
    await store.close()


async def test_a_run_that_is_lost_whole_is_not_begun_again(place: Path) -> None:
    await write(place, "q")
    older = shutil.copy(place, place.with_name("older"))
    await write(place, "r")
    shutil.copy(older, place)
    store = SqliteStore(place)
    for work in (
        store.create("r"),
        store.open("r"),
        store.epoch("r"),
        store.inbox("r"),
        store.read("r"),
        store.post("r", b"{}"),
        store.forget("r"),
        store.append(append("r", 1, 1)),
    ):
        with pytest.raises(StoreDamagedError, match="run 'r' lost its last entries"):
            await work
    with pytest.raises(RunNotFoundError):
        await store.open("s")
    await store.create("s")
    (checked, *_), lost = await verify(store=store)
    assert checked.run_id == "q"
    assert checked.ok
    assert len(lost) == 1
    await store.close()


async def test_a_run_that_lost_entries_is_not_exported_as_if_it_were_whole(
    place: Path, tmp_path: Path
) -> None:
    shutil.copy(await grown(place), place)
    done = await export_runs(tmp_path / "archive", store=place)
    assert done.runs == ("q",)
    assert any("run 'r' lost its last entries" in one.why for one in done.unreadable)
    brought = await import_runs(tmp_path / "archive", store=tmp_path / "new.sqlite")
    assert brought.runs == ("q",)


@pytest.mark.parametrize("left", ["-wal", ".heads"])
@pytest.mark.parametrize("emptied", [False, True])
async def test_a_store_whose_file_is_gone_is_not_begun_anew(
    place: Path, left: str, *, emptied: bool
) -> None:
    await write(place, "r")
    beside(place, ".heads").unlink()
    place.unlink()
    if emptied:
        place.touch()
    beside(place, left).write_bytes(b"something")
    assert SqliteStore.was_at(place)
    with pytest.raises(StoreDamagedError, match=r"is missing or empty, and .* tell of runs in it"):
        SqliteStore(place)
    assert beside(place, left).read_bytes() == b"something", "SQLite would delete its log"
    beside(place, left).unlink()
    await write(place, "r")


async def test_a_file_that_is_no_database_any_more_is_called_damaged(place: Path) -> None:
    await write(place, "r")
    place.write_bytes(b"\0" * 700)
    with pytest.raises(StoreDamagedError, match="it is no database any more"):
        SqliteStore(place)
    beside(place, ".heads").unlink()
    with pytest.raises(StoreError, match="is no store of clew but some other file"):
        SqliteStore(place)


def backup(place: Path, to: Path) -> None:
    before, after = sqlite3.connect(place), sqlite3.connect(to)
    before.backup(after)
    before.close()
    after.close()


def vacuum(place: Path, to: Path) -> None:
    before = sqlite3.connect(place)
    before.execute("VACUUM INTO ?", (str(to),))
    before.execute("VACUUM")
    before.close()


def all_files(place: Path, to: Path) -> None:
    for file in place.parent.iterdir():
        if file.name.startswith(place.name):
            shutil.copy(file, to.with_name(to.name + file.name.removeprefix(place.name)))


@pytest.mark.parametrize("copied", [shutil.copyfile, backup, vacuum, all_files])
async def test_a_proper_copy_and_its_origin_go_on(
    place: Path,
    tmp_path: Path,
    copied: Callable[[Path, Path], None],
    caplog: pytest.LogCaptureFixture,
) -> None:
    await write(place, "q", "r")
    (tmp_path / "elsewhere").mkdir()
    copied(place, to := tmp_path / "elsewhere" / "copy.sqlite")
    for one in (place, to):
        store = SqliteStore(one)
        epoch = await store.open("r")
        await store.append(append("r", epoch, 5, barrier=True))
        assert (await verify(store=store))[1] == []
        await store.close()
    assert caplog.messages == []


async def test_a_forgotten_run_may_be_begun_again(
    place: Path, caplog: pytest.LogCaptureFixture
) -> None:
    await write(place, "q", "r")
    store = SqliteStore(place)
    await store.forget("r")
    await store.close()
    store = SqliteStore(place)
    with pytest.raises(RunNotFoundError):
        await store.open("r")
    assert (await verify(store=store))[1] == []
    await store.close()
    await write(place, "r", upto=2)
    store = SqliteStore(place)
    assert await store.open("r") == 2
    await store.close()
    assert caplog.messages == []


async def test_a_fork_is_held_against_its_own_entries(place: Path) -> None:
    await write(place, "r")
    store = SqliteStore(place)
    epoch = await store.create("fork", Base("r", 3))
    await store.append(append("fork", epoch, 4, 5, barrier=True))
    assert await store.open("fork") == 2
    await store.close()


async def test_an_append_that_need_not_be_durable_leaves_no_head(place: Path) -> None:
    store = SqliteStore(place)
    await store.append(append("r", await store.create("r"), 1, 2))
    assert Heads(beside(place, ".heads"), place).all() == []
    with pytest.raises(StoreError, match="cannot take lines"):
        await store.append(append("r", 1, 9, barrier=True))
    await store.append(append("r", 1, 3, barrier=True))
    with pytest.raises(StoreError, match="cannot take lines"):
        await store.append(append("r", 1, 9, barrier=True))
    await store.close()
    assert [head.seq for head in Heads(beside(place, ".heads"), place).all()] == [3]


async def test_two_workers_leave_heads_in_one_file(place: Path) -> None:
    first, second = SqliteStore(place), SqliteStore(place)
    for store, run_id in ((first, "one"), (second, "two"), (first, "three")):
        await store.append(append(run_id, await store.create(run_id), 1, barrier=True))
    found = Heads(beside(place, ".heads"), place)
    assert {head.run_id for head in found.all()} == {"one", "two", "three"}
    await first.close()
    await second.close()


async def test_heads_that_were_removed_meanwhile_are_begun_again(place: Path) -> None:
    store = SqliteStore(place)
    epoch = await store.create("r")
    await store.append(append("r", epoch, 1, barrier=True))
    beside(place, ".heads").unlink()
    await store.append(append("r", epoch, 2, barrier=True))
    await store.close()
    assert Heads(beside(place, ".heads"), place).all()[0].seq == 2


@pytest.mark.skipif(os.name == "nt", reason="POSIX rights")
async def test_heads_have_the_rights_of_the_store(place: Path) -> None:
    await write(place, "r")
    assert beside(place, ".heads").stat().st_mode & 0o777 == 0o600
    beside(place, ".heads").unlink()
    place.chmod(0o660)
    store = SqliteStore(place)
    await store.append(append("r", await store.open("r"), 5, barrier=True))
    await store.close()
    assert beside(place, ".heads").stat().st_mode & 0o777 == 0o660


async def test_where_no_head_can_be_written_runs_go_on_and_it_is_said_once(
    place: Path, caplog: pytest.LogCaptureFixture
) -> None:
    await write(place, "r")
    beside(place, ".heads").unlink()
    beside(place, ".heads").mkdir()
    store = SqliteStore(place)
    epoch = await store.open("r")
    for seq in (5, 6):
        await store.append(append("r", epoch, seq, barrier=True))
    await store.close()
    assert len(caplog.messages) == 1
    assert "cannot be written" in caplog.text


NAMES = ["r", "a b", 'x "r', "r\n", "ä\u2028", "\x1b[2J", '"', "\\", "0", " r", "r ", "é" * 300]


@pytest.fixture
def file(place: Path) -> Iterator[Heads]:
    place.touch(0o600)
    found = Heads(beside(place, ".heads"), place)
    yield found
    found.close()


def test_any_id_is_found_again(file: Heads) -> None:
    written = [Head(name, number + 1, bytes([number] * 16)) for number, name in enumerate(NAMES)]
    file.note(written)
    assert file.all() == written
    assert [file.of(name) for name in NAMES] == written
    file.note([Head("r", 0)])
    assert file.of("r") is None
    assert file.of('x "r') == written[2]
    assert file.all() == written[1:]


@pytest.mark.slow
def test_damage_of_the_heads_themselves_takes_the_lines_it_is_in(file: Heads) -> None:
    file.note([Head("r", 1, b"1"), Head("q", 2, b"2"), Head("r", 3, b"3")])
    data = file.path.read_bytes()
    for at in range(len(data)):
        for bit in range(8):
            file.path.write_bytes(data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :])
            seen = {(head.run_id, head.seq) for head in file.all()}
            assert seen < {("r", 1), ("q", 2), ("r", 3)} or seen == {("q", 2), ("r", 3)}
            assert file.of("r") in (None, Head("r", 1, b"1"), Head("r", 3, b"3"))
    for size in range(len(data)):
        file.path.write_bytes(data[:size])
        assert len(file.all()) <= 2
        file.close()
        file.note([Head("s", 9, b"9")])
        assert file.of("s") == Head("s", 9, b"9"), "it is not part of the cut line"


async def test_damaged_heads_are_told_by_verify(place: Path) -> None:
    await write(place, "q", "r")
    data = bytearray(beside(place, ".heads").read_bytes())
    data[3] ^= 1
    beside(place, ".heads").write_bytes(data)
    found, lost = await verify(store=place)
    assert [one.ok for one in found] == [True, True]
    assert "1 of its lines cannot be read" in lost[0].why
    shutil.copy(await grown(place.with_name("other.sqlite")), place.with_name("other.sqlite"))
    other = beside(place.with_name("other.sqlite"), ".heads").read_bytes()
    beside(place.with_name("other.sqlite"), ".heads").write_bytes(other + b"?\n")
    _, lost = await verify(store=place.with_name("other.sqlite"))
    assert len(lost) == 2


def test_heads_are_written_anew_where_most_of_them_are_old(
    file: Heads, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(heads, "_SLACK", 1_000)
    other = Heads(file.path, file.path)
    file.compact()
    assert not file.path.exists()
    file.note([Head("r", 1)])
    file.compact()
    size = file.path.stat().st_size
    for seq in range(2, 100):
        other.note([Head("r", seq), Head("q", seq)])
    other.note([Head("gone", 1), Head("gone", 0)])
    file.compact()
    begun = len(heads.FIRST)
    assert file.path.stat().st_size == begun + 2 * (size - begun + 1)
    assert [path.name for path in file.path.parent.glob("*.heads.*")] == []
    other.note([Head("r", 100)])
    other.close()
    assert file.of("r") == Head("r", 100), "whoever had it open writes to the new one"
    assert file.all() == [Head("q", 99), Head("r", 100)]
    file.note([Head(f"run {number}", 1) for number in range(100)])
    size = file.path.stat().st_size
    file.compact()
    assert file.path.stat().st_size == size, "all of it is needed"
