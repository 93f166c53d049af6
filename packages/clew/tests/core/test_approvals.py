"""What waits for a person, and a person's word on it: in a run, and in a sub-run's sub-run."""

from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest

from clew import (
    Agent,
    AlreadyRuledError,
    Call,
    ConfigError,
    Limits,
    NotHeldError,
    PendingApproval,
    SqliteStore,
    StaleApprovalError,
    StoreError,
    Trajectory,
    Verdict,
    cancel,
    fork,
    pending_approvals,
    read,
    replay,
    resume,
    rule,
    run,
)
from clew.agent.runner import refuse_sub_run, start, start_or_take_up, take_up
from clew.core.entries import decode
from clew.core.events import Judged, Note, Ruling, Stop
from clew.core.journal import chain, load
from clew.core.stores import Append, Line
from clew.core.values import encode
from clew.stores import RunNotFoundError
from clew.stores.memory import MemoryStore
from clew.testing.models import act, acts, say
from clew.workers import carry
from clew.workers.agents import KnownAgents
from clew_testing.cut_store import CutStore
from tests.core.family import family, go_on, hold_letters, letters, scripted

pytestmark = pytest.mark.both_loops

Done = list[tuple[str, str]]


def writer(done: Done, *texts: str, **more: Any) -> Agent:
    """An agent whose letters are held."""
    moves = [act("send", text=text) for text in texts]
    model = scripted(acts(*moves), say("written"))
    return Agent(model=model, tools=[letters(done)], **{"guards": [hold_letters], **more})


def named(waiting: tuple[PendingApproval, ...]) -> list[tuple[str, str]]:
    return [(each.run_id, each.call) for each in waiting]


async def test_everything_that_waits_is_listed_over_all_runs() -> None:
    done: Done = []
    store = MemoryStore()
    root, _, _ = family(done)
    first = await run(writer(done, "x"), "Write.", store=store, run_id="w")
    found = await run(root, "Write.", store=store, run_id="r")
    await run(Agent(model=scripted(say("no"))), "Write nothing.", store=store)
    listed = await pending_approvals(store=store)
    deep = [(f"r-1.{n}-1.1", f"1.{m}") for n in (1, 2) for m in (1, 2)]
    assert sorted(named(listed[1:])) == deep
    assert [each.root for each in listed] == ["w", "r", "r", "r", "r"]
    assert [each.at for each in listed] == sorted(each.at for each in listed)
    assert first.pending_approvals == listed[:1]
    assert named(found.pending_approvals) == deep
    assert set(found.pending_approvals) == set(listed[1:])
    (each,) = first.pending_approvals
    assert (each.tool, each.args, each.why) == ("send", {"text": "x"}, "a letter leaves the house")
    record = await read("w", store=store)
    ((at, judged),) = [(e.at, e.event) for e in record.entries if isinstance(e.event, Judged)]
    assert (each.at, each.seen) == (at, record.call("1.1").hash)
    assert judged.verdict.args == {"text": "x"}


async def test_a_child_of_a_child_is_ruled_on_days_later_in_any_order(tmp_path: Path) -> None:
    done: Done = []
    place = tmp_path / "runs.sqlite"
    root, _, clerk = family(done)
    found = await run(root, "Write.", store=place, run_id="r")
    assert (found.status, done) == ("held", [])
    for each in reversed(found.pending_approvals):  # the store is opened anew for each
        allow = each.call != "1.2"
        await rule(each.id, allow=allow, why="as I said", by="Ada", store=place)
    assert await pending_approvals(store=place) == ()
    found = await resume(family(done)[0], "r", store=place)
    assert (found.status, found.answer, found.pending_approvals) == ("answered", "done", ())
    assert sorted(done) == [("r-1.1-1.1:1.1", "a"), ("r-1.2-1.1:1.1", "a")]
    record = await read("r", store=place)
    words = [entry.event for entry in record.entries if isinstance(entry.event, Ruling)]
    assert sorted(word.call for word in words) == ["1.1", "1.2"]  # once each, though two were given
    assert {(word.allow, word.by) for word in words} == {(True, "Ada")}
    for agent, run_id in ((root, "r"), (clerk, "r-1.1-1.1")):
        await replay(agent, run_id, store=place)


