"""A run that is kept open for several turns, and what is read of runs without opening them."""

from contextlib import suppress

import pytest

from clew import (
    Agent,
    ConfigError,
    Entry,
    Limits,
    MemoryStore,
    cancel,
    open_fork,
    open_run,
    read,
    result_of,
    resume,
    run,
)
from clew.interfaces import Charged
from clew.stores import RunExistsError
from clew.testing import ScriptedModel, act, say
from tests.core.scenarios import TOOLS

TALKS = Agent(model=ScriptedModel([act("lookup", key="a"), say("one"), say("two")]), tools=TOOLS)


class Kinds:
    """A listener that keeps the kinds of entries."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def token(self, text: str) -> None:
        del text

    def entry(self, entry: Entry) -> None:
        self.seen.append(type(entry.event).__name__)


async def test_a_run_goes_on_for_several_turns_and_is_opened_once() -> None:
    store, first, second = MemoryStore(), Kinds(), Kinds()
    async with open_run(TALKS, "One?", run_id="r", store=store, listener=first) as opened:
        assert (await opened.go_on()).answer == "one"
        assert (await opened.go_on()).answer == "one"  # given nothing new
        assert opened.listener is first
        opened.listener = second
        assert (await opened.go_on("And two?")).answer == "two"
        assert (opened.run_id, len(opened.record.steps)) == ("r", 3)
    assert (first.seen[0], first.seen[-1]) == ("Started", "Stop")
    assert second.seen == ["Note", "Thought", "Stop"]
    assert await store.epoch("r") == 1


async def test_a_run_that_is_there_is_taken_up_and_not_begun_again() -> None:
    store = MemoryStore()
    await run(TALKS, "One?", store=store, run_id="r")
    with pytest.raises(RunExistsError):
        async with open_run(TALKS, "One?", run_id="r", store=store):
            pass
    async with open_run(TALKS, run_id="r", store=store) as opened:
        assert (await opened.go_on("And two?")).answer == "two"
    with pytest.raises(ConfigError, match="the question is empty"):
        async with open_run(TALKS, "", store=store):
            pass


async def test_who_goes_on_with_an_interrupted_run_takes_that_back() -> None:
    store = MemoryStore()
    async with open_run(TALKS, "One?", run_id="r", store=store) as opened:
        await cancel("r", why="enough", store=store)
        assert (await opened.go_on()).status == "interrupted"
        assert (await opened.go_on()).answer == "one"


async def test_who_cancels_an_ended_run_again_takes_nothing_back() -> None:
    """Going on without words would: a wish to end the run that waits says that nobody wants it."""
    store = MemoryStore()
    async with open_run(TALKS, "One?", run_id="r", store=store) as opened:
        await cancel("r", store=store)
        await opened.go_on()
        await cancel("r", store=store)
        assert (await opened.go_on()).status == "interrupted"
    events = [type(entry.event).__name__ for entry in (await read("r", store=store)).entries]
    assert "Changed" not in events


@pytest.mark.parametrize("way", ["new", "again", "fork"])
@pytest.mark.parametrize("fails", [False, True])
async def test_a_run_that_is_handed_on_costs_nothing(way: str, fails: bool) -> None:
    """Nobody asked the model, so the next worker charges no reply that may have been lost."""
    store = MemoryStore()
    agent = TALKS.replace(limits=Limits(tokens=100_000))
    await run(agent, "One?", store=store, run_id="done")
    for turn in range(4):
        opening = open_run(agent, run_id="r", store=store)
        if way == "fork" and turn == 0:
            opening = open_fork(agent, "done", at=1, store=store, new_id="r")
        elif turn == 0:
            opening = open_run(agent, "One?", run_id="r", store=store)
        if way == "new" and turn:
            break
        with suppress(LookupError):
            async with opening:
                if fails:
                    raise LookupError
    result = await resume(agent, "r", store=store)
    assert result.answer == "one"
    charged = [
        e.event for e in (await read("r", store=store)).entries if isinstance(e.event, Charged)
    ]
    assert {each.kind for each in charged} <= {"left"}


async def test_a_fork_is_opened_as_its_record_was_at_that_step() -> None:
    store = MemoryStore()
    await run(TALKS, "One?", store=store, run_id="r")
    before = await read("r", at=1, store=store)
    assert (len(before.steps), before.stop) == (1, None)
    async with open_fork(TALKS, "r", at=1, say="And two?", store=store, new_id="f") as opened:
        assert opened.record.steps[0].calls[0].key == "1.1"
        assert opened.record.stop is None
        assert (await opened.go_on()).answer == "one"
    assert not (await read("r", store=store)).forks


async def test_what_a_run_came_to_is_read_without_opening_it() -> None:
    store = MemoryStore()
    async with open_run(TALKS, "One?", run_id="r", store=store) as opened:
        with pytest.raises(ConfigError, match="run r has not stopped"):
            await result_of(TALKS, "r", store=store)
        done = await opened.go_on()
    assert await result_of(TALKS, "r", store=store) == done
    assert await store.epoch("r") == 1
