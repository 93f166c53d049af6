"""The journal: one writer, atomic and chained; the inbox, blobs, secrets and fencing."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import cast

import anyio
import msgspec
import pytest

from clew import Agent, MemoryStore, StoreError, open_store, run
from clew.core.actions import Action
from clew.core.blobs import BLOB_BYTES
from clew.core.contents import Evidence, Observation, RawCall, Reply, Wire, text_parts
from clew.core.entries import Entry, decode
from clew.core.events import (
    AnyEvent,
    Attempt,
    Cancel,
    Fingerprints,
    Judged,
    Note,
    Ruling,
    Started,
    Stop,
    Thought,
)
from clew.core.journal import Journal, chain, load
from clew.core.specs import AgentSpec
from clew.core.stores import Append, Base, Line, Store
from clew.core.values import encode
from clew.core.verdicts import Verdict
from clew.retention import export_runs, import_runs, verify
from clew.stores import FencedError, StoreNewerError
from clew.support.run_ids import new_run_id
from clew.testing.models import ScriptedModel, act, say

pytestmark = pytest.mark.both_loops

STARTED = Started(text_parts("What?"), AgentSpec("f", "m", "c", "p"))
PRINTS = Fingerprints("h", "t", "p", "s")


def thought(*names: str) -> Thought:
    return Thought(Reply(), PRINTS, actions=tuple(act(name).actions[0] for name in names))


class Clock:
    """A clock that tests wind."""

    def __init__(self) -> None:
        self.now = 1_000

    def __call__(self) -> int:
        return self.now


@dataclass
class Heard:
    """A listener that keeps what it hears."""

    entries: list[Entry]

    def token(self, text: str) -> None:
        """Nothing streams here."""

    def entry(self, entry: Entry) -> None:
        """Keep it."""
        self.entries.append(entry)


async def test_what_is_recorded_is_stored_folded_and_told_in_that_order() -> None:
    store, heard = MemoryStore(), Heard([])
    journal = await Journal.create(store, STARTED, "r", listener=heard, clock=Clock())
    await journal.record(thought("a"), Attempt("1.1", "a", "h", 5.0))
    again = await load(store, "r")
    assert again.entries == journal.trajectory.entries == heard.entries
    assert [entry.seq for entry in again.entries] == [1, 2, 3]
    assert again.call("1.1").deadline == 6_000
    assert (await load(store, "r")).goal == "What?"


async def test_many_tasks_record_at_once_without_gaps() -> None:
    store = MemoryStore()
    journal = await Journal.create(store, STARTED, "r")
    async with anyio.create_task_group() as group:
        for number in range(50):
            group.start_soon(journal.record, Note(text_parts(str(number))), Note(text_parts("and")))
    texts = [e.event.text for e in (await load(store, "r")).entries if isinstance(e.event, Note)]
    assert len(texts) == 100
    assert texts[1::2] == ["and"] * 50


async def test_what_is_taken_from_the_inbox_leaves_it_whoever_else_records_then() -> None:
    store = MemoryStore()
    journal = await Journal.create(store, STARTED, "r")
    await journal.record(thought("a", "b"))  # of such a step, what comes at once is one write
    for number in range(6):
        await store.post("r", encode(Note(text_parts(str(number)))))
    async with anyio.create_task_group() as group:
        for number, body in await store.inbox("r"):
            group.start_soon(partial(journal.record, decode(body), taken=(number,)))
            group.start_soon(journal.record, Note(text_parts("beside it")))
    assert await store.inbox("r") == []
    assert len((await load(store, "r")).entries) == 14


async def test_a_cancelled_task_still_records_whole() -> None:
    store = MemoryStore()
    journal = await Journal.create(store, STARTED, "r")
    with anyio.CancelScope() as scope:
        scope.cancel()
        await journal.record(Note(text_parts("written although cancelled")))
    assert len(await load(store, "r")) == 2


async def test_a_task_that_is_cancelled_behind_another_one_s_write_waits_for_its_own() -> None:
    opened = anyio.Event()

    class Slow(MemoryStore):
        """A store whose disk is busy, and whose writes are shielded."""

        async def append(self, append: Append) -> bool:
            if append.lines[0].seq > 1:
                with anyio.CancelScope(shield=True):
                    await opened.wait()
            return await super().append(append)

    async def open_later() -> None:
        await anyio.wait_all_tasks_blocked()
        opened.set()

    journal, stored = await Journal.create(store := Slow(), STARTED, "r"), 0
    async with anyio.create_task_group() as group:
        group.start_soon(journal.record, Note(text_parts("one")))
        await anyio.wait_all_tasks_blocked()
        group.start_soon(open_later)
        with anyio.CancelScope() as scope:
            scope.cancel()
            await journal.record(Note(text_parts("two")))
        stored = len(await load(store, "r"))
    assert stored == 3


class Failing:
    """A store whose next appends fail, as on a full disk."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.failing = False

    def __getattr__(self, name: str) -> object:
        return getattr(self._store, name)

    async def append(self, append: Append) -> bool:
        await anyio.lowlevel.checkpoint()
        if self.failing:
            message = "the disk is full: free some space and resume"
            raise StoreError(message)
        return await self._store.append(append)


