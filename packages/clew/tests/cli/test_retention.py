"""`clew records`, gc, verify, export and import: what they say, and their exit codes."""

import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from clew import SqliteStore
from clew.concurrency.portal import wait_for
from tests.cli.shell import clew
from tests.retention.records import everything, run


@pytest.fixture(autouse=True)
def _made() -> None:
    async def made() -> None:
        store = SqliteStore(Path("store"))
        await everything(store)
        await run(store, "old", days=4_000)
        await store.close()

    wait_for(made)


def runs() -> set[str]:
    return {run["run_id"] for run in clew("runs", "--json", "-n", "0").document}


def test_old_runs_are_forgotten_and_told() -> None:
    dry = clew("records", "gc", "--older", "9000d", "--dry-run")
    assert (dry.code, dry.out) == (0, "0 runs would go, about 0 bytes\n")
    dry = clew("records", "gc", "--older", "300w", "--dry-run")
    assert re.fullmatch(r"would go  old\n1 run would go, about \d+\.\d kB\n", dry.out)
    assert "old" in runs()
    done = clew("records", "gc", "--older", "300w", "--json")
    assert done.document["removed"] == ["old"]
    assert (done.document["dry_run"], done.document["kept"]) == (False, [])
    assert "old" not in runs()
    done = clew("records", "gc", "--keep-under", "0MB")
    assert "removed  fork-of-the-fork\n" in done.out
    assert runs() <= {
        "open",
        "plain",
        "fork",
        "fork-of-the-fork",
        "root",
        "root-2.1",
        "root-2.1-2.1",
    }
    assert clew("records", "gc", "--status", "open", "--dry-run").out.startswith(
        "kept  open: a message waits in its inbox\n"
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "say which runs may go: --older AGE, --keep-under SIZE or --status STATUS."),
        (("--older", "long"), "'long' is not a number with its unit, as in 30d, 12h or 2w."),
        (("--keep-under", "2 pages"), "not a number with its unit, as in 2GB or 500MB."),
        (("--keep-under", "2"), "not a number with its unit, as in 2GB or 500MB."),
        (("--status", "done"), "'done' is not one of"),
    ],
)
def test_a_gc_without_sense_is_told(words: tuple[str, ...], said: str) -> None:
    done = clew("records", "gc", *words)
    assert done.code == 2
    assert said in done.err
    assert "old" in runs()


def test_records_move_to_another_store_and_are_verified_there() -> None:
    done = clew("records", "export", "--archive", "all.jsonl")
    assert re.fullmatch(r"8 runs exported, \d+\.\d kB\n", done.out)
    assert clew("records", "export", "--archive", "all.jsonl").code == 2
    assert clew("records", "import", "all.jsonl", "--store", "elsewhere").out == "8 runs imported\n"
    again = clew("records", "import", "all.jsonl", "--store", "elsewhere")
    assert (again.code, again.out) == (0, "0 runs imported, 8 runs there already\n")
    piped = clew("records", "export", "fork-of", "--archive", "-")
    assert piped.err.startswith("3 runs exported, ")
    assert json.loads(piped.out.splitlines()[0])["line"] == "archive"
    imported = clew("records", "import", "-", "--store", "other", "--json", stdin=piped.out)
    assert sorted(imported.document["runs"]) == ["fork", "fork-of-the-fork", "plain"]
    here, there = clew("records", "verify"), clew("records", "verify", "--store", "elsewhere")
    assert (here.code, there.code) == (0, 0)
    assert sorted(here.out.splitlines()) == sorted(there.out.splitlines())
    assert here.out.endswith("8 runs verified: all is well\n")
    first = clew("records", "verify", "old").out.splitlines()[0]
    found = re.fullmatch(r"ok     old  4 entries, ends with ([0-9a-f]{32})", first)
    assert found
    assert clew("records", "verify", "old", "--expect", found[1]).code == 0
    wrong = clew("records", "verify", "plain", "--expect", found[1])
    assert wrong.code == 5
    assert "never had the expected hash: its end was cut off or changed" in wrong.out
    assert clew("records", "verify", "--expect", found[1]).code == 2


