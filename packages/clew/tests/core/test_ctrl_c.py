"""A KeyboardInterrupt is Ctrl-C where that can arrive, in the main thread; elsewhere a crash."""

import asyncio
from typing import Any

import pytest

from clew import Agent, MemoryStore, Tool, run, run_sync, sync, tool
from clew.testing import ScriptedModel, act, say

NONE = {"type": "object", "properties": {}}


@tool(effect="unsafe")
def plain() -> str:
    """Break off, in a thread."""
    raise KeyboardInterrupt


@tool(effect="unsafe")
async def awaited() -> str:
    """Break off, where the loop is."""
    raise KeyboardInterrupt


def _at_once(args: dict[str, Any], key: str) -> Any:
    raise KeyboardInterrupt


@tool(effect="unsafe")
async def later() -> str:
    """Break off after it waited."""
    await asyncio.sleep(0)
    raise KeyboardInterrupt


class Mine(KeyboardInterrupt):
    """One's own kind."""


@tool(effect="unsafe")
async def own_kind() -> str:
    """Break off in a word of one's own."""
    raise Mine("enough")


@tool(effect="unsafe")
async def while_failing() -> str:
    """Break off where an error is dealt with."""
    try:
        raise ValueError("first")
    except ValueError:
        raise KeyboardInterrupt from None


@tool(effect="unsafe")
async def at_the_end() -> str:
    """Break off in a `finally`."""
    try:
        return "done"
    finally:
        await asyncio.sleep(0)
        later_on()


def later_on() -> None:
    raise KeyboardInterrupt


at_once = Tool("at_once", "Break off before it is awaited.", NONE, _at_once)


def breaker(one: Tool) -> Agent:
    return Agent(ScriptedModel([act(one.name), say("done")]), tools=[one])


MORE = [later, own_kind, while_failing, at_the_end]


@pytest.mark.parametrize("one", [plain, awaited, at_once, *MORE], ids=lambda one: one.name)
def test_in_another_thread_the_tool_crashed(one: Tool) -> None:
    store = MemoryStore()
    assert run_sync(breaker(one), "Do.", store=store, run_id="r").answer == "done"
    [call] = sync.read("r", store=store).calls
    assert call.observation is not None
    assert (call.observation.code, call.observation.outcome) == ("crashed", "unknown")


def test_a_plain_function_is_in_another_thread_wherever_the_loop_is() -> None:
    store = MemoryStore()
    assert asyncio.run(run(breaker(plain), "Do.", store=store)).answer == "done"


@pytest.mark.parametrize("one", [awaited, at_once, *MORE], ids=lambda one: one.name)
def test_in_the_main_thread_it_ends_the_program_and_the_run_stays_open(one: Tool) -> None:
    store = MemoryStore()
    with pytest.raises(KeyboardInterrupt):
        asyncio.run(run(breaker(one), "Do.", store=store, run_id="r"))
    assert sync.read("r", store=store).stop is None
    assert sync.resume(breaker(one), "r", store=store).answer == "done"
