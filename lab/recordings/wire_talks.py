"""Conversations rebuilt: runs whose model says what was recorded, and what they ask next."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from clew import Agent, ClewError, Entry, Limits, MemoryStore, resume, run
from clew.guards import Provenance
from clew.tools.definitions import published
from clew_testing.servers.http_server import Fail
from recordings.wire_bodies import Body
from recordings.wire_exchanges import Exchange, functions
from recordings.wire_provider import Provider, send
from recordings.wire_rules import complaint

_LIMITS = Limits(
    steps=200,
    tool_calls=1000,
    calls_per_step=100,
    tokens=1_000_000_000,
    faults=100,
    no_progress=None,
)
_AGAIN = 3
"""So many words of the person for each reply are enough."""

_RUN = "a-talk"
_OVER = Fail(401, "the recording is over")


@dataclass(frozen=True)
class Talk:
    """The exchanges of one recording with one model, in order."""

    exchanges: Sequence[Exchange]

    @property
    def id(self) -> str:
        """Which one it is."""
        return self.exchanges[0].id.partition(" #")[0]

    @property
    def form(self) -> str:
        """The form that it is in."""
        return self.exchanges[0].form


def talks(exchanges: Sequence[Exchange]) -> Iterator[Talk]:
    """The conversations; what was answered with an error begins none and goes on with none."""

    def key(exchange: Exchange) -> tuple[str, ...]:
        return exchange.id.partition(" #")[0], exchange.form, exchange.provider, exchange.model

    ordered = sorted((one for one in exchanges if not (one.failed or one.partial)), key=key)
    for _, group in itertools.groupby(ordered, key):
        yield Talk(list(group))


class Listening:
    """Somebody who listens is told tokens as they come: so replies are streamed."""

    def token(self, text: str) -> None:
        """Hear it."""

    def entry(self, entry: Entry) -> None:
        """See it."""


async def rebuilt(talk: Talk, provider: Provider) -> list[tuple[Body, str]]:
    """Each request that a run with the recorded replies makes, and why it would be refused.

    The run's tools are those of the recorded requests. Where the model answers in words, the person
    says to go on. The last request is the one after the last recorded reply.
    """
    first = talk.exchanges[0]

    async def seen(name: str, args: dict[str, Any], key: str) -> str:
        return f"{name} was called at {key.rpartition(':')[2]}"

    provider.turns = [*map(send, talk.exchanges), _OVER]
    before, store = len(provider.server.requests), MemoryStore()
    try:
        tools = [each.tool for each in published(functions(talk.exchanges).values(), seen)]
        model = provider.model(first)
        agent = Agent(
            model=model, tools=tools, codec="native", limits=_LIMITS, guards=[Provenance("off")]
        )
        await run(agent, "Begin.", store=store, run_id=_RUN, listener=Listening())
        for _ in range(_AGAIN * len(talk.exchanges)):
            if not provider.turns:
                break
            await resume(agent, _RUN, say="Go on.", store=store, listener=Listening())
    except ClewError as error:
        if provider.turns:
            return [({}, str(error))]
    if provider.turns:
        return [({}, "the run no longer asks its model")]
    requests = [seen.body for seen in provider.server.requests[before:]]
    replies = [one.body for one in talk.exchanges]
    return [(body, complaint(first.form, first.model, body, replies)) for body in requests]
