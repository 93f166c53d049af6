"""The scenarios of the tests: agents with scripted models, and what each is to come to.

Each is used by several tests: run once, cut after every entry and gone on with, replayed, rendered
with the view dropped at every step, and on both event loops.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clew import Agent, Context, Limits, RunContext, Tool, ToolError, Verdict, tool
from clew.core.codes import Status
from clew.core.contents import RawCall, Reply
from clew.core.trajectory import Call, Trajectory
from clew.testing.models import Move, ScriptedModel, act, acts, finish, say
from clew.tools.retrieval import Retrieval
from tests.core.catalogue import catalogue, letters
from tests.core.relay import RELAY
from tests.guards.verdicts import verdict_on


@tool(effect="read")
async def lookup(key: str) -> str:
    """Look a key up.

    Args:
        key: What to look up.
    """
    if key == "missing":
        message = f"there is nothing under {key!r}: try another key"
        raise ToolError(message)
    return f"the value of {key}"


@tool(effect="pure")
def add(a: int, b: int) -> int:
    """Add two numbers.

    Args:
        a: The first.
        b: The second.
    """
    return a + b


@tool(effect="read")
async def broken() -> str:
    """Break."""
    message = "the wires are\nloose"
    raise RuntimeError(message)


@tool(effect="read", hidden=True)
async def open_page(url: str) -> str:
    """Open a page (an old habit of some models)."""
    return f"use lookup instead of opening {url}"


class Ledger:
    """A file that effects are written to, one line each: what really happened outside."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def write(self, line: str) -> None:
        """Add a line, durably enough for a killed process."""
        with self.path.open("a") as file:
            file.write(line + "\n")

    def lines(self) -> list[str]:
        """What happened so far."""
        return self.path.read_text().splitlines() if self.path.exists() else []


def effect_tools(ledger: Ledger) -> list[Tool]:
    """One tool of each effect class that changes something."""

    @tool(effect="unsafe")
    async def send(text: str, ctx: RunContext) -> str:
        """Send a message.

        Args:
            text: The message.
        """
        ledger.write(f"send {ctx.key} {text}")
        return f"sent {text}"

    @tool(effect="idempotent")
    async def put(text: str, ctx: RunContext) -> str:
        """Store a text under its key.

        Args:
            text: The text.
        """
        ledger.write(f"put {ctx.key} {text}")
        return f"stored {text}"

    async def posted(args: dict[str, Any], key: str) -> str | None:
        """Whether a post happened."""
        happened = f"post {key} {args['text']}" in ledger.lines()
        return f"posted {args['text']}" if happened else None

    @tool(effect="unsafe", probe=posted, timeout=0.05)
    async def post(text: str, ctx: RunContext) -> str:
        """Post a text.

        Args:
            text: The text.
        """
        ledger.write(f"post {ctx.key} {text}")
        return f"posted {text}"

    return [send, put, post]


hold_sends = verdict_on("send", "hold", "sending needs a person")
"""A guard that holds every send."""


async def put_off_sends(call: Call, trajectory: Trajectory) -> Verdict | None:
    """A guard that puts off every send until the run would end."""
    _ = trajectory
    held = call.action.name == "send"
    return Verdict("hold", "sending needs a person", gather=True) if held else None


async def warn_of_adding(call: Call, trajectory: Trajectory) -> Verdict | None:
    """A guard that hints at one tool and amends the arguments of another."""
    _ = trajectory
    if call.action.name == "add":
        return Verdict("hint", "adding is easy: do it in your head")
    if call.action.name == "lookup" and call.action.args.get("key") == "x":
        return Verdict("amend", "x is spelled ex", args={"key": "ex"})
    if call.action.name == "lookup" and call.action.args.get("key") == "secret":
        return Verdict("deny", "secrets are not looked up")
    return None


async def must_say_42(answer: object, trajectory: Trajectory) -> str | None:
    """A check of the answer."""
    _ = trajectory
    return None if "42" in str(answer) else "the answer must name 42"


@dataclass(frozen=True)
class Point:
    """A typed answer."""

    x: int
    y: int


