"""A byte that was changed, or bytes that were cut off, in an archive.

Each change is named by `clew records import`, or what comes is what was written. All of it goes
through the commands, over real files.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew import SqliteStore
from clew.concurrency.portal import wait_for
from clew.core.events import SCHEMA, Stop
from clew.core.journal import chain
from clew.core.stores import Append, Line
from clew.core.values import encode
from clew.retention import gc, verify
from tests.cli.shell import clew
from tests.retention.records import (
    MAKERS,
    NOW,
    Maker,
    contents,
    everything,
    run,
    started,
    without_messages,
)

WRONG = 5  # the exit code


@cache
def made() -> tuple[bytes, dict[str, Any]]:
    """An archive with one run of each kind, and what can be read of each."""

    async def make() -> dict[str, Any]:
        store = SqliteStore("made.sqlite")
        await everything(store)
        found = await contents(store)
        await store.close()
        return found

    found = wait_for(make)
    assert clew("records", "export", "--archive", "whole", "--store", "made.sqlite").code == 0
    return Path("whole").read_bytes(), found


def archive() -> bytes:
    return made()[0]


def wanted() -> dict[str, Any]:
    return made()[1]


def flipped(data: bytes, place: int, mask: int) -> bytes:
    at = place % len(data)
    return data[:at] + bytes([data[at] ^ mask]) + data[at + 1 :]


def test_a_line_end_more_at_the_end_of_an_archive_or_a_lost_one_does_no_harm() -> None:
    Path("archive").write_bytes(archive().rstrip(b"\n"))
    assert clew("records", "import", "archive", "--store", "one.sqlite").code == 0


def check_import(data: bytes) -> None:
    Path("changed").write_bytes(data)
    for path in Path().glob("other.sqlite*"):
        path.unlink(missing_ok=True)  # SQLite may take it away, too
    done = clew("records", "import", "changed", "--store", "other.sqlite")
    other = SqliteStore(Path("other.sqlite"))
    assert done.code != 0 or wait_for(contents, other) == without_messages(wanted())


@pytest.mark.slow
@settings(max_examples=25)
@given(st.integers(0, 1 << 20), st.integers(0, 7).map(lambda bit: 1 << bit))
def test_whatever_byte_of_an_archive_is_changed_it_is_named(place: int, mask: int) -> None:
    check_import(flipped(archive(), place, mask))


@pytest.mark.slow
@settings(max_examples=10)
@given(st.integers(0, 1 << 20))
def test_wherever_an_archive_is_cut_it_is_named(place: int) -> None:
    check_import(archive()[: place % len(archive())])


def test_an_archive_that_lost_a_run_whole_is_not_whole() -> None:
    rows = archive().splitlines(keepends=True)
    begun = [n for n, row in enumerate(rows) if row.startswith(b'{"line":"run"')]
    Path("changed").write_bytes(b"".join(rows[: begun[-1]] + rows[-1:]))
    done = clew("records", "import", "changed", "--store", "other.sqlite")
    assert (done.code, "is not whole" in done.err) == (WRONG, True)


@pytest.mark.parametrize("maker", MAKERS)
async def test_a_record_of_a_newer_clew_is_neither_well_nor_damaged_nor_removed(
    maker: Maker, tmp_path: Path
) -> None:
    store = maker(tmp_path)
    late: Any = {"store": store, "clock": lambda: NOW}
    await run(store, "ours", days=5)
    newer = json.loads(encode(started()))
    body = encode({**newer, "schema": SCHEMA + 1})
    await store.create("theirs")
    stop = encode(Stop("answered"))
    first = chain(b"", 1, 5, 1, body)
    lines = (Line(1, 5, 1, body, first), Line(2, 5, 1, stop, chain(first, 2, 5, 1, stop)))
    await store.append(Append("theirs", 1, lines))
    found, lost = await verify(store=store)
    said = {one.run_id: (one.ok, one.newer) for one in found}
    assert (said, lost) == ({"ours": (True, False), "theirs": (False, True)}, [])
    for dry_run in (True, False):
        done = await gc(older=1, status=["answered"], dry_run=dry_run, **late)
        assert done.removed == ("ours",)
    assert [info.run_id for info in await store.runs()] == ["theirs"]
    await store.close()