async def test_a_failed_commit_fails_its_appends_and_not_the_writer() -> None:
    store = Failing(MemoryStore())
    journal = await Journal.create(store, STARTED, "r")  # type: ignore[arg-type]  # delegates all
    store.failing = True
    failed: list[str] = []

    async def write(text: str) -> None:
        try:
            await journal.record(Note(text_parts(text)))
        except StoreError as error:
            failed.append(str(error))

    async with anyio.create_task_group() as group:
        group.start_soon(write, "one")
        group.start_soon(write, "two")
    assert len(failed) == 2
    assert len(journal.trajectory) == 1
    store.failing = False
    await journal.record(Note(text_parts("three")))
    assert len(await load(journal.store, "r")) == 2


async def test_a_second_worker_fences_the_first_off() -> None:
    store = MemoryStore()
    first = await Journal.create(store, STARTED, "r")
    second = await Journal.open(store, "r")
    with pytest.raises(FencedError):
        await first.record(Note(text_parts("late")))
    await second.record(Note(text_parts("mine")))
    assert [entry.epoch for entry in (await load(store, "r")).entries] == [1, 2]


async def test_a_run_whose_worker_died_before_its_first_entry_is_begun_again() -> None:
    store = MemoryStore()
    await store.create("r")
    journal = await Journal.create(store, STARTED, "r")
    assert len(journal.trajectory) == 1
    with pytest.raises(StoreError):
        await Journal.create(store, STARTED, "r")


class Full(Failing):
    """A store that cannot begin a run."""

    async def create(self, run_id: str, base: Base | None = None) -> int:
        message = "the disk is full: free some space"
        raise StoreError(message)


async def test_why_a_run_could_not_begin_is_said() -> None:
    with pytest.raises(StoreError, match="the disk is full"):
        await Journal.create(cast("Store", Full(MemoryStore())), STARTED, "r")


async def test_long_contents_lie_in_a_blob_once_and_come_back(tmp_path: Path) -> None:
    store = open_store(tmp_path / "runs.sqlite")
    journal = await Journal.create(store, STARTED, "r")
    await journal.record(thought("a", "b", "c"))
    long = {"text": "x" * BLOB_BYTES}
    await journal.record(Observation("1.1", long), Observation("1.2", long))
    await journal.record(Observation("1.3", "short", detail="y" * BLOB_BYTES))
    bodies = [line.body for line in await store.read("r")]
    assert len(bodies[2]) < 300
    again = await load(store, "r")
    assert [call.observation.content for call in again.calls if call.observation] == [
        long,
        long,
        "short",
    ]
    assert again.entries == journal.trajectory.entries
    await store.close()


async def test_known_secrets_never_reach_the_store() -> None:
    store = MemoryStore()
    secret = 'sk-"quoted"-secret'
    journal = await Journal.create(store, STARTED, "r", secrets=[secret, ""])
    await journal.record(Note(text_parts(f"my key is {secret}, keep it")))
    assert all(b"secret" not in line.body for line in await store.read("r"))
    last = journal.trajectory.entries[-1].event
    assert isinstance(last, Note)
    assert last.text == "my key is [redacted], keep it"


async def test_what_is_too_short_for_a_secret_blots_nothing_out_and_is_told(
    caplog: pytest.LogCaptureFixture,
) -> None:
    store = MemoryStore()
    secrets = ["k", "klein", "kleine"]
    journal = await Journal.create(store, STARTED, "r", secrets=secrets)
    await journal.record(Note(text_parts("klein bottles keep kleine things")))
    note = (await load(store, "r")).entries[-1].event
    assert note == Note(text_parts("klein bottles keep [redacted] things"))
    told = [message for message in caplog.messages if "is not blotted out" in message]
    assert len(told) == 2, told
    assert not any("klein" in message for message in told), "it does not stand in the log either"


