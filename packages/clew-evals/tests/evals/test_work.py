"""Evaluations carried out: what is paid, what is kept, what is refused."""

import sqlite3
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from clew import Agent, ConfigError, ModelError, SqliteStore, StoreError, rule, tool
from clew.agent import api
from clew.core.contents import Reply, Usage
from clew.core.judging import Guard
from clew.core.models import ModelInfo, OnText
from clew.core.prompts import Prompt
from clew.core.tools import Tool
from clew.core.trajectory import Call, Trajectory
from clew.core.values import encode
from clew.core.verdicts import Verdict
from clew.models.prices import Price
from clew.testing.models import ScriptedModel, act, finish, position, say
from clew_evals.case import Case
from clew_evals.judge import Judge, judging
from clew_evals.outcome import Outcome
from clew_evals.plan import Configuration, Plan
from clew_evals.results import Results
from clew_evals.runner import HOPELESS, Evaluation, EvaluationProgress, evaluate, foreseen
from clew_evals.world import Episode, World
from clew_strategies import verifying

PAID = Usage(input=1000, output=100, cost=0.01)
CASES = tuple(Case(f"c{n}", f"How much is {n} and {n}?", str(2 * n)) for n in range(1, 5))


@tool(effect="read")
async def add(to: int) -> str:
    """Add a number to itself.

    Args:
        to: The number.
    """
    return str(2 * to)


@dataclass(frozen=True)
class Adder:
    """Asks `add`, then says what it gave; notes every question that it is paid for."""

    asked: list[str] = field(default_factory=list[str])
    fails: set[str] = field(default_factory=set[str])
    calls: str = "add"
    info = ModelInfo("adder:test", priced=True)

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        question = prompt.head[-1].text
        number = next(word for word in question.split() if word.isdigit())
        if f"c{number}" in self.fails:
            message = "the server is on fire"
            raise ModelError(message)
        self.asked.append(f"c{number} {position(prompt) + 1}")
        text = next((part.text for part in prompt.parts if part.role == "tool"), "")
        lines = [act(self.calls, to=int(number)), say(text)]
        scripted = ScriptedModel(lines, tools=[add], usage=PAID, name=self.info.name)
        return await scripted.complete(prompt, on_text)


def plan(model: Adder | None = None, **changes: Any) -> Plan:
    """One agent over four small cases."""
    agent = Agent(model=model or Adder(), tools=[add])
    parts: dict[str, Any] = {
        "name": "sums",
        "world": World("sums", CASES),
        "configurations": [Configuration("plain", agent)],
        **changes,
    }
    return Plan(**parts)


def ids(outcomes: Sequence[Outcome]) -> list[str]:
    return [outcome.case for outcome in outcomes]


async def test_every_case_is_answered_scored_and_kept_with_its_record(tmp_path: Path) -> None:
    seen: list[EvaluationProgress] = []
    done = await evaluate(plan(), tmp_path / "r.sqlite", watch=seen.append)
    assert done.complete
    assert ids(done.outcomes) == ["c1", "c2", "c3", "c4"]
    assert all(
        one.passed and one.em == 1.0 and one.counted.calls == {"add": 1} for one in done.outcomes
    )
    assert done.spent == pytest.approx(8 * 0.01)
    assert [step.done for step in seen] == [1, 2, 3, 4]
    assert (seen[-1].total, seen[-1].passed) == (4, 4)
    record = await api.read(done.outcomes[0].run_id, store=tmp_path / "r.sqlite")
    assert record.goal == CASES[0].question
    assert done.about.cases == CASES


async def test_what_has_ended_is_not_paid_again(tmp_path: Path) -> None:
    model = Adder()
    first = await evaluate(plan(model), tmp_path / "r.sqlite", first=2)
    assert sorted(model.asked) == ["c1 1", "c1 2", "c2 1", "c2 2"]
    model.asked.clear()
    second = await evaluate(plan(model), tmp_path / "r.sqlite")
    assert sorted(model.asked) == ["c3 1", "c3 2", "c4 1", "c4 2"]
    assert [*second.outcomes][:2] == [*first.outcomes]
    model.asked.clear()
    assert (await evaluate(plan(model), tmp_path / "r.sqlite")).outcomes == second.outcomes
    assert model.asked == []


