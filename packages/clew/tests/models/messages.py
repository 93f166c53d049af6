"""What the tests of the Anthropic adapter share: a model over a local server, a way to go on."""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any

from clew.core.contents import RawCall, Reply
from clew.core.prompts import Part, Prompt
from clew.models.anthropic.messages import anthropic_messages
from clew.models.http.endpoint import Endpoint
from clew_testing.servers.anthropic_server import AnthropicServer, Script
from tests.models.support import KEY, QUERY, Waits, tool, watcher

SEARCH = tool("search")
HEAD = (Part("system", "Be brief."), Part("user", "What is it?"))
CALL = ("search", '{"query": "x"}')


@asynccontextmanager
async def over(
    script: Script,
    *,
    piece: int = 0,
    bound: bool = True,
    most: int = 128_000,
    models: tuple[str, ...] = (),
    **options: Any,
) -> AsyncIterator[tuple[Endpoint, AnthropicServer, Waits]]:
    """A model whose server follows the script."""
    waits = Waits()
    server = AnthropicServer(
        script, key=KEY, piece=piece, bound=bound, max_tokens=most, models=models
    )
    with server:
        settings = {"api_key": KEY, "base_url": server.base_url, "sleep": waits} | options
        model = anthropic_messages("scripted", **settings)
        try:
            yield model, server, waits
        finally:
            await model.close()


def talk(*parts: Part, tail: tuple[Part, ...] = (), **more: Any) -> Prompt:
    """A prompt with a tool, after the usual head."""
    return Prompt(HEAD, parts, tail, more.pop("tools", (SEARCH,)), **more)


def step(reply: Reply, found: str = "found") -> list[Part]:
    """A reply and its results, as the native codec puts them into the next prompt."""
    said = Part("assistant", reply.text.strip(), calls=reply.calls, wire=reply.wire)
    return [said, *results(reply.calls, found)]


def results(calls: Iterable[RawCall], found: str = "found") -> list[Part]:
    return [Part("tool", found, call_id=call.id, name=call.name) for call in calls]


__all__ = [
    "CALL",
    "HEAD",
    "KEY",
    "QUERY",
    "SEARCH",
    "over",
    "results",
    "step",
    "talk",
    "watcher",
]
