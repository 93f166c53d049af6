"""Budgets: a call is reserved before it is made; what is taken beyond ends the run, and is told."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import anyio
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew import (
    Agent,
    Limits,
    MemoryStore,
    ModelSettings,
    Result,
    Retry,
    ToolError,
    Trajectory,
    Verdict,
    read,
    resume,
    run,
    tool,
)
from clew import replay as play_again
from clew.agent.runner import leave, start, take_up
from clew.context import PROMPT
from clew.context.call_estimate import ANSWER, CallEstimate, max_answer_tokens, opening
from clew.core.actions import Action
from clew.core.bounds import Left
from clew.core.budget import MIN_SECONDS, Budget
from clew.core.contents import Grant, Image, Observation, RawCall, Reply, Usage, text_parts
from clew.core.entries import Entry
from clew.core.events import SCHEMA, Charged, Fingerprints, Landing, Ruling, Started, Thought
from clew.core.journal import Journal
from clew.core.loop import advance
from clew.core.loop import run as go
from clew.core.prompts import Prompt
from clew.core.specs import AgentSpec, Rates
from clew.core.trajectory import Totals
from clew.models.openai.chat import openai_chat
from clew.models.prices import Price
from clew.testing.models import FaultyModel, ScriptedModel, act, acts, finish, say
from tests.core.play import copy
from tests.core.scenarios import TOOLS, lookup
from tests.patience import PATIENCE

pytestmark = pytest.mark.both_loops

PLAIN = Agent(model=ScriptedModel([]), tools=TOOLS)
SCRIPT = [*(act("lookup", key=str(n)) for n in range(8)), say("all of it")]


def costing(*usages: Usage, script: Sequence[Any] = SCRIPT, rates: Rates | None = None) -> Any:
    """A model whose thoughts take these, the last one again and again."""

    class Costing(ScriptedModel):
        def reply(self, prompt: Prompt, index: int) -> Reply:
            reply = super().reply(prompt, 99 if prompt.calls == "none" else index)
            usage = usages[min(index, len(usages) - 1)]
            return Reply(reply.text, reply.calls, reply.finish, usage, self.name)

    landed = [*script, *[say("as far as I got")] * (100 - len(script))]
    return Costing(landed, rates=rates)


def agent(*usages: Usage, limits: Limits, **more: Any) -> Agent:
    return Agent(model=costing(*usages), tools=TOOLS, limits=limits, **more)


async def played(who: Agent, store: MemoryStore | None = None) -> tuple[Result, Trajectory]:
    """A run with its record, which replays."""
    store = store or MemoryStore()
    found = await run(who, "What are they?", store=store, run_id="run")
    record = await read("run", store=store)
    assert (await play_again(who, "run", store=store)).trajectory.entries == record.entries
    return found, record


def landing_of(record: Trajectory) -> Landing:
    return next(e.event for e in record.entries if isinstance(e.event, Landing))


def charges(record: Trajectory) -> list[Charged]:
    return [entry.event for entry in record.entries if isinstance(entry.event, Charged)]


class TestReserving:
    """What does not fit any more is not begun."""

    async def test_a_run_lands_before_its_tokens_are_used_up(self) -> None:
        limits = Limits(tokens=13_000)
        found, record = await played(agent(Usage(input=2_000, output=400), limits=limits))
        assert (found.status, found.reason, found.answer) == ("bound", "tokens", "as far as I got")
        assert landing_of(record).detail == (
            "7,200 of 13,000 used and the next call needs about 3,403, beside 4,403 for a landing"
        )
        assert found.usage.tokens <= 13_000

    async def test_a_budget_that_cannot_pay_for_a_single_call_says_so_at_once(self) -> None:
        found, record = await played(agent(Usage(), limits=Limits(tokens=30), fallback="-"))
        need = opening(PLAIN.parts.first_prompt) + len("What are they?") // 4 + ANSWER
        assert (found.status, found.answer, found.steps) == ("bound", "-", 0)
        assert found.reason == (
            f"tokens: 0 of 30 used and the next call needs about {need:,}; "
            "the remaining budget cannot pay for a final answer"
        )
        assert len(record) == 2

    async def test_a_budget_that_pays_for_one_call_has_it_answer(self) -> None:
        who = agent(Usage(input=1_000, output=100), limits=Limits(tokens=2_000))
        found, _ = await played(who)
        assert (found.status, found.answer, found.steps) == ("bound", "as far as I got", 1)

    async def test_without_a_landing_nothing_is_kept_for_one(self) -> None:
        usage = Usage(input=2_000, output=400)
        found, _ = await played(agent(usage, limits=Limits(tokens=10_000, landing=False)))
        assert (found.steps, found.reason) == (
            3, "tokens: 7,200 of 10,000 used and the next call needs about 3,403",
        )  # fmt: skip

    async def test_what_was_observed_since_is_counted(self) -> None:
        @tool(effect="read")
        def read_all(page: int) -> Any:
            """Read a page."""
            picture = Image("image/png", b"\x89PNG\r\n\x1a\n")
            return Observation(content="word " * 8_000, attachments=(picture,))

        script = [act("read_all", page=1), say("done")]
        model = costing(Usage(input=500, output=50), script=script)
        who = Agent(model=model, tools=[read_all], limits=Limits(tokens=10_000))
        found, _ = await played(who)
        need = 550 + (8_000 * 5) // 4 + 1_000 + ANSWER
        assert found.steps == 1
        assert f"the next call needs about {need:,}" in found.reason

    async def test_what_a_view_shortens_is_counted_as_it_is_shown(self) -> None:
        budget, trajectory = replaced(shape=lambda text: text[:40]), await long_one()
        whole = replaced().standing(trajectory).expected.input
        assert budget.standing(trajectory).expected.input == whole - (4_000 - 40) // 4

    async def test_a_reply_without_a_count_is_estimated_by_its_words(self) -> None:
        trajectory = await long_one(Usage())
        budget = replaced(opening=300)
        said = len("What?") + len("lookup") + len('{"key":"x"}') + 4_000
        assert budget.standing(trajectory).expected == Usage(
            300 + said // 4, ANSWER, estimated=True
        )

    async def test_the_most_a_reply_may_take_is_reserved_where_it_is_known(self) -> None:
        model = ScriptedModel(SCRIPT, settings=ModelSettings(max_tokens=6_000))
        who = Agent(model=model, tools=TOOLS, limits=Limits(tokens=5_000))
        found, _ = await played(
            who.replace(model=ScriptedModel([say("x")], settings=model.settings))
        )
        assert (found.status, found.steps) == ("bound", 1)
        short = ScriptedModel(SCRIPT, settings=ModelSettings(max_tokens=20))
        found, _ = await played(who.replace(model=short, limits=Limits(tokens=1_500)))
        assert found.status == "answered"

    async def test_a_person_who_speaks_gives_the_same_again(self) -> None:
        store = MemoryStore()
        usage = Usage(input=2_000, output=400)
        who = agent(usage, limits=Limits(tokens=10_000))
        await run(who, "What?", store=store, run_id="run")
        found = await resume(who, "run", say="And?", store=store)
        record = await read("run", store=store)
        assert found.steps == 4
        assert sum(isinstance(e.event, Landing) for e in record.entries) == 2

    async def test_the_usual_limits_let_an_ordinary_run_be(self) -> None:
        usage = Usage(input=60_000, output=900, cost=0.06)
        script = [*(act("lookup", key=str(n)) for n in range(13)), say("all")]
        who = Agent(model=costing(usage, script=script), tools=TOOLS)
        found, _ = await played(who)
        assert (found.status, found.steps) == ("answered", 14)


async def long_one(usage: Usage | None = None) -> Trajectory:
    """A record with one thought and one long observation."""
    reply = Reply(
        calls=(RawCall(name="lookup", arguments='{"key":"x"}', id="c"),),
        usage=usage or Usage(100, 10),
    )
    journal = await Journal.create(
        MemoryStore(), Started(text_parts("What?"), PLAIN.spec, SCHEMA), "run"
    )
    thought = Thought(
        reply, Fingerprints("", "", "", ""), actions=(Action("lookup", {"key": "x"}),)
    )
    await journal.record(thought, Observation("1.1", "x" * 4_000))
    return journal.trajectory


def replaced(**changes: Any) -> Budget:
    """The usual budget of a model without a price, with some fields changed."""
    return Budget(Limits().allowance, priced=False, estimate=CallEstimate(**changes))


class TestCost:
    """The same for US dollars, by the model's rates or by what the last reply cost."""

    async def test_by_the_rates_of_the_model(self) -> None:
        usage = Usage(input=10_000, output=1_000, cost=0.02)
        model = costing(usage, rates=Rates(1.0, 10.0, 0.1))
        who = Agent(model=model, tools=TOOLS, limits=Limits(cost=0.10))
        found, record = await played(who)
        assert (found.status, found.reason, found.steps) == ("bound", "cost", 4)
        assert record.spec
        assert record.spec.rates == model.rates
        detail = landing_of(record).detail
        assert detail == (
            "$0.0600 of $0.1000 spent and the next call needs about $0.0210, beside $0.0220 for a "
            "landing"
        )

    async def test_what_a_cache_keeps_is_cheaper(self) -> None:
        usage = Usage(input=10_000, output=1_000, cost=0.011, cached=9_000)
        model = costing(usage, rates=Rates(1.0, 10.0, 0.1))
        found, record = await played(
            Agent(model=model, tools=TOOLS, limits=Limits(cost=0.05, landing=False))
        )
        assert found.steps == 4
        assert record.usage.cost == pytest.approx(0.044)

    async def test_by_the_last_reply_where_no_rates_are_known(self) -> None:
        usage = Usage(input=1, output=1, cost=0.3)
        found, _ = await played(agent(usage, limits=Limits(cost=0.5)))
        assert found.steps == 1
        assert found.reason == (
            "cost: $0.3000 of $0.5000 spent and the next call needs about $0.3000; "
            "the remaining budget cannot pay for a final answer"
        )

    async def test_without_a_price_only_tokens_are_bound(self) -> None:
        model = ScriptedModel([SCRIPT[0], say("it")], priced=False, usage=Usage(5, 5))
        who = Agent(model=model, tools=TOOLS)
        found, record = await played(who)
        assert (found.status, found.usage.cost) == ("answered", None)
        assert who.engine.budget.standing(record).expected.cost is None

    def test_models_behind_http_tell_their_rates(self) -> None:
        with_price = openai_chat("m", api_key="k", prices={"m": Price(1.0, 2.0, 0.5)})
        assert with_price.info.rates == Rates(1.0, 2.0, 0.5)
        assert openai_chat("m", api_key="k").info.rates is None
        assert FaultyModel(ScriptedModel([], rates=Rates(1, 2, 1))).info.rates == Rates(1, 2, 1)

    def test_rates_are_no_part_of_what_an_agent_is(self) -> None:
        rated = PLAIN.replace(model=ScriptedModel(SCRIPT, rates=Rates(1, 2, 1)))
        assert rated.spec.fingerprint == PLAIN.spec.fingerprint