async def test_an_outcome_that_was_lost_is_read_from_its_record(tmp_path: Path) -> None:
    model = Adder()
    before = await evaluate(plan(model), tmp_path / "r.sqlite")
    model.asked.clear()
    with closing(sqlite3.connect(tmp_path / "r.sqlite")) as connection, connection:
        connection.execute("DELETE FROM outcomes")
    connection.close()
    assert (await evaluate(plan(model), tmp_path / "r.sqlite")).outcomes == before.outcomes
    assert model.asked == []


async def test_a_trial_whose_model_failed_is_in_the_report_and_tried_again(tmp_path: Path) -> None:
    model = Adder(fails={"c2"})
    done = await evaluate(plan(model), tmp_path / "r.sqlite")
    (failed,) = done.failed
    assert (failed.case, failed.status, failed.reason) == ("c2", "failed", "the server is on fire")
    assert [one.kind for one in done.outcomes] == [None, "failed", None, None]
    assert not done.complete
    assert not done.left
    model.fails.clear()
    model.asked.clear()
    again = await evaluate(plan(model), tmp_path / "r.sqlite")
    assert again.complete
    assert model.asked == ["c2 1", "c2 2"]
    assert again.outcomes[1].passed


async def test_where_every_trial_fails_no_further_ones_begin(tmp_path: Path) -> None:
    many = tuple(Case(f"c{n}", f"How much is {n} and {n}?", str(2 * n)) for n in range(30))
    broken = Adder(fails={case.id for case in many})
    done = await evaluate(plan(broken, world=World("w", many)), tmp_path / "r.sqlite", at_once=1)
    assert (len(done.failed), done.left) == (HOPELESS, 20)
    assert "the server is on fire" in done.stopped


async def test_no_trial_begins_once_the_limit_is_spent(tmp_path: Path) -> None:
    model = Adder()
    done = await evaluate(plan(model), tmp_path / "r.sqlite", at_once=1, max_cost=0.03)
    assert ids(done.outcomes) == ["c1", "c2"]  # the second ended over the limit
    assert (done.left, done.stopped) == (2, "cost: $0.0400 of $0.0300 spent")
    still = await evaluate(plan(model), tmp_path / "r.sqlite", max_cost=0.03)
    assert (still.left, len(model.asked)) == (2, 4)  # what was spent before counts
    rest = await evaluate(plan(model), tmp_path / "r.sqlite", max_cost=None)
    assert rest.complete
    at_its_end = await evaluate(plan(model), tmp_path / "r.sqlite", max_cost=0.03)
    assert at_its_end.complete
    assert not at_its_end.stopped


async def test_one_may_do_a_part_first(tmp_path: Path) -> None:
    agent = Agent(model=Adder(), tools=[add])
    both = plan(configurations=[Configuration("a", agent), Configuration("b", agent)])
    done = await evaluate(both, tmp_path / "r.sqlite", only=["b"], first=1)
    assert [(one.configuration, one.case) for one in done.outcomes] == [("b", "c1")]
    with pytest.raises(ConfigError, match="no configuration 'c': there are a, b"):
        await evaluate(both, tmp_path / "r.sqlite", only=["c"])
    with pytest.raises(ConfigError, match="the first 0 cases are none"):
        await evaluate(both, tmp_path / "r.sqlite", first=0)
    with pytest.raises(ConfigError, match="at_once is 0"):
        await evaluate(both, tmp_path / "r.sqlite", at_once=0)
    with pytest.raises(ConfigError, match="max_cost is nan"):
        await evaluate(both, tmp_path / "r.sqlite", max_cost=float("nan"))


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"name": "other"}, "its name is sums, not other"),
        ({"world": World("w", CASES)}, "its world is sums, not w"),
        ({"world": World("sums", CASES[1:])}, "it has the case c1, which is not there any more"),
        (
            {"world": World("sums", (Case("c1", "Why?", "8"), *CASES[1:]))},
            "its case c1 was another",
        ),
        ({"seeds": [1]}, "it has the seed 0"),
        ({"configurations": [Configuration("b", Agent(model=Adder()))]}, "plain with adder:test"),
        (
            {"configurations": [Configuration("plain", Agent(model=Adder(), prompt="Hm."))]},
            "had another prompt, tools.add",
        ),
        (
            {
                "configurations": [
                    Configuration("plain", Agent(model=Adder(), tools=[add]), votes=2)
                ]
            },
            "had another votes",
        ),
        ({"judge": Judge(judging(Adder()))}, "its judge is none, not adder:test"),
    ],
)
async def test_another_evaluation_is_refused_with_what_differs(
    tmp_path: Path, changes: dict[str, Any], told: str
) -> None:
    model = Adder()
    await evaluate(plan(model), tmp_path / "r.sqlite", first=1)
    model.asked.clear()
    for look in (evaluate, foreseen):
        with pytest.raises(ConfigError, match="holds another evaluation") as caught:
            await look(plan(**changes), tmp_path / "r.sqlite")
        assert told in str(caught.value)
    assert model.asked == []


