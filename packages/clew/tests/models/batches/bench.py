"""Agents whose model is asked in batches, on servers of both providers."""

import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

from clew import Agent, tool
from clew.models.batches import Batched
from clew_testing.servers import AnthropicBatchServer, OpenAIBatchServer, Say, Turn
from clew_testing.servers.batch_bench import Answers, Bench

Service: TypeAlias = Literal["openai", "openai-responses", "anthropic"]
SERVICES: tuple[Service, ...] = ("openai", "openai-responses", "anthropic")

NAMES: Mapping[Service, str] = {
    "openai": "openai:gpt-4.1-mini",
    "openai-responses": "openai-responses:gpt-4.1-mini",
    "anthropic": "anthropic:claude-sonnet-4-5",
}


@tool(effect="read")
def price(item: str) -> int:
    """Look up the price of an item, in cents."""
    return 320


def texts(body: Mapping[str, Any]) -> str:
    """All that a request says."""
    return json.dumps(body.get("messages", body.get("input")))


def looks_and_answers(body: Mapping[str, Any]) -> Turn:
    """A model that looks a price up, and says it."""
    said = texts(body)
    if '"tool_result"' in said or '"tool"' in said or "function_call_output" in said:
        return Say("320 cents.")
    return Say("", calls=[("price", '{"item": "bread"}')])


@dataclass
class Place:
    """A server, and the models that ask it."""

    service: Service
    base_url: str
    bench: Bench
    folder: Path
    models: list[Batched] = field(default_factory=list[Batched])

    @property
    def ledger(self) -> Path:
        return self.folder / "batches.sqlite"

    def model(self, **more: Any) -> Batched:
        fast: dict[str, Any] = {"gather": 0.02, "poll": 0.01, "settle": 0.0}
        fast |= {"base_url": self.base_url, "api_key": "key", "ledger": self.ledger}
        name = more.pop("model", NAMES[self.service])
        self.models.append(Batched(name, **fast | more))
        return self.models[-1]

    def agent(self, **more: Any) -> Agent[str]:
        return Agent(self.model(**more), tools=[price])

    @property
    def sizes(self) -> list[int]:
        """How many requests each batch had."""
        return [len(batch.entries) for batch in self.bench.batches]


@asynccontextmanager
async def serving(
    service: Service, folder: Path, answers: Answers = looks_and_answers, **more: Any
) -> AsyncGenerator[Place]:
    """A server that answers so."""
    kind = AnthropicBatchServer if service == "anthropic" else OpenAIBatchServer
    with kind(answers, key="key", **more) as server:
        place = Place(service, server.base_url, server.bench, folder)
        try:
            yield place
        finally:
            for model in place.models:
                await model.close()