def test_what_is_wrong_is_named_and_the_rest_can_be_saved() -> None:
    with closing(sqlite3.connect("store")) as store, store:
        store.execute("UPDATE entries SET at = at + 1 WHERE key = (1 << 32) + 5")
    done = clew("records", "verify")
    assert done.code == 5
    assert "wrong  plain  entry 5: it was changed after it was written" in done.out
    assert done.out.endswith("8 runs verified, 1 wrong\n")
    assert clew("records", "verify", "--json").document["lost"] == []
    saved = clew("records", "export", "--archive", "rest.jsonl")
    assert saved.code == 5
    assert "clew: plain is left out: entry 5: it was changed" in saved.err
    assert "7 runs exported" in saved.out
    told = clew("records", "import", "rest.jsonl", "--store", "elsewhere")
    assert told.code == 5
    assert "plain could not be read whole" in told.err
    assert "clew: fork is refused: it shares lines 1 to 3 with run 'plain'" in told.err
    lines = Path("rest.jsonl").read_bytes().splitlines(keepends=True)
    Path("cut.jsonl").write_bytes(b"".join(lines[:-1]))
    assert (
        "the archive is not whole"
        in clew("records", "import", "cut.jsonl", "--store", "elsewhere").err
    )


def test_a_damaged_file_is_told_and_listed() -> None:
    with closing(sqlite3.connect("store")) as store, store:
        (page,) = store.execute("SELECT rootpage FROM sqlite_master WHERE name = 'runs'").fetchone()
        (size,) = store.execute("PRAGMA page_size").fetchone()
    data = bytearray(Path("store").read_bytes())
    data[(page - 1) * size : page * size] = b"\xff" * size
    Path("store").write_bytes(data)
    listed = clew("runs", "-n", "0")
    assert len(listed.out.splitlines()) == 9
    assert (
        "clew: store is damaged, and what is left is listed: run `clew records verify`"
        in listed.err.replace(str(Path.cwd()) + "/", "")
    )
    found = clew("records", "verify")
    assert found.code == 5
    lost = found.out.count("\nlost   ")
    assert lost
    assert found.out.endswith(f" verified, {lost} lost\n")  # no run is wrong, so none is counted
    saved = clew("records", "export", "--archive", "saved.jsonl")
    assert (saved.code, saved.out.split(",")[0]) == (5, "8 runs exported")
    assert clew("records", "import", "saved.jsonl", "--store", "new").out == "8 runs imported\n"
    assert clew("records", "verify", "--store", "new").code == 0


TREES = [
    *("runs", "sqlite_autoindex_runs_1", "entries", "blobs", "sqlite_autoindex_blobs_1", "inbox"),
    *("sqlite_sequence", "inbox_of_run", "forks", "uses", "uses_of_blob", "open_runs"),
    *("stopped_runs", "stopped_at", "stopped_as", "labels", "labels_of_run", "not_indexed"),
    "notices",
]


@pytest.mark.parametrize("tree", TREES)
def test_whatever_is_damaged_runs_are_listed_or_it_is_told(tree: str) -> None:
    with closing(sqlite3.connect("store")) as store:
        roots = dict(store.execute("SELECT name, rootpage FROM sqlite_master WHERE rootpage > 0"))
        (size,) = store.execute("PRAGMA page_size").fetchone()
    assert set(roots) == set(TREES)
    data = bytearray(Path("store").read_bytes())
    data[(roots[tree] - 1) * size : roots[tree] * size] = bytes(size)
    Path("store").write_bytes(data)
    listed, found = clew("runs", "-n", "0"), clew("records", "verify")
    if listed.code:
        assert (listed.code, listed.out) == (5, "")
        assert "is damaged" in listed.err
    else:
        assert len(listed.out.splitlines()) == 9
    assert found.code == 5
    assert "should not have happened" not in listed.err + found.err


def test_an_export_says_what_for() -> None:
    for words in ((), ("--otel", "--archive", "x"), ("--otel",)):
        done = clew("records", "export", *words)
        assert done.code == 2
    assert "--archive FILE or --otel" in clew("records", "export", "old").err