async def test_an_evaluation_may_grow(tmp_path: Path) -> None:
    model = Adder()
    small = plan(model, world=World("sums", CASES[1:2]))
    await evaluate(small, tmp_path / "r.sqlite")
    model.asked.clear()
    agent = Agent(model=model, tools=[add])
    two = [Configuration("first", agent), Configuration("plain", agent)]
    grown = plan(configurations=two, seeds=[1, 0], repetitions=2)
    done = await evaluate(grown, tmp_path / "r.sqlite")
    assert done.complete
    assert len(done.outcomes) == 2 * 2 * 2 * 4
    assert len(model.asked) == 2 * (len(done.outcomes) - 1)
    assert [one.configuration for one in done.outcomes] == ["first"] * 16 + ["plain"] * 16
    with pytest.raises(ConfigError, match="it has 2 repetitions, not 1"):
        await evaluate(plan(configurations=two, seeds=[1, 0]), tmp_path / "r.sqlite")


@dataclass(frozen=True)
class Seeds:
    """A model that answers with its seed."""

    info = ModelInfo("seeds:test", priced=True)

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        return await ScriptedModel([say(str(prompt.seed))]).complete(prompt, on_text)


async def test_no_two_runs_of_one_case_have_one_seed(tmp_path: Path) -> None:
    agent = Agent(model=Seeds())
    both = [Configuration("one", agent), Configuration("three", agent, votes=3)]
    asked = plan(configurations=both, world=World("w", CASES[:1]), seeds=[0, 7], repetitions=2)
    done = await evaluate(asked, tmp_path / "r.sqlite")
    answers = [one.answer for one in done.outcomes if one.configuration == "one"]
    assert sorted(answers) == ["0", "100", "70000", "70100"]
    votes = [one for one in done.outcomes if one.configuration == "three"]
    runs = [run for one in votes for run in one.runs]
    found = {(await api.read(run, store=tmp_path / "r.sqlite")).stop.answer for run in runs}  # type: ignore[union-attr]  # each has stopped
    assert found == {str(each + n) for each in (0, 100, 70000, 70100) for n in range(3)}


async def test_a_vote_is_one_trial_of_several_runs(tmp_path: Path) -> None:
    verifier = verifying(ScriptedModel([finish({"run": 2, "why": "it looked"})], answer=dict))
    agent = Agent(model=Seeds())
    three = Configuration("three", agent, votes=3, verifier=verifier)
    case = Case("c", "Which?", "1")
    done = await evaluate(
        plan(configurations=[three], world=World("w", [case])), tmp_path / "r.sqlite"
    )
    (one,) = done.outcomes
    assert (one.answer, one.passed, one.votes) == ("1", True, 3)
    assert [run.removeprefix(one.run_id) for run in one.runs] == [".2", ".1", ".3", ".verifier"]
    assert one.counted.usage.tokens == 4 * 15
    record = await api.read(one.run_id, store=tmp_path / "r.sqlite")
    assert one.counted.seconds == record.total.active_ms / 1000


