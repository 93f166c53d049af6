"""Strategies as programs over runs: their records, resumed, replayed, held and bounded."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from clew import (
    Agent,
    ConfigError,
    Limits,
    MemoryStore,
    StoreError,
    Trajectory,
    Verdict,
    pending_approvals,
    read,
    replay,
    resume,
    rule,
    run,
    tool,
)
from clew.interfaces import Json, ModelInfo, OnText, Prompt, RawCall, Reply, encode
from clew.testing import written_plan
from clew_strategies import (
    Chaining,
    EvaluatorOptimizer,
    Orchestrator,
    PlanAndSolve,
    Reflexion,
    ReWOO,
    Routing,
    Runs,
    strategy_agent,
)
from clew_testing.cut_store import CutStore


@dataclass
class Rules:
    """A model that answers by who it is asked as, and remembers how often."""

    by: dict[str, Callable[[str], Json]]
    asked: list[str] = field(default_factory=list)
    tokens: int = 0
    info = ModelInfo("rules")

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        if prompt.purpose == "plan":
            return Reply(written_plan(()))
        system, user = prompt.head[0].text, prompt.head[-1].text
        self.tokens += sum(len(part.text) for part in prompt)
        name = next(name for name in self.by if name in system)
        self.asked.append(name)
        found = self.by[name]([user, *(part.text for part in prompt.parts)][-1])
        if isinstance(found, RawCall):
            return Reply("", (found,), "calls")
        if not isinstance(found, str) or "JSON of this schema" in system:
            return Reply(
                "", (RawCall(name="finish", arguments=encode({"answer": found}).decode()),), "calls"
            )
        return Reply(found)


@tool(effect="read")
def population(city: str) -> int:
    """Look up how many people live in a city.

    Args:
        city: Its name.
    """
    return {"Ulm": 130_000, "Bern": 134_000, "Graz": 300_000}[city]


def reflexion(model: Rules, **settings: Any) -> Agent:
    agent = Agent(model, prompt="You are the solver.")
    return strategy_agent(Reflexion(agent, **settings), agent)


def reasons(record: Trajectory) -> list[str]:
    """What a strategy said at each of its steps."""
    return [step.thought.text for step in record if step.thought is not None]


def learner() -> Rules:
    """It is wrong until it has told itself why."""
    return Rules(
        {
            "You are the solver": lambda task: "Bern" if "ask for the capital" in task else "Basel",
            "You judge the work": lambda task: {
                "passed": "Answer: Bern" in task,
                "why": "Bern is the capital" if "Answer: Bern" in task else "not the capital",
            },
            "You worked on a task": lambda task: "I should ask for the capital.",
        }
    )


async def test_reflexion_tries_again_with_what_it_told_itself() -> None:
    model, store = learner(), MemoryStore()
    agent = reflexion(model)
    done = await run(agent, "Which city?", store=store)
    assert (done.status, done.answer) == ("answered", "Bern")
    record = await read(done.run_id, store=store)
    assert [call.action.name for call in record.calls] == [
        *("solve", "evaluate", "reflect", "solve", "evaluate", "finish"),
    ]
    assert reasons(record)[-1] == "Trial 2 passed: Bern is the capital"
    assert len(model.asked) == 5
    assert (await replay(agent, done.run_id, store=store)).trajectory.stop == record.stop
    assert len(model.asked) == 5


async def test_a_reflection_keeps_its_lines() -> None:
    model, store = learner(), MemoryStore()
    code = "def f(x):\n    if x:\n        return 1\n"
    model.by["You worked on a task"] = lambda task: code
    done = await run(reflexion(model, trials=2), "Which city?", store=store)
    record = await read(done.run_id, store=store)
    goals = [str(call.args["task"]) for call in record.calls if call.action.name == "solve"]
    assert goals[1].endswith("\n- def f(x):\n      if x:\n          return 1")


async def test_each_run_has_the_steps_of_the_agent_and_not_a_part_of_them() -> None:
    seen: list[str] = []

    def solve(last: str) -> Json:
        seen.append(last)
        if len(seen) % 12:
            return RawCall(name="population", arguments='{"city":"Ulm"}')
        return "130000"

    model = Rules(
        {
            "You are the solver": solve,
            "You judge the work": lambda task: {"passed": False, "why": "too few"},
            "You worked on a task": lambda task: "I should look again.",
        }
    )
    limits = Limits(no_progress=None)
    agent = Agent(model, [population], prompt="You are the solver.", limits=limits)
    assert limits.steps == 15
    done = await run(strategy_agent(Reflexion(agent), agent), "How many?", store=MemoryStore())
    assert "None of 3 trials passed" in str(done.answer)
    assert len(seen) == 36

    whole = strategy_agent(Reflexion(agent), agent, limits=Limits(steps=20))
    done = await run(whole, "How many?", store=MemoryStore())
    assert len(seen) < 72  # limits of the whole that are given count


async def test_reflexion_that_never_passes_has_no_answer() -> None:
    model = learner()
    model.by["You worked on a task"] = lambda task: "I was unlucky."
    done = await run(reflexion(model, trials=2), "Which city?", store=MemoryStore())
    assert done.status == "declined"
    assert "None of 2 trials passed: not the capital The last answer was: Basel" in str(done.answer)


def planner(plan: Json) -> Rules:
    return Rules(
        {
            "You plan all tool calls": lambda task: plan,
            "You plan the work": lambda task: plan,
            "Answer the task from": lambda task: "seen: " + " | ".join(task.splitlines()[2:]),
            "You are the solver": lambda task: f"did {task.splitlines()[-1]}",
        }
    )


def call(id_: str, city: str) -> dict[str, Json]:
    return {"id": id_, "tool": "population", "args": {"city": city}, "why": f"{city}'s people"}


async def test_rewoo_asks_twice_and_calls_at_once() -> None:
    model, store = planner({"calls": [call("E1", "Ulm"), call("E2", "Bern")]}), MemoryStore()
    agent = Agent(model, [population], prompt="You are the solver.")
    whole = strategy_agent(ReWOO(agent), agent)
    done = await run(whole, "How many?", store=store)
    assert "E1 (Ulm's people): 130000 | E2 (Bern's people): 134000" in str(done.answer)
    record = await read(done.run_id, store=store)
    assert [[it.action.name for it in step.calls] for step in record] == [
        ["plan_calls"],
        ["population", "population"],
        ["solve"],
        ["finish"],
    ]
    assert len(model.asked) == 2


async def test_rewoo_fills_in_results_and_leaves_failures_to_a_run() -> None:
    calls = [
        {"id": "E1", "tool": "name", "args": {}},
        call("E2", "#E1"),
        call("E3", "Nowhere"),
    ]

    @tool(effect="read")
    def name() -> str:
        """Name a city."""
        return "Graz"

    model = planner({"calls": calls})
    agent = Agent(model, [population, name], prompt="You are the solver.")
    done = await run(strategy_agent(ReWOO(agent), agent), "How many?", store=MemoryStore())
    assert "E2 (#E1's people): 300000" in str(done.answer)
    assert "E3 (Nowhere's people): did Find out: Nowhere's people" in str(done.answer)


async def test_rewoo_refers_to_fields_and_gives_values_where_a_tool_takes_them() -> None:
    @tool(effect="read")
    def lake(name: str) -> dict[str, Json]:
        """Look up a lake.

        Args:
            name: Its name.
        """
        return {"depth": 254, "towns": ["Bregenz", "Konstanz"], "of": {"country": "CH"}}

    seen: list[Json] = []

    @tool(effect="read")
    def note(number: int, words: list[str], text: str, texts: list[str]) -> str:
        """Note something.

        Args:
            number: A number.
            words: Words.
            text: A text.
            texts: Texts.
        """
        seen.extend([number, *words, text, *texts])
        return "noted"

    @tool(effect="read")
    def say(text: str) -> str:
        """Say something.

        Args:
            text: A text.
        """
        seen.append(text)
        return text

    args: dict[str, Json] = {
        "number": "#E1.depth",
        "words": "#E1.towns",
        "text": "#E1.of.country, #E1.towns[0]",
        "texts": ["#E1.of.country", "in #E1.towns."],
    }
    calls: list[Json] = [
        {"id": "E1", "tool": "lake", "args": {"name": "Bodensee"}},
        {"id": "E2", "tool": "note", "args": args},
        {"id": "E3", "tool": "say", "args": {"text": "#E1.depth"}},
        {"id": "E4", "tool": "say", "args": {"text": "#E3.1 and #E2"}},
        {"id": "E5", "tool": "say", "args": {"text": "#E1.length"}},
        {"id": "E6", "tool": "say", "args": {"text": "see #E5"}},
    ]
    agent = Agent(planner({"calls": calls}), [lake, note, say], prompt="You are the solver.")
    done = await run(strategy_agent(ReWOO(agent), agent), "How deep?", store=MemoryStore())
    assert done.status == "answered"
    assert sorted(map(str, seen)) == sorted(
        [
            *("254", "Bregenz", "Konstanz", "CH, Bregenz", "CH"),
            *('in ["Bregenz","Konstanz"].', "254", "254.1 and noted"),
        ]
    )
    assert "E5 (say): say was not called: #E1.length has no value" in str(done.answer)
    assert "E6 (say): say was not called: #E5 has no value" in str(done.answer)


@pytest.mark.parametrize(
    ("calls", "why"),
    [
        (
            [{"id": "E1", "tool": "population", "args": {"town": "Ulm"}}],
            "E1 calls population with other arguments than it takes: town: unknown argument",
        ),
        ([call("E1", "#E2"), call("E2", "#E1")], "E1, E2 wait for each other"),
        ([call("E1", "near #E1")], "E1 waits for itself"),
        ([call("E1", "#E7")], "E1 needs #E7, which is no call of the plan"),
        ([{"id": "E1", "tool": "guess", "args": {}}], "E1 calls 'guess': there are population"),
        ([call("E1", "Ulm")] * 2, "two calls are called E1"),
        ([call(f"E{n}", "Ulm") for n in range(1, 1_001)], "it has 1,000 calls, and may have 12"),
    ],
)
async def test_a_plan_that_cannot_be_carried_out_is_made_anew_once(
    calls: list[Json], why: str
) -> None:
    model = planner({"calls": calls})
    agent = Agent(model, [population], prompt="You are the solver.")
    limits = Limits(observation_bytes=4_000_000, tokens=4_000_000)
    whole = strategy_agent(ReWOO(agent.replace(limits=limits)), agent, limits=limits)
    done = await run(whole, "How many?", store=MemoryStore())
    assert done.status == "declined"
    assert why in str(done.answer)
    assert model.asked == ["You plan all tool calls"] * 2


async def test_a_plan_of_10_000_calls_is_no_plan() -> None:
    model = planner({"calls": [call(f"E{n}", "Ulm") for n in range(10_000)]})
    limits = Limits(observation_bytes=4_000_000, tokens=4_000_000)
    agent = Agent(model, [population], prompt="You are the solver.")
    whole = strategy_agent(ReWOO(agent), agent, limits=limits)
    done = await run(whole, "How many?", store=MemoryStore())
    assert done.status == "declined"
    assert "too long to be read" in str(done.answer)


async def test_plan_and_solve_carries_out_each_step() -> None:
    model = planner({"steps": ["look", "count"]})
    agent = Agent(model, [population], prompt="You are the solver.")
    done = await run(strategy_agent(PlanAndSolve(agent), agent), "How many?", store=MemoryStore())
    assert "did Do now only one step." in str(done.answer)
    assert "The step: count" in str(done.answer)
    assert len(model.asked) == 4


async def test_an_answer_is_improved_until_it_passes() -> None:
    said = iter(["good", "better", "best"])
    model = Rules(
        {
            "You are the solver": lambda task: next(said),
            "You judge the work": lambda task: {
                "passed": "Answer: better" in task,
                "why": "make it better",
            },
        }
    )
    agent = Agent(model, prompt="You are the solver.")
    done = await run(strategy_agent(EvaluatorOptimizer(agent), agent), "Go.", store=MemoryStore())
    assert (done.answer, len(model.asked)) == ("better", 4)


async def test_a_task_is_routed_and_the_reason_is_on_record() -> None:
    model, store = (
        Rules(
            {
                "Decide who": lambda task: {"name": "poet", "why": "it wants a poem"},
                "a poet": lambda task: "a rose",
                "a clerk": lambda task: "a form",
            }
        ),
        MemoryStore(),
    )
    clerk, poet = (Agent(model, prompt=f"You are a {name}.") for name in ("clerk", "poet"))
    routing = Routing(
        {"clerk": clerk, "poet": poet}, {"clerk": "fills in forms", "poet": "writes poems"}
    )
    done = await run(strategy_agent(routing, clerk), "Write me something.", store=store)
    assert done.answer == "a rose"
    record = await read(done.run_id, store=store)
    assert reasons(record)[1] == "poet: it wants a poem"


async def test_stages_follow_each_other() -> None:
    model = Rules({"first": lambda task: "forty two", "second": lambda task: 42})
    first = Agent(model, prompt="You are the first.")
    second = Agent(model, prompt="You are the second.", answer=int)
    chain = Chaining({"free": first, "parse": second})
    done = await run(strategy_agent(chain, second), "How many?", store=MemoryStore())
    assert done.answer == 42


async def test_workers_work_on_the_parts_at_once() -> None:
    model, store = planner({}), MemoryStore()
    model.by["Divide a task"] = lambda task: {
        "parts": [{"task": "Ulm?"}, {"task": "Bern?", "weight": 3}]
    }
    agent = Agent(model, [population], prompt="You are the solver.")
    done = await run(strategy_agent(Orchestrator(agent), agent), "How many?", store=store)
    assert "1. Ulm? |    Result: did Ulm?" in str(done.answer)
    record = await read(done.run_id, store=store)
    first, second = record.steps[1].calls
    assert [call.action.name for call in (first, second)] == ["work", "work"]
    grants = [attempt.grant for call in (first, second) for attempt in call.attempts]
    tokens = [grant.tokens for grant in grants if grant is not None]
    assert 2.9 < tokens[1] / tokens[0] < 3.1


async def test_a_run_deep_inside_is_held_and_goes_on() -> None:
    held: list[str] = []

    async def guard(call: Any, trajectory: Any) -> Verdict | None:
        held.append(call.key)
        return Verdict("hold", "may it look?") if call.action.name == "population" else None

    model, store = planner({"steps": ["look"]}), MemoryStore()
    seen: list[str] = []

    def solver(text: str) -> Json:
        seen.append(text)
        return (
            RawCall(name="population", arguments='{"city": "Ulm"}')
            if len(seen) == 1
            else f"it is {text}"
        )

    model.by["You are the solver"] = solver
    agent = Agent(model, [population], prompt="You are the solver.", guards=[guard])
    whole = strategy_agent(PlanAndSolve(agent), agent)
    waits = await run(whole, "How many?", store=store)
    assert waits.status == "held"
    [waiting] = await pending_approvals(store=store)
    assert (waiting.tool, waiting.root) == ("population", waits.run_id)
    await rule(waiting.id, allow=True, store=store)
    done = await resume(whole, waits.run_id, store=store)
    assert "it is 130000" in str(done.answer)


async def test_a_process_that_dies_anywhere_loses_nothing() -> None:
    whole = CutStore()
    await run(reflexion(model := learner()), "Which city?", store=whole, run_id="try")
    asked = len(model.asked)
    for left in range(2, whole.written):
        store, before, after = CutStore(left=left), learner(), learner()
        with pytest.raises(StoreError):
            await run(reflexion(before), "Which city?", store=store, run_id="try")
        store.left = 1 << 30
        done = await resume(reflexion(after), "try", store=store)
        assert done.answer == "Bern"
        # only the thought that was cut off, if one was, is thought again
        assert len(before.asked) + len(after.asked) <= asked + 1
        again = await replay(reflexion(learner()), "try", store=store)
        assert again.trajectory.stop is not None


async def test_a_strategy_that_is_not_the_same_again_is_told() -> None:
    @dataclass
    class Fickle:
        agent: Agent
        name = "fickle"
        params: dict[str, Json] = field(default_factory=dict)
        begun: int = 0

        @property
        def roles(self) -> dict[str, Agent]:
            return {"solve": self.agent}

        async def __call__(self, runs: Runs, task: str) -> Json:
            self.begun += 1
            return (await runs.run("solve", f"{task} ({self.begun})")).answer

    agent = Agent(learner(), prompt="You are the solver.")
    with pytest.raises(ConfigError, match="asks for other runs than its record has"):
        await run(strategy_agent(Fickle(agent), agent), "Which city?", store=MemoryStore())
