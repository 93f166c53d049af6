"""An effect that a fallback had is an effect of the tool that had it, whoever asks for it next."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import anyio
import pytest

from clew import (
    Agent,
    MemoryStore,
    Result,
    Tool,
    ToolError,
    delegate,
    fork,
    pending_approvals,
    read,
    replay,
    resume,
    rewind,
    rule,
    run,
    tool,
)
from clew.guards import Provenance
from clew.interfaces import Prompt
from clew.testing import ScriptedModel, act, finish, say
from clew.testing.models import Move
from clew.tools.fallback import with_fallback
from clew_code.programs import run_code
from clew_strategies import Chaining, Orchestrator, strategy_agent
from clew_strategies.orchestrator import Subtasks


@dataclass
class Office:
    """What was sent by post, by courier and by pigeon; letters by e-mail and fax do not arrive."""

    sent: list[str] = field(default_factory=list)
    workers: int = 0
    all_here: anyio.Event = field(default_factory=anyio.Event)

    def tools(self) -> dict[str, Tool]:
        """Its tools, by name."""

        @tool(effect="unsafe")
        def email(to: str, text: str = "") -> str:
            """Send an e-mail."""
            raise ToolError("no line")

        @tool(effect="unsafe")
        def fax(to: str, text: str = "") -> str:
            """Send a fax."""
            raise ToolError("no paper")

        @tool(effect="read")
        def ask(to: str) -> str:
            """Ask whether somebody knows already."""
            raise ToolError("nobody answers")

        @tool(effect="unsafe")
        def post(to: str, text: str = "") -> str:
            """Send a letter."""
            self.sent.append(f"{to}{text}")
            return "posted"

        @tool(effect="idempotent")
        def put(to: str) -> str:
            """Put a letter into a box."""
            self.sent.append(to)
            return "there"

        @tool(effect="unsafe")
        def courier(address: str, words: str = "") -> str:
            """Send a courier."""
            self.sent.append(address + words)
            return "on the way"

        @tool(effect="unsafe")
        def pigeon(to: str, text: str = "") -> str:
            """Send a pigeon, which nobody sees arrive."""
            self.sent.append(f"{to}{text}")
            raise OSError("out of sight")

        @tool(effect="read")
        async def meet() -> str:
            """Wait until all workers are here."""
            self.workers += 1
            if self.workers == 2:
                self.all_here.set()
            await self.all_here.wait()
            return "here"

        @tool(effect="read")
        def find(to: str) -> str:
            """Find somebody."""
            return f"{to} is there"

        @tool(effect="read")
        def look() -> str:
            """Look."""
            return "nothing new"

        listed = [email, fax, ask, post, put, courier, pigeon, meet, find, look, run_code()]
        return {each.name: each for each in listed}


def paired(named: dict[str, Tool], first: str, other: str, **names: str | None) -> dict[str, Tool]:
    """The tools, the first of two with the other as its fallback."""
    return {**named, first: with_fallback(named[first], named[other], names)}


def plain(named: dict[str, Tool]) -> dict[str, Tool]:
    return paired(named, "email", "post")


def renamed(named: dict[str, Tool]) -> dict[str, Tool]:
    return paired(named, "email", "courier", to="address", text="words")


def within(named: dict[str, Tool]) -> dict[str, Tool]:
    return paired(paired(named, "fax", "post"), "email", "fax")


def around(named: dict[str, Tool]) -> dict[str, Tool]:
    return paired(paired(named, "email", "fax"), "email", "post")


def two_of_them(named: dict[str, Tool]) -> dict[str, Tool]:
    return paired(paired(named, "fax", "post"), "email", "post")


def bare(named: dict[str, Tool]) -> dict[str, Tool]:
    return paired(named, "email", "put", text=None)


def to_pigeon(named: dict[str, Tool]) -> dict[str, Tool]:
    return paired(named, "email", "pigeon")


def asked(named: dict[str, Tool]) -> dict[str, Tool]:
    return paired(named, "ask", "put")


def within_reading(named: dict[str, Tool]) -> dict[str, Tool]:
    return paired(paired(named, "ask", "put"), "email", "ask", text=None)


def boxed(named: dict[str, Tool]) -> dict[str, Tool]:
    return paired(named, "put", "post")


def in_vain(named: dict[str, Tool]) -> dict[str, Tool]:
    return paired(named, "email", "fax")


def looked_up(named: dict[str, Tool]) -> dict[str, Tool]:
    return paired(named, "email", "find", text=None)


def writer(named: dict[str, Tool]) -> dict[str, Any]:
    """A sub-agent that writes as it is told: with the pair, or by post."""
    named = plain(named)
    model = ScriptedModel(
        [lambda p: act("post" if "by post" in str(p) else "email", to="a"), say("ok")]
    )
    agent = Agent(model, [*named.values()], guards=[Provenance("off")])
    return {**named, "write": delegate(agent, name="write", description="Writes.")}


def code(text: str) -> Move:
    return act("run_code", code=text)


EMAIL, POST = act("email", to="a"), act("post", to="a")
FORMS: dict[str, tuple[Callable[[dict[str, Tool]], dict[str, Any]], Move, Move]] = {
    "a pair and its second": (plain, EMAIL, POST),
    "with a default spelled out": (plain, EMAIL, act("post", to="a", text="")),
    "and in the pair": (plain, act("email", to="a", text=""), POST),
    "under other names": (renamed, EMAIL, act("courier", address="a", words="")),
    "a pair within": (within, EMAIL, POST),
    "a pair within, and that": (within, EMAIL, act("fax", to="a")),
    "a pair around": (around, EMAIL, POST),
    "two with the same second": (two_of_them, EMAIL, act("fax", to="a")),
    "a parameter left out": (bare, act("email", to="a", text="x"), act("put", to="a")),
    "twice, but for what is left out": (
        bare,
        act("email", to="a", text="x"),
        act("email", to="a", text="y"),
    ),
    "an unknown outcome": (to_pigeon, EMAIL, act("pigeon", to="a")),
    "a first that reads": (asked, act("ask", to="a"), act("put", to="a")),
    "one that reads, and hands on": (within_reading, EMAIL, act("ask", to="a")),
    "in a program": (plain, code('email(to="a")'), POST),
    "and the second in one": (plain, EMAIL, code('post("a")')),
    "in a sub-agent": (writer, act("write", task="write"), POST),
    "and the second in one of those": (writer, EMAIL, act("write", task="by post")),
}


def script(moves: Callable[[Prompt], list[Move]]) -> ScriptedModel:
    """A model that says what its prompt decides on."""

    def line(number: int) -> Callable[[Prompt], Move]:
        return lambda prompt: moves(prompt)[number]

    return ScriptedModel([line(number) for number in range(4)])


async def after(tools: list[Tool], one: Move, two: Move, store: MemoryStore) -> Result:
    """A run that follows another one of a strategy."""

    def moves(prompt: Prompt) -> list[Move]:
        later = "answer of the stage before" in str(prompt)
        return [two if later else one, say("ok"), say("ok"), say("ok")]

    agent = Agent(script(moves), tools, guards=[Provenance("off")])
    composed = strategy_agent(Chaining({"one": agent, "two": agent}), agent)
    result = await run(composed, "Write.", store=store, run_id="r")
    for run_id in ("r-1.1", "r-2.1"):
        await replay(agent, run_id, store=store)
    return result


async def at_once(tools: list[Tool], one: Move, two: Move, store: MemoryStore) -> Result:
    """Two workers at once."""

    def moves(prompt: Prompt) -> list[Move]:
        return [act("meet"), one if "part 1" in str(prompt) else two, say("ok"), say("ok")]

    agent = Agent(script(moves), tools, guards=[Provenance("off")])
    divided = finish({"parts": [{"task": "part 1"}, {"task": "part 2"}]})
    divider = Agent(ScriptedModel([divided]), answer=Subtasks)
    composed = strategy_agent(Orchestrator(agent, divider=divider), agent)
    result = await run(composed, "Write.", store=store, run_id="r")
    for run_id in ("r-2.1", "r-2.2"):
        await replay(agent, run_id, store=store)
    return result


async def forked(tools: list[Tool], one: Move, two: Move, store: MemoryStore) -> Result:
    """A fork."""
    before = Agent(ScriptedModel([act("look"), one, say("ok")]), tools, guards=[Provenance("off")])
    await run(before, "Write.", store=store, run_id="r")
    agent = Agent(ScriptedModel([act("look"), two, say("ok")]), tools, guards=[Provenance("off")])
    result = await fork(agent, "r", at=1, store=store, new_id="f")
    await replay(agent, "f", store=store)
    return result


async def rewound(tools: list[Tool], one: Move, two: Move, store: MemoryStore) -> Result:
    """A run that a person took back."""
    moves = [act("look"), one, say("ok")]
    await run(
        Agent(ScriptedModel(moves), tools, guards=[Provenance("off")]),
        "Write.",
        store=store,
        run_id="r",
    )
    await rewind("r", to=1, lesson="otherwise", store=store)
    agent = Agent(ScriptedModel([act("look"), two, say("ok")]), tools, guards=[Provenance("off")])
    return await resume(agent, "r", store=store)


Way = Callable[[list[Tool], Move, Move, MemoryStore], Awaitable[Result]]
WAYS: dict[str, Way] = {each.__name__: each for each in (after, at_once, forked, rewound)}


@pytest.mark.parametrize("turned", [False, True], ids=["so", "turned round"])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("way", WAYS)
async def test_it_is_had_once(way: str, form: str, *, turned: bool) -> None:
    office, store = Office(), MemoryStore()
    made, *moves = FORMS[form]
    one, two = reversed(moves) if turned else moves
    result = await WAYS[way]([*made(office.tools()).values()], one, two, store)
    assert (result.status, len(office.sent)) == ("held", 1)
    (waits,) = await pending_approvals(store=store)
    assert "already" in waits.why


KEPT: dict[str, tuple[Callable[[dict[str, Tool]], dict[str, Any]], Move, Move, int]] = {
    "another letter": (plain, EMAIL, act("post", to="b"), 2),
    "another letter, turned round": (plain, POST, act("email", to="b"), 2),
    "the first had it": (boxed, act("put", to="a"), POST, 2),
    "the second had it not": (in_vain, EMAIL, act("fax", to="a"), 0),
    "the second reads": (looked_up, EMAIL, act("find", to="a"), 0),
}


@pytest.mark.parametrize("form", KEPT)
@pytest.mark.parametrize("way", ["after", "forked", "rewound"])
async def test_what_is_another_effect_or_none_waits_for_nobody(way: str, form: str) -> None:
    office, store = Office(), MemoryStore()
    made, one, two, sent = KEPT[form]
    result = await WAYS[way]([*made(office.tools()).values()], one, two, store)
    assert (result.status, len(office.sent)) == ("answered", sent)


async def test_the_model_and_a_person_are_told_which_tool_it_was() -> None:
    office, store = Office(), MemoryStore()
    tools = [*plain(office.tools()).values()]
    await forked(tools, EMAIL, POST, store)
    (done,) = (await read("f", store=store)).forks[-1].done
    assert (done.tool, done.text) == ("email", 'email({"to":"a"}), handed on to post')
    (waits,) = await pending_approvals(store=store)
    assert waits.why.startswith("this was done already, by r:2.1")
    await rule(f"f:{waits.call}", allow=False, store=store)
    again = Agent(
        ScriptedModel([act("look"), act("email", to="a", text=""), say("ok")]),
        tools,
        guards=[Provenance("off")],
    )
    await fork(again, "r", at=1, store=store, new_id="g")
    (waits,) = (each for each in await pending_approvals(store=store) if each.run_id == "g")
    assert waits.why.startswith("this was done already")


async def test_a_person_may_let_it_happen_twice() -> None:
    office, store = Office(), MemoryStore()
    tools = [*plain(office.tools()).values()]
    await forked(tools, POST, EMAIL, store)
    (waits,) = await pending_approvals(store=store)
    assert waits.why.startswith("what post would do in its place was done already, by r:2.1")
    await rule(f"f:{waits.call}", allow=True, store=store)
    agent = Agent(ScriptedModel([act("look"), EMAIL, say("ok")]), tools, guards=[Provenance("off")])
    result = await resume(agent, "f", store=store)
    assert (result.status, office.sent) == ("answered", ["a", "a"])
    await replay(agent, "f", store=store)