async def test_one_word_at_a_time_is_enough_to_go_on_with_what_it_is_about() -> None:
    done: Done = []
    store = MemoryStore()
    root, _, _ = family(done)
    found = await run(root, "Write.", store=store, run_id="r")
    waiting = found.pending_approvals
    for number, each in enumerate(waiting, start=1):
        await rule(each.id, allow=True, store=store)
        found = await resume(root, "r", store=store)
        assert len(done) == number
        assert named(found.pending_approvals) == named(waiting[number:])
    assert (found.status, found.answer) == ("answered", "done")


@pytest.mark.slow
async def test_killed_between_any_two_writes_it_ends_the_same_and_does_nothing_twice() -> None:
    whole: Done = []
    store = CutStore()
    found = await go_on(family(whole)[0], store, {"1.2": False})
    assert found.answer == "done"
    assert len(whole) == 2
    cuts = doubted = 0
    for writes in range(store.written):
        done: Done = []
        cut = CutStore(left=writes)
        try:
            ended = await go_on(family(done)[0], cut, {"1.2": False})
        except StoreError:
            cuts += 1
        else:  # on a busy machine what several calls say shares a commit, or does not
            assert ended.answer == "done"
        before = list(done)
        again = await go_on(family(done)[0], cut.inner, {"1.2": False})
        assert (again.status, again.answer, again.steps) == ("answered", "done", 2), writes
        assert len(set(done)) == len(done), writes
        assert set(before) <= set(done) <= set(whole), writes
        lost = [
            call
            for info in await cut.inner.runs()
            for call in (await load(cut.inner, info.run_id)).calls
            if call.action.name == "send"
            and call.observation
            and call.observation.code == "unknown"
        ]
        assert len(done) + len(lost) >= len(whole), writes
        doubted += len(lost)
        assert await pending_approvals(store=cut.inner) == ()
        await replay(family(done)[0], "r", store=cut.inner)
    assert cuts > store.written // 2
    assert doubted > 0  # an unsafe call that may have happened was told, not made again


async def test_a_word_that_was_cut_off_on_its_way_up_is_completed_by_the_same_again() -> None:
    done: Done = []
    store = CutStore()
    root, _, _ = family(done)
    (first, *_) = (await run(root, "Write.", store=store, run_id="r")).pending_approvals
    store.left = 1  # enough for the inbox of the run itself
    with pytest.raises(StoreError):
        await rule(first.id, allow=True, store=store)
    assert first in await pending_approvals(store=store)  # it must be said again
    assert (await resume(root, "r", store=store.inner)).status == "held"
    assert done == []
    for _ in range(2):
        await rule(first.id, allow=True, store=store.inner)
        assert first not in await pending_approvals(store=store.inner)
    boxes = [
        len(await store.inner.inbox(run_id)) for run_id in ("r-1.1-1.1", "r-1.1", "r", "r-1.2")
    ]
    assert boxes == [1, 1, 1, 0]
    await resume(root, "r", store=store.inner)
    assert done == [("r-1.1-1.1:1.1", "a")]


async def test_the_first_word_counts_and_another_is_refused() -> None:
    done: Done = []
    store = MemoryStore()
    await run(writer(done, "x"), "Write.", store=store, run_id="w")
    await rule("w:1.1", allow=True, args={"text": "y"}, store=store)
    others: list[dict[str, Any]] = [{"allow": False}, {"allow": True}]
    for other in (*others, {"allow": True, "args": {"text": "z"}}):
        with pytest.raises(AlreadyRuledError, match="ruled on already, and the first word counts"):
            await rule("w:1.1", store=store, **other)
    await rule("w:1.1", allow=True, args={"text": "y"}, store=store)
    assert (await resume(writer(done, "x"), "w", store=store)).ok
    assert done == [("w:1.1", "y")]
    record = await read("w", store=store)
    assert sum(isinstance(entry.event, Ruling | Note) for entry in record.entries) == 1
    with pytest.raises(AlreadyRuledError, match="was ruled on already"):
        await rule("w:1.1", allow=True, store=store)