class TestExcess:
    """What a provider takes beyond the bound is told, and nothing more is begun."""

    both = acts(act("lookup", key="a"), act("lookup", key="b"))

    @pytest.mark.parametrize(
        ("limits", "usage", "over"),
        [
            (
                Limits(tokens=9_000), Usage(9_000, 400),
                "tokens: 9,400 of 9,000 used, 400 over",
            ),
            (
                Limits(cost=1.0), Usage(1, 1, cost=1.2),
                "cost: $1.2000 of $1.0000 spent, $0.2000 over",
            ),
        ],
    )  # fmt: skip
    async def test_the_calls_of_that_thought_are_not_made(
        self, limits: Limits, usage: Usage, over: str
    ) -> None:
        who = Agent(model=costing(usage, script=[self.both]), tools=TOOLS, limits=limits)
        found, record = await played(who)
        assert (found.status, found.steps) == ("bound", 1)
        assert found.reason == f"{over}; the remaining budget cannot pay for a final answer"
        for call in record.calls:
            assert call.observation
            assert call.observation.code == "cap"
            assert over in call.observation.text

    async def test_an_answer_counts_and_the_excess_is_told_with_it(self) -> None:
        for line in (say("it"), finish("it")):
            model = costing(Usage(9_000, 400), script=[line])
            found, _ = await played(Agent(model=model, tools=TOOLS, limits=Limits(tokens=9_000)))
            assert (found.status, found.answer) == ("answered", "it")
            assert found.reason == "tokens: 9,400 of 9,000 used, 400 over"

    async def test_a_landing_that_takes_more_says_so(self) -> None:
        usages = (Usage(1_000, 100), Usage(9_000, 100))
        over = "10,200 of 9,000 used, 1,200 over"
        found, _ = await played(agent(*usages, limits=Limits(steps=1, tokens=9_000)))
        assert (found.reason, found.answer) == (f"steps: tokens: {over}", "as far as I got")
        usages = (Usage(4_000, 100), Usage(9_000, 100))
        found, _ = await played(agent(*usages, limits=Limits(tokens=9_500)))
        assert found.reason == "tokens: 13,200 of 9,500 used, 3,700 over"
        silent = costing(*usages, script=[SCRIPT[0], *[Reply()] * 100])
        found, _ = await played(Agent(model=silent, tools=TOOLS, limits=Limits(tokens=9_500)))
        assert found.reason == ("tokens: no answer; tokens: 13,200 of 9,500 used, 3,700 over")

    async def test_a_sub_run_ends_with_its_grant(self) -> None:
        grant = Grant(steps=9, tool_calls=9, tokens=6_000, seconds=60, cost=1.0)
        for usage, over in (
            (Usage(7_000, 1), "grant: tokens: 7,001 of 6,000 used, 1,001 over"),
            (Usage(1, 1, cost=1.5), "grant: cost: $1.5000 of $1.0000 spent, $0.5000 over"),
        ):
            who = agent(usage, limits=Limits(cost=5.0))
            started = Started(text_parts("What?"), who.spec, SCHEMA, grant=grant)
            journal = await Journal.create(MemoryStore(), started)
            stop = (await go(who.engine, journal)).stop
            assert stop is not None
            assert stop.code == over.partition(":")[0] + "_" + over.split(": ")[1]
            assert stop.fallback
            assert stop.reason == f"{over}; the remaining budget cannot pay for a final answer"
        unpriced = msgspec.structs.replace(grant, cost=None)
        who = Agent(model=replace(costing(Usage(2_000, 1)), priced=False), tools=TOOLS)
        started = Started(text_parts("What?"), who.spec, SCHEMA, grant=unpriced)
        record = await go(who.engine, await Journal.create(MemoryStore(), started))
        assert landing_of(record).bound == "grant"


