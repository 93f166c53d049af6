"""Which store a name means, and what is said of names that cannot be one."""

import errno
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import platformdirs
import pytest

from clew import SqliteStore
from clew.core.stores import Store
from clew.stores import open_store
from clew.stores.memory import MemoryStore
from clew.stores.refusals import failed
from clew.support.errors import StoreError
from clew_testing.store_contract import append, numbers
from tests.cli.shell import clew


@pytest.fixture(autouse=True)
def a_home_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.delenv("CLEW_STORE", raising=False)


async def kind_of(where: str | Path | None) -> type[Store]:
    store = open_store(where)
    run_id = f"r{len(await store.runs())}"
    await store.append(append(run_id, await store.create(run_id), 1))
    await store.close()
    return type(store)


async def test_a_name_says_which_store_it_is(tmp_path: Path) -> None:
    meant: dict[str | Path, type[Store]] = {
        "memory:": MemoryStore,
        ":memory:": MemoryStore,
        tmp_path / "new" / "runs.sqlite": SqliteStore,
        str(tmp_path / "other" / "runs"): SqliteStore,
        "~/runs.db": SqliteStore,
    }
    for where, kind in meant.items():
        assert await kind_of(where) is kind
    for made in ("new/runs.sqlite", "home/runs.db", "other/runs"):
        assert (tmp_path / made).is_file()


async def test_no_name_means_the_environments_or_the_users_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert await kind_of(None) is SqliteStore
    assert (platformdirs.user_data_path("clew", appauthor=False) / "runs.sqlite").is_file()
    monkeypatch.setenv("CLEW_STORE", "memory:")
    assert await kind_of(None) is MemoryStore
    monkeypatch.setenv("CLEW_STORE", "")
    assert await kind_of(None) is SqliteStore


@pytest.mark.parametrize("address", ["mysql://me:word@host/runs", "file:///tmp/runs.sqlite"])
def test_an_address_of_no_store_is_told_without_what_it_holds(address: str) -> None:
    scheme = address.partition("//")[0]
    with pytest.raises(StoreError, match=f"^{scheme}//… is no store: name a file"):
        open_store(address)


@pytest.mark.parametrize("name", ["there", "there/", "new/folder/", "runs.jsonl", "new/runs.jsonl"])
@pytest.mark.parametrize("by", ["--store", "CLEW_STORE"])
def test_a_folder_or_a_file_of_json_lines_is_no_store(name: str, by: str, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "runs.jsonl").touch()
    before = sorted(tmp_path.rglob("*"))
    place = f"{tmp_path}/{name}"
    words = ("--store", place) if by == "--store" else ()
    env = {} if words else {"CLEW_STORE": place}
    for command in (("ask", "2 + 2?", "--model", "offline"), ("submit", "2 + 2?"), ("doctor",)):
        done = clew(*command, *words, env=env)
        assert done.code != 0
        said = (
            f"{place} is no store: name a file such as runs.sqlite; if it is an archive, "
            f"`clew records import {place}` brings its runs into a store"
        )
        assert said in " ".join(f"{done.out} {done.err}".split())
    assert sorted(tmp_path.rglob("*")) == before


def test_a_folder_that_is_a_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(StoreError, match="not a folder: name another store"):
        open_store(tmp_path / "file" / "runs.sqlite")


@pytest.mark.parametrize("name", ["n" * 300 + ".sqlite", "f/" + "n" * 300])
def test_a_name_that_is_too_long_is_told(name: str, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="name another"):
        open_store(tmp_path / name)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG])
def test_a_disk_that_has_no_room_for_a_new_file_is_told(number: int) -> None:
    """No test can fill a disk to the last file: what would be said of it."""
    assert "make room" in str(failed("runs.sqlite", OSError(number, "full")))


@contextmanager
def nobody() -> Iterator[None]:
    """Tests that run as root may write anywhere: be somebody else for a while."""
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)


@pytest.fixture
def shared() -> Iterator[Path]:
    """A folder everybody may look into, as pytest's own are not."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    everything = [folder, *folder.rglob("*")]
    for path in everything:
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        with nobody():
            yield
    finally:
        for path in everything:
            path.chmod(0o755 if path.is_dir() else 0o644)


@pytest.mark.parametrize("name", ["runs.sqlite", "new/runs.sqlite"])
def test_a_place_one_may_not_write_is_told(name: str, shared: Path) -> None:
    with read_only(shared), pytest.raises(StoreError, match="change its rights or name another"):
        open_store(shared / name)


def test_a_place_one_may_not_even_look_at_is_told(shared: Path) -> None:
    shared.chmod(0)
    with nobody(), pytest.raises(StoreError, match="change its rights or name another"):
        open_store(shared / "runs.sqlite")
    shared.chmod(0o700)


async def test_a_file_one_may_not_write_can_be_read(shared: Path) -> None:
    store = SqliteStore(shared / "runs.sqlite")
    await store.append(append("r", await store.create("r"), 1))
    await store.close()
    shared.chmod(0o777)
    (shared / "runs.sqlite").chmod(0o444)
    with nobody():
        store = SqliteStore(shared / "runs.sqlite")
        assert await numbers(store, "r") == [1]
        with pytest.raises(StoreError, match="opened for writing"):
            await store.append(append("r", 1, 2))
        await store.close()


async def test_a_store_in_a_read_only_folder_can_be_read(shared: Path) -> None:
    place = shared / "a store?mode=memory#1"
    store = SqliteStore(place)
    await store.append(append("r", await store.create("r"), 1))
    await store.close()
    with read_only(shared):
        store = SqliteStore(place)
        assert await numbers(store, "r") == [1]
        for work in (store.open("r"), store.create("s"), store.append(append("r", 1, 2))):
            with pytest.raises(StoreError, match="opened for writing"):
                await work
        await store.close()


async def test_what_a_read_only_folder_may_hide_is_not_read_in_part(shared: Path) -> None:
    """A log whose index cannot be made holds entries that the file alone does not."""
    place = shared / "runs.sqlite"
    store = SqliteStore(place)
    await store.append(append("r", await store.create("r"), 1))
    log = place.with_name("runs.sqlite-wal").read_bytes()
    await store.close()
    place.with_name("runs.sqlite-wal").write_bytes(log)
    with read_only(shared), pytest.raises(StoreError, match="change its rights or name another"):
        SqliteStore(place)


def test_an_empty_file_in_a_read_only_folder_is_no_store(shared: Path) -> None:
    (shared / "runs.sqlite").touch()
    with read_only(shared), pytest.raises(StoreError, match="change its rights or name another"):
        SqliteStore(shared / "runs.sqlite")
