"""Calls that ask for other calls: what the record has of them, and what bounds them."""

from typing import Any

import pytest

from clew import (
    Agent,
    ConfigError,
    MemoryStore,
    Tool,
    cancel,
    delegate,
    fork,
    read,
    replay,
    resume,
    run,
    tool,
)
from clew.core.actions import Action
from clew.core.call_context import CALL
from clew.core.contents import Observation
from clew.core.events import Suspended
from clew.retention import verify
from clew.testing.models import ScriptedModel, act, acts, finish, say
from tests.core.play import events
from tests.core.relay import RELAY
from tests.core.scenarios import TOOLS, hold_sends, relayed

pytestmark = pytest.mark.both_loops

NO_ARGS: dict[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False}
SECRET = "p4ss/Wörd+#1"


def asking(*moves: Any, tools: Any = (), **parts: Any) -> Agent:
    tools = [*TOOLS, RELAY, *tools]
    return Agent(model=ScriptedModel(moves, tools=tools), tools=tools, **parts)


@tool(effect="unsafe")
def send(text: str) -> str:
    """Send a text.

    Args:
        text: The text.
    """
    return f"sent {text}"


async def test_a_model_sees_what_it_asked_for_and_the_record_has_all() -> None:
    store = MemoryStore()
    agent = asking(relayed(("lookup", "a"), ("lookup", "b")), say("ok"))
    found = await run(agent, "?", store=store, run_id="r")
    record = await read("r", store=store)
    (step, _) = record.steps
    assert [call.key for call in step.calls] == ["1.1"]
    assert [call.key for call in record.calls] == ["1.1", "1.2", "1.3"]
    assert [call.key for call in record.call("1.1").asked] == ["1.2", "1.3"]
    assert events(record).count("Suspended") == 2
    assert record.spent.tool_calls == 3
    assert found.answer == "ok"
    again = await replay(agent, "r", store=store)
    assert not again.passed_over
    checked, _ = await verify(store=store)
    assert [one.ok for one in checked] == [True]


async def test_what_a_call_left_is_fetched_by_a_later_one() -> None:
    async def count(args: dict[str, Any], key: str) -> Any:
        made = CALL.get()
        assert made is not None
        own = made.record.call(key.rpartition(":")[2])
        if own.suspended is not None:
            return (await made.blob(own.suspended.blob)).decode()
        earlier = [call.suspended for call in made.record.calls if call.suspended is not None]
        before = int(await made.blob(earlier[-1].blob)) if earlier else 0
        return Suspended(state=str(before + 1).encode())

    counter = Tool("count", "Count.", NO_ARGS, effect="pure", call=count)
    store = MemoryStore()
    await run(
        asking(act("count"), act("count"), say("ok"), tools=[counter]), "?", store=store, run_id="r"
    )
    record = await read("r", store=store)
    seen = [call.observation.content for call in record.calls if call.observation]
    assert seen == ["1", "2"]
    assert all(not call.asked for call in record.calls)


async def test_a_state_that_holds_a_secret_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_PASSWORD", SECRET)

    async def leak(args: dict[str, Any], key: str) -> Any:
        made = CALL.get()
        assert made is not None
        own = made.record.call(key.rpartition(":")[2])
        if own.suspended is not None:
            return [one.observation.text for one in own.asked if one.observation]
        ask = Action("lookup", {"key": SECRET})
        return Suspended(actions=(ask, Action("lookup", {"key": "b"})), state=SECRET.encode())

    leaky = Tool("leak", "Leak.", NO_ARGS, effect="pure", call=leak)
    store = MemoryStore()
    await run(asking(act("leak"), say("ok"), tools=[leaky]), "?", store=store, run_id="r")
    record = await read("r", store=store)
    (left,) = [e.event for e in record.entries if isinstance(e.event, Suspended)]
    assert not left.blob
    assert [one.redacted for one in left.actions] == [True, False]
    assert SECRET not in b"".join(line.body for line in await store.read("r")).decode()
    first, second = record.call("1.1").asked
    assert first.observation is not None
    assert "secret, which the record does not keep" in first.observation.text
    assert second.observation is not None
    assert second.observation.ok


