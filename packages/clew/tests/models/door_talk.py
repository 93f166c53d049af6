"""Runs with everything that goes into a history, over every door: none may end in a dead end.

`python -m tests.models.door_talk --seeds 200` makes many of them and prints a table; the suite runs
a few seeds of each (`test_doors`). A run is made of what a seed draws: calls alone and together,
calls without arguments, calls written into the text, pictures, replies that are empty or cut,
steps with and without thinking, calls that a person allows, words of a person, landings, further
turns in a process that knows the record only, and changes of provider in the middle.
"""

import argparse
import asyncio
import random
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from clew import (
    Agent,
    Call,
    Image,
    Limits,
    MemoryStore,
    ModelError,
    Observation,
    Result,
    Tool,
    Trajectory,
    Verdict,
    resume,
    rule,
    run,
    tool,
)
from clew.context import PROMPT
from clew.core.journal import load
from clew.core.tools import Retry
from clew.guards import Provenance
from clew.models.anthropic.messages import anthropic_messages
from clew.models.gemini.model import google_gemini
from clew.models.openai.chat import openai_chat
from clew.models.openai.responses import openai_responses
from clew_testing.servers.anthropic_server import AnthropicServer
from clew_testing.servers.doors import DOORS, DoorServer, ThinkingServer
from clew_testing.servers.gemini_server import GeminiServer
from clew_testing.servers.http_server import HttpServer, Say
from clew_testing.servers.openai_server import OpenAIServer

KEY: Final = "sk-test-0123456789"
DOT: Final = b"\x89PNG\r\n\x1a\n" + bytes(40)


@tool(effect="read")
def look(name: str) -> str:
    """Look a name up.

    Args:
        name: What to look up.
    """
    return f"the entry of {name}"


@tool(effect="read")
def clock() -> str:
    """What time it is."""
    return "noon"


@tool(effect="read")
def shot(name: str) -> Observation:
    """Take a picture.

    Args:
        name: Of what.
    """
    return Observation(content="taken", attachments=(Image("image/png", DOT, name),))


@tool(effect="unsafe")
def pay(amount: int) -> str:
    """Pay.

    Args:
        amount: How much.
    """
    return f"paid {amount}"


async def _find(args: dict[str, Any], key: str) -> str:
    return f"found {args['name']}"


FIND: Final = Tool(
    "find",
    "Find by a name in any script.",
    {
        "type": "object",
        "properties": {
            "name": {"type": "string", "pattern": r"\p{L}+(?=-)|n\d+", "description": "A name."},
            "in": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
            "more": {"$ref": "#/$defs/more"},
        },
        "required": ["name"],
        "additionalProperties": False,
        "$defs": {"more": {"type": "array", "items": {"type": "integer", "minimum": 0}}},
    },
    _find,
    effect="read",
)


def ask_first(call: Call, trajectory: Trajectory) -> Verdict | None:
    """Payments wait for a person."""
    return Verdict("hold", "a payment") if call.action.name == "pay" else None


@dataclass(frozen=True)
class Family:
    """A wire format with its rules."""

    name: str
    serve: Any
    connect: Any
    model: str = "scripted"
    options: dict[str, Any] = field(default_factory=dict[str, Any])

    def server(self, script: Any) -> HttpServer:
        server: HttpServer = self.serve(script, key=KEY)
        return server

    def connected(self, server: HttpServer) -> Any:
        return self.connect(
            self.model,
            base_url=server.base_url,
            api_key=KEY,
            retries=Retry(times=0),
            **self.options,
        )


def _door(name: str) -> Any:
    return lambda script, key: DoorServer(DOORS[name], script, key=key)


FAMILIES: Final = (
    Family("openai", OpenAIServer, openai_chat),
    Family("responses", OpenAIServer, openai_responses),
    Family("anthropic", AnthropicServer, anthropic_messages),
    Family("thinking over anthropic's format", ThinkingServer, anthropic_messages),
    Family("google", GeminiServer, google_gemini),
    Family("mistral by its name", _door("mistral"), openai_chat, options={"provider": "mistral"}),
    *(Family(name, _door(name), openai_chat) for name in DOORS),
)


_CALLS: Final[dict[str, list[tuple[str, str | None]]]] = {
    "one": [("look", '{"name": "n#"}')],
    "two": [("look", '{"name": "n#"}'), ("clock", "{}")],
    "three": [
        ("look", '{"name": "n#"}'),
        ("look", '{"name": "m#"}'),
        ("shot", '{"name": "#"}'),
    ],
    "find": [("find", '{"name": "n#"}')],
    "none": [("clock", None)],
    "blank": [("clock", "")],
    "picture": [("shot", '{"name": "p#"}')],
    "pay": [("pay", '{"amount": #}')],
    "unknown": [("lo.ok.up", "{}")],
    "broken": [("look", '{"name": ')],
}
"""What a reply calls, by its kind; # is its number."""

_ENDS: Final[dict[str, tuple[str, str]]] = {
    "text": ('<tool_call>{"name": "look", "arguments": {"name": "t#"}}</tool_call>', ""),
    "empty": ("", ""),
    "cut": ("I was going to", "length"),
    "answer": ("So far #.", ""),
}
"""Replies without calls of the provider's: their text, and how they end."""


