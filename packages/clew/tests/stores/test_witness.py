"""Damage of the heads themselves, alone and with damage of the log: nothing is repeated unseen."""

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from clew import Agent, SqliteStore, read, resume, run, tool
from clew.retention import verify
from clew.stores.sqlite.heads import FIRST
from clew.support.errors import StoreDamagedError, StoreError
from clew.testing import ScriptedModel, act, say
from tests.stores.killed import agent
from tests.test_layers import HOUSE

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(os.name == "nt", reason="kill -9"),
    pytest.mark.parametrize("anyio_backend", ["asyncio"]),  # nothing here waits for anything
]

Damage = Callable[[Path], object]
"""Damages a file of a store."""


def cut(part: float) -> Damage:
    return lambda file: os.truncate(file, int(file.stat().st_size * part))


def flipped(part: float) -> Damage:
    def damage(file: Path) -> None:
        data = bytearray(file.read_bytes())
        data[int(len(data) * part)] ^= 1
        file.write_bytes(data)

    return damage


def older(lines: int) -> Damage:
    """As it was so many lines ago."""

    def damage(file: Path) -> None:
        file.write_bytes(b"".join(file.read_bytes().splitlines(keepends=True)[:-lines]))

    return damage


def zeros(file: Path) -> None:
    file.write_bytes(bytes(file.stat().st_size))


def torn(file: Path) -> None:
    """As a log whose writer was killed at the first bytes of the next commit."""
    with file.open("ab") as log:
        log.write(bytes(10))


def a_folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


