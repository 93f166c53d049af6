"""Calls of which nobody knows whether they happened: one place says it, and one id settles it."""

import json
from typing import Any

import pytest
from msgspec.structs import replace

from clew import (
    Agent,
    AlreadyRuledError,
    Call,
    Entry,
    Held,
    Limits,
    MemoryStore,
    Observation,
    ReplayError,
    Verdict,
    cancel,
    delegate,
    fork,
    read,
    replay,
    result_of,
    resume,
    rule,
    run,
    settle,
    stream,
    tool,
)
from clew.agent.read_result import recorded_result
from clew.core.events import Settled
from clew.core.inbox import encode_message
from clew.core.replay import replay as replay_record
from clew.core.trajectory import Trajectory
from clew.guards import Provenance
from clew.interfaces import Stop, UnknownCall
from clew.testing import ScriptedModel, act, finish, say
from clew.tools import external

pytestmark = pytest.mark.anyio


@tool(effect="unsafe")
async def send(to: str) -> str:
    """Send a letter.

    Args:
        to: To whom.
    """
    message = f"the line to {to} went dead"
    raise RuntimeError(message)


@tool(effect="unsafe", approve=True)
async def post(to: str) -> str:
    """Post a letter that waits for a person.

    Args:
        to: To whom.
    """
    return f"posted to {to}"


ADA = {"to": "Ada"}


def agent(*script: Any, tools: Any = (send,)) -> Agent[str]:
    return Agent(ScriptedModel(script), tools, guards=[Provenance("off")])


def boss(*below: Any, end: Any = ()) -> Agent[str]:
    """An agent whose sub-agent follows the script `below`; then it says what is in `end`."""
    clerk = delegate(agent(*below), name="clerk", description="Writes letters.")
    return agent(act("clerk", task="Write to Ada."), *end, tools=[clerk])


def stops(record: Trajectory) -> list[Stop]:
    return [entry.event for entry in record.entries if isinstance(entry.event, Stop)]


async def test_stream_record_json_and_result_say_the_same() -> None:
    store, one = MemoryStore(), agent(act("send", to="Ada"), say("Perhaps."))
    async with stream(one, "Write.", store=store, run_id="r") as items:
        events = [item async for item in items if isinstance(item, Entry)]
        result = items.result
        assert result is not None
    lost = UnknownCall("r:1.1", "send", ADA)
    assert isinstance(events[-1].event, Stop)
    assert events[-1].event.unknown == result.unknown == (lost,)
    for document in (events[-1].to_json(), result.to_json()):
        told = json.loads(json.dumps(document))["unknown"]
        assert told == [{"id": "r:1.1", "tool": "send", "args": ADA}]
    record = await read("r", store=store)
    (stop,) = stops(record)
    assert recorded_result(record, stop, "").unknown == stop.unknown == (lost,)
    await replay(one, "r", store=store)


async def test_a_stop_that_does_not_say_it_is_read_and_replayed_as_it_was() -> None:
    store, one = MemoryStore(), agent(act("send", to="Ada"), say("Perhaps."))
    await run(one, "Write.", store=store, run_id="r")
    record = await read("r", store=store)
    *before, last = record.entries
    assert isinstance(last.event, Stop)
    older = Trajectory("r", [*before, replace(last, event=replace(last.event, unknown=()))])
    assert older.stop is not None
    assert recorded_result(older, older.stop, "").unknown == (UnknownCall("r:1.1", "send", ADA),)
    same = await replay_record(one.engine, older, store)
    assert same.trajectory.entries == older.entries


async def test_a_stop_that_counts_a_call_that_waits_for_a_result_is_replayed_as_it_was() -> None:
    store, one = MemoryStore(), agent(act("scan"), say("Seen."), tools=[external("scan", "Scan.")])
    held = await run(one, "Scan.", store=store, run_id="r")
    assert held.unknown == ()
    *before, last = (await read("r", store=store)).entries
    assert isinstance(last.event, Stop)
    counted = replace(last.event, unknown=(UnknownCall("r:1.1", "scan"),))
    older = Trajectory("r", [*before, replace(last, event=counted)])
    same = await replay_record(one.engine, older, store)
    assert same.trajectory.entries == older.entries
    untrue = replace(last.event, unknown=(UnknownCall("r:9.1", "scan"),))
    with pytest.raises(ReplayError):
        await replay_record(
            one.engine, Trajectory("r", [*before, replace(last, event=untrue)]), store
        )


