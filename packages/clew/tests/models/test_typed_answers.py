"""A typed answer without tools is held to its schema by the provider; one may refuse to.

Entered by runs; the servers are local ones, on sockets.
"""

from typing import Any, Literal

import msgspec
import pytest

from clew import Agent, run, tool
from clew.core.tools import Tool
from clew.core.values import encode
from clew.stores.memory import MemoryStore
from clew_testing.servers.http_server import Fail, Say
from tests.models.long_talk import PROVIDERS, Provider

pytestmark = pytest.mark.parametrize("anyio_backend", ["asyncio"])
per_provider = pytest.mark.parametrize("provider", PROVIDERS, ids=lambda provider: provider.name)


class City(msgspec.Struct):
    """A city."""

    zyx_name: str
    people: int = 0


class Judgement(msgspec.Struct):
    """A judgement."""

    zyx_verdict: Literal["yes", "no"]
    why: list[str] = []


ANSWERS: list[tuple[Any, str, Any]] = [
    (City, '{"zyx_name": "Brno", "people": 4}', City("Brno", 4)),
    (Judgement, '{"zyx_verdict": "no", "why": ["a"]}', Judgement("no", ["a"])),
]


def asked_form(body: dict[str, Any]) -> bytes:
    """What a request says of the form of its reply, wherever the provider has that; or null."""
    config = body.get("generationConfig", {})
    return encode(
        body.get("response_format")
        or body.get("text", {}).get("format")
        or body.get("output_config", {}).get("format")
        or config.get("responseJsonSchema")
    )


@tool
def look(query: str) -> str:
    """Look something up."""
    return query


@per_provider
@pytest.mark.parametrize(("kind", "said", "answer"), ANSWERS, ids=["city", "judgement"])
async def test_the_schema_is_sent(provider: Provider, kind: Any, said: str, answer: Any) -> None:
    async with provider.open([Say(said)]) as line:
        agent = Agent(model=line.model, answer=kind)
        done = await run(agent, "Which?", store=MemoryStore())
        (seen,) = line.server.requests
    assert done.answer == answer
    assert b"zyx_" in asked_form(seen.body)


@per_provider
async def test_a_provider_that_refuses_the_form_is_asked_without(provider: Provider) -> None:
    word = {"chat": "response_format", "responses": "text.format", "anthropic": "output_config"}
    refusal = Fail(400, f"{word.get(provider.name, 'responseJsonSchema')} is not supported here")
    async with provider.open([refusal, Say('{"zyx_name": "Brno"}')]) as line:
        done = await run(Agent(model=line.model, answer=City), "Which?", store=MemoryStore())
        first, second = line.server.requests
    assert done.answer == City("Brno")
    assert asked_form(first.body) != asked_form(second.body)


@per_provider
async def test_with_tools_or_for_a_text_none_is_sent(provider: Provider) -> None:
    texts: list[tuple[Any, list[Tool], str]] = [
        (City, [look], '{"zyx_name": "Brno"}'),
        (str, [], "Brno"),
    ]
    for kind, tools, said in texts:
        async with provider.open([Say(said)]) as line:
            agent = Agent(model=line.model, answer=kind, tools=tools)
            await run(agent, "Which?", store=MemoryStore())
            assert asked_form(line.server.requests[0].body) == b"null"