async def test_a_judge_is_tried_first_and_what_it_judged_is_not_paid_again(tmp_path: Path) -> None:
    asked: list[str] = []

    def rated(prompt: Prompt) -> Reply | str:
        text = "".join(part.text for part in prompt)
        asked.append(text)
        word = {"reasons": "I looked.", "score": 2 if "Mars" in text else 5}
        return Reply(encode(word).decode(), usage=PAID)

    judge = Judge(judging(ScriptedModel([rated], name="judge:test")))
    model = Adder()
    case = Case("c1", CASES[0].question, [{"exact": "2"}, {"judge": "it says 2"}])
    asks = plan(model, world=World("w", [case]), judge=judge)
    done = await evaluate(asks, tmp_path / "r.sqlite")
    (one,) = done.outcomes
    assert one.judgement
    assert (one.judgement.score, one.passed, one.counted.usage.cost) == (5, True, 0.02)
    assert done.spent == pytest.approx(0.03)  # the judge's reply on the trial counts
    before = len(asked)
    with closing(sqlite3.connect(tmp_path / "r.sqlite")) as connection, connection:
        connection.execute("DELETE FROM outcomes")
    connection.close()
    assert (await evaluate(asks, tmp_path / "r.sqlite")).outcomes == done.outcomes
    assert len(asked) == before


async def test_a_judge_of_no_use_is_not_that_of_the_results(tmp_path: Path) -> None:
    def judged(of_invented: int) -> Judge:
        def rated(prompt: Prompt) -> str:
            invented = "Mars" in "".join(part.text for part in prompt)
            return encode({"reasons": "Hm.", "score": of_invented if invented else 3}).decode()

        return Judge(judging(ScriptedModel([rated], name=f"judge:{of_invented}")))

    path = tmp_path / "r.sqlite"
    with pytest.raises(ConfigError, match="gave 3 to a right answer and 3 to an invented one"):
        await evaluate(plan(judge=judged(3)), path)
    with pytest.raises(ConfigError, match="a store without an evaluation"):
        Results(path)
    one = World("w", CASES[:1])
    done = await evaluate(plan(world=one, judge=judged(1)), path)
    assert done.outcomes[0].judgement
    assert (done.outcomes[0].judgement.score, done.about.judge) == (3, "judge:1 (passes 4)")


async def test_a_judge_costs_what_its_price_says(tmp_path: Path) -> None:
    model = ScriptedModel([], name="judge:test", usage=PAID)
    agent = Agent(model=Adder(), tools=[add])
    free = [Configuration("plain", agent, price=Price(0.0, 0.0))]
    judged = []
    for each in (None, Price(0.0, 0.0), Price(10.0, 10.0)):
        asked = plan(configurations=free, judge=Judge(judging(model), price=each))
        judged.append(await foreseen(asked, tmp_path / "r.sqlite"))
    assert [one.unknown for one in judged] == [("judge:test",), (), ()]
    assert [one.max_cost for one in judged] == [4.0, 0.0, 4.0]
    assert [one.about for one in judged] == pytest.approx([0.0, 0.0, 4 * 0.0265])


async def test_where_its_judge_fails_a_trial_is_judged_the_next_time(tmp_path: Path) -> None:
    down: list[str] = ["down"]

    def rated(prompt: Prompt) -> Reply:
        text = "".join(part.text for part in prompt)
        if "lighthouse" not in text and down:  # the samples it is tried on come first
            message = "the judge's server is down"
            raise ModelError(message)
        word = {"reasons": "I looked.", "score": 2 if "Mars" in text else 5}
        return Reply(encode(word).decode(), usage=PAID)

    model = Adder()
    judge = Judge(judging(ScriptedModel([rated], name="judge:test")))
    asks = plan(model, world=World("w", CASES[:1]), judge=judge)
    done = await evaluate(asks, tmp_path / "r.sqlite")
    assert [one.reason for one in done.failed] == ["the judge: the judge's server is down"]
    down.clear()
    model.asked.clear()
    done = await evaluate(asks, tmp_path / "r.sqlite")
    assert done.complete
    assert done.outcomes[0].judgement
    assert model.asked == []


