"""The strategy `auto`: what is chosen, and that the reason is on record."""

import pytest

from clew import Agent, MemoryStore, read, replay, run
from clew.interfaces import Json
from clew_strategies import GOOD_FOR, AnswerVerdict, Auto, choose, strategy_agent
from tests.strategies.test_programs import Rules, planner, population, reasons


@pytest.mark.parametrize(
    ("task", "name"),
    [
        ("Who built the tower?", "react"),
        ("What is the weather in Bonn, in Jena and in Celle?", "rewoo"),
        ("For each customer in the table, count the orders.", "code"),
        ("What do 3 tins and 4 jars of Dunn's cost together?", "code"),
        ("Together, how much do Ada and Bo have to pay?", "code"),
        ("Which is the oldest, Ann, Bo or Cy?", "code"),
        ("Who of Ann, Bo and Cy owns the fewest boats?", "code"),
        ("Of Bonn, Jena and Celle, which is the coldest?", "code"),
        ("Which is the warmest of Bonn, Jena and Celle?", "code"),
        ("Which tower is the tallest: Ulm, Bern or Cologne?", "code"),
        ("Which is the taller, Ulm or Bern?", "rewoo"),
        ("Who owns the largest forest?", "react"),
        ("Write a detailed report on our suppliers.", "orchestrator"),
        ("Solve the puzzle with nine matches.", "tree_search"),
    ],
)
def test_rules_choose_by_what_a_task_says(task: str, name: str) -> None:
    assert choose(task, GOOD_FOR.keys() - {"reflexion"}).name == name
    assert choose(task, GOOD_FOR, tested=True).name == "reflexion"


@pytest.mark.parametrize(
    "form",
    [
        "Answer with the bare name, date, number, yes or no that is asked for.",
        "Reply with both first and last name, the longer or the shorter.",
        "please respond only in JSON, as a table with a row for each field",
    ],
)
def test_how_an_answer_is_to_be_written_does_not_count(form: str) -> None:
    for between in (" ", "\n\n"):
        assert choose(f"Who built the tower?{between}{form}", GOOD_FOR).name == "react"
        task = f"Which is larger, Ulm or Bern?{between}{form}"
        assert choose(task, GOOD_FOR).name == "rewoo"


def test_what_is_not_there_is_named_in_the_reason() -> None:
    chosen = choose("For each customer in the table, count the orders.", ["react"])
    assert chosen.name == "react"
    assert "code would suit it" in chosen.why


async def chosen_in(auto: Auto, task: str) -> tuple[str, str, Json]:
    """Who was asked for the task, why, and what came of it."""
    store = MemoryStore()
    whole = strategy_agent(auto, auto.agent)
    done = await run(whole, task, store=store)
    record = await read(done.run_id, store=store)
    assert (await replay(whole, done.run_id, store=store)).trajectory.stop == record.stop
    return record.calls[-2].action.name, reasons(record)[-2], done.answer


async def test_the_reason_is_on_record() -> None:
    model = planner({"calls": []})
    agent = Agent(model, [population], prompt="You are the solver.")
    name, why, answer = await chosen_in(Auto(agent), "Which is larger, Ulm or Bern?")
    assert (name, why) == ("rewoo", "rewoo: its look-ups do not need each other.")
    assert "seen:" in str(answer)
    name, why, answer = await chosen_in(Auto(agent), "Who founded Ulm?")
    assert (name, why, answer) == ("react", "react: no rule asks for more.", "did Who founded Ulm?")


async def test_with_a_test_it_may_be_tried_again() -> None:
    model = Rules(
        {
            "You are the solver": lambda task: "Bern",
            "You are a judge": lambda task: {"passed": True, "why": "it is Bern"},
        }
    )
    agent = Agent(model, [population], prompt="You are the solver.")
    judge = Agent(model, prompt="You are a judge.", answer=AnswerVerdict)
    name, why, answer = await chosen_in(Auto(agent, judge), "Who founded Ulm?")
    assert (name, answer) == ("reflexion", "Bern")
    assert why == "reflexion: a test can check the answer."


async def test_an_agent_that_acts_by_programs_is_chosen_for_data() -> None:
    model = planner({})
    agent = Agent(model, [population], prompt="You are the solver.")
    code = Agent(Rules({"programmer": lambda task: "42"}), prompt="You are a programmer.")
    assert (await chosen_in(Auto(agent, code=code), "Sort the list and count it."))[0] == "code"


@pytest.mark.parametrize(
    ("said", "name", "why"),
    [
        ({"name": "react", "why": "it is easy"}, "react", "react: the model says: it is easy."),
        (
            {"name": "magic", "why": "why not"},
            "rewoo",
            "rewoo: its look-ups do not need each other; the model named nobody.",
        ),
    ],
)
async def test_a_model_may_be_asked_and_the_rules_decide_where_it_fails(
    said: Json, name: str, why: str
) -> None:
    model = planner({"calls": []})
    model.by = {"Decide who is to answer": lambda task: said, **model.by}
    agent = Agent(model, [population], prompt="You are the solver.")
    found = await chosen_in(Auto(agent, asks=True), "Which is larger, Ulm or Bern?")
    assert found[:2] == (name, why)


def test_rules_end_soon_whatever_the_task_is() -> None:
    parts = ("of Aa ", "the a, ", "1, ", "first ", "is a or ", "write an a ", "how should a ")
    for part in (*parts, "of a, and ", "most of a, ", "most, a, "):
        assert choose(part * 10_000, GOOD_FOR).name in GOOD_FOR  # a pattern gone astray takes years
