"""What sub-runs of one step are granted, and what the journal says of what it cannot record."""

import logging
from dataclasses import replace
from typing import Any

import anyio
import msgspec
import pytest

from clew import Agent, ConfigError, Limits, PartError, StoreError
from clew.core.actions import Action
from clew.core.contents import Observation, Reply, Usage, text_parts
from clew.core.engine import Engine
from clew.core.entries import Entry
from clew.core.events import AnyEvent, Attempt, Charged, Landing, Started, Stop, Suspended
from clew.core.journal import Journal, chain, known_event, load
from clew.core.steps import args_hash
from clew.core.stores import Append, Line
from clew.core.subruns import grant_sub_runs, sub_run_id
from clew.core.tools import AgentTool, SubRun
from clew.core.trajectory import Call
from clew.stores.memory import MemoryStore
from clew.support.errors import StoreDamagedError, StoreNewerError
from clew.testing.models import ScriptedModel
from tests.core.records import SPEC, look, thought

pytestmark = pytest.mark.parametrize("anyio_backend", ["asyncio"])

STARTED = Started(text_parts("Where?"), SPEC)


async def works(asked: SubRun) -> Observation:
    return Observation(content="done")


def role(name: str = "solve", **fields: Any) -> AgentTool:
    return AgentTool(name, "Solve.", {"type": "object"}, run=works, **fields)


def engine(*tools: AgentTool, caps: dict[str, int] | None = None, **limits: Any) -> Engine:
    agent = Agent(ScriptedModel([]), tools, limits=Limits(**limits))
    return replace(agent.engine, caps_left=lambda trajectory, place: dict(caps or {}))


async def begun(*events: AnyEvent) -> Journal:
    journal = await Journal.create(MemoryStore(), STARTED, "run", clock=lambda: 1_000)
    for event in events:
        await journal.record(event)
    return journal


async def granted(who: Engine, *actions: Action) -> list[Any]:
    journal = await begun(thought(*actions))
    await grant_sub_runs(who, journal, journal.trajectory.step.calls)
    return [entry.event for entry in journal.trajectory.entries[2:]]


def solve(**args: Any) -> Action:
    return Action("solve", args)


LIMITS: dict[str, Any] = {"steps": 10, "tool_calls": 20, "tokens": 100_000, "seconds": 60}


class TestAGrant:
    async def test_is_a_share_by_weight(self) -> None:
        who = engine(role(weight="n"), **LIMITS)
        events = await granted(who, solve(n=3), solve(), solve(n=0))
        assert [event.grant.steps for event in events] == [4, 1, 1]
        assert [event.child for event in events] == ["run-1.1", "run-1.2", "run-1.3"]
        assert {event.timeout for event in events} == {0.0}
        alone = await granted(engine(role(), **LIMITS), solve(n=3), solve(n=1))
        assert [event.grant.steps for event in alone] == [4, 4], "no weight was named"

    async def test_is_no_more_than_the_tool_has(self) -> None:
        (first,) = await granted(engine(role(), **LIMITS), solve())
        few = msgspec.structs.replace(first.grant, steps=2, depth=0)
        (event,) = await granted(engine(role(grant=few), **LIMITS), solve())
        assert event.grant.steps == 2

    async def test_identifies_an_effect_by_what_is_received(self) -> None:
        (event,) = await granted(engine(role(effect="unsafe"), **LIMITS), solve(x=1.0))
        assert event.received == args_hash("solve", {"x": 1})
        assert event.hash == args_hash("solve", {"x": 1.0})
        (event,) = await granted(engine(role(effect="read"), **LIMITS), solve(x=1.0))
        assert event.received == ""

    async def test_has_whole_calls_of_what_all_may_make(self) -> None:
        who = engine(role(effect="unsafe"), caps={"post": 4, "*": 7}, **LIMITS)
        events = await granted(who, solve(), solve(), solve())
        assert [event.grant.caps for event in events] == [
            {"post": 2, "*": 3}, {"post": 1, "*": 2}, {"post": 1, "*": 2},
        ]  # fmt: skip
        six = engine(role(effect="unsafe"), caps={"*": 6}, **LIMITS)
        events = await granted(six, solve(), solve(), solve())
        assert [event.grant.caps["*"] for event in events] == [2, 2, 2]

    async def test_of_a_run_without_effects_has_no_part_in_those(self) -> None:
        tools = role(effect="unsafe"), role("read", effect="read")
        who = engine(*tools, caps={"post": 4, "*": 4}, **LIMITS)
        events = await granted(who, solve(), Action("read"))
        assert [event.grant.caps for event in events] == [
            {"post": 2, "*": 4}, {"post": 2, "*": 0},
        ]  # fmt: skip
        (alone,) = await granted(who, Action("read"))
        assert alone.grant.caps == {"post": 4, "*": 0}

    async def test_that_is_too_small_is_refused(self) -> None:
        few: dict[str, Any] = LIMITS | {"steps": 2}
        first, second = await granted(engine(role(), **few), solve(), solve())
        for event in (first, second):
            assert isinstance(event, Observation)
            assert (event.code, event.ok) == ("cap", False)
            assert "too little is left of this run's steps" in event.text

    async def test_is_given_once_and_to_sub_runs_only(self) -> None:
        who = engine(role(), **LIMITS)
        journal = await begun(
            thought(solve(), look()), Attempt("1.1", "solve", "h", 0.0, child="c")
        )
        await grant_sub_runs(who, journal, journal.trajectory.step.calls)
        assert len(journal.trajectory.entries) == 3

    async def test_is_not_given_where_a_stranger_has_the_id(self) -> None:
        journal = await begun(thought(solve()))
        await Journal.create(journal.store, STARTED, "run-1.1")
        with pytest.raises(
            ConfigError, match=r"run run-1\.1 is in this store, and run run has not"
        ):
            await grant_sub_runs(engine(role(), **LIMITS), journal, journal.trajectory.step.calls)
        assert sub_run_id("run", Call("1.1", look())) == "run-1.1"