@dataclass(frozen=True)
class Scenario:
    """An agent (made fresh each time), its goal and its end."""

    name: str
    agent: Callable[[Path], Agent]
    status: Status = "answered"
    answer: object = None
    steps: int | None = None
    then: tuple[Any, ...] = ()
    """What a person does when it stops: words (str) or rulings ((call, allow, args))."""
    goal: str = "What is it?"


TOOLS = [lookup, add, broken, open_page]


def scripted(*script: Any, tools: Any = TOOLS, **options: Any) -> Callable[[Path], Agent]:
    """An agent whose model says this."""

    def make(folder: Path) -> Agent:
        _ = folder
        answer = options.get("answer", str)
        codec = options.get("codec", "native")
        model = ScriptedModel(script, codec=codec, tools=tools, answer=answer)
        return Agent(model=model, tools=tools, **options)

    return make


def effectful(*script: Any, **options: Any) -> Callable[[Path], Agent]:
    """An agent whose tools write to `effects` in the folder."""

    def make(folder: Path) -> Agent:
        tools = [lookup, *effect_tools(Ledger(folder / "effects"))]
        return Agent(model=ScriptedModel(script, tools=tools), tools=tools, **options)

    return make


def relaying(*script: Any, **options: Any) -> Callable[[Path], Agent]:
    """The same with a tool that asks for calls of others."""

    def make(folder: Path) -> Agent:
        tools = [lookup, RELAY, *effect_tools(Ledger(folder / "effects"))]
        model = ScriptedModel(script, tools=tools, plan=[*_with_asked(script)])
        return Agent(model=model, tools=tools, **options)

    return make


def _with_asked(script: Sequence[Any]) -> Iterator[Move]:
    """The moves of a script, and the calls that calls of `relay` in it ask for."""
    for line in script:
        if isinstance(line, Move):
            yield line
            asked = [each for action in line.actions for each in action.args.get("calls", ())]
            yield from (act(each["tool"], **each["args"]) for each in asked)


def relayed(*calls: tuple[str, str], **options: Any) -> Any:
    """A call of `relay`, which asks for calls of tools with one text each."""
    names = {"lookup": "key"}
    asked = [{"tool": name, "args": {names.get(name, "text"): text}} for name, text in calls]
    return act("relay", calls=asked, **options)


def again_and_again(*script: Any) -> tuple[Any, ...]:
    """The same line many times."""
    return script * 40


def fifty_tools(codec: str) -> Callable[[Path], Agent]:
    """Tools that are shown as they are found; one is called that never was, one does not exist."""
    return scripted(
        act("book_bicycle", thought="The bicycle, and then a passport.", bicycle="red"),
        act("book_passport", thought="Let me tag the ferry.", passport="mine"),
        act("sign_the_canoe", thought="The canoe is left.", canoe="small"),
        act("inspect_yacht", thought="And what nobody showed me.", yacht="far"),
        finish("The bicycle is booked", thought="Done."),
        act("book_volcano", thought="A volcano, then.", volcano="tall"),
        finish("All done", thought="Done again."),
        tools=[*TOOLS, *catalogue(46)],
        codec=codec,
        context=Context(retrieval=Retrieval(k=3, always=["lookup"], embed=letters)),
    )


def three_values(tools: Any = TOOLS, **options: Any) -> Callable[[Path], Agent]:
    """Three lookups one after the other, then finish."""
    return scripted(
        act("lookup", thought="The first key.", key="a"),
        act("lookup", thought="The second key.", key="b"),
        act("lookup", thought="The third key.", key="c"),
        finish("a, b and c", thought="All are known."),
        tools=tools,
        **options,
    )