@pytest.mark.parametrize("secret", ['sk-"quoted"-sécret', "wJalr/K7MD/bPxRf", "sk-plain-0123"])
async def test_known_secrets_are_blotted_out_wherever_they_stand(secret: str) -> None:
    store = MemoryStore()
    origin = {secret: [{"a": secret}]}
    started = msgspec.structs.replace(STARTED, origin=origin)
    journal = await Journal.create(store, started, "r", secrets=[secret])
    for arguments in (
        json.dumps({"k": secret}),
        encode({"k": secret}).decode().replace("/", "\\/"),
    ):
        calls = (RawCall(name="look", arguments=arguments, id=secret),)
        reply = Reply(calls=calls, wire=Wire("p", "m", [{"args": arguments}]))
        action = Action("look", {"k": {secret: [secret]}})
        await journal.record(Thought(reply, PRINTS, actions=(action,), repairs=(secret,)))
        key = f"{len(journal.trajectory.steps)}.1"
        piece = Evidence(secret, f"about {secret}", source=secret)
        content = {secret: "x" * BLOB_BYTES}
        await journal.record(Observation(key, content, evidence=(piece,), detail=secret))
    lines = await store.read("r")
    seen = [call.observation for call in journal.trajectory.calls if call.observation]
    blobs = [await store.blob(observation.blob) for observation in seen]
    for body in (*(line.body for line in lines), *blobs):
        assert b"quoted" not in body
        assert b"K7MD" not in body
        assert b"plain" not in body
    call = journal.trajectory.call("1.1")
    assert call.action.args == {"k": {"[redacted]": ["[redacted]"]}}
    assert call.observation is not None
    assert call.observation.evidence == (
        Evidence("[redacted]", "about [redacted]", source="[redacted]"),
    )
    assert (await load(store, "r")).entries == journal.trajectory.entries


async def test_the_inbox_is_moved_into_the_record_and_what_does_not_fit_is_said() -> None:
    store = MemoryStore()
    journal = await Journal.create(store, STARTED, "r")
    await journal.record(thought("a"), Judged("1.1", Verdict("hold", "look")))
    posted: Sequence[bytes] = [
        encode(Note(text_parts("a word"))),
        encode(Ruling("1.1", allow=True)),
        encode(Ruling("1.1", allow=False)),
        encode(Ruling("9.9", allow=True)),
        encode(Cancel("enough")),
        encode(Stop("answered")),
        b'{"event":"nonsense"}',
        b'{"event":"note","parts":[{"type":"text","text":"\xff"}]}',
    ]
    for body in posted:
        await store.post("r", body)
    await journal.receive()
    events: list[AnyEvent] = [entry.event for entry in journal.trajectory.entries[3:]]
    assert [type(event) for event in events] == [Note, Ruling, Note, Note, Cancel, Note, Note, Note]
    late = [event.text for event in events if isinstance(event, Note) and event.source == "late"]
    assert "1.1 was set aside: it is not held" in late[0]
    assert "9.9" in late[1]
    assert late[2] == "a message in the inbox was no ruling, note, rewind or cancel"
    assert all("could not be read" in text for text in late[3:])
    assert await store.inbox("r") == []


async def lines_of(*bodies: bytes) -> MemoryStore:
    """A store that holds these bodies as a chained run."""
    store, before = MemoryStore(), b""
    await store.create("r")
    for seq, body in enumerate(bodies, start=1):
        before = chain(before, seq, 5, 1, body)
        await store.append(Append("r", 1, (Line(seq, 5, 1, body, before),)))
    return store


async def test_a_changed_byte_is_found_and_named() -> None:
    store = MemoryStore()
    await store.create("r")
    await store.append(Append("r", 1, (Line(1, 5, 1, encode(STARTED), b"0" * 16),)))
    with pytest.raises(StoreError, match="entry 1 was changed"):
        await load(store, "r")


NEWER = {
    "a kind of event": b'{"event":"levitated"}',
    "a status": b'{"event":"stop","status":"levitated"}',
    "a code of an observation": b'{"event":"observation","call":"1.1","code":"levitated"}',
    "a part of a message": b'{"event":"note","parts":[{"type":"smell","of":"fire"}]}',
}


@pytest.mark.parametrize("body", NEWER.values(), ids=NEWER.keys())
async def test_what_only_a_newer_clew_knows_is_refused_in_one_line(body: bytes) -> None:
    """Each is written whole, and chained: nothing is damaged."""
    store = await lines_of(encode(STARTED), body)
    with pytest.raises(StoreNewerError, match=r"entry 2: .* by another version of clew"):
        await load(store, "r")
    (found,), lost = await verify(store=store)
    assert (found.ok, found.newer, found.entries, lost) == (False, True, 1, [])