async def test_its_id_is_what_settles_it() -> None:
    store, one = MemoryStore(), agent(act("send", to="Ada"), say("Perhaps."))
    (lost,) = (await run(one, "Write.", store=store, run_id="r")).unknown
    again = await settle(lost.id, done=True, store=store, agent=one)
    assert again.unknown == ()
    assert [len(stop.unknown) for stop in stops(await read("r", store=store))] == [1, 0]
    await replay(one, "r", store=store)


@pytest.mark.parametrize("done", [True, False])
async def test_what_was_said_counts_before_the_run_goes_on(done: bool) -> None:
    """In its result and the line on what it did; the record and its replay stay."""
    store, one = MemoryStore(), agent(act("send", to="Ada"), say("Perhaps."))
    first = await run(one, "Write.", store=store, run_id="r")
    await settle("r:1.1", done=done, store=store)
    now = await result_of(one, "r", store=store)
    assert (len(first.unknown), now.unknown) == (1, ())
    assert (now.work.changed, now.work.failed) == (({"send": 1}, {}) if done else ({}, {"send": 1}))
    assert await result_of(one, "r", store=store) == now  # nothing of it was kept
    assert len(stops(await read("r", store=store))) == 1
    await replay(one, "r", store=store)
    assert (await resume(one, "r", store=store)).work == now.work


async def test_what_was_said_of_a_run_below_counts_in_its_own_result_and_above() -> None:
    """Whether by its own id or by that of the run above, and after that has gone on."""
    store, clerk = MemoryStore(), agent(act("send", to="Ada"), say("Perhaps."))
    top = agent(
        act("clerk", task="Write to Ada."), say("Perhaps."), say("It was sent."),
        tools=[delegate(clerk, name="clerk", description="Writes letters.")],
    )  # fmt: skip
    (lost,) = (await run(top, "Write.", store=store, run_id="top")).unknown
    below = lost.id.rpartition(":")[0]
    assert (await result_of(clerk, below, store=store)).unknown == (lost,)
    await settle(lost.id, done=True, store=store)
    assert (await result_of(clerk, below, store=store)).unknown == ()
    assert (await result_of(top, "top", store=store)).unknown == ()
    assert (await resume(top, "top", store=store)).unknown == ()
    assert (await result_of(clerk, below, store=store)).unknown == ()


async def test_a_word_that_does_not_count_changes_no_result() -> None:
    store, one = MemoryStore(), agent(act("send", to="Ada"), say("Perhaps."))
    before = await run(one, "Write.", store=store, run_id="r")
    await store.post("r", encode_message(Settled("1.1", done=True, hash="of other arguments")))
    await store.post("r", b"no event")
    assert (await result_of(one, "r", store=store)).unknown == before.unknown


async def test_those_of_a_run_below_that_was_forgotten_stay() -> None:
    store, top = MemoryStore(), boss(act("send", to="Ada"), say("Perhaps."), end=[say("Perhaps.")])
    before = await run(top, "Write.", store=store, run_id="top")
    await store.forget(before.unknown[0].id.rpartition(":")[0])
    assert (await result_of(top, "top", store=store)).unknown == before.unknown


async def test_that_of_a_cancelled_call_stands_in_the_stop() -> None:
    store, one = MemoryStore(), agent(act("send", to="Ada"), act("send", to="Bob"))
    one = one.replace(limits=Limits(unknown="hold"))
    held = await run(one, "Write.", store=store, run_id="r")
    assert (held.status, [call.id for call in held.unknown]) == ("held", ["r:1.1"])
    await cancel("r", store=store)
    ended = await resume(one, "r", store=store)
    assert (ended.status, [call.id for call in ended.unknown]) == ("interrupted", ["r:1.1"])
    assert stops(await read("r", store=store))[-1].unknown == ended.unknown
    await replay(one, "r", store=store)


