"""`run_sync` inside the runs that it runs: what waits for its own thread is refused."""

from collections.abc import Callable
from typing import Any, Final

import pytest

from clew import Agent, MemoryStore, Tool, run_sync, sync, tool
from clew.testing import ScriptedModel, act, say

INNER: Final = Agent(ScriptedModel([say("inner")] * 9), [])


def streamed() -> str:
    """Stream the inner run."""
    with sync.stream(INNER, "Go.", store=MemoryStore()) as items:
        return str([*items])


WAYS: Final[dict[str, Callable[[], Any]]] = {
    "run_sync": lambda: run_sync(INNER, "Go.", store=MemoryStore()).answer,
    "clew.sync.run": lambda: sync.run(INNER, "Go.", store=MemoryStore()).answer,
    "clew.sync.stream": streamed,
}


async def test_beside_a_running_loop_it_waits_as_in_a_notebook() -> None:
    for way in WAYS.values():
        assert "inner" in way()


def observed(asks: Tool) -> str:
    """What the model reads of a call of the tool."""
    agent = Agent(ScriptedModel([act("asks"), say("done")]), [asks])
    store = MemoryStore()
    result = run_sync(agent, "Go.", store=store)
    observation = sync.read(result.run_id, store=store).calls[0].observation
    assert observation is not None
    return observation.text


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_an_async_tool_is_told_to_await(way: Callable[[], Any]) -> None:
    @tool(effect="read")
    async def asks() -> str:
        """Ask another agent."""
        return str(way())

    text = observed(asks)
    assert "cannot be called where a run of theirs is at work: await" in text
    assert "\n" not in text


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_a_def_tool_has_a_thread_to_wait_in(way: Callable[[], Any]) -> None:
    @tool(effect="read")
    def asks() -> str:
        """Ask another agent."""
        return str(way())

    assert "inner" in observed(asks)