async def test_a_field_that_only_a_newer_clew_knows_is_passed_over_and_kept(
    tmp_path: Path,
) -> None:
    goal = encode(STARTED)[:-1] + b',"weight":{"kg":0}}'
    note = b'{"event":"note","parts":[{"type":"text","text":"x"}],"weight":0}'
    store = await lines_of(goal, note)
    assert [entry.event for entry in (await load(store, "r")).entries] == [
        STARTED,
        Note(text_parts("x")),
    ]
    (found,), lost = await verify(store=store)
    assert (found.ok, lost) == (True, [])
    await export_runs(tmp_path / "archive", store=store)
    copy = MemoryStore()
    await import_runs(tmp_path / "archive", store=copy)
    assert [line.body for line in await copy.read("r")] == [goal, note]
    journal = await Journal.open(copy, "r")
    await journal.record(Stop("answered", answer="y"))
    assert [line.body for line in await copy.read("r")][:2] == [goal, note]


async def test_what_is_no_event_at_all_is_damaged_and_not_newer() -> None:
    store = await lines_of(encode(STARTED), b'{"event":"levit')
    with pytest.raises(StoreError, match="entry 2 is not readable here") as told:
        await load(store, "r")
    assert not isinstance(told.value, StoreNewerError)


async def test_a_record_of_a_later_schema_says_so() -> None:
    store = await lines_of(encode(msgspec.structs.replace(STARTED, schema=99)))
    with pytest.raises(StoreError, match="schema 99"):
        await load(store, "r")


async def test_a_record_without_a_beginning_says_so() -> None:
    store = await lines_of(encode(Note(text_parts("hello"))))
    with pytest.raises(StoreError, match="never started"):
        assert (await load(store, "r")).goal


async def test_the_fold_refuses_a_gap_and_an_unknown_call() -> None:
    store = MemoryStore()
    journal = await Journal.create(store, STARTED, "r")
    entry = journal.trajectory.entries[0]
    with pytest.raises(StoreError, match="cannot follow"):
        journal.trajectory.add(msgspec.structs.replace(entry, seq=5))
    with pytest.raises(StoreError, match="has no call"):
        journal.trajectory.call("1.1")


async def test_time_counts_as_work_only_between_entries_of_one_life() -> None:
    store, clock = MemoryStore(), Clock()
    journal = await Journal.create(store, STARTED, "r", clock=clock)
    clock.now += 500
    await journal.record(thought())
    clock.now -= 300  # a clock set back takes nothing away
    await journal.record(Stop("answered"))
    clock.now += 60_000  # waiting for a person
    await journal.record(Note(text_parts("and now?")))
    assert journal.trajectory.total.active_ms == 500
    assert journal.trajectory.spent.active_ms == 0
    again = await Journal.open(store, "r", clock=clock)
    clock.now += 60_000  # nobody was at work
    await again.record(thought())
    clock.now += 40
    await again.record(thought())
    assert again.trajectory.total.active_ms == 540


def test_run_ids_differ_and_are_safe_in_file_names() -> None:
    ids = {new_run_id() for _ in range(100)}
    assert len(ids) == 100
    assert all(set(run_id) <= set("0123456789abcdef-") for run_id in ids)


class Broken:
    """A listener that fails."""

    def token(self, text: str) -> None:
        message = f"cannot show {text}"
        raise RuntimeError(message)

    def entry(self, entry: Entry) -> None:
        message = f"cannot show entry {entry.seq}"
        raise RuntimeError(message)


async def test_a_listener_that_fails_is_logged_and_changes_nothing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    store = MemoryStore()
    agent = Agent(model=ScriptedModel([say("ok")]))
    found = await run(agent, "What?", store=store, run_id="r", listener=Broken())
    assert found.answer == "ok"
    assert len(await load(store, "r")) == 3
    assert {record.message for record in caplog.records} == {
        "run r: a listener failed; the run goes on"
    }


async def test_half_a_character_is_refused_in_one_line() -> None:
    journal = await Journal.create(MemoryStore(), STARTED, "r")
    with pytest.raises(StoreError, match="half a character"):
        await journal.record(Note(text_parts("broken \ud83d")))
    await journal.record(Note(text_parts("whole")))
    assert len(journal.trajectory) == 2