class TestTime:
    """A call may not outlast the run; an effect keeps its whole time, lest it be in doubt."""

    @pytest.mark.parametrize(
        ("effect", "left", "given"),
        [
            ("read", 5.127, 5.13), ("pure", 0.0, MIN_SECONDS), ("read", 99.0, 30.0),
            ("unsafe", 5.0, 30.0), ("idempotent", 5.0, 30.0),
        ],
    )  # fmt: skip
    def test_what_a_call_is_given(self, effect: Any, left: float, given: float) -> None:
        trajectory, one = Trajectory("run"), replace(lookup, effect=effect)
        trajectory.spent.active_ms = trajectory.total.active_ms = 1_000_000
        assert (
            Budget(Grant(1, 1, 1, 1_000 + left), CallEstimate()).standing(trajectory).deadline(one)
            == given
        )
        trajectory.grant = Grant(1, 1, 1, 1_000 + left)
        assert (
            Budget(Grant(1, 1, 1, 9_999.0), CallEstimate()).standing(trajectory).deadline(one)
            == given
        )

    async def test_a_call_is_cut_where_the_time_of_the_run_ends(self) -> None:
        tries = 0

        @tool(effect="read", retry=Retry(times=1, delay=0.0))
        async def wait() -> str:
            """Wait."""
            nonlocal tries
            tries += 1
            if tries == 1:
                message = "not yet"
                raise ToolError(message)
            await anyio.sleep_forever()
            return "never"

        model = ScriptedModel([act("wait"), say("nothing came")])
        who = Agent(model=model, tools=[wait], limits=Limits(seconds=1.0))
        with anyio.fail_after(PATIENCE):
            _, record = await played(who)
        (again,) = record.call("1.1").attempts
        assert again.timeout == MIN_SECONDS  # the one second that there was, less what is used up
        seen = record.call("1.1").observation
        assert seen
        assert seen.code == "timeout"
        assert "(all that is left of the run's time) and was stopped" in seen.text


