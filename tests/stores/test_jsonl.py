"""The store of readable files: what a person finds in them, and what torn writes come to."""

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import anyio
import msgspec
import pytest
from filelock import FileLock, Timeout
from hypothesis import given
from hypothesis import strategies as st

from clew.errors import StoreError
from clew.events import Note, Stop, decode, encode
from clew.protocols import Append, Base, Line
from clew.stores import JsonlStore
from clew.stores.jsonl_forget import DAY
from clew.stores.jsonl_rows import appends, write_append
from clew.testing.store_contract import append, blob, numbers


async def test_a_run_is_a_file_that_people_and_line_tools_can_read(tmp_path: Path) -> None:
    store = JsonlStore(tmp_path)
    epoch = await store.create("r/1")
    body, digest = blob("a long observation")
    note = encode(Note("Ariadne – 日本"))
    await store.append(
        Append("r/1", epoch, (Line(1, 5, 1, note, b"\x01\xff"),), blobs={digest: body})
    )
    file = tmp_path / "r%2F1.jsonl"
    assert file.read_text(encoding="utf-8").splitlines() == [
        '{"epoch":1,"store":1}',
        '{"epoch":1,"seq":1,"at":5,"hash":"01ff","event":{"event":"note","text":"Ariadne – 日本"}}',
    ]
    assert (tmp_path / "blobs" / digest).read_bytes() == body
    assert decode((await store.read("r/1"))[0].body) == Note("Ariadne – 日本")


async def test_a_torn_end_is_passed_over_wherever_it_is_cut(tmp_path: Path) -> None:
    whole = JsonlStore(tmp_path / "whole")
    epoch = await whole.create("r")
    await whole.append(append("r", epoch, 1, 2))
    await whole.post("r", b'"message"')
    waiting = await whole.inbox("r")
    file = tmp_path / "whole" / "r.jsonl"
    before = file.stat().st_size
    await whole.append(append("r", epoch, 3, 4, 5, taken=(waiting[0][0],)))
    data = file.read_bytes()
    torn = tmp_path / "torn"
    shutil.copytree(tmp_path / "whole", torn)
    for cut in range(before, len(data)):
        (torn / "r.jsonl").write_bytes(data[:cut])
        store = JsonlStore(torn)
        assert await numbers(store, "r") == [1, 2]
        assert [run.entries for run in await store.runs()] == [2]
        assert await store.inbox("r") == waiting
        assert (torn / "r.jsonl").read_bytes() == data[:cut], "reading mends nothing"
        assert await store.open("r") == 2
        await store.append(append("r", 2, 3))
        assert await numbers(JsonlStore(torn), "r") == [1, 2, 3]


async def test_a_torn_message_is_passed_over_wherever_it_is_cut(tmp_path: Path) -> None:
    store = JsonlStore(tmp_path)
    await store.create("r")
    await store.post("r", b'"first"')
    inbox = tmp_path / "inbox" / "r.jsonl"
    before = inbox.stat().st_size
    await store.post("r", b'"second"')
    data = inbox.read_bytes()
    for cut in range(before, len(data)):
        inbox.write_bytes(data[:cut])
        assert [body for _, body in await store.inbox("r")] == [b'"first"']
        await store.post("r", b'"third"')
        assert [body for _, body in await store.inbox("r")] == [b'"first"', b'"third"']


async def test_a_run_torn_at_its_very_beginning_can_be_opened(tmp_path: Path) -> None:
    (JsonlStore(tmp_path).folder / "r.jsonl").write_bytes(b'{"epo')
    store = JsonlStore(tmp_path)
    assert await store.read("r") == []
    assert await store.open("r") == 1
    await store.append(append("r", 1, 1))
    assert await numbers(store, "r") == [1]


