"""Tools that are shown on the way: every strict server takes them, and the list only grows."""

from itertools import pairwise
from typing import Any

import pytest

from clew import Agent, Context, MemoryStore, read, run
from clew.context import PROMPT
from clew.tools.retrieval import Retrieval
from clew_testing.servers.http_server import Say
from tests.core.catalogue import catalogue
from tests.core.scenarios import lookup
from tests.models.long_talk import PROVIDERS, Provider


@pytest.mark.parametrize("provider", PROVIDERS, ids=lambda provider: provider.name)
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_every_provider_takes_tools_that_come_later(
    provider: Provider, anyio_backend: str
) -> None:
    script = [
        Say("First the bicycle, then I count a ferry.", [("book_bicycle", '{"bicycle": "a"}')]),
        Say("And tag the canoe.", [("count_ferry", '{"ferry": "b"}'), ("lookup", '{"key": "c"}')]),
        Say("One that nobody showed me.", [("inspect_yacht", '{"yacht": "d"}')]),
        Say("", [("tag_canoe", '{"canoe": "e"}')]),
        Say("All done.", []),
    ]
    store = MemoryStore()
    async with provider.open(script) as line:
        find = Retrieval(k=3, always=["lookup"], embed="words")
        tools = (lookup, *catalogue(120))
        agent = Agent(
            model=line.model,
            tools=tools,
            context=Context(retrieval=find),
            prompt=PROMPT.replace(variants=()),
        )
        done = await run(agent, "Book me a bicycle.", store=store)
        bodies = [seen.body for seen in line.server.requests]
    assert (done.status, done.answer) == ("answered", "All done.")
    assert len(bodies) == len(script)  # each was accepted at once
    record = await read(done.run_id, store=store)
    assert all(call.observation is not None and call.observation.ok for call in record.calls)
    declared = [_names(body) for body in bodies]
    assert declared[-1] == ["lookup", "finish", *record.visible_tools]
    assert all(after[: len(before)] == before for before, after in pairwise(declared))
    assert len(declared[0]) < len(declared[-1]) < 20


def _names(body: dict[str, Any]) -> list[str]:
    """The tools that a request declares, in whichever form."""
    return [
        one["name"]
        for tool in body["tools"]
        for one in tool.get("functionDeclarations", [tool.get("function", tool)])
    ]