async def hold_b(call: Call, _so_far: Trajectory) -> Verdict | None:
    """Hold whatever says b."""
    return Verdict("hold", "b is held too") if call.args.get("text") == "b" else None


async def no_c(call: Call, _so_far: Trajectory) -> Verdict | None:
    """Hold all, and deny what says c."""
    if call.args.get("text") == "c":
        return Verdict("deny", "nobody says c")
    return Verdict("hold", "everything is held")


async def test_a_word_is_for_the_arguments_that_were_seen() -> None:
    done: Done = []
    store = MemoryStore()
    agent = writer(done, "a", guards=[hold_letters, hold_b])
    (seen,) = (await run(agent, "Write.", store=store, run_id="w")).pending_approvals
    word = encode(Ruling("1.1", allow=True, hash=seen.seen))
    await rule("w:1.1", allow=True, args={"text": "b"}, store=store)
    (now,) = (await resume(agent, "w", store=store)).pending_approvals  # others, judged by all
    assert (now.args, now.why, now.seen != seen.seen) == ({"text": "b"}, "b is held too", True)
    with pytest.raises(StaleApprovalError, match="has other arguments now: look again"):
        await rule(seen.id, allow=True, store=store)
    await store.post("w", word)  # by somebody who had the first in view
    assert await pending_approvals(store=store) == (now,)
    found = await resume(agent, "w", store=store)
    assert (found.status, done) == ("held", [])
    *_, last, stop = [entry.event for entry in (await read("w", store=store)).entries]
    assert isinstance(last, Note)
    assert isinstance(stop, Stop), "the last entry says how a run stands"
    assert last.text == "a ruling on 1.1 was set aside: its arguments are others now"
    await rule(now.id, allow=True, store=store)
    assert (await resume(agent, "w", store=store)).ok
    assert done == [("w:1.1", "b")]
    await replay(agent, "w", store=store)


async def test_changed_arguments_may_be_refused_but_not_held_again_by_who_held_them() -> None:
    done: Done = []
    for text, sent in (("b", True), ("c", False)):
        store = MemoryStore()
        agent = writer(done, "a", guards=[no_c])
        await run(agent, "Write.", store=store, run_id=text)
        await rule(f"{text}:1.1", allow=True, args={"text": text}, store=store)
        assert (await resume(agent, text, store=store)).ok
        assert ((f"{text}:1.1", text) in done) is sent
        await replay(agent, text, store=store)


async def test_a_word_is_used_once() -> None:
    """A call that was allowed and then cut off is in doubt: the word does not make it again."""
    done: Done = []
    cut = CutStore()
    agent = writer(done, "a", limits=Limits(unknown="hold"))
    (seen,) = (await run(agent, "Write.", store=cut, run_id="w")).pending_approvals
    await rule("w:1.1", allow=True, store=cut)
    cut.left = 3  # opened, ruled, attempted
    with pytest.raises(StoreError):
        await resume(agent, "w", store=cut)
    assert done == [("w:1.1", "a")]
    store = cut.inner
    (again,) = (await resume(agent, "w", store=store)).pending_approvals
    assert "may or may not have happened" in again.why
    assert done == [("w:1.1", "a")]
    # Nor does the word of somebody who was asked whether to make it, not whether to make it again.
    with pytest.raises(StaleApprovalError, match=r"call 1\.1 of run w was begun since: look again"):
        await rule(seen.id, allow=True, store=store)
    await store.post("w", encode(Ruling("1.1", allow=True, hash=seen.seen)))
    assert (await resume(agent, "w", store=store)).pending_approvals == (again,)
    *_, last, stop = [entry.event for entry in (await read("w", store=store)).entries]
    assert isinstance(last, Note)
    assert isinstance(stop, Stop), "the last entry says how a run stands"
    assert last.text == "a ruling on 1.1 was set aside: it was begun since"
    assert done == [("w:1.1", "a")]
    await rule(again.id, allow=True, store=store)
    assert (await resume(agent, "w", store=store)).ok
    assert done == [("w:1.1", "a")] * 2