class TestTheJournal:
    @pytest.mark.parametrize(
        ("event", "kind", "why"),
        [
            (
                thought(reply=Reply("half \ud800", model="x:y")),
                StoreError,
                "what the model 'x:y' said, or the codec made of it: a text holds half a character",
            ),
            (
                Observation("1.1", {"a": object()}),
                PartError,
                r"what is to be recorded \(Observation\): no record can hold this .*resume the run",
            ),
        ],
    )
    async def test_says_whose_value_no_record_can_hold(
        self, event: Any, kind: Any, why: str
    ) -> None:
        journal = await begun()
        with pytest.raises(kind, match=f"run run: {why}"):
            await journal.record(event)
        assert len(journal.trajectory.entries) == 1
        deep: Any = []
        for _ in range(100_000):
            deep = [deep]
        with pytest.raises(StoreError, match="a value is nested too deeply to be written: flatten"):
            await journal.record(Stop("answered", answer=deep))
        while deep:
            deep = deep.pop()

    async def test_chains_its_lines(self) -> None:
        journal = await begun(Stop("held"))
        before = b""
        for line in await journal.store.read("run"):
            assert line.hash == chain(before, line.seq, line.at, line.epoch, line.body)
            assert len(line.hash) == 16
            before = line.hash
        for other in (
            (b"x", 1, 2, 3, b"b"),
            (b"", 9, 2, 3, b"b"),
            (b"", 1, 9, 3, b"b"),
            (b"", 1, 2, 9, b"b"),
            (b"", 1, 2, 3, b"c"),
        ):
            assert chain(*other) != chain(b"", 1, 2, 3, b"b")  # fmt: skip

    async def test_refuses_a_line_that_was_changed_or_is_newer(self) -> None:
        journal = await begun()
        lines = await journal.store.read("run")
        for body, hash_, kind, why in (
            (lines[0].body + b" ", lines[0].hash, StoreDamagedError, "entry 1 was changed after"),
            (lines[0].body, "text", StoreDamagedError, "entry 1 was changed after"),
            (b"{", None, StoreError, "entry 1 is not readable here .*restore a copy"),
            (
                b'{"event":"new"}',
                None,
                StoreNewerError,
                "run other: entry 1: it was written by anot",
            ),
        ):
            store = MemoryStore()
            epoch = await store.create("other")
            made: Any = chain(b"", 1, 5, epoch, body) if hash_ is None else hash_
            at = 5 if hash_ is None else lines[0].at
            await store.append(Append("other", epoch, (Line(1, at, epoch, body, made),)))
            with pytest.raises(kind, match=why):
                await load(store, "other")
        later = msgspec.json.encode({"event": "started", "question": [], "spec": SPEC, "schema": 2})
        with pytest.raises(StoreNewerError, match=r"\(schema 2\): open it with that one"):
            known_event(later)

    async def test_says_what_happens_to_a_run(self, caplog: pytest.LogCaptureFixture) -> None:
        caplog.set_level(logging.INFO, "clew")
        journal = await begun(thought(look()), Attempt("1.1", "look", "h", 1.0))
        await journal.record(Attempt("1.1", "look", "h", 1.0, 2), Stop("answered"))
        assert [(one.name, one.levelname, one.getMessage()) for one in caplog.records] == [
            ("clew", "INFO", "run run: begun with m"),
            ("clew", "WARNING", "run run: attempt 2 of look"),
            ("clew", "INFO", "run run: stopped, answered"),
        ]
        caplog.clear()
        again = await Journal.open(journal.store, "run")
        assert [one.getMessage() for one in caplog.records] == ["run run: taken up by worker 2"]
        assert (again.epoch, again.run_id, again.now() > 10**12) == (2, "run", True)
        stood = [again.stopped_before]
        await again.record(Charged(Usage()))
        stood.append(again.stopped_before)
        assert stood == [False, True]
        await again.receive()
        assert isinstance(again.trajectory.entries[-1].event, Stop)

    async def test_makes_notes_of_late_words(self) -> None:
        journal = await begun()
        journal.words.extend(["one", "two"])
        await journal.receive()
        notes: list[Any] = [entry.event for entry in journal.trajectory.entries[1:]]
        assert [(note.text, note.source) for note in notes] == [("one", "late"), ("two", "late")]
        assert not journal.words

    async def test_counts_time_from_the_last_entry_of_its_own(self) -> None:
        now = [1_000]
        journal = await Journal.create(MemoryStore(), STARTED, "run", clock=lambda: now[0])
        now[0] = 3_500
        first = journal.deadline(10.0)
        assert first <= anyio.current_time() + 7.5, "of ten seconds some are gone"
        await journal.record(Stop("held"))
        now[0] = 9_000
        assert journal.deadline(10.0) - first >= 2.5, "since a stop none"
        later = await Journal.open(journal.store, "run", clock=lambda: 99_000)
        assert later.deadline(10.0) - first >= 2.5, "nor since another worker's entry"

    async def test_tells_a_listener_what_is_stored_and_how_far_a_call_is(self) -> None:
        class Heard:
            def __init__(self) -> None:
                self.all: list[Any] = []

            def token(self, text: str) -> None:
                self.all.append(text)

            def entry(self, entry: Entry) -> None:
                self.all.append(entry.seq)

            def progress(self, call: str, text: str) -> None:
                self.all.append((call, text))

        heard = Heard()
        journal = await Journal.create(MemoryStore(), STARTED, "run", listener=heard)
        journal.token("a")
        journal.progress("1.1", "half")
        await journal.record(Landing("x"))
        assert heard.all == [1, "a", ("1.1", "half"), 2]
        with pytest.raises(
            ConfigError, match=r"listener is 7 \(int\): give one that has entry\(…\)"
        ):
            await Journal.create(MemoryStore(), STARTED, "run", listener=7)

    async def test_gives_an_id_and_begins_again_what_has_no_entry(self) -> None:
        store = MemoryStore()
        await store.create("run")
        assert (await Journal.create(store, STARTED, "run")).epoch == 2
        with pytest.raises(StoreError):
            await Journal.create(store, STARTED, "run")
        one, two = [await Journal.create(store, STARTED) for _ in range(2)]
        assert one.run_id != two.run_id != ""
        assert await one.has_run(two.run_id)
        assert not await one.has_run("nobody")
        assert not await one.has_run("")

    async def test_keeps_no_blob_that_others_named(self) -> None:
        journal = await begun(thought(look()))
        await journal.record(Suspended("1.1", (Action("look", {"x": 1}, blob="b"),)))
        event: Any = journal.trajectory.entries[-1].event
        assert event.actions == (look(x=1),)
