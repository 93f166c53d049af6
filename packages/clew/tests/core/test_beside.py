"""Runs that are at work at once for one strategy: an effect of one is held in the others."""

from typing import Any

import anyio
import pytest

from clew import (
    Agent,
    Call,
    MemoryStore,
    ModelError,
    Result,
    Tool,
    ToolError,
    Trajectory,
    Verdict,
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
from clew.guards import Provenance
from clew.testing import ScriptedModel, act, acts, say
from clew.testing.models import Line
from tests.guards.verdicts import verdict_on


class Office:
    """Two clerks meet there before either writes; the letters, in order."""

    def __init__(self) -> None:
        self.sent: list[str] = []
        self.here = 0
        self.both = anyio.Event()

    def tools(self) -> list[Tool]:
        @tool(effect="unsafe")
        async def send(to: str, text: str = "") -> str:
            """Send a letter."""
            await anyio.lowlevel.checkpoint()
            if to == "nowhere":
                raise ToolError("no such place")
            self.sent.append(to + text)
            return "sent"

        @tool(effect="read")
        async def meet() -> str:
            """Wait until both are here."""
            self.here += 1
            if self.here >= 2:
                self.both.set()
            await self.both.wait()
            return "here"

        return [send, meet]

    def until_sent(self) -> Tool:
        @tool(effect="read")
        async def until_sent() -> str:
            """Wait until a letter is sent."""
            while not self.sent:
                await anyio.lowlevel.checkpoint()
            return "now"

        return until_sent


def clerk(office: Office, *lines: Line, **fields: Any) -> Agent:
    guards = [*fields.pop("guards", ()), Provenance("off")]
    model = ScriptedModel([act("meet"), *lines, say("ok")])
    return Agent(model, office.tools(), guards=guards, **fields)


def whole(one: Agent, other: Agent, name: str = "strategy:own") -> Agent:
    """An agent whose record is that of a strategy: it asks both at once."""
    both = acts(act("one", task="write"), act("other", task="write"))
    tools = [
        delegate(one, name="one", description="Writes."),
        delegate(other, name="other", description="Writes too."),
    ]
    model = ScriptedModel([both, say("all is written")], name=name)
    return Agent(model, tools, guards=[Provenance("off")])


async def worked(one: Agent, other: Agent, store: MemoryStore, **more: Any) -> Result:
    return await run(whole(one, other, **more), "Write to Ada.", store=store, run_id="r")


async def amends(call: Call, trajectory: Trajectory) -> Verdict | None:
    """A guard that completes an address."""
    del trajectory
    if call.action.name == "send" and call.args["to"] == "A":
        return Verdict("amend", "a is meant", args={**call.args, "to": "a"})
    return None


denies = verdict_on("send", "deny", "no letters")
"""A guard: no letters."""


holds = verdict_on("send", "hold", "a letter")
"""A guard: a person sees each letter first."""


@pytest.mark.parametrize("second", [act("send", to="a"), act("send", text="", to="a")])
async def test_the_first_to_call_makes_the_call_and_an_equal_one_waits(second: Any) -> None:
    office, store = Office(), MemoryStore()
    agents = clerk(office, act("send", to="a")), clerk(office, second)
    result = await worked(*agents, store)
    assert (result.status, office.sent) == ("held", ["a"])
    (waits,) = await pending_approvals(store=store)
    assert "already, by r-1." in waits.why
    for agent, run_id in zip(agents, ("r-1.1", "r-1.2"), strict=True):
        await replay(agent, run_id, store=store)
    await rule(waits.id, allow=False, store=store)
    result = await resume(whole(*agents), "r", store=store)
    assert (result.status, office.sent) == ("answered", ["a"])


async def test_arguments_count_as_guards_amend_them() -> None:
    office, store = Office(), MemoryStore()
    one, other = (clerk(office, act("send", to=to), guards=[amends]) for to in ("A", "a"))
    assert (await worked(one, other, store)).status == "held"
    assert office.sent == ["a"]


async def test_a_secret_is_known_again_and_told_to_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_PASSWORD", secret := "open sesame")
    office, store = Office(), MemoryStore()
    agent = clerk(office, act("send", to=secret))
    assert (await worked(agent, agent, store)).status == "held"
    assert office.sent == [secret]
    for run_id in ("r-1.1", "r-1.2"):
        await replay(agent, run_id, store=store)
        lines = await store.read(run_id)
        assert not any(b"sesame" in line.body for line in lines)


@pytest.mark.parametrize("guard", [denies, holds], ids=["denies", "holds"])
async def test_a_call_that_is_not_made_holds_nobody(guard: Any) -> None:
    office, store = Office(), MemoryStore()
    first = clerk(office, act("send", to="a"), guards=[guard])
    await worked(first, clerk(office, act("send", to="a")), store)
    assert office.sent == ["a"]
    assert all("already" not in waits.why for waits in await pending_approvals(store=store))


async def test_nor_does_one_that_certainly_did_nothing_or_another_one() -> None:
    office, store = Office(), MemoryStore()
    fails, looks = act("send", to="nowhere"), act("meet")
    one, other = clerk(office, fails, act("send", to="a")), clerk(office, looks, looks, fails)
    assert (await worked(one, other, store)).status == "answered"
    assert office.sent == ["a"]


async def test_runs_that_a_model_asked_for_at_once_are_its_own_affair() -> None:
    office, store = Office(), MemoryStore()
    agent = clerk(office, act("send", to="a"))
    assert (await worked(agent, agent, store, name="a model")).status == "answered"
    assert office.sent == ["a", "a"]


@pytest.mark.parametrize("to", ["a", "b"])
async def test_a_call_that_has_ended_counts_as_it_ended(to: str) -> None:
    office, store = Office(), MemoryStore()
    one = clerk(office, act("send", to="a"))
    lines: list[Line] = [act("meet"), act("until_sent"), act("send", to=to), say("ok")]
    other = Agent(ScriptedModel(lines), [*office.tools(), office.until_sent()])
    result = await worked(one, other, store)
    assert (result.status, office.sent) == (
        ("held", ["a"]) if to == "a" else ("answered", ["a", to])
    )


async def test_what_was_done_before_a_crash_is_read_from_the_records() -> None:
    office, store = Office(), MemoryStore()
    broken = True

    def then(prompt: Any) -> Any:
        del prompt
        if broken:
            raise ModelError("down")
        return act("send", to="a")

    one = clerk(office, act("send", to="a"))
    lines: list[Line] = [act("meet"), act("until_sent"), then, say("ok")]
    other = Agent(ScriptedModel(lines), [*office.tools(), office.until_sent()])
    with pytest.raises(ModelError):
        await worked(one, other, store)
    broken = False
    result = await resume(whole(one, other), "r", store=store)
    assert (result.status, office.sent) == ("held", ["a"])
    again = await fork(other, "r-1.2", at=2, store=store)  # before it was told
    assert (again.status, office.sent) == ("held", ["a"])


async def test_a_run_below_one_of_them_is_at_work_beside_the_other_too() -> None:
    office, store = Office(), MemoryStore()
    writer = clerk(office, act("send", to="a"))
    asks = Agent(
        ScriptedModel([act("write", task="write"), say("ok")]),
        [delegate(writer, name="write", description="Writes.")],
    )
    assert (await worked(asks, writer, store)).status == "held"
    assert office.sent == ["a"]
    records = [await read(run_id, store=store) for run_id in ("r-1.1-1.1", "r-1.2")]
    assert sum(len(record.done_elsewhere) for record in records) == 1