HEADS: dict[str, Damage] = {
    "removed": Path.unlink,
    "emptied": cut(0),
    "halved": cut(0.5),
    "cut in the first line": cut(0.02),
    "without its last byte": lambda file: os.truncate(file, file.stat().st_size - 1),
    "flipped at its begin": flipped(0.01),
    "flipped": flipped(0.5),
    "flipped at its end": flipped(0.97),
    "zeros": zeros,
}
LOGS: dict[str, Damage] = {
    "cut at 90 %": cut(0.9),
    "cut at 80 %": cut(0.8),
    "cut at 60 %": cut(0.6),
    "cut at 45 %": cut(0.45),
    "flipped at 90 %": flipped(0.9),
    "flipped at 70 %": flipped(0.7),
}


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a store whose process was killed in the fourth letter."""
    folder = tmp_path_factory.mktemp("killed")
    command = [sys.executable, "-m", "tests.stores.killed", str(folder)]
    subprocess.run(command, check=False, cwd=HOUSE)
    assert letters(folder) == [1, 2, 3, 4]
    assert {file.name for file in folder.iterdir()} >= {"s.sqlite-wal", "s.sqlite.heads"}
    return folder


@pytest.fixture
def folder(killed: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return Path(shutil.copytree(killed, tmp_path / "copy"))


def letters(folder: Path) -> list[int]:
    return [int(line) for line in (folder / "letters").read_text().splitlines()]


async def goes_on(folder: Path) -> str:
    """How the run goes on: its status, or the error that refuses it."""
    try:
        return (await resume(agent(folder), "r", store=folder / "s.sqlite")).status
    except StoreError as error:
        return type(error).__name__


@pytest.mark.parametrize("verified", [True, False], ids=["verified", "at once"])
@pytest.mark.parametrize("log", LOGS)
@pytest.mark.parametrize("heads", HEADS)
async def test_no_letter_is_sent_twice_where_log_and_heads_are_damaged(
    folder: Path, heads: str, log: str, *, verified: bool
) -> None:
    LOGS[log](folder / "s.sqlite-wal")
    HEADS[heads](folder / "s.sqlite.heads")
    if verified:
        (found, *_), lost = await verify(["r"], store=folder / "s.sqlite")
        assert lost or not found.ok
    await goes_on(folder)
    assert len(letters(folder)) == len(set(letters(folder)))


@pytest.mark.parametrize("lines", [3, 5])
@pytest.mark.parametrize("log", LOGS)
async def test_no_letter_is_sent_twice_in_silence_where_the_heads_are_older(
    folder: Path, log: str, lines: int, caplog: pytest.LogCaptureFixture
) -> None:
    LOGS[log](folder / "s.sqlite-wal")
    older(lines)(folder / "s.sqlite.heads")
    alike = await ends_alike(folder)
    caplog.clear()
    await goes_on(folder)
    told = "s.sqlite.heads" in caplog.text
    assert alike or told or len(letters(folder)) == len(set(letters(folder)))


async def ends_alike(folder: Path) -> bool:
    """Whether log and heads end at the very same entry: that is as if the run had ended there."""
    copy = shutil.copytree(folder, folder.parent / "seen")
    lines = (copy / "s.sqlite.heads").read_text().splitlines()[1:]
    try:
        record = await read("r", store=copy / "s.sqlite")
    except StoreError:
        return False
    ended = [entry.seq for entry in record.entries][-1:]
    return ended != [] and ended == [int(line.split()[1]) for line in lines][-1:]


async def test_what_may_be_lost_is_named_and_the_heads_deleted_the_run_goes_on(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    cut(0.9)(folder / "s.sqlite-wal")
    (folder / "s.sqlite.heads").unlink()
    (found,), lost = await verify(store=folder / "s.sqlite")
    assert "run 'r' may have lost its last entries (behind entry 9)" in found.wrong
    assert lost[0].why == found.wrong
    assert "s.sqlite.heads is missing and cannot show what was in it" in caplog.text
    for _ in range(2):
        with pytest.raises(StoreDamagedError, match="find out what the run did since, and delete"):
            await resume(agent(folder), "r", store=folder / "s.sqlite")
    (folder / "s.sqlite.heads").unlink()
    assert await goes_on(folder) == "answered"
    (found,), lost = await verify(["r"], store=folder / "s.sqlite")
    assert found.ok
    assert lost == []


@pytest.mark.parametrize("heads", HEADS)
async def test_damage_of_the_heads_alone_is_named_and_the_run_goes_on(
    folder: Path, heads: str
) -> None:
    HEADS[heads](folder / "s.sqlite.heads")
    (found,), lost = await verify(["r"], store=folder / "s.sqlite")
    assert found.ok
    assert ["s.sqlite.heads" in one.why for one in lost] == [True]
    assert await goes_on(folder) == "answered"
    assert letters(folder) == [1, 2, 3, 4, 5, 6]


async def test_heads_that_were_missing_show_again_what_is_lost(folder: Path) -> None:
    (folder / "s.sqlite.heads").unlink()
    assert (await verify(store=folder / "s.sqlite"))[1] != []
    assert (await verify(store=folder / "s.sqlite"))[1] == [], "it is told once"
    older_file = (folder / "s.sqlite").read_bytes()
    assert await goes_on(folder) == "answered"
    (folder / "s.sqlite").write_bytes(older_file)
    assert await goes_on(folder) == "StoreDamagedError"


async def test_heads_that_are_older_are_named(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    older(3)(folder / "s.sqlite.heads")
    (found,), lost = await verify(["r"], store=folder / "s.sqlite")
    assert (found.ok, lost) == (True, []), "as after a power cut"
    (said,) = caplog.messages
    assert "s.sqlite.heads is older than the store (run 'r')" in said
    caplog.clear()
    assert await goes_on(folder) == "answered"
    (said,) = caplog.messages
    assert "s.sqlite.heads does not have the last entry of run 'r'" in said
    await verify(["r"], store=folder / "s.sqlite")
    assert caplog.messages == [said]


async def test_a_copy_of_the_database_alone_gets_heads_with_its_next_run(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    await SqliteStore(folder / "s.sqlite").close()  # which folds the log
    shutil.copy(folder / "s.sqlite", copy := folder / "copy.sqlite")
    assert (await verify(store=copy))[1] == []
    (said,) = caplog.messages
    assert "copy.sqlite.heads is not there: this is a copy of the database alone, or" in said
    assert not (folder / "copy.sqlite.heads").exists(), "it was only read"
    assert (await resume(agent(folder), "r", store=copy)).status == "answered"
    assert caplog.messages == [said]
    assert (folder / "copy.sqlite.heads").exists()


async def test_a_store_whose_log_ends_in_a_commit_goes_on_where_its_heads_are_whole(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with closing(sqlite3.connect(folder / "s.sqlite")) as other:
        other.execute("PRAGMA cache_size = 1")
        other.execute("BEGIN IMMEDIATE")
        for number in range(60):
            other.execute("INSERT INTO blobs VALUES (?, ?)", (str(number), b"x" * 50_000))
        files = {file: file.read_bytes() for file in folder.iterdir() if "-shm" not in file.name}
    for file, data in files.items():  # as it lay there when the other one was killed
        file.write_bytes(data)
    assert (await verify(store=folder / "s.sqlite"))[1] == []
    (said,) = caplog.messages
    assert said.endswith(
        "log ends in the midst of a commit, which is passed over; all before is there"
    )
    assert await goes_on(folder) == "answered"


async def test_a_run_whose_line_was_not_written_yet_goes_on(folder: Path) -> None:
    older(1)(folder / "s.sqlite.heads")  # killed between the commit and its line
    torn(folder / "s.sqlite-wal")  # and another in a commit
    assert await goes_on(folder) == "answered"


async def test_a_store_of_before_is_not_accused_and_gets_its_mark_with_heads(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with closing(sqlite3.connect(folder / "s.sqlite")) as connection:
        connection.execute("DROP VIEW has_heads")
    heads = (folder / "s.sqlite.heads").read_bytes()
    (folder / "s.sqlite.heads").unlink()
    for _ in range(2):
        (found,), lost = await verify(store=folder / "s.sqlite")
        assert (found.ok, lost, caplog.messages) == (True, [], [])
    (folder / "s.sqlite.heads").write_bytes(heads)
    assert (await verify(store=folder / "s.sqlite"))[1] == []
    (folder / "s.sqlite.heads").unlink()
    await verify(store=folder / "s.sqlite")
    assert "s.sqlite.heads is not there" in caplog.text


async def test_a_run_with_an_entry_that_cannot_be_read_is_refused_too(folder: Path) -> None:
    with closing(sqlite3.connect(folder / "s.sqlite", isolation_level=None)) as connection:
        connection.execute("UPDATE entries SET body = '?' WHERE key & 4294967295 = 1")
        files = {file: file.read_bytes() for file in folder.iterdir() if "-shm" not in file.name}
    for file, data in files.items():
        file.write_bytes(data)
    torn(folder / "s.sqlite-wal")
    (folder / "s.sqlite.heads").unlink()
    assert await goes_on(folder) == "StoreDamagedError"


async def test_a_run_that_went_on_behind_what_the_heads_have_is_refused_beside_a_torn_log(
    folder: Path,
) -> None:
    torn(folder / "s.sqlite-wal")
    older(2)(folder / "s.sqlite.heads")  # they end with the third call, of which the store has more
    assert await goes_on(folder) == "StoreDamagedError"


async def test_while_another_writes_only_the_file_is_begun(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with closing(sqlite3.connect(folder / "s.sqlite", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        (folder / "s.sqlite.heads").unlink()
        await SqliteStore(folder / "s.sqlite").close()
        assert "s.sqlite.heads was missing or empty, and is begun anew" in caplog.text
        assert (folder / "s.sqlite.heads").read_bytes() == FIRST
    assert await goes_on(folder) == "answered"


async def test_a_run_whose_tools_only_read_is_not_refused(tmp_path: Path) -> None:
    @tool(effect="read")
    def look(n: int) -> str:
        """Look."""
        return "seen"

    place = tmp_path / "s.sqlite"
    looks = [act("look", n=number) for number in range(4)]
    reader = Agent(model=ScriptedModel([*looks, say("done")]), tools=[look])
    store = SqliteStore(place)
    await run(reader, "Look.", store=store, run_id="r")
    files = {file: file.read_bytes() for file in tmp_path.iterdir() if "-shm" not in file.name}
    await store.close()
    for file, data in files.items():
        file.write_bytes(data)
    cut(0.8)(tmp_path / "s.sqlite-wal")
    (tmp_path / "s.sqlite.heads").unlink()
    assert (await resume(reader, "r", store=place)).status == "answered"


async def test_where_doubt_cannot_be_written_the_store_is_not_opened(folder: Path) -> None:
    cut(0.9)(folder / "s.sqlite-wal")
    a_folder(folder / "s.sqlite.heads")
    for _ in range(2):
        with pytest.raises(StoreDamagedError, match="cannot be written"):
            SqliteStore(folder / "s.sqlite")


async def test_a_store_that_was_only_begun_may_be_begun_again(tmp_path: Path) -> None:
    (tmp_path / "s.sqlite.heads").write_bytes(FIRST)  # killed before the tables were there
    (tmp_path / "s.sqlite").touch()
    store = SqliteStore(tmp_path / "s.sqlite")
    assert await store.create("r") == 1
    await store.close()
