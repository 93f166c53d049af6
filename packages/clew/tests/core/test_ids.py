"""A run's id may hold what the keys of calls and the ids of sub-runs are joined with."""

import pytest

from clew import Agent, ConfigError, cancel, pending_approvals, read, replay, resume, rule, run
from clew.core.events import Cancel
from clew.core.stores import Append
from clew.core.values import encode
from clew.stores.memory import MemoryStore
from clew.testing.models import act, say
from tests.core.family import family, lone, scripted
from tests.core.test_subagents import found

ID = "team:mail/r-1.1"


async def test_sub_runs_of_sub_runs_wait_are_allowed_and_refused() -> None:
    done: list[tuple[str, str]] = []
    store = MemoryStore()
    root, office, clerk = family(done)
    waiting = (await run(root, "Write.", store=store, run_id=ID)).pending_approvals
    assert {each.run_id for each in waiting} == {f"{ID}-1.{n}-1.1" for n in (1, 2)}
    assert {each.root for each in await pending_approvals(store=store)} == {ID}
    for each in waiting:
        assert each.seen
        await rule(each.id, allow=each.call == "1.1", store=store)
    with pytest.raises(ConfigError, match=f"resume run {ID}"):
        await resume(clerk, waiting[0].run_id, store=store)
    assert (await resume(root, ID, store=store)).answer == "done"
    assert sorted(key for key, _ in done) == [f"{ID}-1.1-1.1:1.1", f"{ID}-1.2-1.1:1.1"]
    for agent, run_id in ((root, ID), (office, f"{ID}-1.1"), (clerk, f"{ID}-1.1-1.1")):
        await replay(agent, run_id, store=store)


async def test_what_a_sub_run_cites_is_named_by_its_call() -> None:
    child = Agent(model=scripted(act("find"), say("so says [d1]")), tools=[found("x", "trusted")])
    root = lone(child, act("other", task="a"), say("it says so [1.1/d1]"))
    result = await run(root, "Do.", store=MemoryStore(), run_id=ID)
    assert [piece.doc_id for piece in result.cited] == ["1.1/d1"]


async def test_a_sub_run_that_is_only_now_begun_hears_of_a_cancel() -> None:
    class Cancelled(MemoryStore):
        """Cancels the root in the moment after its sub-run's attempt."""

        async def append(self, append: Append) -> bool:
            quiet = await super().append(append)
            if append.run_id == ID and b'"child"' in append.lines[-1].body:
                await self.post(ID, encode(Cancel("too late")))
            return quiet

    store = Cancelled()
    result = await run(lone(Agent(model=scripted())), "Do.", store=store, run_id=ID)
    assert (result.status, result.reason) == ("interrupted", "too late")
    assert (await read(f"{ID}-1.1", store=store)).steps == []


async def test_a_cancel_closes_what_waits_below() -> None:
    store = MemoryStore()
    root, _, _ = family([])
    await run(root, "Write.", store=store, run_id=ID)
    await cancel(ID, why="enough", store=store)
    assert (await resume(root, ID, store=store)).status == "interrupted"
    below = await read(f"{ID}-1.2-1.1", store=store)
    assert below.stop is not None
    assert (below.stop.status, below.stop.reason) == ("interrupted", "enough")
    assert await pending_approvals(store=store) == ()


async def test_a_run_that_only_has_the_name_of_a_sub_run_is_left_alone() -> None:
    store = MemoryStore()
    child = Agent(model=scripted(say("mine")))
    await run(child, "Something else.", store=store, run_id=f"{ID}-1.1")
    with pytest.raises(ConfigError, match=f"run {ID} has not begun it"):
        await run(lone(child), "Do.", store=store, run_id=ID)