class TestLost:
    """A worker that died while a thought was due may have asked for it: that is charged once."""

    who = agent(Usage(input=2_000, output=400, cost=0.1), limits=Limits(tokens=20_000, cost=2.0))

    async def cut(self, entries: int) -> MemoryStore:
        store = MemoryStore()
        await run(self.who, "What?", store=store, run_id="run")
        return await copy((await store.read("run"))[:entries])

    @pytest.mark.parametrize(("entries", "due"), [(1, True), (2, False), (3, True), (5, True)])
    async def test_it_is_charged_where_a_thought_was_due(self, entries: int, due: bool) -> None:
        store = await self.cut(entries)
        record = (await take_up(self.who, "run", store)).trajectory
        assert len(charges(record)) == due
        if due:
            (charge,) = charges(record)
            assert charge.usage.estimated
            assert charge.usage.tokens > ANSWER
            assert record.spent.lost == record.total.lost == charge.usage
        found = await resume(self.who, "run", store=store)
        assert found.lost.tokens == sum(
            c.usage.tokens for c in charges(await read("run", store=store))
        )
        assert found.usage == record_usage(await read("run", store=store))
        await play_again(self.who, "run", store=store)

    async def test_it_counts_for_the_bounds(self) -> None:
        store = await self.cut(3)
        for _ in range(4):
            await take_up(self.who, "run", store)
        found = await resume(self.who, "run", store=store)
        record = await read("run", store=store)
        assert found.status == "bound"
        assert found.usage.tokens + found.lost.tokens <= 20_000
        assert found.steps < 5
        left = self.who.engine.budget.standing(record).left
        assert left.tokens == 20_000 - found.usage.tokens - found.lost.tokens

    async def test_a_landing_that_it_leaves_no_room_for_is_not_made(self) -> None:
        store = MemoryStore()
        who = self.who.replace(limits=Limits(tokens=9_000), fallback="-")
        await run(who, "What?", store=store, run_id="run")
        lines = await store.read("run")
        place = next(n for n, line in enumerate(lines, 1) if b'"event":"landing"' in line.body)
        store = await copy(lines[:place])
        found = await resume(who, "run", store=store)
        assert (found.status, found.answer, found.steps) == ("bound", "-", 1)
        assert found.reason == "tokens: no answer"
        await play_again(who, "run", store=store)

    async def test_what_is_lost_may_be_all_there_is(self) -> None:
        store = await self.cut(3)
        who = self.who.replace(limits=Limits(tokens=5_000))
        found = await resume(who, "run", store=store, accept_change=True)
        assert found.reason.startswith("tokens: ")
        assert "tokens of it an estimate of calls nobody saw the end of" in found.reason

    async def test_a_run_that_only_waited_lost_nothing(self) -> None:
        store = MemoryStore()
        started = Started(text_parts("What?"), self.who.spec, SCHEMA, queue="default")
        await Journal.create(store, started, "run")
        first = await take_up(self.who, "run", store)  # and dies without a word
        assert not charges(first.trajectory)
        assert len(charges((await take_up(self.who, "run", store)).trajectory)) == 1

    async def test_a_worker_that_leaves_between_steps_loses_nothing(self) -> None:
        store = await self.cut(3)
        journal = await take_up(self.who, "run", store)
        await leave(self.who, journal)
        again = await take_up(self.who, "run", store)  # and dies without a word
        assert [charge.usage.tokens > 0 for charge in charges(again.trajectory)] == [True, False]
        third = await take_up(self.who, "run", store)
        assert [c.usage.tokens > 0 for c in charges(third.trajectory)] == [True, False, True]
        while third.trajectory.stop is None:
            await advance(self.who.engine, third)
        await leave(self.who, third)
        assert not isinstance(third.trajectory.entries[-1].event, Charged)

    async def test_rules_take_no_tokens_and_nothing_is_charged_for_them(self) -> None:
        rules, store = Agent(model="offline"), MemoryStore()
        await start(rules, "What is 6 * 7?", store, run_id="run")  # and its worker dies
        journal = await take_up(rules, "run", store)
        await leave(rules, journal)
        assert [each.usage.tokens for each in charges(journal.trajectory)] == [0]

    async def test_where_no_thought_was_due_nothing_is_charged(self) -> None:
        landed = self.who.replace(limits=Limits(steps=1))
        assert await self.lost(landed, "landing", before=True) == 0
        assert await self.lost(landed, "landing") == 1
        silent = landed.replace(
            model=costing(Usage(10, 1), script=[SCRIPT[0], Reply()]), fallback="-"
        )
        assert await self.lost(silent, "stop", before=True) == 0
        wrong = self.who.replace(
            model=costing(Usage(10, 1), script=[say("x")]), checks=[never], tries=0
        )
        assert await self.lost(wrong, "stop", before=True) == 0

    async def lost(self, who: Agent, event: str, *, before: bool = False) -> int:
        """How much is charged where the worker died at the first entry of a kind."""
        await run(who, "What?", store=(store := MemoryStore()), run_id="run")
        lines = await store.read("run")
        place = next(
            n for n, line in enumerate(lines, 1) if b'"event":"%s"' % event.encode() in line.body
        )
        store = await copy(lines[: place - before])
        return len(charges((await take_up(who, "run", store)).trajectory))

    async def test_words_that_a_screen_holds_have_not_been_asked_with(self) -> None:
        async def hold(text: str) -> Verdict | None:
            return Verdict("hold", "strange words") if text else None

        who = self.who.replace(screens=[hold])
        await run(who, "What?", store=(store := MemoryStore()), run_id="run")
        for lines, ruling, due in (
            (2, None, 0), (3, Ruling("0.0", allow=True), 1), (3, Ruling("0.0", allow=False), 0),
        ):  # fmt: skip
            cut = await copy((await store.read("run"))[:lines])
            if ruling is not None:
                await (await Journal.open(cut, "run")).record(ruling)
            assert len(charges((await take_up(who, "run", cut)).trajectory)) == due


