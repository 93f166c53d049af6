"""A person's rewind tells of what was done in the branch; to do it again waits, as in a fork."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from clew import (
    Agent,
    MemoryStore,
    Result,
    Tool,
    Trajectory,
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
from clew.core.contents import RawCall, Reply
from clew.core.entries import Entry
from clew.core.events import Rewound
from clew.core.models import Model
from clew.core.prompts import Prompt
from clew.core.stores import Store
from clew.core.tools import AgentTool
from clew.core.values import encode
from clew.guards import Provenance
from clew.testing import Move, ScriptedModel, act, acts, say
from clew.toolbox import backtrack
from tests.core.play import copy

SEND = act("send", to="ada")


@dataclass
class Office:
    """The letters that were sent, and an agent that sends them."""

    letters: list[str] = field(default_factory=list)
    fails: Exception | None = None

    @property
    def tools(self) -> list[Tool]:
        """A look-up, and a letter."""

        @tool(effect="read")
        def look(name: str) -> str:
            """Look somebody up.

            Args:
                name: Whom.
            """
            return name

        @tool(effect="unsafe")
        def send(to: str, text: str = "") -> str:
            """Send a letter.

            Args:
                to: To whom.
                text: What it says.
            """
            self.letters.append(to)
            if self.fails is not None:
                raise self.fails
            return "sent"

        return [look, send]

    def agent(self, *script: Any, model: Model | None = None, **more: Any) -> Agent:
        """An agent that makes these moves."""
        guards = [*more.pop("guards", ()), Provenance("off")]
        return Agent(model or ScriptedModel([*script]), self.tools, guards=guards, **more)


async def rewound(office: Office, *script: Any, to: int = 1, **more: Any) -> MemoryStore:
    """A run that looked and sent, and of which a person takes the end back."""
    store = MemoryStore()
    usual = script or (act("look", name="ada"), SEND, say("done"))
    await run(office.agent(*usual, **more), "Write.", store=store, run_id="r")
    await rewind("r", to=to, lesson="It was too soon.", store=store)
    return store


def later(*script: Any, to: int = 1) -> list[Any]:
    """The script of a run of which so many steps stay in view: it looks up others first.

    So no call has the number, and with that the id, of one before the rewind: it would be that one.
    """
    looks = [act("look", name=name) for name in ("cleo", "dora")]
    return [*[say("-")] * to, *looks[to:], *script, say("done"), say("done")]


async def goes_on(office: Office, store: Store, *script: Any, to: int = 1) -> Result:
    """How it goes on, after so many steps that stay in view."""
    agent = office.agent(*later(*script, to=to))
    return await resume(agent, "r", store=store, accept_change=True)


AGAIN = [
    SEND,
    act("send", to="ada", text=""),
    acts(act("look", name="bob"), SEND),
    acts(SEND, act("send", to="bob")),
]


@pytest.mark.parametrize("to", [0, 1])
@pytest.mark.parametrize("again", AGAIN, ids=range(len(AGAIN)))
async def test_the_same_letter_waits(again: Any, to: int) -> None:
    office = Office()
    store = await rewound(office, to=to)
    done = await goes_on(office, store, again, to=to)
    assert (done.status, office.letters.count("ada")) == ("held", 1)
    (waits,) = await pending_approvals(store=store)
    assert (waits.tool, "was done already, by r:2.1" in waits.why) == ("send", True)
    record = await read("r", store=store)
    assert [one.key for one in record.done_elsewhere] == ["r:2.1"]


@pytest.mark.parametrize(("allow", "letters"), [(True, 2), (False, 1)])
async def test_a_person_says_whether_it_is_sent_again(*, allow: bool, letters: int) -> None:
    office = Office()
    store = await rewound(office)
    agent = office.agent(*later(SEND))
    await resume(agent, "r", store=store, accept_change=True)
    (waits,) = await pending_approvals(store=store)
    await rule(f"r:{waits.call}", allow=allow, store=store)
    done = await resume(agent, "r", store=store)
    assert (done.status, done.answer, len(office.letters)) == ("answered", "done", letters)
    again = await replay(agent, "r", store=store)
    assert again.trajectory.stop == (await read("r", store=store)).stop


@pytest.mark.parametrize(
    "other", [act("send", to="bob"), act("send", to="ada", text="Hello"), act("look", name="ada")]
)
async def test_anything_else_does_not_wait(other: Any) -> None:
    office = Office()
    store = await rewound(office)
    assert (await goes_on(office, store, other)).status == "answered"


async def test_what_stays_in_view_may_be_done_again() -> None:
    office = Office()
    store = await rewound(office, SEND, act("look", name="ada"), say("done"))
    assert (await goes_on(office, store, SEND)).status == "answered"
    assert office.letters == ["ada", "ada"]


async def test_a_letter_of_which_nobody_knows_is_held_as_that() -> None:
    office = Office(fails=RuntimeError("the line broke"))
    store = await rewound(office)
    assert (await goes_on(office, store, SEND)).status == "held"
    (waits,) = await pending_approvals(store=store)
    assert "may have been done already" in waits.why


async def test_it_holds_over_a_second_rewind_and_a_chat() -> None:
    office = Office()
    store = await rewound(office)
    await goes_on(office, store, act("send", to="bob"))
    await rewind("r", to=1, lesson="Not to him either.", store=store)
    agent = office.agent(*later(acts(SEND, act("send", to="bob"))))
    done = await resume(agent, "r", say="Write to both.", store=store, accept_change=True)
    assert (done.status, office.letters) == ("held", ["ada", "bob"])
    assert len(await pending_approvals(store=store)) == 2
    keys = [one.key for one in (await read("r", store=store)).done_elsewhere]
    assert len(keys) == len(set(keys)) == 2


async def test_a_fork_of_a_rewound_run_holds_it_too() -> None:
    office = Office()
    store = await rewound(office)
    await goes_on(office, store, act("look", name="bob"))
    at = len((await read("r", store=store)).steps) - 1
    agent = office.agent(*[say("-")] * 3, SEND, say("done"))
    done = await fork(agent, "r", at=at, store=store, new_id="f")
    assert (done.status, office.letters) == ("held", ["ada"])
    before = office.agent(say("-"), SEND, say("done"))
    done = await fork(before, "r", at=1, store=store, new_id="g")  # from before the rewind
    assert (done.status, office.letters) == ("held", ["ada"])


def below(office: Office, name: str = "helper") -> AgentTool:
    inner = office.agent(SEND, say("sent"))
    return delegate(inner, name=name, description="Sends letters.")


OF_SUB_AGENTS: list[Callable[[], Any]] = [
    lambda: act("helper", task="Please write to Ada."),
    lambda: SEND,
]


@pytest.mark.parametrize("again", OF_SUB_AGENTS, ids=["in other words", "itself"])
async def test_what_a_sub_agent_did_counts(again: Callable[[], Any]) -> None:
    office, store = Office(), MemoryStore()

    def agent(*script: Any) -> Agent:
        tools: list[Tool | AgentTool] = [*office.tools, below(office)]
        return Agent(ScriptedModel([*script]), tools, guards=[Provenance("off")])

    first = agent(act("look", name="ada"), act("helper", task="Write to Ada."), say("done"))
    await run(first, "Write.", store=store, run_id="r")
    await rewind("r", to=1, lesson="Too soon.", store=store)
    second = agent(*later(again()))
    done = await resume(second, "r", store=store, accept_change=True)
    assert (done.status, office.letters) == ("held", ["ada"])


async def test_what_was_done_since_it_was_asked_for_counts() -> None:
    office, store = Office(), MemoryStore()
    first = office.agent(act("look", name="ada"), SEND, say("done"))
    await run(first, "Write.", store=store, run_id="r")
    await store.post("r", encode(Rewound(1, "No.")))  # from before the letter was sent
    assert (await goes_on(office, store, SEND)).status == "held"
    assert office.letters == ["ada"]


@pytest.mark.parametrize("allow", [True, False])
async def test_it_can_be_cut_anywhere(*, allow: bool) -> None:
    office = Office()
    store = await rewound(office)
    script = later(SEND)
    await resume(office.agent(*script), "r", store=store, accept_change=True)
    (waits,) = await pending_approvals(store=store)
    await rule(f"r:{waits.call}", allow=allow, store=store)
    await resume(office.agent(*script), "r", store=store)
    lines = await store.read("r")
    back = next(n for n, line in enumerate(lines) if b'"rewound"' in line.body)
    for cut in range(back + 1, len(lines)):
        there, before = await copy(lines[:cut]), len(office.letters)
        again = await resume(office.agent(*script), "run", store=there, accept_change=True)
        ruled = any(b'"ruling"' in line.body for line in lines[:cut])
        assert again.status == ("answered" if ruled else "held")
        assert len(office.letters) - before <= int(allow and ruled)


async def test_an_old_record_keeps_its_meaning() -> None:
    store = await rewound(Office())
    await resume(Office().agent(say("-"), say("done")), "r", store=store, accept_change=True)
    old = Trajectory("old")
    for entry in (await read("r", store=store)).entries:
        event = entry.event
        if isinstance(event, Rewound):
            assert event.done
            event = Rewound(event.to, event.lesson, event.by)
        old.add(Entry(entry.seq, entry.at, entry.epoch, event))
    assert old.done_elsewhere == []
    assert encode(Rewound(1, "No.")) == b'{"event":"rewound","to":1,"lesson":"No."}'


async def test_a_model_that_goes_back_by_itself_is_told_and_not_held() -> None:
    office, store = Office(), MemoryStore()

    def went_back(prompt: Prompt) -> bool:
        return any("were a wrong branch" in part.text for part in prompt)

    def writes(prompt: Prompt) -> Move | Reply:
        again = RawCall(name="send", arguments='{"to": "ada"}', id="an id of its own")
        return Reply(calls=(again,), finish="calls") if went_back(prompt) else SEND

    def goes_back(prompt: Prompt) -> Move:
        back = act("backtrack", step=1, lesson="No.")
        return say("done") if went_back(prompt) else back

    model = ScriptedModel([act("look", name="ada"), writes, goes_back])
    agent = Agent(model, [*office.tools, backtrack()], guards=[Provenance("off")])
    done = await run(agent, "Write.", store=store, run_id="r")
    assert (done.status, office.letters) == ("answered", ["ada", "ada"])