SCENARIOS = [
    Scenario("plain answer", scripted(say("It is 42.")), answer="It is 42.", steps=1),
    Scenario("no tools", scripted(say("42"), tools=[]), answer="42"),
    Scenario("one call", scripted(act("lookup", key="a"), say("a")), answer="a", steps=2),
    Scenario("three values", three_values(), answer="a, b and c", steps=4),
    Scenario("paper", three_values(codec="paper"), answer="a, b and c", steps=4),
    Scenario("labelled", three_values(codec="labelled"), answer="a, b and c", steps=4),
    Scenario("json", three_values(codec="json"), answer="a, b and c", steps=4),
    Scenario(
        "parallel calls, one fails",
        scripted(
            acts(
                act("lookup", key="a"), act("broken"), act("add", a=1, b=2), thought="All at once."
            ),
            finish("3"),
        ),
        answer="3",
        steps=2,
    ),
    Scenario(
        "finish beside a failed call is refused",
        scripted(acts(act("broken"), finish("done")), finish("broken")),
        answer="broken",
        steps=2,
    ),
    Scenario(
        "finish beside a good call",
        scripted(acts(finish("one"), act("add", a=1, b=2), finish("two"))),
        answer="one",
        steps=1,
    ),
    Scenario(
        "calls that cannot be made",
        scripted(
            act("lokup", key="a"),
            act("open_page", url="x"),
            act("lookup", key=5),
            act("lookup", kye="a"),
            Reply(calls=(RawCall(name="lookup", arguments="{'key': 1", id="c"),), finish="calls"),
            Reply(calls=(RawCall(name="lookup", arguments="[1]", id="c"),), finish="calls"),
            act("lookup", key="missing"),
            act("finish"),
            say("well"),
        ),
        answer="well",
        steps=9,
    ),
    Scenario(
        "faults, then right",
        scripted(Reply(), Reply(text="x", finish="length"), say("ok")),
        answer="ok",
        steps=3,
    ),
    Scenario(
        "faults to the bound",
        scripted(*[Reply()] * 3, say("the best I have")),
        status="bound",
        answer="the best I have",
        steps=4,
    ),
    Scenario(
        "a landing that calls a tool",
        scripted(act("lookup", key="a"), act("lookup", key="b"), limits=Limits(steps=1)),
        status="bound",
        steps=2,
    ),
    Scenario(
        "a landing that answers wrongly",
        scripted(
            act("lookup", key="a"),
            say("no"),
            limits=Limits(steps=1),
            checks=[must_say_42],
            fallback="I cannot say",
        ),
        status="bound",
        answer="I cannot say",
    ),
    Scenario(
        "no landing wanted",
        scripted(act("lookup", key="a"), limits=Limits(steps=1, landing=False), fallback="-"),
        status="bound",
        answer="-",
        steps=1,
    ),
    Scenario(
        "a check that is met at last",
        scripted(say("41"), finish("43"), say("42"), checks=[must_say_42]),
        answer="42",
        steps=3,
    ),
    Scenario(
        "a check that is never met",
        scripted(*[say("41")] * 3, checks=[must_say_42], fallback="unknown"),
        status="failed",
        answer="unknown",
        steps=3,
    ),
    Scenario(
        "a check that finish never meets",
        scripted(*[finish("41")] * 3, checks=[must_say_42]),
        status="failed",
        steps=3,
    ),
    Scenario(
        "a typed answer",
        scripted(
            say("one and two"),
            say('{"x": 1}'),
            finish({"x": 1, "y": 2, "z": 3}),
            finish({"x": 1, "y": 2}),
            answer=Point,
        ),
        answer=Point(1, 2),
        steps=4,
    ),
    Scenario("a typed text answer", scripted(say("7"), answer=int), answer=7),
    Scenario(
        "guards hint, amend and deny",
        scripted(
            act("add", a=1, b=2),
            act("lookup", key="x"),
            act("lookup", key="secret"),
            say("ok"),
            guards=[warn_of_adding],
        ),
        answer="ok",
    ),
    Scenario(
        "the same call for ever",
        scripted(*again_and_again(act("lookup", key="a"))[:6], say("enough")),
        status="bound",
        answer="enough",
        steps=7,
    ),
    Scenario(
        "an unknown tool for ever",
        scripted(*again_and_again(act("serach", key="a"))[:6], say("enough")),
        status="bound",
        answer="enough",
        steps=7,
    ),
    Scenario(
        "more calls than there may be",
        scripted(
            acts(*[act("lookup", key=str(n)) for n in range(12)]),
            act("lookup", key="more"),
            say("that was all"),
            limits=Limits(tool_calls=8, calls_per_step=6, calls_per_tool={"lookup": 7}),
        ),
        answer="that was all",
    ),
    Scenario(
        "effects of every kind",
        effectful(
            act("send", text="hello"),
            acts(act("put", text="one"), act("post", text="two"), act("lookup", key="a")),
            finish("done"),
        ),
        answer="done",
        steps=3,
    ),
    Scenario(
        "a held call that is allowed",
        effectful(
            acts(act("send", text="hello"), act("lookup", key="a")),
            say("sent"),
            guards=[hold_sends],
        ),
        answer="sent",
        then=(("1.1", True, None),),
    ),
    Scenario(
        "a held call that is edited",
        effectful(act("send", text="hello"), say("sent"), guards=[hold_sends]),
        answer="sent",
        then=(("1.1", True, {"text": "goodbye"}),),
    ),
    Scenario(
        "a held call that is rejected",
        effectful(act("send", text="hello"), say("not sent"), guards=[hold_sends]),
        answer="not sent",
        then=(("1.1", False, None),),
    ),
    Scenario(
        "calls that are put off",
        effectful(
            acts(act("send", text="one"), act("put", text="beside")),
            act("lookup", key="a"),
            acts(act("put", text="behind"), act("send", text="two"), act("send", text="three")),
            finish("all sent"),
            say("two alone"),
            guards=[put_off_sends],
        ),
        answer="two alone",
        steps=5,
        then=(("4.2", False, None), ("4.4", True, {"text": "better"}), ("4.5", False, None)),
    ),
    Scenario(
        "put off until a text answers, and put off again",
        effectful(
            act("send", text="one"),
            say("sent"),
            act("send", text="two"),
            say("both"),
            say("both indeed"),
            guards=[put_off_sends],
        ),
        answer="both indeed",
        steps=5,
        then=(("2.1", True, None), ("4.1", False, None)),
    ),
    Scenario(
        "a bound is reached while calls are put off",
        effectful(
            act("send", text="one"),
            act("lookup", key="a"),
            say("sent"),
            guards=[put_off_sends],
            limits=Limits(steps=2),
        ),
        status="bound",
        answer="sent",
        steps=3,
        then=(("2.2", True, None),),
    ),
    Scenario(
        "a call that asks for others",
        relaying(
            relayed(("lookup", "a"), ("send", "b"), ("put", "c"), ("lookup", "missing")),
            relayed(("post", "d"), ("nothing", "e")),
            say("done"),
        ),
        answer="done",
        steps=3,
    ),
    Scenario(
        "calls that ask for several others at once",
        relaying(
            acts(
                relayed(("put", "a"), ("put", "b"), ("send", "c"), at_once=2),
                relayed(("lookup", "d"), ("lookup", "e"), at_once=2),
                act("post", text="f"),
            ),
            finish("done"),
        ),
        answer="done",
        steps=2,
    ),
    Scenario(
        "a call that asks for what is held",
        relaying(
            relayed(("lookup", "a"), ("send", "b"), ("lookup", "c"), ("send", "d"), ("put", "e")),
            say("done"),
            guards=[hold_sends],
        ),
        answer="done",
        then=(("1.3", True, {"text": "better"}), ("1.5", False, None)),
    ),
    Scenario(
        "a call that asks for more than there may be",
        relaying(
            relayed(*[("lookup", text) for text in "abcdefgh"], ("put", "z")),
            say("that was all"),
            limits=Limits(tool_calls=6, calls_per_tool={"lookup": 4}),
        ),
        status="bound",
        answer="that was all",
    ),
    Scenario(
        "a follow-up",
        scripted(say("first"), act("lookup", key="b"), say("second")),
        answer="second",
        steps=3,
        then=("And b?",),
    ),
    Scenario(
        "fifty tools, paper",
        fifty_tools("paper"),
        answer="All done",
        steps=7,
        goal="Book a bicycle for me.",
        then=("Now the volcano, please.",),
    ),
]


def by_name(name: str) -> Scenario:
    """The scenario of that name."""
    return next(scenario for scenario in SCENARIOS if scenario.name == name)