async def never(answer: object, trajectory: Trajectory) -> str | None:
    """A check that nothing meets."""
    return f"{answer} is not it"


def record_usage(record: Trajectory) -> Usage:
    """What the replies in a record took."""
    replies = [step.thought.reply.usage for step in record if step.thought is not None]
    return sum(replies, start=Usage())


def test_parameters_say_how_much_a_reply_may_take() -> None:
    assert max_answer_tokens({"max_tokens": 7, "temperature": 0}) == 7
    assert max_answer_tokens({"max_tokens": True}) is None
    assert max_answer_tokens({"max_tokens": "9", "temperature": 8}) is None
    assert max_answer_tokens({}) is None


USAGES = st.builds(
    Usage, input=st.integers(0, 6_000), output=st.integers(0, 2_000),
    cost=st.none() | st.floats(0, 0.4), cached=st.integers(0, 3_000),
)  # fmt: skip
WORLDS = st.fixed_dictionaries({
    "usages": st.lists(USAGES, min_size=1, max_size=6),
    "tokens": st.integers(1_000, 30_000),
    "cost": st.floats(0.01, 1.5),
    "steps": st.integers(1, 8),
    "rates": st.none() | st.just(Rates(2.0, 10.0, 0.2)),
    "most": st.none() | st.integers(1, 4_000),
    "cuts": st.lists(st.integers(1, 20), max_size=4),
})  # fmt: skip