async def test_a_trial_that_is_held_is_looked_at_again(tmp_path: Path) -> None:
    async def hold(call: Call, trajectory: Trajectory) -> Verdict | None:
        return Verdict("hold", "may it?")

    agent = Agent(model=Adder(), tools=[add], guards=[hold])
    asks = plan(world=World("w", CASES[:1]), configurations=[Configuration("a", agent)])
    (held,) = (await evaluate(asks, tmp_path / "r.sqlite")).outcomes
    assert (held.status, held.kind) == ("held", "held")
    (still,) = (await evaluate(asks, tmp_path / "r.sqlite")).outcomes
    assert still.status == "held"
    await rule(f"{held.run_id}:1.1", allow=True, store=tmp_path / "r.sqlite")
    (ruled,) = (await evaluate(asks, tmp_path / "r.sqlite")).outcomes
    assert (ruled.status, ruled.passed) == ("answered", True)


@dataclass
class Counter:
    """An episode: a counter that `up` counts up, and a reward for 2."""

    case: Case
    value: int = 0
    caught_up: list[int] = field(default_factory=list[int])
    guards: Sequence[Guard] = ()

    @property
    def tools(self) -> Sequence[Tool]:
        @tool(effect="read")
        async def up() -> str:
            """Count up."""
            self.value += 1
            return str(self.value)

        @tool(effect="read")
        async def down() -> str:
            """Count down."""
            self.value -= 1
            return str(self.value)

        return [up, down]

    async def catch_up(self, trajectory: Trajectory) -> None:
        self.value = trajectory.total.calls["up"]
        self.caught_up.append(self.value)

    async def reward(self, trajectory: Trajectory) -> float | None:
        return float(self.value == 2)


def counting(*cases: Case) -> tuple[World, list[Counter]]:
    """A world of counters, and all that were entered."""
    entered: list[Counter] = []

    @asynccontextmanager
    async def enter(case: Case) -> AsyncGenerator[Episode]:
        entered.append(Counter(case))
        yield entered[-1]

    return World("counters", cases, enter), entered


async def test_a_trial_goes_on_in_its_world_where_its_record_is(tmp_path: Path) -> None:
    world, entered = counting(Case("c", "Count to two.", {"reward": 1.0}))
    broken = ScriptedModel([act("up")])
    agent = Agent(model=broken)
    counts = plan(world=world, configurations=[Configuration("a", agent)])
    done = await evaluate(counts, tmp_path / "r.sqlite")
    assert done.failed
    model = ScriptedModel([act("up"), act("up"), say("two")])
    counts = plan(world=world, configurations=[Configuration("a", Agent(model=model))])
    done = await evaluate(counts, tmp_path / "r.sqlite")
    (one,) = done.outcomes
    assert (one.passed, one.reward, one.counted.calls) == (True, 1.0, {"up": 2})
    assert [each.caught_up for each in entered] == [[], [], [], [1]]  # two were entered to look


async def test_tools_of_a_world_can_be_left_out(tmp_path: Path) -> None:
    world, _ = counting(Case("c", "Count to two.", {"reward": 1.0}))
    agent = Agent(model=ScriptedModel([say("two")]))
    less = Configuration("a", agent, leave_out=("down",))
    done = await evaluate(plan(world=world, configurations=[less]), tmp_path / "r.sqlite")
    record = await api.read(done.outcomes[0].run_id, store=tmp_path / "r.sqlite")
    assert list(record.started.spec.tools) == ["up"]
    wrong = Configuration("a", agent, leave_out=("sideways",))
    with pytest.raises(ConfigError, match=r"leaves out 'sideways'.*its tools are up, down"):
        await foreseen(plan(world=world, configurations=[wrong]), tmp_path / "other.sqlite")