async def test_one_id_and_one_verb_rule_and_go_on() -> None:
    """The id names one call of one run with its arguments; the ruling may give the result."""
    done: Done = []
    store = MemoryStore()
    for name in ("w", "x"):
        await run(writer(done, "a"), "Write.", store=store, run_id=name)
    first, second = await pending_approvals(store=store)
    assert len({first.id, second.id}) == 2
    result = await rule(first.id, allow=True, by="Ada", store=store, agent=writer(done, "a"))
    assert (result.answer, done) == ("written", [("w:1.1", "a")])
    with pytest.raises(AlreadyRuledError):
        await rule(first.id, allow=False, store=store, agent=writer(done, "a"))
    assert await rule(first.id, allow=True, store=store, agent=writer(done, "a")) == result
    assert done == [("w:1.1", "a")]
    for unknown, error in (("x:7.1", NotHeldError), ("x", ConfigError), ("", ConfigError)):
        with pytest.raises(error):
            await rule(unknown, allow=True, store=store)
    with pytest.raises(RunNotFoundError):
        await rule("z:1.1", allow=True, store=store)
    unheld = await run(
        Agent(model=scripted(act("send", text="b"), say("no")), tools=[letters(done)]),
        "Write.",
        store=store,
    )
    with pytest.raises(NotHeldError, match="does not wait"):
        await rule(f"{unheld.run_id}:1.1", allow=True, store=store)


async def test_of_two_people_at_once_one_is_told_that_the_other_was_faster() -> None:
    """Both look, both rule differently at the same time: the first word counts."""
    store = MemoryStore()
    await run(writer([], "a"), "Write.", store=store, run_id="w")
    (waiting,) = await pending_approvals(store=store)
    lost: list[bool] = []

    async def person(*, allow: bool) -> None:
        try:
            await rule(waiting.id, allow=allow, store=store)
        except AlreadyRuledError:
            lost.append(allow)

    async with anyio.create_task_group() as both:
        for allow in (True, False):
            both.start_soon(partial(person, allow=allow))
    assert len(lost) == 1
    result = await resume(writer([], "a"), "w", store=store)
    assert result.ok
    call = (await read("w", store=store)).call("1.1")
    assert call.ruling is not None
    assert call.ruling.allow is not lost[0]


async def test_a_sub_run_goes_on_by_its_root() -> None:
    done: Done = []
    store = MemoryStore()
    root, _, _ = family(done)
    result: Any = await run(root, "Write.", store=store, run_id="r")
    while result.status == "held":
        for each in result.pending_approvals:
            result = await rule(each.id, allow=True, store=store, agent=root)
    assert result.ok
    assert len(done) == 4


async def test_a_sub_run_is_refused_as_a_whole() -> None:
    done: Done = []
    store = MemoryStore()
    root, _, _ = family(done)
    await run(root, "Write.", store=store, run_id="r")
    with pytest.raises(ConfigError, match=r"call 1\.1 of run r waits for run r-1\.1: rule on what"):
        await rule("r:1.1", allow=True, store=store)
    await rule("r:1.1", allow=False, why="no letters today", store=store)
    await rule("r-1.2:1.1", allow=False, store=store)
    found = await resume(root, "r", store=store)
    assert (found.status, done, await pending_approvals(store=store)) == ("answered", [], ())
    record = await read("r", store=store)
    refused, went_on = (call.observation for call in record.calls)
    assert refused is not None
    assert went_on is not None
    assert refused.text == "ERROR: denied: no letters today. Do not try it in another way."
    assert (refused.ok, refused.code, refused.outcome) == (False, "denied", "not_done")
    assert refused.spent is not None
    assert refused.spent.steps == 2
    assert went_on.content == "the clerk did it"
    for run_id in ("r-1.1", "r-1.1-1.1", "r-1.2-1.1"):
        stop = (await read(run_id, store=store)).stop
        assert stop is not None
        assert stop.status == "interrupted"
    await replay(root, "r", store=store)


