"""A landing that was begun is taken back, and said to be, where raised limits let the run go on."""

from typing import Any

import pytest

from clew import (
    Agent,
    Limits,
    MemoryStore,
    Result,
    Trajectory,
    cancel,
    read,
    replay,
    resume,
    run,
    tool,
)
from clew.core.contents import Reply
from clew.core.events import Landing
from clew.core.prompts import Prompt
from clew.testing.models import ScriptedModel, act, finish, say
from tests.core.play import copy
from tests.core.scenarios import TOOLS
from tests.core.watched import CODECS, watched

pytestmark = pytest.mark.both_loops

TOLD = "A person let the work go on after that"


def agent(
    *script: Any, steps: int = 1, codec: str = "native", landing: bool = True, **more: Any
) -> Agent:
    model = watched(*script, codec=codec, tools=TOOLS)
    limits = Limits(steps=steps, landing=landing)
    return Agent(model=model, tools=TOOLS, codec=codec, limits=limits, **more)


async def begun(landing: Agent, entries: int) -> MemoryStore:
    """The record of a run whose worker died after so many entries of its landing."""
    await run(landing, "What are a and b?", store=(store := MemoryStore()), run_id="run")
    lines = await store.read("run")
    place = next(n for n, line in enumerate(lines) if b'"event":"landing"' in line.body)
    return await copy(lines[: place + entries])


async def gone_on(store: MemoryStore, raised: Agent) -> tuple[Result, Trajectory]:
    """What comes of it with another agent, which a replay confirms."""
    found = await resume(raised, "run", store=store, accept_change=True)
    record = await read("run", store=store)
    assert (await replay(raised, "run", store=store)).trajectory.entries == record.entries
    return found, record


def landings(record: Trajectory) -> int:
    return sum(isinstance(entry.event, Landing) for entry in record.entries)


@pytest.mark.parametrize("codec", CODECS)
async def test_before_its_thought_it_is_taken_back(codec: str) -> None:
    script = [act("lookup", key="a"), act("lookup", key="b"), finish("both")]
    store = await begun(agent(*script, codec=codec), entries=1)
    raised = agent(*script, codec=codec, steps=9)
    found, record = await gone_on(store, raised)
    assert (found.status, found.answer, found.steps) == ("answered", "both", 3)
    assert landings(record) == 1
    first = raised.model.sent[0]  # type: ignore[union-attr]  # it is watched
    assert first.calls == "auto"
    landed, told = (part.text for part in first.parts[-2:])
    assert "The limit on steps is reached" in landed
    assert TOLD.lower() in told.lower()


async def test_where_the_limit_is_still_reached_it_comes_again() -> None:
    script = [act("lookup", key="a"), say("only a")]
    store = await begun(agent(*script), entries=1)
    found, record = await gone_on(store, agent(*script, tries=5))
    assert (found.status, found.reason, found.answer) == ("bound", "steps", "only a")
    assert landings(record) == 2


async def test_a_thought_without_an_answer_is_not_the_last() -> None:
    script = [act("lookup", key="a"), Reply(), act("lookup", key="b"), say("both")]
    found, _ = await gone_on(await begun(agent(*script), entries=2), agent(*script, steps=9))
    assert (found.status, found.answer, found.steps) == ("answered", "both", 4)


async def test_an_answer_that_was_given_in_it_counts_as_such() -> None:
    script = [act("lookup", key="a"), say("only a"), say("both")]
    store = await begun(agent(*script), entries=2)
    found, _ = await gone_on(store, agent(*script, steps=9))
    assert (found.status, found.reason, found.answer) == ("bound", "steps", "only a")


@pytest.mark.parametrize("codec", CODECS)
async def test_after_its_stop_the_model_is_told_that_the_work_goes_on(codec: str) -> None:
    script = [act("lookup", key="a"), finish("only a"), act("lookup", key="b"), finish("both")]
    await run(agent(*script, codec=codec), "What?", store=(store := MemoryStore()), run_id="run")
    raised = agent(*script, codec=codec, steps=9)
    found, _ = await gone_on(store, raised)
    assert (found.status, found.answer) == ("answered", "both")
    last = raised.model.sent[0].parts[-1]  # type: ignore[union-attr]  # it is watched
    assert last.role == "user"
    assert TOLD.lower() in last.text.lower()


async def test_without_a_landing_there_is_nothing_to_take_back() -> None:
    script = [act("lookup", key="a"), say("a")]
    await run(agent(*script, landing=False), "What?", store=(store := MemoryStore()), run_id="run")
    raised = agent(*script, landing=False, steps=9)
    found, _ = await gone_on(store, raised)
    assert found.answer == "a"
    assert TOLD.lower() not in raised.model.sent[0].parts[-1].text.lower()  # type: ignore[union-attr]  # it is watched


async def test_a_cancel_that_came_before_the_change_is_heeded() -> None:
    script = [act("lookup", key="a"), say("a")]
    store = await begun(agent(*script), entries=1)
    await cancel("run", store=store)
    assert (
        await resume(agent(*script, steps=9), "run", store=store, accept_change=True)
    ).status == ("interrupted")


async def test_a_late_word_is_heard_in_the_landing_too() -> None:
    heard: list[str] = []
    store = MemoryStore()

    @tool(effect="read")
    async def look() -> str:
        """Look, while somebody leaves what nobody can read."""
        await store.post("r", b"not to be read")
        return "seen"

    def last(prompt: Prompt) -> Any:
        heard.extend(part.text for part in prompt.parts)
        return say("ok")

    agent = Agent(model=ScriptedModel([act("look"), last]), tools=[look], limits=Limits(steps=1))
    assert (await run(agent, "Look!", store=store, run_id="r")).status == "bound"
    assert "could not be read" in "\n".join(heard)
