"""A fork repeats no effect that its parent had, however deep in its sub-agents it was."""

import re
from typing import Any

import pytest

from clew import Agent, MemoryStore, Tool, delegate, fork, read, resume, rule, run, tool
from clew.core.prompts import Prompt
from clew.core.tools import AgentTool
from clew.guards import Provenance
from clew.testing.models import Line, ScriptedModel, act, acts, say
from tests.core.play import copy

pytestmark = pytest.mark.anyio


def asked_for(prompt: Prompt, mark: str) -> list[str]:
    """The words behind a mark in the question: `letter:ada`."""
    question = next(part.text for part in prompt if f"{mark}:" in part.text)
    return re.findall(rf"{mark}:(\w+)", question)


class House:
    """A desk that looks up and sends; it asks a clerk, or an office that asks the clerk."""

    def __init__(self) -> None:
        self.letters: list[str] = []

        @tool(effect="unsafe")
        def send(to: str) -> str:
            """Send a letter.

            Args:
                to: Who gets it.
            """
            self.letters.append(to)
            return f"sent to {to}"

        @tool(effect="read")
        def find(who: str) -> str:
            """Look somebody up.

            Args:
                who: Their name.
            """
            return f"{who} is in the book"

        self.send, self.find = send, find
        self.clerk = self.asked("clerk", send, lambda prompt: acts(*self.sends(prompt)))
        self.office = self.asked("office", self.clerk, self.passes_on)
        self.reader = self.asked("reader", find, lambda _: act("find", who="ada"))

    def asked(self, name: str, inner: Tool | AgentTool, line: Any) -> AgentTool:
        agent = Agent(
            ScriptedModel([line, say("It is done.")]), tools=[inner], guards=[Provenance("off")]
        )
        return delegate(agent, name=name, description=f"The {name}.")

    def sends(self, prompt: Prompt) -> list[Any]:
        return [act("send", to=to) for to in asked_for(prompt, "letter")]

    def passes_on(self, prompt: Prompt) -> Any:
        names = " ".join(f"letter:{to}" for to in asked_for(prompt, "letter"))
        return act("clerk", task=f"For the office: {names}")

    def desk(self, *script: Line) -> Agent:
        tools: list[Tool | AgentTool] = [self.find, self.send, self.clerk, self.office, self.reader]
        return Agent(ScriptedModel([*script, say("Done.")]), tools, guards=[Provenance("off")])


ASK_CLERK = act("clerk", task="letter:ada")
ASK_OFFICE = act("office", task="letter:ada")
SEND = act("send", to="ada")

AGAIN = {
    "the clerk in the same words": (ASK_CLERK, ASK_CLERK),
    "the clerk in other words": (ASK_CLERK, act("clerk", task="Write, please: letter:ada")),
    "the clerk's call itself": (ASK_CLERK, SEND),
    "the office, which asks the clerk": (ASK_CLERK, ASK_OFFICE),
    "one of the clerk's two letters": (act("clerk", task="letter:ada letter:bob"), SEND),
    "one of two, with a new one": (ASK_CLERK, act("clerk", task="letter:ada letter:ada")),
    "the office in other words": (ASK_OFFICE, act("office", task="Again: letter:ada")),
    "the office's clerk": (ASK_OFFICE, act("clerk", task="letter:ada")),
    "the call at the bottom": (ASK_OFFICE, SEND),
    "its own call, by the clerk": (SEND, ASK_CLERK),
    "its own call, by the office": (SEND, ASK_OFFICE),
}


@pytest.mark.parametrize("at", [0, 1])
@pytest.mark.parametrize("name", AGAIN)
async def test_what_a_sub_agent_did_is_not_repeated(name: str, at: int) -> None:
    made, again = AGAIN[name]
    house, store = House(), MemoryStore()
    look = act("find", who="ada")
    await run(house.desk(look, made), "Write to Ada.", store=store, run_id="r")
    before = [*house.letters]
    assert "ada" in before
    held = await fork(house.desk(look, again), "r", at=at, store=store, new_id="f")
    assert (held.status, house.letters) == ("held", before)
    told = (await read("f", store=store)).forks[-1].done
    assert len({done.key for done in told}) == len(told)
    letters = {done.text for done in told if done.tool == "send"}
    assert letters == {f'send({{"to":"{to}"}})' for to in before}


@pytest.mark.parametrize("call", [act("clerk", task="letter:bob"), act("send", to="bob")])
async def test_another_letter_is_sent(call: Any) -> None:
    house, store = House(), MemoryStore()
    await run(house.desk(ASK_CLERK), "Write.", store=store, run_id="r")
    done = await fork(house.desk(call), "r", at=0, store=store, new_id="f")
    assert (done.answer, house.letters) == ("Done.", ["ada", "bob"])


async def test_what_a_person_allows_happens_twice() -> None:
    house, store = House(), MemoryStore()
    await run(house.desk(ASK_OFFICE), "Write.", store=store, run_id="r")
    desk = house.desk(SEND)
    held = await fork(desk, "r", at=0, store=store, new_id="f")
    (waits,) = held.pending_approvals
    await rule(f"f:{waits.call}", allow=True, store=store)
    assert (await resume(desk, "f", store=store)).answer == "Done."
    assert house.letters == ["ada", "ada"]


async def test_what_only_reads_is_not_told() -> None:
    house, store = House(), MemoryStore()
    await run(house.desk(act("reader", task="Who is Ada?")), "Look.", store=store, run_id="r")
    done = await fork(house.desk(act("find", who="ada")), "r", at=0, store=store, new_id="f")
    assert (done.answer, (await read("f", store=store)).forks[-1].done) == ("Done.", ())


async def test_forks_of_forks_are_told_all_of_it() -> None:
    house, store = House(), MemoryStore()
    await run(house.desk(ASK_CLERK), "Write.", store=store, run_id="r")
    other = house.desk(act("clerk", task="letter:bob"))
    await fork(other, "r", at=0, store=store, new_id="f")
    held = await fork(
        house.desk(acts(act("send", to="bob"), SEND)), "f", at=0, store=store, new_id="g"
    )
    assert (held.status, len(held.pending_approvals)) == ("held", 2)
    assert house.letters == ["ada", "bob"]


async def test_an_effect_whose_observation_is_replaced_is_told_too() -> None:
    house, store = House(), MemoryStore()
    await run(house.desk(ASK_CLERK), "Write.", store=store, run_id="r")
    held = await fork(
        house.desk(ASK_CLERK, SEND),
        "r",
        at=1,
        observations={"1.1": "nobody was there"},
        store=store,
        new_id="f",
    )
    assert (held.status, house.letters) == ("held", ["ada"])


async def test_a_sub_run_that_is_gone_leaves_the_call_itself() -> None:
    house, first = House(), MemoryStore()
    await run(house.desk(ASK_CLERK), "Write.", store=first, run_id="r")
    store = await copy(await first.read("r"))  # without its sub-run
    await fork(house.desk(), "run", at=0, store=store, new_id="f")
    told = (await read("f", store=store)).forks[-1].done
    assert [done.text for done in told] == ['clerk({"task":"letter:ada"})']
    alone = await copy(await store.read("f"))  # without the run that made the call
    await fork(house.desk(), "run", at=0, store=alone, new_id="g")
    assert (await read("g", store=alone)).forks[-1].done == told
