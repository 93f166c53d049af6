"""A byte that was changed, or bytes that were cut off, in a folder of JSON lines or in an archive.

Each change is named by `clew records import`, or what comes is what was written. All of it goes
through the commands, over real files.
"""

import json
import shutil
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from clew.concurrency.portal import wait_for
from clew.core.events import SCHEMA, Note, Stop, encode
from clew.core.interfaces import Append, Line
from clew.core.journal import chain
from clew.retention import gc, verify
from clew.stores import MemoryStore, SqliteStore
from tests.cli.shell import Done, clew
from tests.retention.records import (
    MAKERS,
    NOW,
    Maker,
    contents,
    everything,
    run,
    started,
    write_folder,
)

FOLDER = Path("runs")
WRONG = 5  # the exit code


@cache
def made() -> dict[str, bytes]:
    """The files of a folder with one run of each kind, one of which heard its inbox."""

    async def make() -> None:
        store = MemoryStore()
        await everything(store)
        await run(store, "heard")
        await store.post("heard", encode(Note("and this one waits")))
        await write_folder(store, FOLDER, heard=3)

    wait_for(make)
    files = {str(path): path.read_bytes() for path in FOLDER.rglob("*") if path.is_file()}
    shutil.rmtree(FOLDER)
    return files


def put(changed: str = "", data: bytes = b"") -> None:
    """The folder as it was, but for one file."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    for name, body in made().items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_bytes(data if name == changed else body)


def brought() -> tuple[Done, dict[str, Any]]:
    """What the command says, and what a store has then that takes the folder."""
    for path in Path().glob("came.sqlite*"):
        path.unlink()
    done = clew("records", "import", "runs/", "--store", "came.sqlite")
    return done, wait_for(contents, SqliteStore("came.sqlite"))


@cache
def wanted() -> dict[str, Any]:
    put()
    return brought()[1]


def flipped(data: bytes, place: int, mask: int) -> bytes:
    at = place % len(data)
    return data[:at] + bytes([data[at] ^ mask]) + data[at + 1 :]


FILES = st.sampled_from([
    "runs/plain.jsonl", "runs/heard.jsonl", "runs/fork.jsonl", "runs/fork-of-the-fork.jsonl",
    "runs/open.jsonl", "runs/root.jsonl", "runs/root-2.1.jsonl", "runs/root-2.1-2.1.jsonl",
    "runs/inbox/heard.jsonl", "runs/inbox/open.jsonl",
])  # fmt: skip


def check_named(name: str, data: bytes) -> None:
    put(name, data)
    done, came = brought()
    assert done.code in {0, WRONG}
    assert done.code == WRONG or came == wanted()


@pytest.mark.slow
@settings(max_examples=40)
@given(FILES, st.integers(0, 1 << 20), st.integers(0, 7).map(lambda bit: 1 << bit))
def test_whatever_byte_is_changed_it_is_named(name: str, place: int, mask: int) -> None:
    check_named(name, flipped(made()[name], place, mask))


@pytest.mark.parametrize(
    ("name", "text", "instead"),
    [
        ("runs/open.jsonl", b'"hash":"', b'"hash":"u'),  # the first hash of a run: it is none
        ("runs/fork.jsonl", b'"hash":"', b'"hash":" '),
        ("runs/open.jsonl", b'{"epoch":1,"store"', b'{"epoch":0,"store"'),
        ("runs/plain.jsonl", b'{"epoch":2,"store"', b'{"epoch":6,"store"'),
        ("runs/plain.jsonl", b'"more":1', b'"more":3'),
        ("runs/open.jsonl", b'"at":', b'"at": '),
        ("runs/heard.jsonl", b'"taken":[1,2,3]', b'"taken":[1,2,4]'),
        ("runs/heard.jsonl", b'"taken":[1,2,3]', b'"taken":[1,2,7]'),
        ("runs/inbox/open.jsonl", b"that waits", b"that wants"),
        ("runs/inbox/open.jsonl", b'"id":1', b'"id":3'),
    ],
)
def test_what_no_chain_of_hashes_shows_is_named(name: str, text: bytes, instead: bytes) -> None:
    assert text in made()[name], "it is there"
    put(name, made()[name].replace(text, instead, 1))
    done, _ = brought()
    assert done.code == WRONG
    assert "is refused: " in done.err


@pytest.mark.slow
@settings(max_examples=25)
@given(FILES, st.integers(0, 1 << 20))
@example("runs/open.jsonl", 0)
@example("runs/open.jsonl", 10)
@example("runs/open.jsonl", 22)  # behind the row that begins it
@example("runs/open.jsonl", 100)
@example("runs/inbox/open.jsonl", 30)
def test_wherever_a_file_is_cut_it_is_named(name: str, place: int) -> None:
    data = made()[name]
    cut = data[: place % len(data)]
    whole_rows = not cut or cut.endswith(b"\n")
    put(name, cut)
    done, _ = brought()
    if whole_rows and "inbox" in name and done.code == 0:
        return  # messages that nobody had taken: nothing tells of them
    if whole_rows and done.code == 0:  # the end of a chain is a chain: only its last hash tells
        run_id = Path(name).stem
        last = wanted()[run_id][0][-1].hash.hex()
        again = clew("records", "verify", run_id, "--expect", last, "--store", "came.sqlite")
        assert (again.code, "its end was cut off" in again.out) == (WRONG, True)
    else:
        assert done.code == WRONG, done.out


def test_a_line_end_more_at_the_end_of_an_archive_or_a_lost_one_does_no_harm() -> None:
    Path("archive").write_bytes(archive().rstrip(b"\n"))
    assert clew("records", "import", "archive", "--store", "one.sqlite").code == 0


@cache
def archive() -> bytes:
    put()
    brought()
    assert clew("records", "export", "--archive", "whole", "--store", "came.sqlite").code == 0
    return Path("whole").read_bytes()


def check_import(data: bytes) -> None:
    Path("changed").write_bytes(data)
    for path in Path().glob("other.sqlite*"):
        path.unlink()
    done = clew("records", "import", "changed", "--store", "other.sqlite")
    assert done.code != 0 or wait_for(contents, SqliteStore(Path("other.sqlite"))) == wanted()


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