async def test_long_arguments_of_what_is_asked_for_lie_in_a_blob() -> None:
    store = MemoryStore()
    agent = asking(relayed(("lookup", "a" * 20_000)), say("ok"))
    await run(agent, "?", store=store, run_id="r")
    lines = [line.body for line in await store.read("r") if b'"event":"suspended"' in line.body]
    assert len(lines[0]) < 1_000
    record = await read("r", store=store)
    assert record.call("1.2").args == {"key": "a" * 20_000}
    await replay(agent, "r", store=store)


async def test_a_tool_with_an_effect_of_its_own_may_ask_for_nothing() -> None:
    async def both(args: dict[str, Any], key: str) -> Any:
        return Suspended(actions=(Action("lookup", {"key": "a"}),))

    wrong = Tool("both", "Do both.", NO_ARGS, effect="unsafe", call=both)
    store = MemoryStore()
    await run(asking(act("both"), say("ok"), tools=[wrong]), "?", store=store, run_id="r")
    (call,) = (await read("r", store=store)).calls
    assert call.observation is not None
    assert (call.observation.code, call.observation.outcome) == ("crashed", "unknown")


async def test_a_person_may_end_a_run_while_a_call_waits_for_another() -> None:
    store = MemoryStore()
    moves = [relayed(("lookup", "a"), ("send", "b"), ("lookup", "c")), say("ok")]
    agent = asking(*moves, tools=[send], guards=[hold_sends])
    held = await run(agent, "?", store=store, run_id="r")
    assert held.status == "held"
    assert held.reason == "waiting for a ruling on 1.3"
    await cancel("r", store=store)
    ended = await resume(agent, "r", store=store)
    assert ended.status == "interrupted"
    codes = {
        c.key: c.observation.text for c in (await read("r", store=store)).calls if c.observation
    }
    assert codes["1.1"] == "ERROR: interrupted: a person did: what it had called by then was done"
    assert codes["1.3"] == "ERROR: interrupted: a person did: it did not happen"
    assert codes["1.2"] == "the value of a"


async def test_a_failed_call_that_another_asked_for_refuses_no_answer() -> None:
    store = MemoryStore()
    moves = [acts(relayed(("lookup", "missing")), finish("ok"))]
    found = await run(asking(*moves), "?", store=store, run_id="r")
    assert found.answer == "ok"


async def test_a_sub_run_may_be_asked_for() -> None:
    below = Agent(model=ScriptedModel([say("below")]), tools=[])
    store = MemoryStore()
    moves = [act("relay", calls=[{"tool": "ask", "args": {"task": "?"}}]), say("ok")]
    agent = asking(*moves, tools=[delegate(below, name="ask", description="Ask.")])
    await run(agent, "?", store=store, run_id="r")
    record = await read("r", store=store)
    assert record.call("1.2").child
    assert isinstance(seen := record.call("1.1").observation, Observation)
    assert "below" in seen.text
    await replay(agent, "r", store=store)


async def test_a_fork_changes_what_a_model_saw_and_not_what_its_call_saw() -> None:
    store = MemoryStore()
    agent = asking(relayed(("lookup", "a")), say("ok"))
    await run(agent, "?", store=store, run_id="r")
    with pytest.raises(ConfigError, match=r"1.3 is no call of step 1: its calls are 1.1, 1.2"):
        await fork(agent, "r", at=1, observations={"1.3": "other"}, store=store)
    forked = await fork(agent, "r", at=1, observations={"1.1": "other"}, store=store)
    record = await read(forked.run_id, store=store)
    assert [call.key for call in record.calls] == ["1.1", "1.2"]
    seen = record.call("1.1").observation
    assert seen is not None
    assert seen.content == "other"


async def test_a_fork_changes_what_a_call_saw_and_with_it_what_the_model_saw() -> None:
    store = MemoryStore()
    agent = asking(relayed(("lookup", "a")), say("ok"))
    await run(agent, "?", store=store, run_id="r")
    forked = await fork(agent, "r", at=1, observations={"1.2": "other"}, store=store)
    record = await read(forked.run_id, store=store)
    seen = record.call("1.1").observation
    assert seen is not None
    assert "other" in seen.text
    assert "the value of a" not in seen.text
    await replay(agent, forked.run_id, store=store)
