"""Stores as earlier versions of clew wrote them: they open, load, replay, go on and forget.

Each file of `data/` was written by the clew of that store version (4 is the present one): an SQLite
file, with a message in an inbox, and the same runs as a folder of JSON lines, which is imported in
`tests/retention/test_old_records.py`.
"""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from clew import Agent, replay, resume, tool
from clew.core.journal import load
from clew.retention import verify
from clew.stores import open_store
from clew.stores.sqlite.file import VERSION
from clew.testing.models import ScriptedModel, act, acts, finish

DATA = Path(__file__).parent / "data"
VERSIONS = range(1, VERSION + 1)


def seen(what: str) -> str:
    return f"{what}: " + "thread " * 2400


@tool(effect="read")
def look(what: str) -> str:
    """Look at something."""
    return seen(what)


@tool(effect="unsafe")
def send(text: str) -> str:
    """Send a letter."""
    return "sent"


FIRST = acts(act("look", what="the ball"), act("send", text="Dear Ada"))
AGENT = Agent(model=ScriptedModel([FIRST, finish("found"), finish("again")]), tools=[look, send])


@pytest.mark.parametrize("version", VERSIONS)
async def test_a_store_of_each_version_is_as_good_as_new(version: int, tmp_path: Path) -> None:
    shutil.unpack_archive(DATA / f"store-{version}.zip", tmp_path)
    store = open_store(tmp_path / "runs.sqlite")
    wanted = ["run"] if version == 1 else ["fork", "run"]
    assert sorted(info.run_id for info in await store.runs()) == wanted
    found, lost = await verify(store=store)
    assert ([one.run_id for one in found if not one.ok], lost) == ([], [])
    for run_id in wanted:
        record = await load(store, run_id)
        assert record.stop is not None
        assert record.stop.answer == ("found" if run_id == "run" else "elsewhere")
        assert record.call("1.1").observation.text == seen("the ball")  # type: ignore[union-attr]  # it was observed
        replayed = await replay(AGENT, run_id, store=store)
        assert replayed.trajectory.entries == record.entries
    assert (await resume(AGENT, "run", store=store)).answer == "again"
    for run_id in wanted:
        await store.forget(run_id)  # type: ignore[attr-defined]  # this store can
    assert await store.runs() == []
    await store.close()


def test_every_version_has_its_data() -> None:
    assert sorted(path.name for path in DATA.iterdir()) == [f"store-{n}.zip" for n in VERSIONS]


@pytest.mark.parametrize("version", VERSIONS)
async def test_an_sqlite_file_is_brought_up_and_forgets_blobs_with_their_last_run(
    version: int, tmp_path: Path
) -> None:
    shutil.unpack_archive(DATA / f"store-{version}.zip", tmp_path)
    place = tmp_path / "runs.sqlite"
    with closing(sqlite3.connect(place)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (version,)
    store = open_store(place)
    for info in await store.runs():
        await store.forget(info.run_id)  # type: ignore[attr-defined]  # this store can
    await store.close()
    with closing(sqlite3.connect(place)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (VERSION,)
        assert connection.execute("SELECT count(*) FROM blobs").fetchone() == (0,)
