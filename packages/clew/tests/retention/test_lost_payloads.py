"""Payloads of a damaged store are lost: each run whose entries are there is kept, and told."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from clew import SqliteStore
from clew.concurrency.portal import wait_for
from clew.core.stores import Base
from tests.cli.shell import clew
from tests.retention.records import everything, fork, run

PLACE = Path("runs.sqlite")
_USES = "SELECT digest FROM uses GROUP BY digest ORDER BY count(*) {}, digest LIMIT {}"


def lost(how: str) -> Callable[[sqlite3.Connection], None]:
    """The blobs of these digests are gone."""

    def damage(store: sqlite3.Connection) -> None:
        store.execute(f"DELETE FROM blobs WHERE digest IN ({how})")

    return damage


def changed(value: str) -> Callable[[sqlite3.Connection], None]:
    """All blobs have this value."""

    def damage(store: sqlite3.Connection) -> None:
        store.execute(f"UPDATE blobs SET body = {value}")

    return damage


DAMAGES: dict[str, Callable[[sqlite3.Connection], None]] = {
    "all": lost("SELECT digest FROM blobs"),
    "the one that most share": lost(_USES.format("DESC", 1)),
    "the two that most share": lost(_USES.format("DESC", 2)),
    "the one that fewest share": lost(_USES.format("ASC", 1)),
    "half of them": lost("SELECT digest FROM blobs WHERE digest < '8'"),
    "the other half": lost("SELECT digest FROM blobs WHERE digest >= '8'"),
    "the long ones": lost("SELECT digest FROM blobs WHERE length(body) > 1000"),
    "the short ones": lost("SELECT digest FROM blobs WHERE length(body) <= 1000"),
    "cut in half": changed("substr(body, 1, length(body) / 2)"),
    "empty": changed("x''"),
    "zeros": changed("zeroblob(length(body))"),
    "a byte more": changed("CAST(body || 'x' AS BLOB)"),
    "text": changed("CAST(digest AS TEXT)"),
}


async def _made() -> None:
    store = SqliteStore(PLACE)
    await everything(store)
    for number in range(6):
        await run(store, f"run-{number}")
    await fork(store, "late-fork", Base("run-3", 3))
    await store.close()


def listed(place: Path) -> set[str]:
    """The ids of the runs that `clew runs` lists."""
    found = clew("runs", "--json", "-n", "0", "--store", str(place)).document
    return {one["run_id"] for one in found}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_runs_whose_payloads_are_lost_are_kept_and_told(
    damage: Callable[[sqlite3.Connection], None],
) -> None:
    wait_for(_made)
    runs = listed(PLACE)
    with closing(sqlite3.connect(PLACE)) as store, store:
        before = {digest: bytes(body) for digest, body in store.execute("SELECT * FROM blobs")}
        damage(store)
        after = dict(store.execute("SELECT * FROM blobs"))
        named = store.execute("SELECT run_id, digest FROM uses JOIN runs USING (number)").fetchall()
    broken = {digest for digest in before if after.get(digest) != before[digest]}
    assert broken
    done = clew("records", "export", "--archive", "archive", "--store", str(PLACE))
    assert (done.code, done.out.split(",")[0]) == (5, f"{len(runs)} runs exported")
    for name in {name for name, digest in named if digest in broken}:
        assert f"clew: {name}: it is kept without blob" in done.err
    assert "left out" not in done.err
    there = clew("records", "import", "archive", "--store", "other.sqlite")
    assert f"{len(runs)} runs imported" in there.out
    assert there.code == 5
    assert there.err.count("it is kept without blob") == done.err.count("it is kept without blob")
    assert listed(Path("other.sqlite")) == runs
