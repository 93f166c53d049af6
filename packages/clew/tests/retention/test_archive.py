"""Archives: every run whole from any store to any other, and nothing else than what was written."""

import io
import json
import sqlite3
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typing_extensions import override

from clew import SqliteStore
from clew.concurrency.portal import wait_for
from clew.core.contents import Observation, Spending, text_parts
from clew.core.events import AnyEvent, Attempt, Note
from clew.core.journal import Journal, chain, load
from clew.core.stores import Append, Base, Line, Store
from clew.core.values import encode
from clew.retention import (
    Imported,
    Remark,
    export_runs,
    export_runs_sync,
    import_runs,
    import_runs_sync,
    verify,
)
from clew.retention.archive_format import Archive, LastLine, Section, encoded, written
from clew.stores.memory import MemoryStore
from clew.support.errors import ConfigError, FencedError, StoreError
from tests.retention.records import (
    MAKERS,
    NOW,
    Maker,
    contents,
    everything,
    fork,
    run,
    thought,
    without_messages,
)


async def packed(store: Store, *run_ids: str) -> bytes:
    file = io.BytesIO()
    done = await export_runs(file, run_ids or None, store=store)
    assert done.bytes == len(file.getvalue())
    assert done.unreadable == ()
    return file.getvalue()


async def unpacked(archive: bytes, store: Store) -> Imported:
    return await import_runs(io.BytesIO(archive), store=store)


@pytest.mark.parametrize("make_to", MAKERS)
@pytest.mark.parametrize("make_from", MAKERS)
async def test_all_runs_come_from_any_store_to_any_other(
    make_from: Maker, make_to: Maker, tmp_path: Path
) -> None:
    store, other = make_from(tmp_path / "from"), make_to(tmp_path / "to")
    await everything(store)
    wanted = await contents(store)
    seen: list[Any] = []
    file = tmp_path / "runs.jsonl"
    exported = await export_runs(file, store=store, on_run=lambda *told: seen.append(told))
    assert exported.runs == tuple(told[2] for told in seen)
    assert set(exported.runs) == wanted.keys()
    assert exported.bytes == file.stat().st_size
    seen.clear()
    imported = await import_runs(file, store=other, on_run=lambda *told: seen.append(told))
    assert seen == [(number, run_id) for number, run_id in enumerate(imported.runs, start=1)]
    assert (imported.runs, imported.there, imported.refused) == (exported.runs, (), ())
    assert imported.complete
    assert imported.unsaid == ("open",)
    wanted = without_messages(wanted)
    assert await contents(other) == wanted, "with ids, times, epochs and hashes"
    again = await import_runs(file, store=other)
    assert (again.runs, again.refused) == ((), ())
    assert set(again.there) == wanted.keys()
    assert await contents(other) == wanted
    for run_id, (lines, _, _) in wanted.items():
        assert await other.open(run_id) > max(line.epoch for line in lines)
    await store.close()
    await other.close()


async def test_what_was_taken_up_before_is_fenced_where_it_comes_back() -> None:
    store = MemoryStore()
    journal = await run(store, "r", status=None)
    frozen = await Journal.open(store, "r", clock=lambda: NOW)
    await frozen.record(Note(text_parts("by the second worker")))
    archive = await packed(store)
    await store.forget("r")
    assert (await unpacked(archive, store)).runs == ("r",)
    for worker in (journal, frozen):
        with pytest.raises(FencedError):
            await worker.record(Note(text_parts("too late")))


@pytest.mark.parametrize(
    ("named", "come"),
    [
        (["plain"], ["plain"]),
        (["fork-of-the-fork"], ["plain", "fork", "fork-of-the-fork"]),
        (["root"], ["root", "root-2.1", "root-2.1-2.1"]),
        (["root-2.1-2.1"], ["root", "root-2.1", "root-2.1-2.1"]),
        (["open", "fork"], ["open", "plain", "fork"]),
        ([], []),
    ],
)
async def test_a_run_comes_with_what_it_needs(named: list[str], come: list[str]) -> None:
    store, other = MemoryStore(), MemoryStore()
    await everything(store)
    done = await export_runs(file := io.BytesIO(), named, store=store)
    assert sorted(done.runs) == sorted(come)
    imported = await unpacked(file.getvalue(), other)
    assert (sorted(imported.runs), imported.refused) == (sorted(come), ())