async def test_words_for_calls_that_are_not_held_are_set_aside() -> None:
    done: Done = []
    store = MemoryStore()
    root, _, _ = family(done)
    (first, *_) = (await run(root, "Write.", store=store, run_id="r")).pending_approvals
    await store.post("r", encode(Ruling("1.1", allow=True, args={"task": "other"})))
    await store.post("r", encode(Ruling("1.1", allow=True)))
    await store.post("r", encode(Ruling("1.1", allow=True)))  # it may come twice, and says no more
    await rule(first.id, allow=True, store=store)
    await resume(root, "r", store=store)
    record = await read("r", store=store)
    notes = [entry.event.text for entry in record.entries if isinstance(entry.event, Note)]
    assert notes == ["a ruling on 1.1 was set aside: it was begun already, with its arguments"]
    assert done == [("r-1.1-1.1:1.1", "a")]


async def test_a_cancel_of_the_root_closes_what_waits_below() -> None:
    done: Done = []
    store = MemoryStore()
    root, _, _ = family(done)
    (first, *_) = (await run(root, "Write.", store=store, run_id="r")).pending_approvals
    await rule(first.id, allow=True, store=store)
    await cancel("r", why="enough", store=store)
    found = await resume(root, "r", store=store)
    assert (found.status, found.reason, done) == ("interrupted", "enough", [])
    assert await pending_approvals(store=store) == ()
    for info in await store.runs():
        record = await load(store, info.run_id)
        assert not record.step.pending
        assert record.stop == Stop("interrupted", "enough")
        assert await store.inbox(info.run_id) == []
    assert (await load(store, "r")).total.steps == 5  # what was done below is counted
    await replay(root, "r", store=store)
    again = await resume(root, "r", store=store)  # whoever resumes it wants it to go on
    assert (again.status, again.answer) == ("answered", "done")


async def test_a_call_that_was_refused_as_a_whole_is_not_allowed_by_a_word_below() -> None:
    """Not even where the worker died between hearing that it was refused and ending it."""
    done: Done = []
    store = MemoryStore()
    root, _, _ = family(done)
    await run(root, "Write.", store=store, run_id="r")
    await rule("r:1.1", allow=False, why="not that", store=store)
    await (await take_up(root, "r", store)).receive()  # and there it was killed
    for call in ("1.1", "1.2"):
        await rule(f"r-1.1-1.1:{call}", allow=True, store=store)
    found = await resume(root, "r", store=store)
    assert done == []
    assert {each.run_id for each in found.pending_approvals} == {"r-1.2-1.1"}
    seen = (await read("r", store=store)).call("1.1").observation
    assert seen is not None
    assert seen.text.startswith("ERROR: denied: not that")


async def test_a_sub_run_alone_may_be_cancelled() -> None:
    done: Done = []
    store = MemoryStore()
    root, _, _ = family(done)
    await run(root, "Write.", store=store, run_id="r")
    await cancel("r-1.1", store=store)
    found = await resume(root, "r", store=store)
    assert named(found.pending_approvals) == [("r-1.2-1.1", "1.1"), ("r-1.2-1.1", "1.2")]
    seen = (await read("r", store=store)).call("1.1").observation
    assert seen is not None
    assert (seen.ok, seen.code, seen.outcome) == (False, "interrupted", "not_done")
    stop = (await read("r-1.1-1.1", store=store)).stop
    assert stop is not None
    assert stop.status == "interrupted"


async def test_a_sub_run_is_resumed_through_its_root() -> None:
    store = MemoryStore()
    root, office, clerk = family([])
    await run(root, "Write.", store=store, run_id="r")
    for agent, run_id, told in (
        (office, "r-1.1", r"run r-1\.1 serves call 1\.1 of run r: resume run r$"),
        (clerk, "r-1.2-1.1", r"run r-1\.2-1\.1 serves call 1\.1 of run r-1\.2: resume run r$"),
    ):
        lines = await store.read(run_id)
        with pytest.raises(ConfigError, match=told):
            await resume(agent, run_id, say="Hello?", store=store)
        assert await store.read(run_id) == lines
    await refuse_sub_run(store, await read("r", store=store))  # which is none


async def test_what_cannot_be_read_waits_for_nobody_here() -> None:
    done: Done = []
    store = MemoryStore()
    await run(writer(done, "x"), "Write.", store=store, run_id="w")
    await store.post("w", b"not of this clew")
    assert named(await pending_approvals(store=store)) == [("w", "1.1")]
    (*_, last) = await store.read("w")
    body = b'{"event":"of a newer clew"}'
    line = Line(last.seq + 1, last.at, 1, body, chain(last.hash, last.seq + 1, last.at, 1, body))
    await store.append(Append("w", 1, (line,)))
    assert await pending_approvals(store=store) == ()


