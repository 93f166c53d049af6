"""`async with agent`: what its tools and its model open is there for all its runs meanwhile."""

from collections.abc import Awaitable, Callable
from contextlib import suppress

import anyio
import pytest

from clew import Agent, MemoryStore, batch, fork, resume, run, run_sync, serving, start
from clew.conversations import answer_messages, branch
from clew.models.openai.chat import openai_chat
from clew.testing import act, say
from clew_testing.servers import OpenAIServer, Say
from tests.concurrency.test_resources import Connection, agent_of

pytestmark = pytest.mark.both_loops

Way = Callable[[Agent, MemoryStore], Awaitable[object]]


async def _started(agent: Agent, store: MemoryStore) -> None:
    events = await start(agent, "Go!", store=store)
    async for _ in events:
        pass


WAYS: dict[str, Way] = {
    "run": lambda agent, store: run(agent, "Go!", store=store),
    "session": lambda agent, store: run(agent, "Go!", store=store, session="ours"),
    "say": lambda agent, store: resume(agent, "first", say="Go!", store=store),
    "fork": lambda agent, store: fork(agent, "first", at=0, store=store),
    "branch": lambda agent, store: branch(agent, "first", 2, "Go!", store=store),
    "messages": lambda agent, store: answer_messages(
        agent, [{"role": "user", "content": "Go!"}], store=store
    ),
    "batch": lambda agent, store: batch(agent, ["Go!", "Go!"], store=store),
    "start": _started,
}


@pytest.mark.parametrize("way", WAYS)
async def test_every_way_to_run_shares_what_the_agent_holds(way: str) -> None:
    line, store = Connection(), MemoryStore()
    agent = agent_of(line, act("use"), say("done"), act("use"))
    async with agent:
        await run(agent, "Go!", store=store, run_id="first")
        await WAYS[way](agent, store)
        assert line.log == ["open"]
    assert line.log == ["open", "close"]
    await run(agent, "Go!", store=store)  # its own again
    assert line.log == ["open", "close"] * 2


async def test_whoever_leaves_last_closes_it() -> None:
    line, store = Connection(), MemoryStore()
    agent = agent_of(line, act("use"))
    async with agent:
        async with agent:
            await run(agent, "Go!", store=store)
        assert line.log == ["open"]
    assert line.log == ["open", "close"]


async def test_an_application_has_its_agents_open() -> None:
    line, store = Connection(), MemoryStore()
    agent = agent_of(line, act("use"))
    async with serving(agent, store=store):
        await _started(agent, store)
        await run(agent, "Go!", store=store)
        assert line.log == ["open"]
    assert line.log == ["open", "close"]


async def test_another_agent_and_another_event_loop_share_nothing() -> None:
    line, store = Connection(), MemoryStore()
    agent = agent_of(line, act("use"))
    async with agent:
        await run(agent, "Go!", store=store)
        await run(agent.replace(tries=1), "Go!", store=store)
        await anyio.to_thread.run_sync(lambda: run_sync(agent, "Go!", store=store))
        assert line.log == ["open", "open", "close", "open", "close"]
    assert line.log[-1] == "close"


async def test_it_is_closed_where_the_work_inside_fails() -> None:
    line, store = Connection(), MemoryStore()
    agent = agent_of(line, act("use"))
    with suppress(KeyError):
        async with agent:
            await run(agent, "Go!", store=store)
            raise KeyError
    assert line.log == ["open", "close"]


async def test_connections_of_a_model_that_was_named_are_closed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with OpenAIServer([Say("One."), Say("Two."), Say("Three.")]) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "any")
        agent = Agent("openai:my-model")
        async with agent:
            for _ in range(2):
                assert (await run(agent, "Go!", store=MemoryStore())).ok
        opened = server.connections
        async with agent:
            assert (await run(agent, "Go!", store=MemoryStore())).ok
    assert server.connections > opened  # the first ones were closed


async def test_a_model_that_was_given_stays_open() -> None:
    with OpenAIServer([Say("One."), Say("Two.")]) as server:
        model = openai_chat("my-model", base_url=server.base_url, api_key="any")
        agent = Agent(model)
        for _ in range(2):
            async with agent:
                assert (await run(agent, "Go!", store=MemoryStore())).ok
        assert server.connections == 1
        await model.close()
