"""Folders of JSON lines, in which clew once kept runs: what `clew records import` takes."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from clew.core.errors import ConfigError, StoreError
from clew.core.events import Attempt, Note, Stop, encode
from clew.retention import Imported, import_runs, verify
from clew.retention.run_folder import RunFolder
from clew.stores import MemoryStore, SqliteStore
from tests.cli.shell import clew
from tests.retention.records import contents, everything, run, thought, write_folder

FOLDER = Path("runs")


async def written(folder: Path) -> MemoryStore:
    """A folder with a run of each kind, and a store with the same."""
    store = MemoryStore()
    await everything(store)
    await write_folder(store, folder)
    return store


async def brought(place: Path) -> tuple[Imported, MemoryStore]:
    store = MemoryStore()
    return await import_runs(place, store=store), store


@pytest.mark.parametrize("anyio_backend", ["asyncio"])  # commands wait for nothing here
async def test_a_folder_comes_into_a_store_with_ids_hashes_blobs_and_messages() -> None:
    wanted = await contents(await written(FOLDER))
    done = clew("records", "import", "runs/", "--store", "here.sqlite")
    assert (done.code, done.out) == (0, f"{len(wanted)} runs imported\n")
    store = SqliteStore("here.sqlite")
    assert await contents(store) == wanted
    found, lost = await verify(store=store)
    assert ([one.run_id for one in found if not one.ok], lost) == ([], [])
    await store.close()
    again = clew("records", "import", "runs", "--store", "here.sqlite")
    assert (again.code, again.out) == (0, f"0 runs imported, {len(wanted)} runs there already\n")


@pytest.mark.parametrize("anyio_backend", ["asyncio"])  # commands wait for nothing here
async def test_a_file_of_a_folder_comes_with_what_it_needs() -> None:
    wanted = await contents(await written(FOLDER))
    done = clew(
        "records", "import", "runs/fork-of-the-fork.jsonl", "--store", "here.sqlite", "--json"
    )
    assert done.document["runs"] == ["plain", "fork", "fork-of-the-fork"]
    store = SqliteStore("here.sqlite")
    assert await contents(store) == {one: wanted[one] for one in done.document["runs"]}
    await store.close()


async def test_a_run_whose_last_write_was_cut_off_comes_as_far_as_it_goes(tmp_path: Path) -> None:
    store = MemoryStore()
    await run(store, "r", Note("three"), Note("four"))
    await store.post("r", encode(Note("first")))
    await write_folder(store, tmp_path / "whole")
    before = len((tmp_path / "whole" / "inbox" / "r.jsonl").read_bytes())
    await store.post("r", encode(Note("second")))
    await write_folder(store, tmp_path / "whole")
    (wanted,) = (await contents(store)).values()
    rows = (tmp_path / "whole" / "r.jsonl").read_bytes().splitlines(keepends=True)
    for name, start in (("r.jsonl", len(b"".join(rows[:-2]))), ("inbox/r.jsonl", before)):
        data = (tmp_path / "whole" / name).read_bytes()
        shutil.copytree(tmp_path / "whole", tmp_path / "torn", dirs_exist_ok=True)
        for cut in range(start + 1, len(data)):
            (tmp_path / "torn" / name).write_bytes(data[:cut])
            done, here = await brought(tmp_path / "torn")
            (told,) = done.missing
            lines, inbox, _ = (await contents(here))["r"]
            whole = 2 if name == "r.jsonl" else 0  # the last append has two lines
            assert lines == wanted[0][: len(wanted[0]) - whole]
            assert inbox == wanted[1][: 2 if whole else 1]
            assert told.why == (
                f"its end was cut off: {cut - start} bytes behind entry {lines[-1].seq} are no "
                "whole entry"
            )


async def test_a_run_that_goes_on_gets_an_epoch_that_no_row_has(tmp_path: Path) -> None:
    await written(tmp_path)
    _, store = await brought(tmp_path)
    lines = await store.read("plain")
    assert await store.open("plain") > max(line.epoch for line in lines)


@pytest.mark.parametrize("name", ["plain.jsonl", "inbox/open.jsonl"])
@pytest.mark.parametrize(
    "damage", [b"\n", b"{}\n", b"\x00\x00\n", b'{"epoch":"one"}\n', b'{"epoch":1,"seq":"two"}\n']
)
async def test_a_damaged_line_is_never_passed_over_and_hides_no_other_run(
    name: str, damage: bytes, tmp_path: Path
) -> None:
    wanted = await contents(await written(tmp_path))
    (tmp_path / name).write_bytes((tmp_path / name).read_bytes() + damage)
    done, store = await brought(tmp_path)
    run_id = Path(name).stem
    refused = {told.run_id: told.why for told in done.refused}
    assert f"{name} is damaged in the line that ends at byte" in refused.pop(run_id)
    assert all("shares lines 1 to" in why for why in refused.values()), "its forks need it"
    assert set(refused) <= {"fork", "fork-of-the-fork"}
    left = {one: found for one, found in wanted.items() if one not in {run_id, *refused}}
    assert await contents(store) == left


async def test_a_file_of_a_newer_clew_says_so(tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").write_bytes(b'{"epoch":1,"store":3}\n')
    (told,) = (await brought(tmp_path))[0].refused
    assert "was written by a newer clew (store version 3, this one knows 2)" in told.why


@pytest.mark.parametrize(
    "gone",
    [
        pytest.param(lambda file: file.unlink(), id="deleted"),
        pytest.param(lambda file: file.write_bytes(b""), id="emptied"),
        pytest.param(
            lambda file: file.write_text('{"epoch":1,"store":2,"base":"fork","shared":9}\n'),
            id="a ring",
        ),
    ],
)
async def test_a_fork_whose_base_is_gone_says_so(
    gone: Callable[[Path], object], tmp_path: Path
) -> None:
    await written(tmp_path)
    gone(tmp_path / "plain.jsonl")
    done, _ = await brought(tmp_path)
    refused = {told.run_id: told.why for told in done.refused}
    for run_id in ("fork", "fork-of-the-fork"):
        assert "with run 'plain', which are not in this store" in refused[run_id]


async def test_a_fork_of_itself_is_no_fork(tmp_path: Path) -> None:
    store = await written(tmp_path)
    file = tmp_path / "fork.jsonl"
    file.write_text(file.read_text().replace('"base":"plain"', '"base":"fork"'))
    done, _ = await brought(tmp_path)
    assert {told.run_id for told in done.refused} == {"fork", "fork-of-the-fork"}
    assert len(done.runs) == len(await store.runs()) - 2


async def test_a_digest_is_never_taken_for_a_path(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    with pytest.raises(StoreError, match="is not in this store"):
        await RunFolder(tmp_path / "runs").blob("../../secret")


async def test_a_blob_that_is_gone_is_told(tmp_path: Path) -> None:
    await written(tmp_path)
    for blob in (tmp_path / "blobs").iterdir():
        blob.unlink()
    done, _ = await brought(tmp_path)
    assert any("is not in this store" in told.why for told in done.refused)


async def test_a_root_is_left_out_with_a_sub_run_in_which_it_goes_on(tmp_path: Path) -> None:
    """Taken up without its record, it would do everything again."""
    store = MemoryStore()
    attempt = Attempt("2.1", "delegate", "h", 0.0, child="open-2.1")
    await run(store, "open-2.1", parent="open:2.1")
    await run(store, "open", thought("delegate"), attempt, status=None)
    await write_folder(store, tmp_path)
    file = tmp_path / "open-2.1.jsonl"
    file.write_bytes(file.read_bytes().replace(b"look", b"lock"))
    done, _ = await brought(tmp_path)
    why = {told.run_id: told.why for told in done.refused}
    assert why.keys() == {"open-2.1", "open"}
    assert why["open"] == "run 'open' goes on in its sub-run 'open-2.1', which is left out"


async def test_what_holds_no_runs_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="holds no runs: name an archive, or a folder"):
        await brought(tmp_path)
    (tmp_path / "r.jsonl").mkdir()
    (told,) = (await brought(tmp_path))[0].refused
    assert "r.jsonl cannot be read (Is a directory)" in told.why
    (tmp_path / "r.jsonl").rmdir()
    (tmp_path / "r.jsonl").write_bytes(b'{"epoch":1,"store":1}\n')
    (told,) = (await brought(tmp_path))[0].refused
    assert told.why == "run 'r' has no entry"
    (tmp_path / "r.jsonl").write_bytes(b'{"epo')
    with pytest.raises(StoreError, match="is no archive of clew"):
        await brought(tmp_path / "r.jsonl")


async def test_a_name_of_other_characters_is_the_id_that_it_was(tmp_path: Path) -> None:
    store = MemoryStore()
    await run(store, "a/b ü.jsonl", Stop("answered"), status=None)
    await write_folder(store, tmp_path)
    done, _ = await brought(tmp_path)
    assert done.runs == ("a/b ü.jsonl",)
