"""The agent: parts that do not fit are refused before the first model call."""

import itertools
from dataclasses import dataclass, fields, replace
from typing import Any

import anyio
import pytest

from clew import (
    Agent,
    ConfigError,
    Evidence,
    Instructions,
    Limits,
    ModelSettings,
    Observation,
    Result,
    Tool,
    Usage,
    Verdict,
    read,
    resume,
    rule,
    run,
)
from clew.agent.read_result import result
from clew.context import PROMPT, Example
from clew.core.budget import AtMost
from clew.core.contents import Reply, text_parts
from clew.core.events import Started, Stop
from clew.core.journal import Journal
from clew.core.loop import run as go
from clew.core.models import ModelInfo, OnText
from clew.core.prompts import Prompt
from clew.core.spec_changes import changes
from clew.core.trajectory import Call, Trajectory
from clew.core.values import Json
from clew.guards import NoProgress
from clew.guards.caps import Caps
from clew.models.anthropic.messages import anthropic_messages
from clew.stores.memory import MemoryStore
from clew.support.parts import stable_name
from clew.testing.models import ScriptedModel, act, acts, finish, say
from tests.core.scenarios import TOOLS, Point, add, lookup

MODEL = ScriptedModel([say("ok")])


@dataclass(frozen=True)
class Unpriced:
    """A model whose price nobody knows."""

    info = ModelInfo("unpriced:1")

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        """Always the same."""
        return Reply(text="ok")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"tools": [lookup, lookup]}, "two tools are called lookup"),
        ({"tries": -1}, "tries is -1"),
        ({"codec": "morse"}, "morse"),
        ({"model": "nobody:x"}, "nobody"),
        ({"answer": object()}, "answer"),
    ],
)
def test_parts_that_do_not_fit_are_refused(options: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        Agent(**{"model": MODEL, **options})


def test_a_word_for_no_tool_is_no_name_for_one() -> None:
    def nothing() -> str:
        """Wait."""
        return ""

    with pytest.raises(ConfigError, match="'nothing' is how models say that they call no tool"):
        Agent(model=MODEL, tools=[nothing])


def test_finish_is_no_name_for_a_tool() -> None:
    tool = replace(add, name="finish")
    with pytest.raises(ConfigError, match="'finish' is the tool that ends a run"):
        Agent(model=MODEL, tools=[tool])


@pytest.mark.parametrize(
    "limits",
    [
        {"steps": 0},
        {"tool_calls": -1},
        {"seconds": float("inf")},
        {"seconds": float("nan")},
        {"cost": 0.0},
        {"calls_per_tool": {"lookup": 0}},
    ],
)
def test_an_agent_without_bounds_cannot_be_made(limits: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="give a finite number over 0"):
        Limits(**limits)


def test_a_cost_limit_without_a_known_price_is_refused() -> None:
    with pytest.raises(ConfigError, match="known price"):
        Agent(model=Unpriced(), limits=Limits(cost=1.0))
    assert not any(
        repr(bound) == "Cost(most=1.0)" for bound in Agent(model=Unpriced()).parts.bounds
    )
    assert any(repr(bound) == "Cost(most=1.0)" for bound in Agent(model=MODEL).parts.bounds)


def test_a_plain_agent_is_named_in_records_as_it_always_was() -> None:
    """Or every run that was begun before would have to be taken up with another agent."""
    parts = dict(Agent(model=MODEL).spec.parts)
    assert parts.pop("bounds") == [
        "Faults(most=3)",
        "Steps(most=15)",
        "ToolCalls(most=30)",
        "Tokens(most=1000000)",
        "Seconds(most=600.0)",
        "Cost(most=1.0)",
        "Stuck(refused=2, unmade=6)",
    ]
    assert parts.pop("guards") == [
        "NoProgress(hint=3, refuse=5, polling=frozenset())",
        "Caps(total=30, per_step=16, per_tool={})",
    ]
    assert parts.pop("limits") == (
        "Limits(steps=15, tool_calls=30, calls_per_step=16, calls_per_tool={}, "
        "tokens=1000000, cost=None, seconds=600.0, faults=3)"
    )
    assert parts == {
        "answer": {"type": "string"},
        "checks": [],
        "examples": 0,
        "fallback": None,
        "landing": True,
        "thought": True,
        "tries": 2,
        "unknown": "tell",
    }


def test_settings_name_what_changed() -> None:
    one = Agent(model=MODEL, tools=TOOLS)
    other = one.replace(prompt="Other", tools=TOOLS[1:], limits=Limits(steps=3))
    assert changes(one.spec, one.replace().spec) == ()
    assert changes(one.spec, other.spec) == (
        "prompt",
        "tools.lookup",
        "parts.bounds",
        "parts.limits",
    )
    assert one.spec.fingerprint != other.spec.fingerprint


def test_parts_are_named_by_their_own_words() -> None:
    assert stable_name(AtMost("steps", 3)) == "Steps(most=3)"
    assert stable_name(test_parts_are_named_by_their_own_words).endswith("named_by_their_own_words")


def test_an_agent_has_few_fields_each_topic_once() -> None:
    own = {each.name for each in fields(Agent)}
    parts = {each.name for kind in (Limits, Instructions) for each in fields(kind)}
    assert len(own) <= 16
    assert not own & parts


def test_no_progress_detection_can_be_left_out() -> None:
    without = Agent(model=MODEL, limits=Limits(no_progress=None))
    assert not any(isinstance(guard, NoProgress) for guard in without.parts.guards)


async def play(script: list[Any], **options: Any) -> tuple[Result[Any], Trajectory]:
    """A run over a memory store, with its record."""
    agent = Agent(model=ScriptedModel(script), tools=TOOLS, **options)
    found = await run(agent, "What?", store=(store := MemoryStore()), run_id="run")
    from_store = Trajectory("run")
    for entry in (await _entries(store)).entries:
        from_store.add(entry)
    return found, from_store


async def _entries(store: MemoryStore) -> Trajectory:
    return await read("run", store=store)


class TestBounds:
    """Each axis stops a run and says so."""

    pytestmark = pytest.mark.anyio

    @pytest.mark.parametrize(
        ("limits", "bound"),
        [
            (Limits(steps=2), "steps"),
            (Limits(tool_calls=2), "tool_calls"),
            (Limits(tokens=14_000), "tokens"),
        ],
    )
    async def test_each_axis_lands_the_run(self, limits: Limits, bound: str) -> None:
        script = [*(act("lookup", key=str(n)) for n in range(2)), say("as far as I got")]
        model = ScriptedModel(script, usage=Usage(input=3_000, output=500))
        agent = Agent(model=model, tools=TOOLS, limits=limits)
        found = await run(agent, "What?", store=MemoryStore())
        assert (found.status, found.reason, found.answer) == ("bound", bound, "as far as I got")

    async def test_seconds_of_work_land_the_run(self) -> None:
        model = ScriptedModel([act("lookup", key="a"), say("as far as I got")])
        agent = Agent(model=model, tools=TOOLS, limits=Limits(seconds=2))
        ticks = itertools.count(0, 1000)  # every entry is a second after the one before
        started = Started(text_parts("What?"), agent.spec)
        journal = await Journal.create(MemoryStore(), started, clock=lambda: next(ticks))
        stop = (await go(agent.engine, journal)).stop
        assert stop == Stop("bound", "seconds", "as far as I got", code="seconds")

    async def test_cost_lands_the_run(self) -> None:
        model = ScriptedModel(
            [act("lookup", key="a"), act("lookup", key="b"), say("enough")],
            usage=Usage(input=1, output=1, cost=0.3),
        )
        agent = Agent(model=model, tools=TOOLS, limits=Limits(cost=1.0))
        found = await run(agent, "What?", store=MemoryStore())
        assert (found.status, found.reason) == ("bound", "cost")
        assert found.usage.cost == pytest.approx(0.9)

    async def test_the_users_own_bound(self) -> None:
        def no_more_than_one_lookup(trajectory: Trajectory) -> str | None:
            return "lookups: one is enough" if trajectory.spent.calls["lookup"] else None

        found, _ = await play([act("lookup", key="a"), say("ok")], bounds=[no_more_than_one_lookup])
        assert (found.status, found.reason) == ("bound", "lookups")

    async def test_one_call_a_step_is_the_reports_mode(self) -> None:
        both = acts(act("lookup", key="a"), act("lookup", key="b"))
        _, trajectory = await play([both, say("ok")], limits=Limits(calls_per_step=1))
        codes = [call.observation.code for call in trajectory.calls if call.observation]
        assert codes == ["", "cap"]

    async def test_a_follow_up_has_the_same_limits_again(self) -> None:
        store = MemoryStore()
        script = [act("lookup", key="a"), say("one"), act("lookup", key="b"), say("two")]
        limits = Limits(steps=2, tool_calls=2)
        agent = Agent(model=ScriptedModel(script), tools=TOOLS, limits=limits)
        assert (await run(agent, "a?", store=store, run_id="run")).answer == "one"
        found = await resume(agent, "run", say="b?", store=store)
        assert (found.status, found.answer, found.steps) == ("answered", "two", 4)

    async def test_a_raised_limit_goes_on_after_a_bound(self) -> None:
        store = MemoryStore()
        script = [act("lookup", key="a"), say("so far"), act("lookup", key="b"), say("all")]
        agent = Agent(model=ScriptedModel(script), tools=TOOLS, limits=Limits(steps=1))
        assert (await run(agent, "What?", store=store, run_id="run")).status == "bound"
        raised = agent.replace(limits=Limits(steps=9))
        with pytest.raises(ConfigError, match=r"parts\.limits"):
            await resume(raised, "run", store=store)
        found = await resume(raised, "run", store=store, accept_change=True)
        assert (found.status, found.answer) == ("answered", "all")

    async def test_the_model_is_told_when_little_is_left(self) -> None:
        tails: list[str] = []

        def look(prompt: Prompt) -> Any:
            tails.append(" ".join(part.text for part in prompt.tail))
            return act("lookup", key=str(len(tails)))

        limits = Limits(steps=4, tool_calls=5)
        await play([look, look, look, look, say("ok")], limits=limits)
        assert tails == [
            "",
            "NOTE: 3 steps are left.",
            "NOTE: 2 steps are left. 3 tool calls are left.".replace(". ", ".\n"),
            "NOTE: This is the last step: finish now.\n2 tool calls are left.",
        ]

    def test_sub_runs_may_be_ruled_out_and_the_usual_depth_goes_unsaid(self) -> None:
        assert Limits(depth=0).depth == 0
        assert repr(Limits(depth=3)) == repr(Limits(depth=2)) == repr(Limits())
        with pytest.raises(ConfigError, match="limit depth is -1: give a finite number from 0 on"):
            Limits(depth=-1)
        assert Agent(model=MODEL, limits=Limits(depth=2)).spec.parts["depth"] == 2
        assert "depth" not in Agent(model=MODEL).spec.parts

    def test_bounds_are_values(self) -> None:
        assert repr(AtMost("tool_calls", 3)) == "ToolCalls(most=3)"
        assert repr(AtMost("tokens", 3)) == "Tokens(most=3)"
        assert repr(AtMost("seconds", 3.0)) == "Seconds(most=3.0)"
        assert repr(Caps(3, 2)) == "Caps(total=3, per_step=2, per_tool={})"


class TestNoProgress:
    """A hint at the third, a refusal from the fifth; whatever may lead somewhere passes."""

    pytestmark = pytest.mark.anyio

    async def codes(self, script: list[Any], **options: Any) -> list[tuple[str, int]]:
        _, trajectory = await play([*script, say("ok")], limits=Limits(steps=40, **options))
        return [
            (call.observation.code, len(call.hints))
            for call in trajectory.calls
            if call.observation
        ]

    async def test_the_ladder(self) -> None:
        repeated = "repeated_same_tool_call_too_many_times"
        codes = await self.codes([act("lookup", key="a")] * 6)
        assert codes == [("", 0), ("", 0), ("", 1), ("", 1), (repeated, 0), (repeated, 0)]

    async def test_a_cycle_of_two(self) -> None:
        script = [act("lookup", key="a"), act("add", a=1, b=1)] * 5
        codes = [code for code, _ in await self.codes(script)]
        assert codes[:8] == [""] * 8
        assert codes[8] == "repeated_same_tool_call_too_many_times"

    async def test_paging_and_measuring_pass(self) -> None:
        pages = [act("lookup", key=str(n)) for n in range(12)]
        assert all(code == "" for code, _ in await self.codes(pages))
        measure_and_fix = [
            step for n in range(8) for step in (act("lookup", key="a"), act("add", a=n, b=0))
        ]
        assert all(code == "" for code, _ in await self.codes(measure_and_fix))

    async def test_polling_tools_may_be_named(self) -> None:
        guard = NoProgress(polling=frozenset({"lookup"}))
        codes = await self.codes([act("lookup", key="a")] * 12, no_progress=guard)
        assert codes == [("", 0)] * 12

    async def test_a_persons_word_starts_it_anew(self) -> None:
        store = MemoryStore()
        four = [act("lookup", key="a")] * 4
        agent = Agent(model=ScriptedModel([*four, say("ok"), *four, say("ok")]), tools=TOOLS)
        await run(agent, "What?", store=store, run_id="run")
        found = await resume(agent, "run", say="again", store=store)
        assert found.status == "answered"


class TestGuards:
    """What guards amend, hold and deny."""

    pytestmark = pytest.mark.anyio

    async def test_an_amendment_that_breaks_the_schema_is_refused(self) -> None:
        async def spoil(call: Call, trajectory: Trajectory) -> Verdict | None:
            return Verdict("amend", "spoiled", args={"key": 5})

        _, trajectory = await play([act("lookup", key="a"), say("ok")], guards=[spoil])
        observation = trajectory.call("1.1").observation
        assert observation
        assert observation.code == "invalid_arguments"

    async def test_edited_arguments_are_judged_again_but_not_by_the_guard_that_held(self) -> None:
        async def hold(call: Call, trajectory: Trajectory) -> Verdict | None:
            return Verdict("hold", "look at this")

        async def no_secrets(call: Call, trajectory: Trajectory) -> Verdict | None:
            secret = call.action.args.get("key") == "secret"
            return Verdict("deny", "no secrets") if secret else None

        store = MemoryStore()
        agent = Agent(
            model=ScriptedModel([act("lookup", key="a"), say("ok")]),
            tools=TOOLS,
            guards=[hold, no_secrets],
        )
        assert (await run(agent, "What?", store=store, run_id="run")).status == "held"
        await rule("run:1.1", allow=True, args={"key": "secret"}, store=store)
        assert (await resume(agent, "run", store=store)).status == "answered"
        trajectory = await _entries(store)
        observation = trajectory.call("1.1").observation
        assert observation
        assert (observation.code, observation.ok) == ("denied", False)

    async def test_a_held_finish_waits_too(self) -> None:
        async def hold(call: Call, trajectory: Trajectory) -> Verdict | None:
            return Verdict("hold", "look at the answer")

        store = MemoryStore()
        agent = Agent(model=ScriptedModel([finish("yes")]), guards=[hold])
        assert (await run(agent, "What?", store=store, run_id="run")).status == "held"
        await rule("run:1.1", allow=True, store=store)
        assert (await resume(agent, "run", store=store)).answer == "yes"

    async def test_input_repair_is_a_recorded_step(self) -> None:
        def mend(args: dict[str, Json]) -> tuple[dict[str, Json], str] | None:
            if isinstance(args.get("a"), str):
                return {**args, "a": int(args["a"])}, "a was a string"
            return None

        mended = replace(add, repair=mend)
        script = [act("add", a="1", b=2), act("add", a=3, b=4), say("ok")]
        agent = Agent(model=ScriptedModel(script), tools=[mended])
        await run(agent, "What?", store=(store := MemoryStore()), run_id="run")
        trajectory = await _entries(store)
        assert [call.observation.content for call in trajectory.calls if call.observation] == [3, 7]
        verdict = trajectory.call("1.1").verdict
        assert verdict
        assert (verdict.verdict.kind, verdict.by) == ("amend", "add.repair")


class TestResult:
    """What a run came to."""

    pytestmark = pytest.mark.anyio

    async def test_cited_pieces_are_named_in_their_order(self) -> None:
        async def call(args: dict[str, Json], key: str) -> Observation:
            pieces = (Evidence("doc_1", "one"), Evidence("doc_2", "two"), Evidence("doc_1", "x"))
            return Observation(content="found", evidence=pieces)

        tool = Tool("find", "Find.", {"type": "object"}, call, effect="read")
        script = [act("find"), act("find"), say("Two [doc_2], one [doc_1], none [doc_9].")]
        agent = Agent(model=ScriptedModel(script), tools=[tool])
        found = await run(agent, "What?", store=MemoryStore())
        assert [piece.doc_id for piece in found.cited] == ["doc_2", "doc_1"]
        assert [piece.text for piece in found.evidence] == ["one", "two"]
        assert found.ok

    async def test_a_source_that_was_found_twice_is_cited_by_its_best_piece(self) -> None:
        scores = [0.3, 0.9, 0.5]

        async def call(args: dict[str, Json], key: str) -> Observation:
            score = scores.pop(0)
            pieces = Evidence("doc_1", f"{score} of one", score), Evidence("doc_2", "two", 0.1)
            return Observation(content="found", evidence=pieces)

        tool = Tool("find", "Find.", {"type": "object"}, call, effect="read")
        script = [act("find"), act("find"), act("find"), say("One [doc_1].")]
        agent = Agent(model=ScriptedModel(script), tools=[tool])
        found = await run(agent, "What?", store=MemoryStore())
        assert [piece.text for piece in found.cited] == ["0.9 of one"]
        assert [piece.text for piece in found.evidence] == ["0.9 of one", "two"]

    async def test_a_run_that_has_not_stopped_has_no_result(self) -> None:
        with pytest.raises(ValueError, match="has not stopped"):
            result(Agent(model=MODEL), Trajectory("run"))

    async def test_effects_are_the_calls_that_changed_or_may_have_changed_something(self) -> None:
        _, trajectory = await play([act("lookup", key="a"), say("ok")])
        assert trajectory.effects == []
        assert list(trajectory) == trajectory.steps

    async def test_examples_come_first_in_the_agents_own_format(self) -> None:
        _, worked = await play([act("lookup", thought="Look.", key="a"), finish("a")])
        example = Example("What is a?", tuple(worked.steps))
        seen: list[list[str]] = []

        def look(prompt: Prompt) -> Any:
            seen.append([part.role for part in prompt.head])
            return say("ok")

        await play([look], prompt=PROMPT.replace(examples=[example]))
        roles = ["system", "user", "assistant", "tool", "assistant", "tool", "user"]
        assert seen == [roles]

    async def test_without_a_thought_none_is_asked_for(self) -> None:
        heads: list[str] = []

        def look(prompt: Prompt) -> Any:
            heads.append(prompt.head[0].text)
            return say('{"x": 1, "y": 2}')

        found, _ = await play([look], prompt=PROMPT.replace(thought=False), answer=Point)
        await play([look], prompt=PROMPT.replace(thought=True), answer=Point)
        assert found.answer == Point(1, 2)
        assert "Before each call" not in heads[0]
        assert "Before each call" in heads[1]

    async def test_a_long_prompt_restates_the_goal(self) -> None:
        tails: list[str] = []

        def look(prompt: Prompt) -> Any:
            tails.append(" ".join(part.text for part in prompt.tail))
            return act("lookup", key=f"{len(tails)}" + "x " * 7_500)

        await play([look, look, look, say("ok")])
        assert tails == ["", "", "NOTE: The question again: What?"]

    async def test_after_a_further_word_that_word_is_what_is_restated(self) -> None:
        tails: list[str] = []

        def look(prompt: Prompt) -> Any:
            tails.append(" ".join(part.text for part in prompt.tail))
            return act("lookup", key=f"{len(tails)}" + "x " * 7_500)

        script: list[Any] = [look, look, say("ok"), look, look, look, say("done")]
        agent, store = Agent(model=ScriptedModel(script), tools=TOOLS), MemoryStore()
        await run(agent, "What?", store=store, run_id="r")
        await resume(agent, "r", say="And why?", store=store)
        assert tails == ["", "", "", "", "NOTE: The person's last words again: And why?"]


def test_a_model_that_can_say_what_it_cannot_take_is_asked_beforehand() -> None:
    model = anthropic_messages("m", api_key="k")
    odd = {"type": "object", "properties": {"a b": {"type": "string"}}}
    strange = Tool("strange", "Odd.", odd, lambda args, key: anyio.sleep(0))
    with pytest.raises(ConfigError, match=r"'strange' has the property 'a b'"):
        Agent(model=model, tools=[strange])
    assert Agent(model=model, tools=[strange], codec="paper").engine.codec.name == "paper/2"


@dataclass(frozen=True)
class Dice:
    """A model that says its seed."""

    info = ModelInfo("dice", priced=True)

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        return Reply(f"{prompt.seed}", usage=Usage(cost=0.0))


async def test_a_model_that_takes_a_seed_has_that_of_its_agent() -> None:
    agent = Agent(model=Dice(), settings=ModelSettings(seed=7))
    assert (await run(agent, "Throw.", store=MemoryStore())).answer == "7"
    assert (await run(agent.seeded(8), "Throw.", store=MemoryStore())).answer == "8"