@pytest.mark.parametrize(
    "damage", [b"\n", b"{}\n", b"\x00\x00\n", b'{"epoch":"one"}\n', b'{"epoch":1,"seq":"two"}\n']
)
async def test_a_damaged_line_is_never_passed_over(damage: bytes, tmp_path: Path) -> None:
    store = JsonlStore(tmp_path)
    epoch = await store.create("r")
    await store.append(append("r", epoch, 1))
    await store.post("r", b'"message"')
    for file in (tmp_path / "r.jsonl", tmp_path / "inbox" / "r.jsonl"):
        file.write_bytes(file.read_bytes() + damage)
        mended = file.read_bytes()
        for work in (store.inbox("r"), store.post("r", b"1")):
            with pytest.raises(
                StoreError, match=r"damaged in the line that ends at byte \d+: mend"
            ):
                await work
        assert file.read_bytes() == mended
        file.write_bytes(mended.removesuffix(damage))
    assert await numbers(store, "r") == [1]


async def test_a_file_from_a_newer_clew_says_so(tmp_path: Path) -> None:
    (JsonlStore(tmp_path).folder / "r.jsonl").write_bytes(b'{"epoch":1,"store":3}\n')
    with pytest.raises(StoreError, match=r"newer clew .* upgrade clew"):
        await JsonlStore(tmp_path).open("r")


@pytest.mark.parametrize("body", [b"", b"no json", b'{"a":1', b'1,"seq":9', b'{\n"a":1}', b" 1"])
async def test_an_event_that_is_not_compact_json_is_refused(body: bytes, tmp_path: Path) -> None:
    store = JsonlStore(tmp_path)
    epoch = await store.create("r")
    for work in (
        store.append(Append("r", epoch, (Line(1, 1, epoch, body, b""),))),
        store.post("r", body),
    ):
        with pytest.raises(StoreError, match="compact JSON on one line"):
            await work
    assert await store.read("r") == []
    assert await store.inbox("r") == []


