"""A strategy whose answer is rejected asks anew, and one that was rewound repeats no effect."""

from collections.abc import Callable
from typing import Any

import pytest

from clew import (
    Agent,
    MemoryStore,
    Trajectory,
    pending_approvals,
    read,
    replay,
    resume,
    rewind,
    rule,
    run,
    tool,
)
from clew.context import Instructions
from clew.evidence import Grounded
from clew.guards import Provenance
from clew.interfaces import Json
from clew.toolbox import calc
from clew_strategies import Orchestrator, PlanAndSolve, ReWOO, strategy_agent
from tests.strategies.post import PLAN, SOLVE, Post, planned, step
from tests.strategies.test_programs import Rules

Make = Callable[[Agent], Any]
STRATEGIES: list[Make] = [ReWOO, PlanAndSolve, Orchestrator]


def improving(*answers: Json) -> Rules:
    """A model that plans whatever is asked for, and answers in turn: the last one for ever."""
    told = list(answers)
    return Rules(
        {
            "plan all tool calls": lambda task: {"calls": [step("E1", "look", name="Ada")]},
            "Divide": lambda task: {"parts": [{"task": "Look."}]},
            "You plan": lambda task: {"steps": ["Look."]},
            SOLVE: lambda task: told.pop(0) if len(told) > 1 else told[0],
            "You are the clerk": lambda task: "Looked.",
        }
    )


async def polite(answer: object, trajectory: Trajectory) -> str | None:
    """A check."""
    del trajectory
    return None if "please" in str(answer) else f"say please, and not {answer!r}"


@pytest.mark.parametrize("make", STRATEGIES)
@pytest.mark.parametrize(
    ("answers", "tries", "status"),
    [
        (["come, please"], 2, "answered"),
        (["come", "come, please"], 1, "answered"),
        (["come", "go", "go, please"], 2, "answered"),
        (["come", "go", "go, please"], 1, "failed"),
        (["come"], 2, "failed"),
        (["come", "come, please"], 0, "failed"),
    ],
)
async def test_an_answer_that_a_check_rejects_goes_back(
    make: Make, answers: list[Json], tries: int, status: str
) -> None:
    store, model = MemoryStore(), improving(*answers)
    agent = Post().clerk(model, checks=[polite], tries=tries)
    whole = strategy_agent(make(agent), agent)
    done = await run(whole, "Ask Ada.", store=store, run_id="r")
    asked = 1 + min(tries, len(answers) - 1 if status == "answered" else tries)
    assert (done.status, model.asked.count(SOLVE)) == (status, asked)
    if status == "answered":
        assert done.answer == answers[asked - 1]
    goals = [call.args["task"] for call in (await read("r", store=store)).calls
             if call.action.name == "solve"]  # fmt: skip
    told = [goal for goal in goals if "say please" in str(goal)]
    assert len(told) == asked - 1  # it is told why
    again = await replay(whole, "r", store=store)
    assert again.trajectory.stop == (await read("r", store=store)).stop
    assert len(model.asked) == len(set(model.asked)) + asked - 1


async def test_a_solver_that_fails_where_it_is_asked_anew_ends_the_strategy() -> None:
    model = improving("come", 5, 5, 5)
    agent = Post().clerk(model, checks=[polite], tries=2)
    done = await run(strategy_agent(ReWOO(agent), agent), "Ask Ada.", store=MemoryStore())
    assert done.status in {"declined", "failed"}


@pytest.mark.parametrize("say", ["Go on.", "And now?", "Write again, if need be."])
@pytest.mark.parametrize("allow", [True, False])
async def test_an_effect_before_a_rewind_is_held_and_told(say: str, allow: bool) -> None:
    post, store = Post(), MemoryStore()
    model = planned(step("E1", "send", to="ada@x.org"), step("E2", "look", name="Ada"))
    seen: list[str] = []
    plan = model.by[PLAN]

    def watched(task: str) -> Json:
        seen.append(task)
        return plan(task)

    model.by[PLAN] = watched
    agent = post.clerk(model)
    whole = strategy_agent(ReWOO(agent), agent)
    await run(whole, "Write to Ada.", store=store, run_id="r")
    await rewind("r", to=0, lesson="That was wrong.", store=store)
    done = await resume(whole, "r", say=say, store=store)
    assert (done.status, post.letters) == ("held", ["ada@x.org"])
    assert "That was wrong." in seen[-1]
    assert 'send({"to":"ada@x.org"})' in seen[-1]
    [held] = await pending_approvals(store=store)
    await rule(f"r:{held.call}", allow=allow, store=store)
    done = await resume(whole, "r", store=store)
    assert (done.status, len(post.letters)) == ("answered", 1 + allow)


@pytest.mark.parametrize(
    ("calls", "letters"),
    [
        ([step("E1", "send", to="a@x.org"), step("E2", "send", to="a@x.org")], 2),
        ([step("E1", "look", name="Ada"), step("E2", "send", to="#E1.email")], 1),
    ],
)
async def test_a_plan_is_not_held_for_what_it_says_itself(
    calls: list[dict[str, Json]], letters: int
) -> None:
    post = Post()
    agent = post.clerk(planned(*calls))
    done = await run(strategy_agent(ReWOO(agent), agent), "Write.", store=MemoryStore())
    assert (done.status, len(post.letters)) == ("answered", letters)


async def test_look_ups_are_made_again_after_a_rewind() -> None:
    store, agent = MemoryStore(), Post().clerk(planned(step("E1", "look", name="Ada")))
    whole = strategy_agent(ReWOO(agent), agent)
    await run(whole, "Look.", store=store, run_id="r")
    await rewind("r", to=0, lesson="Look better.", store=store)
    assert (await resume(whole, "r", say="Go on.", store=store)).status == "answered"


@tool(effect="read")
def count(what: str) -> str:
    """Count.

    Args:
        what: What.
    """
    return f"17 {what}"


@pytest.mark.parametrize("make", STRATEGIES)
async def test_an_answer_does_not_bear_itself_out(make: Make) -> None:
    model = improving("Ann got 5 letters in Basel in 2020.")
    agent = Post().clerk(model, checks=[Grounded(citations="always")], tries=1)
    done = await run(strategy_agent(make(agent), agent), "Ask.", store=MemoryStore())
    assert done.status == "failed"
    assert "it cites nothing" in done.reason


async def test_what_a_planned_call_observed_bears_the_answer_out() -> None:
    model = improving("There are 17 letters.")
    model.by["plan all tool calls"] = lambda task: {"calls": [step("E1", "count", what="letters")]}
    agent = Agent(
        model,
        [count],
        prompt="You are the clerk.",
        checks=[Grounded(citations="always")],
        guards=[Provenance("off")],
    )
    done = await run(strategy_agent(ReWOO(agent), agent), "How many?", store=MemoryStore())
    assert done.status == "answered"


@pytest.mark.parametrize("make", STRATEGIES)
@pytest.mark.parametrize("examples", [0, 1])
async def test_worked_examples_of_the_agent_fit_all_roles(make: Make, examples: int) -> None:
    model = improving("Looked.")
    model.by["plan all tool calls"] = lambda task: {"calls": [step("E1", "calc", expression="1+")]}
    prompt = Instructions("You are the clerk.", examples=examples)
    agent = Agent(model, [calc()], prompt=prompt, guards=[Provenance("off")])
    done = await run(strategy_agent(make(agent), agent), "Ask Ada.", store=MemoryStore())
    assert (done.status, done.answer) == ("answered", "Looked.")
