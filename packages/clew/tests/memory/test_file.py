"""Files that cannot be used: one line that says what to do."""

import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest

from clew import StoreError
from clew.memory import SqliteMemory


def test_a_file_of_another_version_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "m"
    SqliteMemory(path).close()
    with closing(sqlite3.connect(path)) as file, file:
        file.execute("PRAGMA user_version = 9")
    before = path.read_bytes()
    with pytest.raises(
        StoreError,
        match=r"m was written by another version of clew \(memories version 9, this one knows 1\): "
        "use that clew, or name another file",
    ):
        SqliteMemory(path)
    assert path.read_bytes() == before


def test_another_database_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as file, file:
        file.execute("CREATE TABLE mine (x)")
    before = path.read_bytes()
    with pytest.raises(StoreError, match=r"other.db is not a clew memory file"):
        SqliteMemory(path)
    assert path.read_bytes() == before


def test_some_other_file_a_folder_and_a_file_for_a_folder_are_told(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_text("no database\n" * 99)
    with pytest.raises(StoreError, match="text is not a clew memory file"):
        SqliteMemory(path)
    with pytest.raises(StoreError, match="cannot be opened for writing"):
        SqliteMemory(tmp_path)
    with pytest.raises(StoreError, match=r"m cannot be made .*: name another file"):
        SqliteMemory(path / "m")


def test_a_damaged_file_is_told(tmp_path: Path) -> None:
    path = tmp_path / "m"
    memories = SqliteMemory(path)
    for number in range(50):
        memories.add(f"fact {number}")
    memories.close()
    whole = bytearray(path.read_bytes())
    whole[8_192:] = b"\xff" * len(whole[8_192:])
    path.write_bytes(whole)
    with pytest.raises(StoreError, match="m is damaged: restore a copy"):
        SqliteMemory(path).list()


def test_a_closed_file_is_told(tmp_path: Path) -> None:
    memories = SqliteMemory(tmp_path / "m")
    memories.close()
    with pytest.raises(StoreError, match=r"m cannot be used \(.*closed.*\): open it anew"):
        memories.list()


def test_two_make_one_file_at_once(tmp_path: Path) -> None:
    failed = list[BaseException]()

    def work(number: int) -> None:
        try:
            SqliteMemory(tmp_path / "m").add(f"fact {number}")
        except BaseException as error:  # noqa: BLE001 - told below
            failed.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert len(SqliteMemory(tmp_path / "m").list()) == 8