async def test_a_digest_is_never_taken_for_a_path(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    store = JsonlStore(tmp_path / "runs")
    with pytest.raises(StoreError, match="is not in this store"):
        await store.blob("../../secret")


async def test_a_lock_that_hangs_is_told(tmp_path: Path) -> None:
    store = JsonlStore(tmp_path, patience=0.05)
    epoch = await store.create("r")
    with FileLock(tmp_path / "locks" / "r.lock"):
        with pytest.raises(StoreError, match="locked by another process"):
            await store.append(append("r", epoch, 1))
    await store.append(append("r", epoch, 1))
    assert await numbers(store, "r") == [1]


json = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(
    st.lists(
        st.tuples(json, st.integers(0, 2**50), st.integers(0, 9), st.binary(max_size=40)),
        min_size=1,
        max_size=5,
    ),
    st.integers(0, 2**40),
    st.binary().filter(lambda torn: b"\n" not in torn),
)
def test_rows_are_read_as_they_were_written(
    content: list[tuple[object, int, int, bytes]], start: int, torn: bytes
) -> None:
    lines = tuple(
        Line(seq, at, epoch, msgspec.json.encode(body), digest)
        for seq, (body, at, epoch, digest) in enumerate(content, start=1)
    )
    data = write_append(Append("r", 1, lines, taken=(3, 4)))
    ((rows, end),) = appends(data + torn, start, "here")
    assert tuple(row.line() for row in rows) == lines
    assert rows[-1].taken == (3, 4)
    assert end == start + len(data)


async def forked(folder: Path) -> JsonlStore:
    """A store with a run, a fork of it and a fork of that."""
    store = JsonlStore(folder)
    await store.append(append("a", await store.create("a"), 1, 2, 3))
    await store.append(append("b", await store.create("b", Base("a", 2)), 3))
    await store.append(append("c", await store.create("c", Base("b", 3)), 4))
    return store


async def test_a_fork_says_what_it_shares_in_its_first_row(tmp_path: Path) -> None:
    store = await forked(tmp_path)
    await store.open("b")
    rows = (tmp_path / "b.jsonl").read_text().splitlines()
    assert [row for row in rows if "seq" not in row] == [
        '{"epoch":1,"store":2,"base":"a","shared":2}',
        '{"epoch":2,"store":1}',
    ]
    assert (tmp_path / "a.jsonl").read_text().startswith('{"epoch":1,"store":1}\n')


@pytest.mark.parametrize(
    "gone",
    [
        pytest.param(lambda file: file.unlink(), id="deleted"),
        pytest.param(lambda file: file.write_bytes(b""), id="emptied"),
        pytest.param(
            lambda file: file.write_text('{"epoch":1,"store":2,"base":"c","shared":9}\n'),
            id="a ring",
        ),
    ],
)
async def test_a_fork_whose_base_is_gone_says_so_and_is_still_listed(
    gone: Callable[[Path], object], tmp_path: Path
) -> None:
    await forked(tmp_path)
    gone(tmp_path / "a.jsonl")
    store = JsonlStore(tmp_path)
    for run_id in ("b", "c"):
        with pytest.raises(StoreError, match="'b' shares lines 1 to 2 with run 'a', which are not"):
            await store.read(run_id)
    with pytest.raises(StoreError, match="'b' shares lines 1 to 2 with run 'a'"):
        await store.create("d", Base("c", 1))
    assert sorted([(run.run_id, run.first) for run in await store.runs()]) == [
        ("b", (await store.read("b", 2))[0]),
        ("c", (await store.read("c", 3))[0]),
    ]


def aged(path: Path) -> None:
    """Let a file be two days old."""
    then = time.time() - 2 * DAY
    os.utime(path, (then, then))


def naming(run_id: str, seq: int, digest: str, body: bytes) -> Append:
    """An append whose line names the blob it brings."""
    return Append(
        run_id, 1, (Line(seq, 1, 1, b'"%s"' % digest.encode(), b"h"),), blobs={digest: body}
    )


async def test_an_old_blob_goes_when_no_run_names_it_any_more(tmp_path: Path) -> None:
    store, other = JsonlStore(tmp_path), JsonlStore(tmp_path)
    named = {text: blob(text) for text in ("only a", "both", "young", "orphan")}
    files = {text: tmp_path / "blobs" / digest for text, (_, digest) in named.items()}
    for run_id, texts in (("a", ("only a", "both", "young")), ("b", ("both",)), ("c", ())):
        await store.create(run_id)
        for seq, text in enumerate(texts, start=1):
            body, digest = named[text]
            await other.append(naming(run_id, seq, digest, body))
    files["orphan"].write_bytes(b"of an append that was not made")
    for text in ("only a", "both", "orphan"):
        aged(files[text])
    await store.forget("c")
    assert {text for text, file in files.items() if file.exists()} == {"only a", "both", "young"}
    await store.forget("a")
    assert {text for text, file in files.items() if file.exists()} == {"both", "young"}
    aged(files["young"])
    aged(files["both"])
    body, digest = named["both"]
    await other.append(naming("b", 2, digest, body))
    assert time.time() - files["both"].stat().st_mtime < DAY, "a blob that is found is young again"
    await store.create("d")
    await store.forget("d")
    assert [text for text, file in files.items() if file.exists()] == ["both"]


async def test_a_blob_that_is_found_again_at_the_last_moment_stays(tmp_path: Path) -> None:
    store, other = JsonlStore(tmp_path, patience=9), JsonlStore(tmp_path)
    body, digest = blob("found again")
    for run_id in "ab":
        await store.create(run_id)
    await store.append(naming("a", 1, digest, body))
    file = tmp_path / "blobs" / digest
    aged(file)
    async with anyio.create_task_group() as group:
        with FileLock(tmp_path / "blobs.lock"):
            group.start_soon(store.forget, "a")
            while (tmp_path / "a.jsonl").exists():
                await anyio.sleep(0.001)
            os.utime(file)  # as one does who has the lock
    await other.append(naming("b", 1, digest, body))
    assert await other.blob(digest) == body
    aged(file)
    with FileLock(tmp_path / "blobs.lock"):
        short = JsonlStore(tmp_path, patience=0.05)
        with pytest.raises(StoreError, match="locked by another process"):
            await short.append(naming("b", 2, digest, body))
    assert await numbers(store, "b") == [1]


async def test_a_blob_that_was_just_removed_is_written_anew(tmp_path: Path) -> None:
    store = JsonlStore(tmp_path)
    body, digest = blob("removed meanwhile")
    for run_id in "ab":
        await store.create(run_id)
    await store.append(naming("a", 1, digest, body))
    file = tmp_path / "blobs" / digest
    aged(file)
    async with anyio.create_task_group() as group:
        with FileLock(tmp_path / "blobs.lock"):
            group.start_soon(store.append, naming("b", 1, digest, body))
            while not is_locked(tmp_path / "locks" / "b.lock"):
                await anyio.sleep(0.001)
            file.unlink()  # as one does who has the lock
    assert await store.blob(digest) == body


def is_locked(path: Path) -> bool:
    try:
        with FileLock(path, timeout=0):
            return False
    except Timeout:
        return True


async def test_another_run_by_a_forgotten_id_is_not_taken_for_the_old_one(tmp_path: Path) -> None:
    store, other = JsonlStore(tmp_path), JsonlStore(tmp_path)
    await store.append(append("r", await store.create("r"), *range(1, 10)))
    assert await other.open("r") == 2
    await store.forget("r")
    await store.append(append("r", await store.create("r"), *range(1, 100), at=5))
    assert await other.open("r") == 2
    assert [line.at % 10 for line in await other.read("r", 97)] == [5, 5]
    await other.append(append("r", 2, 100))


async def test_a_message_of_a_run_that_was_not_forgotten_to_the_end_is_none_of_the_next(
    tmp_path: Path,
) -> None:
    store = JsonlStore(tmp_path)
    await store.create("r")
    await store.post("r", b'"old"')
    (tmp_path / "r.jsonl").unlink()  # where a process was killed that forgot it
    await store.create("r")
    assert await store.inbox("r") == []


async def test_a_cut_write_is_told_to_who_takes_the_run_up(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store = JsonlStore(tmp_path)
    await store.append(append("r", await store.create("r"), 1, 2))
    assert await store.torn("r") == 0
    with (tmp_path / "r.jsonl").open("ab") as file:
        file.write(b'{"epoch":1,"se')
    assert await numbers(store, "r") == [1, 2]
    assert await store.torn("r") == 14
    assert caplog.messages == []
    await JsonlStore(tmp_path).open("r")
    assert caplog.messages == [
        "run r: its last write was cut off: 14 bytes behind entry 2 are passed over"
    ]
    assert await store.torn("r") == 0


async def test_a_hash_that_is_none_is_damage(tmp_path: Path) -> None:
    store = JsonlStore(tmp_path)
    await store.append(append("r", await store.create("r"), 1))
    file = tmp_path / "r.jsonl"
    file.write_text(file.read_text().replace('"hash":"', '"hash":"x'))
    with pytest.raises(StoreError, match="entry 1 was changed after it was written"):
        await JsonlStore(tmp_path).read("r")


async def test_a_stopped_run_with_a_damaged_inbox_is_due_so_that_it_is_told(tmp_path: Path) -> None:
    store = JsonlStore(tmp_path)
    for name in ("quiet", "spoken to"):
        stop = Line(1, 5, 1, encode(Stop("answered")), b"h")
        await store.append(Append(name, await store.create(name), (stop,)))
    await store.post("spoken to", b'"hello"')
    (inbox,) = (tmp_path / "inbox").iterdir()
    inbox.write_bytes(b"rust\n" + inbox.read_bytes())
    with pytest.raises(StoreError):
        await store.inbox("spoken to")
    assert [info.run_id for info in await store.due()] == ["spoken to"]
