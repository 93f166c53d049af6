"""Where two runs part is read off their records, whatever they are."""

from pathlib import Path
from typing import Any

import pytest

from clew import Agent, Difference, Limits, MemoryStore, fork, resume, run
from clew.agent.compare import diff
from clew.agent.runner import start
from clew.core.journal import load
from clew.testing.models import ScriptedModel, act, acts, finish, say
from tests.core.scenarios import Ledger, add, effect_tools, lookup, must_say_42

pytestmark = pytest.mark.anyio


def agent(*script: Any, **options: Any) -> Agent:
    """An agent that says this."""
    return Agent(model=ScriptedModel(script), tools=[lookup, add], **options)


async def compared(left: Agent, right: Agent, goals: tuple[str, str] = ("What?", "What?")) -> Any:
    """The parting of two runs of their own, and the whole difference."""
    store = MemoryStore()
    for run_id, of, goal in (("left", left, goals[0]), ("right", right, goals[1])):
        await run(of, goal, store=store, run_id=run_id)
    found = diff(await load(store, "left"), await load(store, "right"))
    parting = found.parting
    if parting is None:
        return found, None
    return found, (parting.step, parting.what, parting.left, parting.right)


A, B = act("lookup", key="a"), act("lookup", key="b")
CALL = {"tool": "lookup", "args": {"key": "a"}}
OTHER = {"tool": "lookup", "args": {"key": "b"}}


@pytest.mark.parametrize(
    ("left", "right", "parting"),
    [
        ([A, say("a")], [A, say("a")], None),
        ([A, say("a")], [A, say("b")], (2, "thought", "a", "b")),
        ([A, say("a")], [B, say("a")], (1, "action 1.1", CALL, OTHER)),
        ([A, say("a")], [say("a")], (1, "thought", "", "a")),
        ([acts(A, B), say("a")], [A, say("a")], (1, "action 1.2", OTHER, None)),
        ([A, finish("a")], [A, finish("a", thought="So:")], (2, "thought", "", "So:")),
    ],
    ids=["the same", "answer", "arguments", "a call or none", "more calls", "thought"],
)  # fmt: skip
async def test_the_first_difference_is_named(left: Any, right: Any, parting: Any) -> None:
    found, first = await compared(agent(*left), agent(*right))
    assert first == parting
    assert (found.shared, found.steps, found.agents) == (0, 0, ())


async def test_a_run_shares_all_of_itself_with_what_became_of_it() -> None:
    store = MemoryStore()
    talker = agent(say("a"), say("b"))
    await run(talker, "What?", store=store, run_id="run")
    before = await load(store, "run")
    await resume(talker, "run", say="And then?", store=store)
    after = await load(store, "run")
    for left, right in ((before, after), (after, before)):
        assert diff(left, right).shared == len(before.entries)


async def test_questions_and_agents_may_differ() -> None:
    found, first = await compared(
        agent(say("a")), agent(say("a"), limits=Limits(steps=3)), ("What?", "Who?")
    )
    assert first == (0, "question", "What?", "Who?")
    assert found.agents == ("parts.bounds", "parts.limits")


async def test_words_landings_and_stops_count() -> None:
    _, first = await compared(
        agent(say("41"), say("42")), agent(say("41"), say("42"), checks=[must_say_42])
    )
    assert first == (1, "word of a check", None, "the answer must name 42")
    _, first = await compared(agent(A, say("a")), agent(A, say("a"), limits=Limits(steps=1)))
    assert first == (1, "landing", None, "steps")
    one, other = (agent(A, limits=Limits(steps=1, landing=False), fallback=f) for f in "xy")
    _, first = await compared(one, other)
    assert first == (1, "answer", "x", "y")


async def test_a_run_that_is_open_ends_earlier() -> None:
    store = MemoryStore()
    await start(agent(say("a")), "What?", store, run_id="open")
    await run(agent(say("a")), "What?", store=store, run_id="done")
    parting = diff(await load(store, "open"), await load(store, "done")).parting
    assert parting is not None
    assert (parting.step, parting.what, parting.left, parting.right) == (1, "thought", None, "a")


async def test_forks_say_what_they_share() -> None:
    store = MemoryStore()
    script = [A, B, act("lookup", key="c"), say("done"), say("more")]
    await run(agent(*script), "What?", store=store, run_id="run")
    await fork(agent(*script), "run", at=2, store=store, new_id="same")
    await fork(agent(*script), "run", at=2, observations={"2.1": 7}, store=store, new_id="other")

    async def between(left: str, right: str) -> Difference:
        return diff(await load(store, left), await load(store, right))

    same = await between("run", "same")
    assert (same.shared, same.steps, same.parting) == (5, 2, None)
    other = await between("same", "other")
    assert (other.shared, other.steps) == (4, 2)
    assert other.parting is not None
    assert (other.parting.what, other.parting.right) == ("observation 2.1", 7)
    await resume(agent(*script), "same", say="And?", store=store)
    asked = (await between("run", "same")).parting
    assert asked is not None
    assert (asked.step, asked.what, asked.right) == (4, "word of a person", "And?")


async def test_a_run_is_the_same_as_itself(tmp_path: Path) -> None:
    store = MemoryStore()
    tools = effect_tools(Ledger(tmp_path / "effects"))
    model = ScriptedModel([act("send", text="hello"), say("sent")], tools=tools)
    sender = Agent(model=model, tools=tools)
    await run(sender, "What?", store=store, run_id="run")
    assert (await fork(sender, "run", at=0, store=store, new_id="held")).status == "held"
    record = await load(store, "held")
    found = diff(record, record)
    assert (found.shared, found.steps, found.parting) == (len(record), 1, None)
    parting = diff(await load(store, "run"), record).parting
    assert parting is not None
    assert (parting.step, parting.what, parting.left) == (1, "observation 1.1", "sent hello")