async def test_a_root_that_goes_on_comes_behind_its_sub_runs() -> None:
    """Else a worker of the other store could take it up, find none, and do all of it again."""
    store, seen = MemoryStore(), list[str]()
    made = (thought("delegate"), Attempt("2.1", "delegate", "h", 0.0, child="root-2.1"))
    await run(store, "root-2.1-2.1", parent="root-2.1:2.1", status=None)
    await run(store, "root", *made, status=None, days=1)
    below = Attempt("2.1", "delegate", "h", 0.0, child="root-2.1-2.1")
    await run(store, "root-2.1", thought("delegate"), below, parent="root:2.1", status=None, days=2)
    archive = await packed(store)
    done = await import_runs(
        io.BytesIO(archive), store=MemoryStore(), on_run=lambda _, run_id: seen.append(run_id)
    )
    assert seen == list(done.runs) == ["root-2.1-2.1", "root-2.1", "root"]


async def test_a_root_is_left_out_with_a_sub_run_in_which_it_goes_on(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "runs.sqlite")
    for run_id, ended in (("open", False), ("over", True)):
        made: list[AnyEvent] = [
            thought("delegate"), Attempt("2.1", "delegate", "h", 0.0, child=f"{run_id}-2.1"),
            *([Observation("2.1", "dug", spent=Spending())] if ended else []),
        ]  # fmt: skip
        await run(store, f"{run_id}-2.1", parent=f"{run_id}:2.1")
        await run(store, run_id, *made, status=None)
    with closing(sqlite3.connect(tmp_path / "runs.sqlite")) as other, other:
        other.execute(
            "UPDATE entries SET body = CAST(replace(body, 'look', 'lock') AS BLOB) "
            "WHERE key >> 32 IN (SELECT number FROM runs WHERE run_id LIKE '%-2.1')"
        )
    done = await export_runs(io.BytesIO(), store=store)
    await store.close()
    assert done.runs == ("over",)
    why = {told.run_id: told.why for told in done.unreadable}
    assert why.keys() == {"open-2.1", "over-2.1", "open"}
    assert why["open"] == "run 'open' goes on in its sub-run 'open-2.1', which is left out"


def test_an_archive_can_be_read_with_eyes(tmp_path: Path) -> None:
    store = MemoryStore()
    wait_for(everything, store)
    file = tmp_path / "a.jsonl"
    export_runs_sync(file, ["plain"], store=store)
    lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    assert lines[0]["line"] == "archive"
    assert lines[0]["version"] == 1
    assert [line["line"] for line in lines[1:]] == [
        "run", *["blob"] * 3, *["entry"] * 7, "whole", "end",
    ]  # fmt: skip
    assert lines[5]["event"]["question"] == [{"type": "text", "text": "plain"}]
    assert lines[-1] == {"line": "end", "runs": 1}
    assert import_runs_sync(file, store=MemoryStore()).runs == ("plain",)


async def test_a_run_that_is_there_with_other_entries_is_refused_and_the_rest_comes() -> None:
    store, other = MemoryStore(), MemoryStore()
    for name in ("changed", "behind", "ahead", "new"):
        await run(store, name)
    await unpacked(await packed(store, "behind", "ahead"), other)
    await (await run(other, "changed", status="failed")).record(Note(text_parts("else")))
    for place, name in ((store, "behind"), (other, "ahead")):
        journal = await Journal.open(place, name, clock=lambda: NOW)
        await journal.record(Note(text_parts("it went on")))
    before = await contents(other)
    done = await unpacked(await packed(store), other)
    assert (done.runs, done.there) == (("new",), ("ahead",))
    assert {told.run_id: told.why for told in done.refused} == {
        "changed": "it is there already with another entry 4: import it elsewhere",
        "behind": "it is there already, but ends with entry 4: import it elsewhere",
    }
    after = await contents(other)
    assert {name: after[name] for name in before} == before


