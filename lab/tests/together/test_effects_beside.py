"""Workers at once: an effect that one of them began is not repeated by another unasked."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import anyio
import pytest

from clew import (
    Agent,
    MemoryStore,
    ModelError,
    ToolError,
    delegate,
    fork,
    pending_approvals,
    read,
    replay,
    resume,
    rule,
    run,
    tool,
)
from clew.core.events import Note
from clew.core.trajectory import Call, Trajectory
from clew.core.verdicts import Verdict
from clew.guards import Provenance
from clew.interfaces import Prompt
from clew.testing.models import Move, ScriptedModel, act, acts, finish, say
from clew_code.programs import run_code
from clew_strategies import Chaining, Orchestrator, strategy_agent
from clew_strategies.orchestrator import Subtasks

MEET = act("meet", q="x")


@dataclass
class Office:
    """Where workers meet, so that all of them are at work before the first letter."""

    workers: int = 3
    sent: list[str] = field(default_factory=list)
    arrived: int = 0
    all_here: anyio.Event = field(default_factory=anyio.Event)

    @property
    def tools(self) -> list[Any]:
        """Its tools."""

        @tool(effect="unsafe")
        async def send(to: str, text: str = "") -> str:
            """Send a letter."""
            await anyio.lowlevel.checkpoint()
            self.sent.append(to + text)
            return "sent"

        @tool(effect="idempotent")
        def put(to: str) -> str:
            """Put a letter in a box."""
            self.sent.append(to)
            return "there"

        @tool(effect="unsafe")
        def lose(to: str) -> str:
            """Send a letter, and lose the receipt."""
            self.sent.append(to)
            raise OSError("no receipt")

        @tool(effect="read")
        async def meet(q: str) -> str:
            """Wait until all workers are here."""
            self.arrived += 1
            if self.arrived >= self.workers:
                self.all_here.set()
            await self.all_here.wait()
            return q

        return [send, put, lose, meet, run_code()]


def to_ada(args: dict[str, Any]) -> tuple[dict[str, Any], str] | None:
    """A repair."""
    return ({**args, "to": "a"}, "Ada is a") if args["to"] == "Ada" else None


async def amends(call: Call, trajectory: Trajectory) -> Verdict | None:
    """A guard that completes an address."""
    del trajectory
    if call.action.name == "send" and call.args["to"] == "a":
        return Verdict("amend", "the whole address", args={**call.args, "to": "a@x.org"})
    return None


def code(text: str) -> Move:
    return act("run_code", code=text)


def worker(office: Office, *replies: Any, **more: Any) -> Agent:
    tools, guards = more.pop("tools", office.tools), [*more.pop("guards", ()), Provenance("off")]
    model = ScriptedModel([*replies, say("ok")])
    return Agent(model=model, tools=tools, guards=guards, **more)


def divided_agent(agent: Agent, parts: int = 3) -> Agent:
    divided = finish({"parts": [{"task": f"part {number}"} for number in range(parts)]})
    divider = Agent(model=ScriptedModel([divided]), answer=Subtasks)
    return strategy_agent(Orchestrator(agent, divider=divider), agent)


def sub_agent(office: Office, task: Callable[[Prompt], str]) -> Agent:
    tools = office.tools
    writer = worker(office, MEET, act("send", to="a"), tools=tools)
    writes = delegate(writer, name="write", description="Writes a letter.")
    return worker(office, lambda prompt: act("write", task=task(prompt)), tools=[writes])


def nested(office: Office) -> Agent:
    agent = worker(office, MEET, act("send", to="a"))
    return strategy_agent(Chaining({"one": agent, "two": agent}), agent)


def repaired(office: Office) -> Agent:
    send, *others = office.tools
    tools = [replace(send, repair=to_ada), *others]
    return worker(office, MEET, lambda p: act("send", to=_other(p)), tools=tools)


def _other(prompt: Prompt) -> str:
    return "Ada" if "part 1" in str(prompt) else "a"


def spelled(prompt: Prompt) -> Move:
    return act("send", to="a") if "part 0" in str(prompt) else act("send", text="", to="a")


FORMS: dict[str, Callable[[Office], Agent]] = {
    "a call": lambda o: worker(o, MEET, act("send", to="a")),
    "a default spelled out": lambda o: worker(o, MEET, spelled),
    "an idempotent call": lambda o: worker(o, MEET, act("put", to="a")),
    "an unknown outcome": lambda o: worker(o, MEET, act("lose", to="a")),
    "a program": lambda o: worker(o, MEET, code('send(to="a")')),
    "a program that looks first": lambda o: worker(o, code('meet(q="x")\nsend(to="a")')),
    "with other calls": lambda o: worker(o, MEET, acts(MEET, act("send", to="a"))),
    "a sub-agent": lambda o: sub_agent(o, lambda _: "x"),
    "a sub-agent, in other words": lambda o: sub_agent(o, str),
    "a strategy within": nested,
    "a repair": repaired,
    "an amending guard": lambda o: worker(o, MEET, act("send", to="a"), guards=[amends]),
}


@pytest.mark.parametrize("form", FORMS)
async def test_of_workers_at_once_one_has_the_effect(form: str) -> None:
    office, store = Office(), MemoryStore()
    agent = FORMS[form](office)
    composed = divided_agent(agent)
    result = await run(composed, "Write to Ada.", store=store, run_id="r")
    assert (result.status, len(office.sent)) == ("held", 1)
    rounds = 0
    while result.status == "held":
        for waits in await pending_approvals(store=store):
            assert "done already, by r-2." in waits.why
            await rule(waits.id, allow=False, store=store)
        result = await resume(composed, "r", store=store)
        rounds += 1
        assert rounds < 9
    assert len(office.sent) == 1
    record = await read("r", store=store)
    assert (await replay(composed, "r", store=store)).trajectory.stop == record.stop
    for number in (1, 2, 3):
        same = await replay(agent, f"r-2.{number}", store=store)
        assert same.trajectory.stop is not None


async def test_a_person_may_allow_the_repetition() -> None:
    office, store = Office(), MemoryStore()
    agent = worker(office, MEET, act("send", to="a"))
    composed = divided_agent(agent)
    result = await run(composed, "Write to Ada.", store=store, run_id="r")
    for waits in await pending_approvals(store=store):
        await rule(waits.id, allow=True, store=store)
    result = await resume(composed, "r", store=store)
    assert (result.status, office.sent) == ("answered", ["a"] * 3)
    for number in (1, 2, 3):
        await replay(agent, f"r-2.{number}", store=store)


async def test_other_letters_are_sent_at_once_and_nobody_is_told() -> None:
    office, store = Office(workers=2), MemoryStore()
    agent = worker(office, MEET, lambda p: act("send", to=_other(p)))
    result = await run(divided_agent(agent, 2), "Write.", store=store, run_id="r")
    assert (result.status, sorted(office.sent)) == ("answered", ["Ada", "a"])
    for number in (1, 2):
        record = await read(f"r-2.{number}", store=store)
        assert not any(isinstance(entry.event, Note) for entry in record.entries)


async def test_a_call_that_was_refused_or_failed_is_free_for_another_worker() -> None:
    office, store = Office(workers=2), MemoryStore()
    failed = anyio.Event()

    async def denies(call: Call, trajectory: Trajectory) -> Verdict | None:
        mine = call.action.name == "post" and "part 0" in trajectory.goal
        return Verdict("deny", "not you") if mine and call.args["to"] == "b" else None

    @tool(effect="unsafe")
    async def post(to: str) -> str:
        """Post a letter."""
        if to == "a" and not failed.is_set():
            failed.set()
            raise ToolError("no stamps")
        office.sent.append(to)
        return "posted"

    def first(prompt: Prompt) -> Move:
        return act("post", to="a") if "part 0" in str(prompt) else act("wait", q="x")

    def second(prompt: Prompt) -> Move:
        return act("post", to="b") if "part 0" in str(prompt) else act("meet", q="y")

    @tool(effect="read")
    async def wait(q: str) -> str:
        """Wait for a failure."""
        await failed.wait()
        return q

    def third(prompt: Prompt) -> Move:
        return act("meet", q="z") if "part 0" in str(prompt) else act("post", to="b")

    def fourth(prompt: Prompt) -> Move:
        return say("ok") if "part 0" in str(prompt) else act("post", to="a")

    tools = [post, wait, *office.tools]
    agent = worker(office, first, second, third, fourth, tools=tools, guards=[denies])
    result = await run(divided_agent(agent, 2), "Write.", store=store, run_id="r")
    assert (result.status, office.sent) == ("answered", ["b", "a"])


async def test_after_a_crash_the_records_say_what_was_done() -> None:
    office, store = Office(workers=2), MemoryStore()
    broken = True

    def next_of(prompt: Prompt) -> Move:
        if broken and "part 1" in str(prompt):
            raise ModelError("down")
        return act("send", to="a")

    async def waits_for_the_letter(q: str) -> str:
        """Wait until the letter is sent."""
        while not office.sent and "first" not in q:
            await anyio.lowlevel.checkpoint()
        return q

    def beginning(prompt: Prompt) -> Move:
        return act("await_letter", q="first" if "part 0" in str(prompt) else "then")

    tools = [tool(effect="read", name="await_letter")(waits_for_the_letter), *office.tools]
    agent = worker(office, MEET, beginning, next_of, tools=tools)
    composed = divided_agent(agent, 2)
    with pytest.raises(ModelError):
        await run(composed, "Write.", store=store, run_id="r")
    assert office.sent == ["a"]
    broken = False
    result = await resume(composed, "r", store=store)
    assert (result.status, office.sent) == ("held", ["a"])
    (waits,) = await pending_approvals(store=store)
    assert (waits.run_id, "by r-2.1:3.1" in waits.why) == ("r-2.2", True)
    await replay(agent, "r-2.2", store=store)
    again = await fork(agent, "r-2.2", at=2, store=store)
    assert (again.status, office.sent) == ("held", ["a"])