class Script:
    """What the model says: drawn by a seed, one turn a request that is accepted."""

    def __init__(self, seed: int, length: int) -> None:
        self.random = random.Random(seed)
        self.left = length
        self.said = 0
        self.drawn: Counter[str] = Counter()

    def __call__(self, body: dict[str, Any]) -> Say:
        self.said += 1
        self.left -= 1
        thinking = self.random.choice(["", "", "One thing first.", "Hm."])
        if self.left <= 0 or not (body.get("tools")):
            return Say("That is all.", reasoning=thinking)
        kind = self.random.choice([*_CALLS, *_ENDS, "one"])
        self.drawn[kind] += 1
        return self._say(kind, thinking)

    def _say(self, kind: str, thinking: str) -> Say:
        number = self.said
        if kind in _ENDS:
            text, finish = _ENDS[kind]
            return Say(text.replace("#", str(number)), finish=finish, reasoning=thinking)
        text = self.random.choice(["", f"Now number {number}."])
        calls = [(name, told and told.replace("#", str(number))) for name, told in _CALLS[kind]]
        return Say(text, calls, reasoning=thinking)


@dataclass
class Outcome:
    """What came of a run: why it ended if that was a dead end, and what was in it."""

    dead_end: str = ""
    requests: int = 0
    refused: int = 0
    steps: int = 0
    adapted: frozenset[str] = frozenset()
    drawn: Counter[str] = field(default_factory=Counter[str])


def agent(model: Any, steps: int) -> Agent:
    """Who has the conversation."""
    return Agent(
        model=model,
        tools=[look, clock, shot, pay, FIND],
        guards=[ask_first, Provenance("off")],
        limits=Limits(steps=steps, tool_calls=400, faults=40),
        prompt=PROMPT,
    )


async def play(seed: int, families: Sequence[Family], length: int = 30) -> Outcome:
    """One run through these families, which take turns; its words come from the seed."""
    script, draw = Script(seed, length), random.Random(seed + 1)
    outcome, store = Outcome(drawn=script.drawn), MemoryStore()
    servers = [family.server(script) for family in families]
    turn = 0
    for server in servers:
        server.__enter__()
    try:
        while script.left > 0 and turn < 3 * length:
            place = draw.randrange(len(families)) if turn else 0
            # A model that was made anew knows of earlier refusals by the record only.
            model = families[place].connected(servers[place])
            who = agent(model, draw.choice([3, 5, 40]))
            try:
                done = await _turn(who, store, turn, draw)
                while done.status == "held":
                    await _decide(store, draw)
                    done = await resume(who, "run", store=store, accept_change=True)
            finally:
                await model.close()
            turn += 1
    except ModelError as error:
        outcome.dead_end = str(error)
    finally:
        for server in servers:
            server.__exit__(None, None, None)
    record = await load(store, "run")
    outcome.steps = len(record.steps)
    outcome.requests = sum(len(server.requests) for server in servers)
    outcome.refused = outcome.requests - script.said
    outcome.adapted = frozenset(
        name
        for step in record.steps
        if step.thought is not None and step.thought.reply.adapted is not None
        for name in step.thought.reply.adapted.what
    )
    return outcome


async def _turn(who: Agent, store: MemoryStore, turn: int, draw: random.Random) -> Result[Any]:
    if not turn:
        return await run(who, "What is it?", store=store, run_id="run")
    return await resume(who, "run", say=f"And number {turn}?", store=store, accept_change=True)


async def _decide(store: MemoryStore, draw: random.Random) -> None:
    record = await load(store, "run")
    for held in [call.key for call in record.step.pending if call.held]:
        await rule(f"run:{held}", allow=draw.random() < 0.5, store=store)


def main() -> int:
    """Play many runs of each family, and of changes between them; print what came of them."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--only", default="", help="part of a family's name")
    given = parser.parse_args()
    dead = 0
    for family in [one for one in FAMILIES if given.only in one.name]:
        outcomes = [asyncio.run(play(seed, [family])) for seed in range(given.seeds)]
        others = [one for one in FAMILIES if one is not family]
        for seed in range(given.seeds // 4):
            mixed = [family, random.Random(seed).choice(others)]
            outcomes.append(asyncio.run(play(10_000 + seed, mixed)))
        ends = [outcome for outcome in outcomes if outcome.dead_end]
        dead += len(ends)
        repairs = Counter(name for outcome in outcomes for name in outcome.adapted)
        told = [
            f"{family.name}: {len(outcomes)} runs",
            f"{sum(one.requests for one in outcomes)} requests",
            f"{sum(one.refused for one in outcomes)} refused",
            f"{len(ends)} dead ends",
            *(f"{name} {number}" for name, number in sorted(repairs.items())),
        ]
        sys.stdout.write(", ".join(told) + "\n")
        sys.stdout.writelines(f"  {outcome.dead_end[:400]}\n" for outcome in ends[:3])
        sys.stdout.flush()
    return 1 if dead else 0


if __name__ == "__main__":
    sys.exit(main())