async def test_a_fork_does_not_come_without_its_base_or_behind_another() -> None:
    store, other, third = MemoryStore(), MemoryStore(), MemoryStore()
    await run(store, "base")
    await fork(store, "fork", Base("base", 3))
    archive = (await packed(store, "fork")).splitlines(keepends=True)
    (begin,) = [n for n, line in enumerate(archive) if b'"run_id":"fork","base"' in line]
    only = b"".join([archive[0], *archive[begin:]])
    (told,) = (await unpacked(only, other)).refused
    assert told == Remark("fork", "it shares lines 1 to 3 with run 'base': import that one first")
    await run(third, "base", days=1)
    (told,) = (await unpacked(only, third)).refused
    assert "entry 4: it was changed after it was written, or an entry before it" in told.why
    assert "fork" not in {info.run_id for info in await third.runs()}


class Dying(MemoryStore):
    """Its process dies before the n-th write of all."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self.most = most

    def _count(self) -> None:
        self.most -= 1
        if self.most < 0:
            raise KeyboardInterrupt

    @override
    async def create(self, run_id: str, base: Base | None = None) -> int:
        self._count()
        return await super().create(run_id, base)

    @override
    async def open(self, run_id: str) -> int:
        self._count()
        return await super().open(run_id)

    @override
    async def post(self, run_id: str, body: bytes) -> None:
        self._count()
        await super().post(run_id, body)

    @override
    async def append(self, append: Append) -> bool:
        self._count()
        return await super().append(append)


async def test_an_import_that_was_killed_anywhere_is_made_again() -> None:
    store = MemoryStore()
    await everything(store)
    await store.post("open", encode(Note(text_parts("another"))))
    wanted, archive = await contents(store), await packed(store)
    for most in range(60):
        other = Dying(most)
        try:
            await unpacked(archive, other)
        except KeyboardInterrupt:
            other.most = 1_000_000
            done = await unpacked(archive, other)
            assert done.refused == ()
        assert await contents(other) == without_messages(wanted)
        if other.most < 1_000:
            break
    else:
        pytest.fail("it never came to its end")


async def test_an_archive_cut_anywhere_brings_what_is_whole(tmp_path: Path) -> None:
    store = MemoryStore()
    await everything(store)
    archive, wanted = await packed(store), without_messages(await contents(store))
    ends = [0]
    for line in archive.splitlines(keepends=True):
        ends.append(ends[-1] + len(line))
    for end in ends[1:-1]:
        for cut in (end, end + 7):
            other = MemoryStore()
            done = await unpacked(archive[:cut], other)
            assert not done.complete
            there = await contents(other)
            assert there == {name: wanted[name] for name in done.runs}
            assert archive[:end].count(b'{"line":"whole"') == len(done.runs)


places = st.integers(0, 10_000_000)


@settings(max_examples=150)
@given(places, st.integers(1, 255))
def test_a_changed_byte_is_found(place: int, change: int) -> None:
    archive, wanted = small()
    place %= len(archive)
    data = bytearray(archive)
    data[place] ^= change
    other = MemoryStore()
    try:
        done = import_runs_sync(io.BytesIO(bytes(data)), store=other)
    except StoreError:
        assert place < archive.index(b"\n") + 1 or 10 in (data[place], archive[place])
        return
    assert wait_for(contents, other) == {name: wanted[name] for name in done.runs}
    complete = done.complete and not done.refused and len(done.runs) == len(wanted)
    if complete:  # the time in the first line, and what was unreadable then, are only told
        assert place < archive.index(b"\n") or place > archive.rindex(b'{"line":"end"')


async def _small() -> tuple[bytes, Any]:
    store = MemoryStore()
    await run(store, "a")
    await fork(store, "b", Base("a", 3))
    await store.post("b", encode(Note(text_parts("waiting"))))
    return await packed(store), without_messages(await contents(store))


@cache
def small() -> tuple[bytes, Any]:
    return wait_for(_small)


@pytest.mark.parametrize(
    ("archive", "message"),
    [
        (b"", "is no archive of clew"),
        (b"Dear diary\n", "is no archive of clew"),
        (b'{"line":"end","runs":0}\n', "is no archive of clew"),
        (b'{"line":"archive","version":2,"at":1}\n', r"a newer clew \(archive version 2"),
        (
            b'{"line":"archive","version":1,"at":1}\n{"line":"end","runs":0}\n{}\n',
            "line 3 stands behind its end",
        ),
    ],
)
async def test_what_is_no_archive_is_told(archive: bytes, message: str) -> None:
    with pytest.raises(StoreError, match=message):
        await unpacked(archive, MemoryStore())


async def test_names_that_cannot_be_used_are_told(tmp_path: Path) -> None:
    store = MemoryStore()
    await run(store, "r")
    taken = tmp_path / "taken"
    taken.write_text("mine")
    with pytest.raises(ConfigError, match="is there already"):
        await export_runs(taken, store=store)
    assert taken.read_text() == "mine"
    with pytest.raises(ConfigError, match="cannot be written"):
        await export_runs(tmp_path / "no" / "folder", store=store)
    with pytest.raises(ConfigError, match="there is no run 'nobody'"):
        await export_runs(tmp_path / "new", ["nobody"], store=store)
    with pytest.raises(ConfigError, match="cannot be read"):
        await import_runs(tmp_path / "new", store=store)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["taken"]


class Ending(MemoryStore):
    """Reading its second run ends everything."""

    @override
    async def read(self, run_id: str, after: int = 0) -> list[Line]:
        if run_id == "b":
            raise KeyboardInterrupt
        return await super().read(run_id, after)


async def test_an_export_that_was_ended_leaves_no_file(tmp_path: Path) -> None:
    store = Ending()
    for name in "ab":
        await run(store, name)
    with pytest.raises(KeyboardInterrupt):
        await export_runs(tmp_path / "archive", store=store)
    assert list(tmp_path.iterdir()) == []


async def line(store: Store, run_id: str, **change: Any) -> None:
    """A run of one line that the journal would not write."""
    body = change.get("body", b'{"event":"note","parts":[{"type":"text","text":"x"}]}')
    epoch = change.get("epoch", 1)
    await store.create(run_id)
    wanted = Line(1, 5, epoch, body, chain(b"", 1, 5, epoch, body))
    await store.append(Append(run_id, 1, (wanted,), blobs=change.get("blobs", {})))


async def test_what_is_not_what_was_written_is_left_out_and_named(tmp_path: Path) -> None:
    store, other = MemoryStore(), MemoryStore()
    await run(store, "good")
    await line(store, "loose", body=b'{"event":"note",\n"parts":[]}')
    await line(store, "future", body=b'{"event":"levitated"}')
    blobbed = b'{"event":"observation","call":"1.1","blob":"%s"}' % (b"0" * 64)
    await line(store, "blobless", body=blobbed)
    await line(store, "spoilt", body=blobbed.replace(b"0", b"1"), blobs={"1" * 64: b"else"})
    await run(store, "spoken to")
    await store.post("spoken to", b"no json")
    done = await export_runs(file := io.BytesIO(), store=store)
    assert done.runs == ("good", "blobless", "spoilt"), "kept without a blob"
    assert {told.run_id for told in done.unreadable} == {
        "loose", "future", "blobless", "spoilt", "spoken to",
    }  # fmt: skip
    imported = await unpacked(file.getvalue(), other)
    assert imported.runs == done.runs
    assert imported.missing == done.unreadable
    (good, *kept), _ = await verify(["good", "blobless", "spoilt"], store=other)
    assert good.ok
    assert all("is not in this store" in one.wrong for one in kept), "and it stays known"


@pytest.mark.parametrize(
    "run_id",
    [
        "r\x1b[2J", "r\x9b2J", "r\n", "r\x1b]8;;http://x\x1b\\", "r\u202ex", "r\u200b", "a b",
        "a//b", "../r", "/r", "r/..", ".", "..", "-r", "r;ls", "$(ls)", "r\x7f", "",
    ],
)  # fmt: skip
async def test_an_id_that_could_act_somewhere_is_refused(run_id: str) -> None:
    store = MemoryStore()
    await run(store, "r")
    lines = await store.read("r")
    done = await unpacked(sections(Section(run_id, lines=lines)), other := MemoryStore())
    assert await other.runs() == []
    (told,) = done.refused
    assert told.why.startswith(f"its id {run_id!r} may have letters, digits and any of _ - . : @")


async def test_an_id_that_means_another_run_is_refused_and_a_path_of_names_is_not() -> None:
    store, other = MemoryStore(), MemoryStore()
    for run_id in ("last", "team:mail/r-1.1"):
        await run(store, run_id)
    done = await unpacked(await packed(store), other)
    assert done.runs == ("team:mail/r-1.1",)
    assert [info.run_id for info in await other.runs()] == ["team:mail/r-1.1"]


async def test_an_epoch_that_no_run_comes_to_is_refused() -> None:
    store, other = MemoryStore(), MemoryStore()
    await line(store, "r", epoch=10**12)
    (told,) = (await unpacked(await packed(store), other)).refused
    assert told == Remark("r", "entry 1: its epoch is 1000000000000, which no run of clew comes to")


async def test_a_store_that_takes_nothing_says_why() -> None:
    class Full(MemoryStore):
        @override
        async def create(self, run_id: str, base: Base | None = None) -> int:
            message = "there is no room"
            raise StoreError(message)

    store = MemoryStore()
    await run(store, "r")
    assert (await unpacked(await packed(store), Full())).refused == (
        Remark("r", "there is no room"),
    )


async def test_a_message_that_is_taken_meanwhile_is_in_the_archive_once() -> None:
    class Working(MemoryStore):
        @override
        async def inbox(self, run_id: str) -> list[tuple[int, bytes]]:
            if waiting := await super().inbox(run_id):
                journal = await Journal.open(self, run_id, clock=lambda: NOW)
                for number, _ in waiting:
                    await journal.record(Note(text_parts("a word")), taken=(number,))
            return await super().inbox(run_id)

    store, other = Working(), MemoryStore()
    await run(store, "r", status=None)
    await store.post("r", encode(Note(text_parts("a word"))))
    await unpacked(await packed(store), other)
    record = await load(other, "r")
    assert [e.event for e in record.entries].count(Note(text_parts("a word"))) == 1
    assert await other.inbox("r") == []


def sections(*found: Section) -> bytes:
    """An archive as no export writes it."""
    begin, end = encoded(Archive(1, 1)), encoded(LastLine(len(found)))
    return b"".join((begin, *map(written, found), end))


async def test_an_archive_that_somebody_made_up_is_verified() -> None:
    store = MemoryStore()
    await run(store, "r")
    lines = await store.read("r")
    done = await unpacked(
        sections(
            Section("bare"),
            Section("blobless", lines=lines),
            Section("spoilt", lines=lines, blobs={"0" * 64: b"something else"}),
        ),
        MemoryStore(),
    )
    assert [told.run_id for told in done.refused] == ["bare", "blobless", "spoilt"]
    for told, why in zip(
        done.refused, ("no entry", "is not in the archive", "was changed"), strict=True
    ):
        assert why in told.why
    unhashed = sections(Section("r", lines=lines)).replace(lines[0].hash.hex().encode(), b"?")
    assert (await unpacked(unhashed, MemoryStore())).refused == (
        Remark("r", "entry 1: its hash is none"),
    )


async def test_a_run_without_its_end_is_left_out_and_the_next_comes() -> None:
    store, other = MemoryStore(), MemoryStore()
    for name in "ab":
        await run(store, name)
    kept = [
        text
        for text in (await packed(store, "a", "b")).splitlines(keepends=True)
        if b'"whole","run_id":"a"' not in text
    ]
    done = await unpacked(b"".join(kept), other)
    assert done.runs == ("b",)
    ((told),) = done.refused
    assert (told.run_id, "it is not whole before line" in told.why) == ("a", True)