@settings(max_examples=40, deadline=None)
@given(WORLDS)
async def test_whatever_calls_take_no_bound_is_passed_by_more_than_one_call(
    world: dict[str, Any],
) -> None:
    told = ModelSettings(max_tokens=world["most"])
    model = replace(costing(*world["usages"], rates=world["rates"]), settings=told)
    limits = Limits(steps=world["steps"], tokens=world["tokens"], cost=world["cost"])
    who = Agent(model=model, tools=TOOLS, limits=limits)
    await run(who, "What are they?", store=(store := MemoryStore()), run_id="run")
    kept(who, await read("run", store=store))
    for cut in world["cuts"]:
        lines = await store.read("run")
        store = await copy(lines[: min(cut, len(lines))])
        await resume(who, "run", store=store)
        kept(who, await read("run", store=store))
    await play_again(who, "run", store=store)


def kept(who: Agent, record: Trajectory) -> None:
    """Each thought was begun where it was expected to fit; nothing after a bound was passed.

    So what was spent is over a bound by the excess of one call at most, the last one.
    """
    assert record.stop is not None
    before = Trajectory("run")
    for entry in record.entries:
        event = entry.event
        passed = tokens(before.spent) > who.limits.tokens
        passed = passed or dollars(before.spent) > (who.limits.cost or 0.0)
        if isinstance(event, Thought):
            assert not passed
            expected = who.engine.budget.standing(before).expected
            assert tokens(before.spent) + expected.tokens <= who.limits.tokens
            spent = dollars(before.spent) + (expected.cost or 0.0)
            assert spent <= (who.limits.cost or 0.0) + 1e-9
        if isinstance(event, Observation) and passed and event.call:
            assert event.code in {"cap", ""}
            assert before.call(event.call).action.name == "finish" or event.code == "cap"
        assert not (passed and isinstance(event, Landing))
        before.add(entry)