async def test_a_run_whose_root_is_gone_is_named_and_not_ruled_on() -> None:
    done: Done = []
    store, other = MemoryStore(), MemoryStore()
    root, office, _ = family(done)
    await run(root, "Write.", store=store, run_id="r")
    for run_id in ("r-1.1", "r-1.1-1.1"):
        await copied(store, other, run_id)
    (each, _) = await pending_approvals(store=other)
    assert (each.run_id, each.root) == ("r-1.1-1.1", "r")
    with pytest.raises(StoreError, match=r"run r-1\.1 serves call 1\.1 of run r: there is no run"):
        await rule(each.id, allow=True, store=other)
    with pytest.raises(StoreError, match="serves call"):
        await resume(office, "r-1.1", store=other)
    await copied(store, other, "r")
    await rule(each.id, allow=True, store=other)
    assert ("r", "1.2") in named((await resume(root, "r", store=other)).pending_approvals)
    await other.post("r", encode(Ruling("1.2", allow=True)))
    with pytest.raises(
        StoreError, match=r"run r-1\.2, which serves r:1\.2, is gone: bring it back"
    ):
        await resume(root, "r", store=other)
    await copied(store, other, "r-1.2")
    await copied(store, other, "r-1.2-1.1")
    assert (await go_on(root, other)).answer == "done"


async def test_a_run_that_cannot_be_read_hides_nothing_of_what_waits_elsewhere(
    caplog: pytest.LogCaptureFixture,
) -> None:
    store = MemoryStore()
    for run_id in ("good", "bad"):
        await run(writer([], "x"), "Write.", store=store, run_id=run_id)
    (last,) = (await store.read("bad"))[-1:]
    body = encode(Stop("held", "changed by hand"))
    await store.append(Append("bad", 1, (Line(last.seq + 1, last.at, 1, body, b"no hash"),)))
    assert named(await pending_approvals(store=store)) == [("good", "1.1")]
    assert "what waits in run bad is not listed: run bad: entry" in caplog.text
    with pytest.raises(StoreError, match="run bad: entry"):
        await cancel("bad", store=store)
    assert await store.inbox("bad") == []


async def test_a_run_is_interrupted_although_a_sub_run_that_waited_is_gone() -> None:
    done: Done = []
    store = MemoryStore()
    root, _, _ = family(done)
    await run(root, "Write.", store=store, run_id="r")
    await store.forget("r-1.2")
    await cancel("r", store=store)
    assert (await resume(root, "r", store=store)).status == "interrupted"
    told = (await read("r", store=store)).call("1.2").observation
    assert told is not None
    assert (told.code, told.outcome) == ("unknown", "unknown")
    assert "its run r-1.2 is gone" in told.text


async def copied(store: MemoryStore, other: MemoryStore, run_id: str) -> None:
    """Bring a run to another store as it is."""
    from_there = await store.read(run_id)
    epoch = await other.create(run_id)
    while epoch < from_there[-1].epoch:
        epoch = await other.open(run_id)
    for line in from_there:
        await other.append(Append(run_id, epoch, (line,)))


async def test_a_fork_of_a_sub_run_is_a_run_of_its_own() -> None:
    done: Done = []
    store = MemoryStore()
    root, office, _ = family(done)
    found = await run(root, "Write.", store=store, run_id="r")
    assert found.status == "held"
    again = await fork(office, "r-1.1", at=0, store=store, new_id="f")
    (twice,) = again.pending_approvals
    assert twice.why.startswith("this may have been done already, by r-1.1:1.1: allow it if")
    await rule("f:1.1", allow=True, store=store)
    again = await resume(office, "f", store=store)
    assert named(again.pending_approvals) == [("f-1.1", "1.1"), ("f-1.1", "1.2")]
    assert {each.root for each in again.pending_approvals} == {"f"}
    assert (await read("f", store=store)).parent_call == ""
    for each in again.pending_approvals:
        await rule(each.id, allow=True, store=store)
    assert await store.inbox("r") == []
    assert (await resume(office, "f", store=store)).answer == "the clerk did it"
    assert sorted(done) == [("f-1.1:1.1", "a"), ("f-1.1:1.2", "b")]
    assert len(found.pending_approvals) == len(await pending_approvals(store=store))


