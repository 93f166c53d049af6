"""What came of the task comes back from every provider's format, through the official clients."""

import json

import pytest

from clew import Agent, MemoryStore, read, run, tool
from clew.guards import Provenance
from clew_testing.servers.http_server import Say
from tests.models.long_talk import PROVIDERS, Provider


@tool
def edit(path: str) -> str:
    """Edit a file."""
    return f"edited {path}"


@tool(effect="read")
def look(path: str) -> str:
    """Look at a file."""
    return f"{path} is empty"


def call(name: str, **args: str) -> Say:
    return Say(calls=[(name, json.dumps(args))])


ENDS = [
    ("edit", "done", "answered", False),
    ("look", "not_done", "answered", False),
    ("look", "not_found", "declined", False),
    ("look", "answered", "answered", False),
    ("look", "done", "answered", True),
]


@pytest.mark.parametrize("provider", PROVIDERS, ids=lambda provider: provider.name)
@pytest.mark.parametrize(("first", "outcome", "status", "contradicted"), ENDS)
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_every_outcome_comes_back(
    provider: Provider, first: str, outcome: str, status: str, *, contradicted: bool
) -> None:
    end = call("finish", answer="That is it.", outcome=outcome)
    store = MemoryStore()
    async with provider.open([call(first, path="a"), *[end] * (1 + contradicted)]) as line:
        agent = Agent(line.model, [edit, look], guards=[Provenance("off")])
        result = await run(agent, "See to it.", store=store)
        assert '"not_found"' in line.server.requests[0].raw.decode()  # it is asked for
    assert (result.status, result.outcome, result.contradicted) == (status, outcome, contradicted)
    stop = (await read(result.run_id, store=store)).stop
    assert stop is not None
    assert stop.outcome == outcome
