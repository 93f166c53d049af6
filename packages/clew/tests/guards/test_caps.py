"""Caps on calls: in a step, of a tool, in a run; a reply with many calls exceeds none."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import pytest

from clew import Agent, Limits, MemoryStore, Trajectory, delegate, read, resume, rule, run
from clew.core.codes import ACTING
from clew.core.judging import Guard
from clew.core.prompts import Prompt
from clew.core.tools import AgentTool, Tool
from clew.guards import Provenance
from clew.testing.models import Move, ScriptedModel, act, acts, finish, say
from tests.core.relay import RELAY
from tests.guards.verdicts import verdict_on
from tests.guards.worlds import tool

NUMBER: Final = {"type": "integer"}
LOOK: Final = tool("look", lambda n: n, "read", n=NUMBER)
SEND: Final = tool("send", lambda n: n, "unsafe", n=NUMBER)


def looks(number: int, name: str = "look") -> Move:
    """So many calls in one step."""
    return acts(*(act(name, n=n) for n in range(number)))


def agent(
    moves: Sequence[Move],
    *,
    guards: Sequence[Guard] = (),
    tools: Sequence[Tool] = (),
    **limits: Any,
) -> Agent[str]:
    limits = {"steps": 40, "landing": False, "no_progress": None} | limits
    tools = [LOOK, SEND, *tools]
    return Agent(ScriptedModel([*moves, say("ok")]), tools, limits=Limits(**limits), guards=guards)


async def recorded(moves: Sequence[Move], **given: Any) -> Trajectory:
    await run(agent(moves, **given), "Go.", store=(store := MemoryStore()), run_id="run")
    return await read("run", store=store)


def codes(record: Trajectory) -> list[str]:
    """Of each call: "" if it was made, or why not."""
    return [call.observation.code if call.observation else "open" for call in record.calls]


@pytest.mark.parametrize("cap", [1, 2, 3])
async def test_a_step_makes_its_first_calls_and_the_next_step_as_many(cap: int) -> None:
    record = await recorded([looks(3), looks(3)], calls_per_step=cap)
    assert codes(record) == [*[""] * cap, *["cap"] * (3 - cap)] * 2
    if cap < 3:
        refused = record.calls[-1].observation
        assert refused is not None
        assert f"only {cap} call(s) a step: make this one in the next step" in refused.text


async def test_a_call_that_was_refused_leaves_its_place_in_the_step_to_the_next() -> None:
    denies = verdict_on("send", "deny", "not today")
    both = acts(act("send", n=1), act("look", n=1), act("look", n=2))
    record = await recorded([both], guards=[denies], calls_per_step=1)
    assert codes(record) == ["denied", "", "cap"]


@pytest.mark.parametrize("cap", [1, 2, 4])
async def test_a_tool_is_called_so_often_in_a_run_and_others_go_on(cap: int) -> None:
    both = acts(act("look", n=1), act("send", n=1), act("look", n=2))
    record = await recorded([both, both], calls_per_tool={"look": cap})
    made = [call.action.name for call in record.calls if call.observation and call.observation.ok]
    assert (made.count("look"), made.count("send")) == (cap, 2)
    refused = [
        call.observation for call in record.calls if call.observation and call.observation.code
    ]
    assert [seen.code for seen in refused] == ["cap"] * (4 - cap)
    assert all(f"look may be called {cap} times in a run" in seen.text for seen in refused)


async def test_all_calls_of_a_run_are_capped_in_one_step_and_the_last_is_made() -> None:
    record = await recorded([looks(2), looks(5)], tool_calls=4)
    assert codes(record) == [""] * 4 + ["cap"] * 3
    refused = record.calls[-1].observation
    assert refused is not None
    assert "all 4 tool calls of this run are used: answer with what is known" in refused.text


async def test_a_finish_beside_calls_counts_as_none() -> None:
    both = acts(finish("ok"), act("look", n=1), act("look", n=2))
    record = await recorded([both], calls_per_step=2, tool_calls=3)
    of_look = [call.observation for call in record.calls if call.action.name == "look"]
    assert [seen.code for seen in of_look if seen is not None] == ["", ""]
    assert record.stop is not None
    assert record.stop.answer == "ok"


async def test_a_persons_word_gives_as_many_again() -> None:
    given = agent([looks(3), looks(3)], tool_calls=2, calls_per_tool={"look": 2})
    await run(given, "Go.", store=(store := MemoryStore()), run_id="run")
    await resume(given, "run", say="Again.", store=store)
    assert codes(await read("run", store=store)) == ["", "", "cap"] * 2


@pytest.mark.parametrize(
    ("limits", "allow", "then"),
    [
        ({"tool_calls": 2}, True, ["", "", "cap"]),  # and all calls of the run are used
        ({"tool_calls": 2}, False, ["denied", "", "cap", ""]),
        ({"calls_per_tool": {"look": 1}}, True, ["", "", "cap", "cap"]),
        ({"calls_per_tool": {"look": 1}}, False, ["denied", "", "cap", "cap"]),
    ],
)
async def test_what_waits_for_a_person_counts_until_it_is_denied(
    limits: dict[str, Any], allow: bool, then: list[str]
) -> None:
    holds = verdict_on("send", "hold", "ask me")
    both = acts(act("send", n=1), act("look", n=1), act("look", n=2))
    given = agent([both, looks(1)], guards=[holds], **limits)
    await run(given, "Go.", store=(store := MemoryStore()), run_id="run")
    assert codes(await read("run", store=store)) == ["open", "", "cap"]
    await rule("run:1.1", allow=allow, store=store)
    await resume(given, "run", store=store)
    assert codes(await read("run", store=store)) == then


# ----------------------------------------------------------------------- of calls that a call makes


def relays(*calls: tuple[str, int], at_once: int = 1) -> Move:
    """A call that asks for others, so many at once."""
    asked = [{"tool": name, "args": {"n": n}} for name, n in calls]
    return act("relay", calls=asked, at_once=at_once)


LOOKS: Final = [("look", n) for n in range(4)]


@pytest.mark.parametrize("at_once", [1, 2, 4])
@pytest.mark.parametrize(
    ("limits", "then"),
    [
        ({"calls_per_step": 1}, ["", "", "", "", ""]),  # they see each other's results
        ({"tool_calls": 3}, ["", "", "", "cap", "cap"]),
        ({"tool_calls": 5}, ["", "", "", "", ""]),
        ({"calls_per_tool": {"look": 2}}, ["", "", "", "cap", "cap"]),
        ({"calls_per_tool": {"relay": 1}}, ["", "", "", "", ""]),
    ],
    ids=repr,
)
async def test_calls_that_a_call_asks_for_are_capped_in_a_run_and_not_in_a_step(
    at_once: int, limits: dict[str, Any], then: list[str]
) -> None:
    record = await recorded([relays(*LOOKS, at_once=at_once)], tools=[RELAY], **limits)
    assert codes(record) == then


async def test_calls_that_two_calls_ask_for_count_together() -> None:
    both = acts(relays(*LOOKS[:2]), relays(*LOOKS[2:]), act("look", n=9))
    record = await recorded([both], tools=[RELAY], calls_per_tool={"look": 3})
    made = [call.observation for call in record.calls if call.action.name == "look"]
    assert [seen is not None and seen.made for seen in made].count(True) == 3
    record = await recorded([both, looks(2)], tools=[RELAY], calls_per_step=2)
    assert [call.key for call in record.calls if call.observation and call.observation.code] == [
        "1.3"
    ]


# ------------------------------------------------------------------------ of all runs together


def counting(name: str, effect: Any, made: list[str]) -> Tool:
    """A tool that notes each of its calls."""

    def call(n: int) -> int:
        made.append(name)
        return n

    return tool(name, call, effect, n=NUMBER)


@dataclass
class Whole:
    """A run and its sub-runs, with caps over all of them; and which calls were made."""

    caps: dict[str, int]
    made: list[str] = field(default_factory=list[str])
    texts: list[str] = field(default_factory=list[str])

    @property
    def tools(self) -> list[Tool]:
        return [counting("look", "read", self.made), counting("send", "unsafe", self.made)]

    def helper(self, *moves: Move) -> AgentTool:
        """A sub-agent that makes these moves, under the caps."""

        def told(prompt: Prompt) -> Move:
            self.texts.extend(part.text for part in prompt.parts if part.role == "tool")
            return say("ok")

        off = [Provenance("off")]
        agent = Agent(ScriptedModel([*moves, told]), self.tools, prompt="Work.", guards=off)
        made = delegate(agent, name="helper", description="It helps.")
        return replace(made, caps=self.caps)

    async def run(self, helper: AgentTool, *moves: Move) -> list[str]:
        """The calls that were made."""
        given = agent_of([*moves], [*self.tools, helper])
        await run(given, "Go.", store=MemoryStore())
        return self.made


def agent_of(moves: Sequence[Move], tools: Sequence[Any]) -> Agent[str]:
    model, off = ScriptedModel([*moves, say("ok")]), [Provenance("off")]
    return Agent(model, tools, prompt="Work.", guards=off)


HELP: Final = act("helper", task="Do it.")


@pytest.mark.parametrize("cap", [1, 2, 3, 5])
async def test_a_cap_on_a_tool_holds_over_sub_runs_one_after_the_other(cap: int) -> None:
    whole = Whole({"look": cap})
    moves = [act("look", n=1), act("look", n=2), act("send", n=1)]
    made = await whole.run(whole.helper(*moves), HELP, HELP)
    assert (made.count("look"), made.count("send")) == (min(cap, 4), 2)
    refused = [text for text in whole.texts if "called as often as the whole work may" in text]
    assert len(refused) == max(0, 4 - cap)


@pytest.mark.parametrize("cap", [1, 2, 3])
async def test_it_counts_the_calls_of_the_run_that_hands_on_too(cap: int) -> None:
    whole = Whole({"look": cap})
    helper = whole.helper(acts(act("look", n=1), act("look", n=2)))
    made = await whole.run(helper, act("look", n=3), HELP, act("look", n=4))
    assert made.count("look") == cap


@pytest.mark.parametrize("cap", [1, 2, 3])
async def test_sub_runs_side_by_side_exceed_no_cap(cap: int) -> None:
    whole = Whole({"look": cap})
    helper = whole.helper(acts(act("look", n=1), act("look", n=2)))
    made = await whole.run(helper, acts(HELP, HELP))
    assert made.count("look") <= cap


@pytest.mark.parametrize("cap", [1, 2, 3])
async def test_a_cap_on_effects_leaves_what_only_reads(cap: int) -> None:
    whole = Whole({ACTING: cap})
    helper = whole.helper(act("send", n=1), act("look", n=1), act("send", n=2))
    made = await whole.run(helper, HELP, HELP)
    assert (made.count("send"), made.count("look")) == (cap, 2)
    why = (
        "all tool calls with an effect that the whole work may make are made or granted to other "
        "runs: answer with what is known"
    )
    refused = [text for text in whole.texts if why in text]
    assert len(refused) == 4 - cap


async def test_a_cap_on_a_tool_is_told_ahead_of_one_on_effects() -> None:
    whole = Whole({ACTING: 1, "send": 1})
    await whole.run(whole.helper(act("send", n=1), act("send", n=2)), HELP)
    (refused,) = [text for text in whole.texts if "may" in text]
    assert "send was called as often as the whole work may: use what it gave" in refused


async def test_a_cap_of_none_lets_nothing_be_called() -> None:
    whole = Whole({"look": 0})
    assert await whole.run(whole.helper(act("look", n=1), act("send", n=1)), HELP) == ["send"]


@pytest.mark.parametrize("granted", [1, 2, 3])
async def test_a_sub_run_makes_no_more_calls_than_it_was_granted(granted: int) -> None:
    whole = Whole({})
    given = agent_of([HELP], [whole.helper(looks(4))])
    limits = Limits(tool_calls=granted + 1)
    await run(given.replace(limits=limits), "Go.", store=MemoryStore())
    assert whole.made == ["look"] * granted
    told = f"all {granted} tool calls granted are used: answer with what is known"
    assert len([text for text in whole.texts if told in text]) == 4 - granted


async def test_a_call_that_a_person_lets_be_made_again_needs_no_place() -> None:
    """It has its place already: of a call whose end nobody knows."""
    tries = iter([OSError("the line went dead"), None])

    def send(n: int) -> int:
        if (error := next(tries)) is not None:
            raise error
        return n

    doubtful = tool("send", send, "unsafe", n=NUMBER)
    moves = [acts(act("send", n=1), act("look", n=1))]
    limits = Limits(tool_calls=2, unknown="hold", calls_per_tool={"send": 1}, no_progress=None)
    given = Agent(ScriptedModel([*moves, say("ok")]), [LOOK, doubtful], limits=limits)
    held = await run(given, "Go.", store=(store := MemoryStore()), run_id="run")
    assert held.status == "held"
    await rule("run:1.1", allow=True, store=store)
    await resume(given, "run", store=store)
    assert codes(await read("run", store=store)) == ["", ""]
