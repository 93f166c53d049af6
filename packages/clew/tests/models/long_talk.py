"""A conversation of more than 30 steps in no provider's words, and the providers to have it with.

It has single and parallel calls, an effect, failures of every kind that a tool or a model can have,
unreadable replies, a landing, and a further word of the person after it.
"""

import itertools
from collections import deque
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import msgspec

from clew import Agent, Limits, Result, ToolError, resume, tool
from clew.agent.read_result import result
from clew.agent.runner import start
from clew.context import PROMPT
from clew.core.entries import Entry
from clew.core.events import Charged, Forked, Started, Thought
from clew.core.journal import load
from clew.core.listeners import Listener
from clew.core.loop import run
from clew.core.stores import Store
from clew.core.tools import Retry
from clew.guards import Provenance
from clew.models.anthropic.messages import anthropic_messages
from clew.models.gemini.model import google_gemini
from clew.models.http.endpoint import Endpoint
from clew.models.openai.chat import openai_chat
from clew.models.openai.responses import openai_responses
from clew_testing.servers.anthropic_server import AnthropicServer
from clew_testing.servers.gemini_server import GeminiServer
from clew_testing.servers.http_server import HttpServer, Say, Turn
from clew_testing.servers.openai_server import OpenAIServer

KEY = "sk-test-0123456789"
GOAL = "How do the lights of the coast hang together?"
FURTHER = "And which of them is the oldest?"
STEPS = 29


@tool(effect="read")
async def look_up(name: str) -> str:
    """Look a name up.

    Args:
        name: What to look up.
    """
    if name == "missing":
        raise ToolError("there is nothing of that name")
    return f"the entry of {name}"


@tool(effect="pure")
async def add(a: int, b: int) -> dict[str, int]:
    """Add two numbers.

    Args:
        a: The first.
        b: The second.
    """
    return {"sum": a + b}


@tool(effect="unsafe")
async def light(lamp: str) -> str:
    """Light a lamp.

    Args:
        lamp: Which.
    """
    return f"{lamp} burns"


def _look(name: str) -> tuple[str, str]:
    return ("look_up", f'{{"name": "{name}"}}')


def script() -> list[Say]:
    """What the model says: 29 steps, the landing, and two after the further word."""
    said: list[Say] = [
        Say("I look for the first.", [_look("Ada")], reasoning="The first comes first."),
        Say("", [_look("Ben"), _look("Cleo"), ("add", '{"a": 1, "b": 2}')]),
        Say("Both at once.", [_look("missing"), ("add", '{"a": "one", "b": 2}')]),
        Say("A tool that is not there.", [("look.out", '{"name": "x"}')], reasoning="Perhaps."),
        Say("", [("light", '{"lamp": "north"}'), _look("Dora")], reasoning="It must burn."),
        Say("", []),  # nothing at all
        Say("I go on, but was cut", [], "length"),
        Say("", [("add", None)]),
        Say("The same name twice.", [_look("Eve"), _look("Eve")]),
    ]
    while len(said) < STEPS:
        number = len(said)
        calls = [_look(f"light {number}-{place}") for place in range(number % 3 + 1)]
        thinking = f"Number {number}." if number % 4 == 0 else ""
        said.append(Say(f"Now number {number}." if number % 2 else "", calls, reasoning=thinking))
    return [
        *said,
        Say("They hang together by their keepers.", reasoning="No more calls."),
        Say("", [_look("the oldest")], reasoning="One more."),
        Say("", [("finish", '{"answer": "The north light is the oldest."}')]),
    ]


@dataclass(frozen=True)
class Provider:
    """A wire format: its strict server, and the adapter over the official client."""

    name: str
    serve: Callable[..., HttpServer]
    connect: Callable[..., Endpoint]

    @asynccontextmanager
    async def open(self, turns: Sequence[Turn] = ()) -> AsyncGenerator["Line"]:
        """A model whose server says these, in order, and then what is put behind them."""
        line = deque(turns)
        with self.serve(lambda body: line.popleft(), key=KEY) as server:
            model = self.connect(
                "scripted", base_url=server.base_url, api_key=KEY, retries=Retry(times=0)
            )
            yield Line(model, server, line)
            await model.close()


@dataclass(frozen=True)
class Line:
    """A model, its server, and what that is still to say."""

    model: Endpoint
    server: HttpServer
    turns: deque[Turn]

    def say(self, *turns: Turn) -> None:
        """Say these next, and nothing else; what was asked is forgotten."""
        self.turns.clear()
        self.turns.extend(turns)
        self.server.requests.clear()


PROVIDERS = (
    Provider("chat", OpenAIServer, openai_chat),
    Provider("responses", OpenAIServer, openai_responses),
    Provider("anthropic", AnthropicServer, anthropic_messages),
    Provider("gemini", GeminiServer, google_gemini),
)


def agent(model: Any) -> Agent:
    """Who has the conversation."""
    return Agent(
        model=model,
        tools=[look_up, add, light],
        guards=[Provenance("off")],
        limits=Limits(steps=STEPS, tool_calls=200, faults=9),
        prompt=PROMPT.replace(variants=()),
    )


class Watching:
    """A listener, which makes an agent stream."""

    def __init__(self) -> None:
        self.text: list[str] = []

    def token(self, text: str) -> None:
        self.text.append(text)

    def entry(self, entry: Entry) -> None:
        """Entries are not looked at."""


async def talk(model: Any, store: Store, listener: Listener | None = None) -> Result:
    """Have the whole conversation, the further word included."""
    who = agent(model)
    journal = await start(who, GOAL, store, run_id="run", listener=listener)
    result(who, await run(who.engine, journal))
    return await resume(who, "run", say=FURTHER, store=store, listener=listener)


async def go_on(model: Any, store: Store, *, accept_change: bool = False) -> Result:
    """Go on with what is there of the conversation, to its end."""
    who = agent(model)
    done = await resume(who, "run", store=store, accept_change=accept_change)
    if not any(getattr(each.event, "source", "") == "person" for each in await entries(store)):
        done = await resume(who, "run", say=FURTHER, store=store)
    return done


async def entries(store: Store) -> Sequence[Entry]:
    """The record as it is now."""
    return (await load(store, "run")).entries


def but_for_format(record: Sequence[Entry]) -> list[Any]:
    """The record without what a format and a provider are free in.

    Nor what was charged for thoughts that may have been lost. Calls that were made together may
    end in any order.
    """
    told: list[Any] = []
    for entry in record:
        event = entry.event
        if isinstance(event, Charged):
            continue
        plain = msgspec.to_builtins(event)
        if isinstance(event, Thought):
            del plain["reply"], plain["prints"]
            plain.pop("repairs", None)
        elif isinstance(event, Started | Forked):
            del plain["spec"]
        told.append(plain)
    made = {"attempt", "observation"}
    groups = itertools.groupby(told, key=lambda one: one["event"] in made or one["event"])
    return [
        one
        for _, group in groups
        for one in sorted(group, key=lambda one: (one.get("call", ""), one["event"]))
    ]