async def test_a_word_on_a_sub_run_s_call_makes_its_root_due_and_nothing_else() -> None:
    """With a queue nobody resumes: a worker takes up what is due there, and that is the root."""
    done: Done = []
    store = MemoryStore()
    root, _, _ = family(done)
    await start(root, "Write.", store, run_id="r", queue="default")

    async def due() -> list[str]:
        firsts = [(info.run_id, decode(info.first.body)) for info in await store.due()]
        return [run_id for run_id, first in firsts if getattr(first, "queue", "")]

    assert await due() == ["r"]
    waiting = await carry(KnownAgents({"root": root}), store, "r")
    assert waiting.stop is not None
    assert (waiting.stop.status, await due()) == ("held", [])
    for each in await pending_approvals(store=store):
        await rule(each.id, allow=True, store=store)
    assert await due() == ["r"]
    ended = await carry(KnownAgents({"root": root}), store, "r")
    assert ended.stop is not None
    assert (ended.stop.answer, len(done)) == ("done", 4)
    assert await store.due() == []


async def test_many_runs_wait_in_a_real_store(tmp_path: Path) -> None:
    done: Done = []
    store = SqliteStore(tmp_path / "runs.sqlite")
    for number in range(5):
        await run(writer(done, "x", "y"), "Write.", store=store, run_id=f"w{number}")
    assert len(await pending_approvals(store=store)) == 10
    await store.close()


async def test_a_call_whose_arguments_a_person_changed_is_known_by_those() -> None:
    store = MemoryStore()
    for run_id, text in (("changed", "a"), ("same", "b")):
        await run(writer([], text), "Write.", store=store, run_id=run_id)
        await rule(f"{run_id}:1.1", allow=True, args={"text": "b"}, store=store)
        await resume(writer([], text), run_id, store=store)
    changed, same = [
        (await read(run_id, store=store)).call("1.1") for run_id in ("changed", "same")
    ]
    assert changed.attempts[0].hash == same.attempts[0].hash == same.hash


async def test_an_id_is_taken_up_by_the_same_question_only() -> None:
    store, agent = MemoryStore(), writer([], "a")
    await start_or_take_up(agent, "Write.", store, "w")
    again = await start_or_take_up(agent, "Write.", store, "w")
    assert again.epoch == 2
    with pytest.raises(ConfigError, match="run w answers another question: give this one an id"):
        await start_or_take_up(agent, "Write more.", store, "w")
    with pytest.raises(ConfigError, match="run w is another's"):
        await start_or_take_up(agent, "Write.", store, "w", parent="r:1.1")


@pytest.mark.parametrize(
    "word",
    [
        {"allow": 1}, {"allow": 0}, {"allow": "yes"}, {"allow": None}, {"allow": True, "by": 5},
        {"allow": False, "why": 3}, {"allow": True, "args": []}, {"allow": True, "args": "x"},
        {"allow": True, "by": None}, {"allow": False, "why": ["because"]},
    ],
)  # fmt: skip
async def test_a_word_that_no_run_would_read_is_refused(word: dict[str, Any]) -> None:
    done: Done = []
    store = MemoryStore()
    first = await run(writer(done, "x"), "Write.", store=store)
    with pytest.raises(ConfigError, match=r"\$|^by is"):
        await rule(f"{first.run_id}:1.1", store=store, **word)
    assert len(await pending_approvals(store=store)) == 1
    await rule(f"{first.run_id}:1.1", allow=True, store=store)
    assert (await resume(writer(done, "x"), first.run_id, store=store)).status == "answered"
    assert len(done) == 1


@pytest.mark.parametrize("why", [5, None, ["x"]])
async def test_a_cancellation_that_no_run_would_read_is_refused(why: Any) -> None:
    store = MemoryStore()
    first = await run(writer([], "x"), "Write.", store=store)
    with pytest.raises(ConfigError, match="Cancel cannot be kept"):
        await cancel(first.run_id, why=why, store=store)
