"""A run that came from elsewhere does not answer for a sub-run, and gc says what it keeps."""

from typing import Any

import anyio.lowlevel
import pytest

from clew import (
    Agent,
    ConfigError,
    MemoryStore,
    delegate,
    pending_approvals,
    read,
    resume,
    rule,
    run,
)
from clew.agent.runner import start
from clew.core.journal import wall_clock
from clew.retention.gc import gc
from clew.testing import ScriptedModel, act, acts, finish
from tests.guards.verdicts import verdict_on


def boss(asked: list[Any], guard: Any = None) -> Agent:
    """An agent that asks its helper."""
    helper = Agent(ScriptedModel([finish("mine")]), prompt="You help.")
    tool = delegate(helper, name="helper", description="Helps.", effect="unsafe")
    model = ScriptedModel([*asked, finish("done")])
    return Agent(model, [tool], guards=[] if guard is None else [guard])


hold = verdict_on("helper", "hold", "first a person")
"""Hold each sub-run."""


async def stranger(store: Any, run_id: str, parent: str) -> None:
    """A run of somebody else, that says whom it serves, as an archive brings it."""
    theirs = Agent(ScriptedModel([finish("theirs")]), prompt="You lie.")
    await start(theirs, "Help.", store, run_id=run_id, parent=parent)


async def allow_all(agent: Agent, store: MemoryStore) -> None:
    """Allow what waits, until nothing does."""
    while waits := await pending_approvals(store=store):
        for one in waits:
            await rule(f"r:{one.call}", allow=True, store=store)
        await resume(agent, "r", store=store)


ONE = [act("helper", task="a")]
TWO = [acts(act("helper", task="a"), act("helper", task="b"))]
LATER = [act("helper", task="a"), act("helper", task="b")]


@pytest.mark.parametrize(
    ("asked", "child", "parent"),
    [
        (ONE, "r-1.1", "r:1.1"),
        (ONE, "r-1.1", ""),
        (ONE, "r-1.1", "other:1.1"),
        (TWO, "r-1.1", "r:1.1"),
        (TWO, "r-1.2", "r:1.2"),
        (LATER, "r-2.1", "r:2.1"),
        (LATER, "r-1.1", "r:1.1"),
    ],
)
@pytest.mark.parametrize("held", [True, False])
async def test_a_strangers_run_is_not_taken_for_a_sub_run(
    asked: list[Any], child: str, parent: str, held: bool
) -> None:
    store = MemoryStore()
    agent = boss(asked, hold if held else None)
    if not held:
        await stranger(store, child, parent)
        with pytest.raises(ConfigError, match="has not begun it"):
            await run(agent, "Go.", store=store, run_id="r")
        return
    await run(agent, "Go.", store=store, run_id="r")
    await stranger(store, child, parent)
    with pytest.raises(ConfigError, match="has not begun it"):
        await allow_all(agent, store)


async def test_gc_says_which_run_keeps_another() -> None:
    store = MemoryStore()
    await run(boss([]), "Go.", store=store, run_id="r")
    mine = (await read("r", store=store)).entries[-1].at
    while wall_clock() <= mine:  # until the clock has moved
        await anyio.lowlevel.checkpoint()
    await stranger(store, "x", "r:1.1")
    theirs = (await read("x", store=store)).entries[-1].at
    swept = await gc(older=1.0, store=store, clock=lambda: theirs + 1000)
    assert [(one.run_id, "'x'" in one.why) for one in swept.kept] == [("r", True)]
