"""Retention over a real PostgreSQL: archives come and go, runs are verified and forgotten."""

import io
from pathlib import Path
from typing import Any

import pytest

from clew.retention import export_runs, gc, import_runs, verify
from clew.stores import open_store
from tests.postgres import Server
from tests.retention.records import MAKERS, Maker, contents, everything

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    """Psycopg runs on no other."""
    return "asyncio"


@pytest.mark.parametrize("make", MAKERS)
async def test_runs_move_into_a_database_and_back(
    make: Maker, postgres_server: Server, tmp_path: Path
) -> None:
    one, two = make(tmp_path / "from"), make(tmp_path / "back")
    database = open_store(f"{postgres_server.address()}?schema={make.__name__}_archive")
    await everything(one)
    before = await contents(one)
    wanted: dict[str, Any] = {run: (lines, [], more) for run, (lines, _, more) in before.items()}
    for store, other in ((one, database), (database, two)):
        await export_runs(archive := io.BytesIO(), store=store)
        for times in (1, 2):
            archive.seek(0)
            done = await import_runs(archive, store=other)
            assert (len(done.runs), done.refused) == (len(wanted) if times == 1 else 0, ())
        assert await contents(other) == wanted
        found, lost = await verify(store=other)
        assert (all(one.ok for one in found), lost) == (True, [])
    swept = await gc(store=database, keep_under=0)
    assert set(swept.removed) == wanted.keys() - {"open"}
    assert [info.run_id for info in await database.runs()] == ["open"]
    for store in (one, two, database):
        await store.close()