def tokens(spent: Totals) -> int:
    return spent.tokens


def dollars(spent: Totals) -> float:
    return (spent.usage.cost or 0.0) + (spent.lost.cost or 0.0)


@pytest.mark.parametrize(
    ("steps", "calls", "lines"),
    [
        (4, 4, []),
        (3, 4, ["3 steps are left."]),
        (4, 3, ["3 tool calls are left."]),
        (1, 0, ["This is the last step: finish now.", "0 tool calls are left."]),
    ],
)
def test_the_model_is_reminded_of_what_is_left_from_where_it_is_near(
    steps: int, calls: int, lines: list[str]
) -> None:
    trajectory = Trajectory(
        "r", [Entry(1, 0, 1, Started(text_parts("q"), AgentSpec("f", "m", "c", "p")))]
    )
    near = PROMPT.replace(tell_left="near")
    assert near.reminders(trajectory, Left(steps, calls, 1_000, 60.0)) == tuple(lines)


@pytest.mark.parametrize(("took", "left"), [(0, 600.0), (1_500, 594.0 + 1.5)])
def test_a_sub_run_gets_the_time_that_two_thoughts_like_the_last_one_leave(
    took: int, left: float
) -> None:
    who = Agent(model=ScriptedModel([say("x")]))
    thought = Thought(Reply(), Fingerprints("h", "t", "p", "s"))
    entries = [Entry(1, 0, 1, Started(text_parts("q"), who.spec)), Entry(2, took, 1, thought)]
    assert who.engine.budget.standing(Trajectory("r", entries)).share(1).seconds == left


async def test_a_worker_that_leaves_where_a_thought_is_due_says_that_it_asked_for_none() -> None:
    who = Agent(model=ScriptedModel([say("x")]))
    journal = await start(who, "q", MemoryStore())
    await leave(who, journal)
    words = "the worker left between two steps: nothing was asked"
    assert journal.trajectory.entries[-1].event == Charged(Usage(), "left", words)