async def test_the_estimate_takes_the_mean_of_what_has_ended(tmp_path: Path) -> None:
    agent = Agent(model=Adder(), tools=[add])
    named = Configuration("plain", agent, price=Price(10.0, 10.0))
    asked = plan(configurations=[named, Configuration("votes", agent, votes=2)])
    before = await foreseen(asked, tmp_path / "r.sqlite")
    assert (before.trials, before.todo, before.runs, before.max_cost) == (8, 8, 12, 8.0)
    assert (before.measured, before.unknown) == (0, ("adder:test",))
    assert before.about > 0
    assert not (tmp_path / "r.sqlite").exists()
    await evaluate(asked, tmp_path / "r.sqlite", first=1)
    after = await foreseen(asked, tmp_path / "r.sqlite")
    assert (after.todo, after.trials_done, after.measured) == (6, 2, 6)
    assert after.about == pytest.approx(3 * 0.02 + 3 * 0.04)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"configurations": []}, "there is no configuration"),
        ({"world": World("w", ())}, "there is no case"),
        ({"seeds": [1, 1]}, "seed 1 is there twice"),
        ({"repetitions": 0}, "repetitions is 0"),
        ({"seeds": [-1]}, "seed -1: give 0 to 100,000,000,000,000"),
        ({"seeds": [10**15]}, "of which each run makes one of 64 bits"),
        ({"world": World("w", [Case("c", "Why?", {"judge": "a reason"})])}, "c asks for a judge"),
        ({"world": World("w", [Case("c", "Why?", ["x", {"reward": 1}])])}, "c asks for a reward"),
        ({"world": World("w", CASES[:1] * 2)}, "case c1 is there twice"),
    ],
)
def test_a_plan_without_sense_is_refused(changes: dict[str, Any], told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        plan(**changes)


def test_a_configuration_without_sense_is_refused() -> None:
    agent = Agent(model=Adder(), tools=[add])

    @tool(effect="unsafe")
    async def pay() -> str:
        """Pay."""
        return "paid"

    with pytest.raises(ConfigError, match="votes is 0"):
        Configuration("a", agent, votes=0)
    with pytest.raises(ConfigError, match="has no name"):
        Configuration(" ", agent)
    with pytest.raises(ConfigError, match="a verifier chooses among votes"):
        Configuration("a", agent, verifier=agent)
    with pytest.raises(ConfigError, match="what pay does"):
        Configuration("a", agent.replace(tools=[pay]), votes=2)


async def test_files_that_are_no_results_are_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="there are no results at"):
        Results(tmp_path / "none.sqlite")
    store = SqliteStore(tmp_path / "store.sqlite")
    await store.close()
    with pytest.raises(ConfigError, match="is a store without an evaluation"):
        Results(tmp_path / "store.sqlite")
    (tmp_path / "text").write_text("no database, whatever it is called\n" * 100)
    with pytest.raises(StoreError, match="is no store of clew"):
        await evaluate(plan(), tmp_path / "text")
    await evaluate(plan(), tmp_path / "r.sqlite", first=1)
    for version, age in ((2, "a newer"), (0, "an older")):
        with closing(sqlite3.connect(tmp_path / "r.sqlite")) as connection, connection:
            connection.execute("UPDATE evaluation SET version = ?", (version,))
        connection.close()
        with pytest.raises(StoreError, match=f"was written by {age} clew"):
            await evaluate(plan(), tmp_path / "r.sqlite")
    with closing(sqlite3.connect(tmp_path / "r.sqlite")) as connection, connection:
        connection.execute("UPDATE evaluation SET version = 1")
        connection.execute("UPDATE outcomes SET body = x'7b7d'")  # {}
    connection.close()
    with pytest.raises(StoreError, match=r"r\.sqlite is damaged, or was changed by others: Object"):
        await evaluate(plan(), tmp_path / "r.sqlite")


async def test_the_tables_of_the_store_stay_as_they_are(tmp_path: Path) -> None:
    done: Evaluation = await evaluate(plan(), tmp_path / "r.sqlite", first=1)
    store = SqliteStore(tmp_path / "plain.sqlite")
    await store.close()
    schemas: list[set[tuple[str, str]]] = []
    for name in ("plain.sqlite", "r.sqlite"):
        with closing(sqlite3.connect(tmp_path / name)) as connection, connection:
            rows = connection.execute("SELECT name, sql FROM sqlite_master").fetchall()
        connection.close()
        schemas.append({row for row in rows if row[1]})
    assert schemas[0] < schemas[1]
    assert {name for name, _ in schemas[1] - schemas[0]} == {"evaluation", "outcomes"}
    assert done.outcomes