@pytest.mark.parametrize("done", [True, False])
async def test_those_of_runs_below_are_named_by_their_own_run_and_settled_there(done: bool) -> None:
    store = MemoryStore()
    one = boss(act("send", to="Ada"), say("Perhaps."), end=[say("Perhaps."), say("I see.")])
    result = await run(one, "Have it written.", store=store, run_id="r")
    lost = UnknownCall("r-1.1:1.1", "send", ADA)
    assert result.unknown == (lost,)
    assert stops(await read("r-1.1", store=store))[-1].unknown == (lost,)
    for _ in range(2):  # said twice, it is the same word
        again = await settle(lost.id, done=done, why="she says so", store=store, agent=one)
        assert again.unknown == ()
    with pytest.raises(AlreadyRuledError):
        await settle(lost.id, done=not done, store=store)
    record = await read("r", store=store)
    assert [len(stop.unknown) for stop in stops(record)] == [1, 0]
    told = "was done, as somebody found out" if done else "certainly did not happen"
    assert f"r-1.1:1.1 send {told}: she says so" in str(record.step.notices)
    await replay(one, "r", store=store)
    assert (await resume(one, "r", say="Well?", store=store)).answer == "I see."


async def test_those_two_floors_below_reach_the_top() -> None:
    store = MemoryStore()
    middle = boss(act("send", to="Ada"), say("Perhaps."), end=[say("Perhaps.")])
    office = delegate(middle, name="office", description="Has letters written.")
    top = agent(act("office", task="Have it written."), say("Perhaps."), tools=[office])
    (lost,) = (await run(top, "?", store=store, run_id="r")).unknown
    assert lost == UnknownCall("r-1.1-1.1:1.1", "send", ADA)
    assert (await settle(lost.id, done=False, store=store, agent=top)).unknown == ()
    await replay(top, "r", store=store)


async def test_those_of_a_run_below_that_waits_stand_in_the_stop_and_are_settled_there() -> None:
    """Two floors up too; a word on one takes it out, and the rest follows the ruling."""
    store = MemoryStore()
    clerk = agent(act("send", to="Ada"), act("post", to="Bob"), say("Done."), tools=[send, post])
    middle = agent(
        act("clerk", task="?"), say("Done."),
        tools=[delegate(clerk, name="clerk", description="Writes.")],
    )  # fmt: skip
    one = agent(
        act("middle", task="?"), say("Done."),
        tools=[delegate(middle, name="middle", description="Has it written.")],
    )  # fmt: skip
    held = await run(one, "Write.", store=store, run_id="r")
    lost = UnknownCall("r-1.1-1.1:1.1", "send", ADA)
    assert (held.status, held.unknown) == ("held", (lost,))
    assert stops(await read("r", store=store))[-1].unknown == (lost,)
    await replay(one, "r", store=store)
    again = await settle(lost.id, done=True, store=store, agent=one)
    assert (again.status, again.unknown) == ("held", ())
    assert isinstance(again, Held)
    (approval,) = again.pending_approvals
    ended = await rule(approval.id, allow=True, store=store, agent=one)
    assert (ended.status, ended.unknown) == ("answered", ())
    assert (await read("r-1.1-1.1", store=store)).call("1.1").settled is not None
    await replay(one, "r", store=store)


async def test_a_guard_cannot_say_that_calls_of_others_are_unknown() -> None:
    def hold(call: Call, _record: Trajectory) -> Verdict:
        return Verdict("hold", f"look at {call.key}", unknown=(UnknownCall("x:1.1", "send"),))

    one = agent(act("send", to="Ada")).replace(guards=[hold])
    assert (await run(one, "Write.", store=MemoryStore())).unknown == ()


async def test_a_word_on_what_is_known_below_is_set_aside() -> None:
    store = MemoryStore()
    one = boss(act("send", to="Ada"), say("Perhaps."), end=[say("Perhaps.")])
    (lost,) = (await run(one, "?", store=store, run_id="r")).unknown
    await settle(lost.id, done=False, store=store)
    ((_, word),) = await store.inbox("r")
    await store.post("r", word)
    await resume(one, "r", store=store)
    record = await read("r", store=store)
    assert "set aside: it is known what came of it" in str(record.step.notices)


async def test_a_tool_cannot_say_that_calls_of_others_are_unknown() -> None:

    @tool
    def look() -> Observation:
        """Look."""
        return Observation(content="x", unknown=(UnknownCall("z:1.1", "send"),))

    one = agent(act("look"), finish("Seen."), tools=[look])
    assert (await run(one, "?", store=MemoryStore())).unknown == ()


async def test_a_fork_names_it_as_its_own() -> None:
    store, one = MemoryStore(), agent(act("send", to="Ada"), say("Perhaps."))
    await run(one, "Write.", store=store, run_id="r")
    other = await fork(one, "r", at=1, store=store, new_id="f")
    assert [call.id for call in other.unknown] == ["f:1.1"]
