import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from clew import Agent, MemoryStore, read, run
from clew.agent_files.build import shipped, tool_names
from clew.core.tools import Tool
from clew.support.errors import ConfigError, ToolError
from clew.testing.models import ScriptedModel, act, finish
from clew.toolbox.plan import plan
from clew.toolbox.planner import planner
from clew.tools import DependentTool, tool

pytestmark = pytest.mark.anyio


def dos(question: str) -> list[str]:
    return [step["do"] for step in plan(question)["steps"]]


@pytest.mark.parametrize(
    ("question", "do"),
    [
        ("What is 9876543 * 1234567?", "9876543 * 1234567"),
        ("What's 15% of 80?", "15/100 * 80"),
        ("What is 15 per cent of 20 percent of 80?", "15/100 * (20/100 * 80)"),
        ("what is 3 plus 4 times 5", "3 + 4 * 5"),
        ("Calculate 2 to the power of 10 =", "2 ** 10"),
        ("sqrt(2) * 3", "sqrt(2) * 3"),
        ("what is the average of 3 and 5?", "(3 + 5) / 2"),
        ("the ratio of 3 to 5", "3 / 5"),
    ],
)
def test_arithmetic_needs_no_plan(question: str, do: str) -> None:
    assert plan(question) == {
        "steps": [{"do": do, "tool": "calc", "hint": "no search needed"}],
        "note": "no plan needed",
    }


@pytest.mark.parametrize(
    ("question", "do", "keep"),
    [
        ("Who wrote Nineteen Eighty-Four?", "who wrote Nineteen Eighty-Four", "the name"),
        ("Who wrote The Lord of the Rings?", "who wrote The Lord of the Rings", "the name"),
        ("What is the capital of France?", "the capital of France", "what is asked"),
        ("What is Newton's birth year?", "Newton's birth year", "the year"),
        (
            "What is the population of the United States of America?",
            "the population of the United States of America",
            "the number and its unit",
        ),
        ("What is the house that Jack built?", "the house that Jack built", "what is asked"),
        ("What do cats, dogs or birds eat?", "what do cats, dogs or birds eat", "what is asked"),
        ("Is it colder than ice?", "is it colder than ice", "what is asked"),
        ("the difference of opinion", "the difference of opinion", "what is asked"),
        ("How many years lie between", "how many years lie between", "the number and its unit"),
        ("How many years lie between wars?", "how many years lie between wars", "the number"),
        ("kelp +", "kelp +", "what is asked"),
        ("What is Emma's?", "what is Emma's", "what is asked"),
        ("Emma's was born", "Emma's was born", "what is asked"),
    ],
)
def test_one_fact_needs_no_plan(question: str, do: str, keep: str) -> None:
    answer = plan(question)
    (step,) = answer["steps"]
    assert (step["do"], step["tool"]) == (do, "docs")
    assert step["hint"].startswith(f"search for it and keep only {keep}")
    assert answer["note"] == "no plan needed"


@pytest.mark.parametrize(
    ("question", "steps"),
    [
        (
            "In which year was the author of Nineteen Eighty-Four born?",
            ["the author of Nineteen Eighty-Four", "in which year was #1 born"],
        ),
        (
            "What is the capital of the country where the author of Emma was born?",
            ["the author of Emma", "the country where #1 was born", "the capital of #2"],
        ),
        (
            "Who was the wife of the inventor of the telephone?",
            ["the inventor of the telephone", "the wife of #1"],
        ),
        (
            "Where was the inventor of the telephone born?",
            ["the inventor of the telephone", "where was #1 born"],
        ),
        (
            "Who founded the company that makes the iPhone?",
            ["the company that makes the iPhone", "who founded #1"],
        ),
        ("Where was the man who wrote Emma born?", ["the man who wrote Emma", "where was #1 born"]),
        ("Where is the house that Jack built?", ["the house that Jack built", "where is #1"]),
        ("When was Einstein's wife born?", ["Einstein's wife", "when was #1 born"]),
        (
            "What is Emma's author's wife's name?",
            ["Emma's author", "#1's wife", "#2's name"],
        ),
        (
            'Who drew the cover of "the old song"?',
            ['the cover of "the old song"', "who drew #1"],
        ),
        (
            "What is the year Emma's author was born, minus 3?",
            ["Emma's author", "the year #1 was born", "#2 - 3"],
        ),
        (
            "The year the author of Emma was born minus the year the author of Ulysses died",
            [
                "the author of Emma",
                "the year #1 was born",
                "the author of Ulysses",
                "the year #3 died",
                "#2 - #4",
            ],
        ),
        ("What is 20% of the population of France?", ["the population of France", "20/100 * #1"]),
        (
            "What is the sum of the height of Big Ben and the height of the Eiffel Tower?",
            ["the height of Big Ben", "the height of the Eiffel Tower", "#1 + #2"],
        ),
        (
            "The difference between Emma's year and Ulysses's year",
            ["Emma's year", "Ulysses's year", "abs(#1 - #2)"],
        ),
        (
            "How many years passed between the founding of Rome and the year Emma was published?",
            ["the year of the founding of Rome", "the year Emma was published", "abs(#1 - #2)"],
        ),
        (
            "How many days lie between the birth of Emma and 3?",
            ["the date of the birth of Emma", "abs(#1 - 3)"],
        ),
        (
            "How old was the author of Emma when it was published?",
            [
                "the author of Emma",
                "the year #1 was born",
                "the year Emma was published",
                "#3 - #2",
            ],
        ),
        (
            "How old was he when he died?",
            ["the year he was born", "the year he died", "#2 - #1"],
        ),
        (
            "When were Emma and Ulysses published?",
            ["when was Emma published", "when was Ulysses published"],
        ),
        ("Where did Ann and Bob live?", ["where did Ann live", "where did Bob live"]),
        (
            "When was Emma published and who wrote Ulysses?",
            ["when was Emma published", "who wrote Ulysses"],
        ),
        ("Emma's year times Emma's year", ["Emma's year", "#1 * #1"]),
    ],
)
def test_facts_about_facts_become_steps(question: str, steps: list[str]) -> None:
    assert dos(question) == steps
    assert "do the steps in order" in plan(question)["note"]


@pytest.mark.parametrize(
    ("question", "steps", "hint"),
    [
        (
            "Which is older, the Eiffel Tower or Big Ben?",
            ["the year the Eiffel Tower was born or begun", "the year Big Ben was born or begun"],
            "below zero: the Eiffel Tower; above zero: Big Ben; zero: neither",
        ),
        (
            "Who was born last, the author of Emma or Joyce?",
            ["the author of Emma", "the year #1 was born", "the year Joyce was born"],
            "above zero: the author of Emma; below zero: Joyce; zero: neither",
        ),
        (
            "Which came first, Emma or Ulysses?",
            ["the year of Emma", "the year of Ulysses"],
            "below zero: Emma; above zero: Ulysses; zero: neither",
        ),
        (
            "Is Mont Blanc higher than Ben Nevis?",
            ["the height of Mont Blanc", "the height of Ben Nevis"],
            "above zero: Mont Blanc; below zero: Ben Nevis; zero: neither",
        ),
        (
            "Which city has fewer inhabitants: Paris or Rome?",
            ["how many inhabitants Paris has", "how many inhabitants Rome has"],
            "below zero: Paris; above zero: Rome; zero: neither",
        ),
        (
            "How many metres taller is the Eiffel Tower than Big Ben?",
            ["the height of the Eiffel Tower", "the height of Big Ben"],
            "put the numbers found in place of #",
        ),
    ],
)
def test_comparisons_end_in_a_difference(question: str, steps: list[str], hint: str) -> None:
    answer = plan(question)
    assert dos(question)[:-1] == steps
    last = answer["steps"][-1]
    assert (last["tool"], last["hint"]) == ("calc", hint)
    assert re.fullmatch(r"#\d - #\d|abs\(#\d - #\d\)", last["do"])


def test_a_comparison_it_cannot_measure_is_left_whole() -> None:
    assert dos("Who is better, Ann or Bob?") == ["who is better, Ann or Bob"]


def test_only_the_given_tools_are_named() -> None:
    question = "What is Emma's year minus 3?"
    named = ("planner", "wiki_search", "docs", "calc", "finish")
    answer: Any = planner(named).call({"question": question}, "run:1.1")
    assert [step["tool"] for step in answer["steps"]] == ["wiki_search", "calc"]
    bare = plan(question, "docs", "")
    assert [step["tool"] for step in bare["steps"]] == ["docs", ""]
    assert "without a tool" in bare["note"]
    assert [step["tool"] for step in plan("Who wrote Emma?", "")["steps"]] == [""]


def test_a_long_chain_is_followed_so_far_and_the_rest_is_looked_up_in_one() -> None:
    steps = dos("When was " + "the father of " * 8 + "Emma born?")
    assert steps[0] == "the father of Emma"
    assert all(step == f"the father of #{n}" for n, step in enumerate(steps[1:6], start=1))
    assert steps[-1].count("the father of") == 2


@pytest.mark.parametrize(
    ("question", "lesson"),
    [
        (" ?", "empty"),
        (" , ?; ", "empty"),
        ("why " * 300, "1,200 characters"),
        (" plus ".join(f"fact {chr(97 + n)}" for n in range(25)), "over 24 steps"),
    ],
)
def test_what_it_cannot_read_is_refused(question: str, lesson: str) -> None:
    with pytest.raises(ToolError, match=lesson):
        plan(question)


VOCABULARY = """
the of and or is was than when who what which how old many years between Emma Ulysses 's author born
minus plus 3 % taller first more , : ? where that in year #1 "Big Ben" - sum
"""
WORDS = VOCABULARY.split()


@given(
    st.text(max_size=1000)
    | st.lists(st.sampled_from(WORDS), max_size=60).map(" ".join)
    | st.lists(st.sampled_from(WORDS), max_size=30).map("".join)
)
@example("1% of " * 166)
@example("sum of 1 and " * 70 + "1")
@example("the a of " * 110)
@example("A and " * 160)
@example("Aa's " * 190)
@example("who a, " * 140)
@example("0 MINUS ,, MINUS 0")
def test_any_question_is_planned_the_same_each_time(question: str) -> None:
    try:
        answer = plan(question)
    except ToolError:
        return
    assert answer == plan(question)
    assert answer["steps"]
    for number, step in enumerate(answer["steps"], start=1):
        assert step["do"].strip()
        assert set(step) == {"do", "tool", "hint"}
        if "#" not in question:
            for reference in re.findall(r"#(\d+)", step["do"]):
                assert 1 <= int(reference) < number


def test_the_tool_answers_with_a_structure() -> None:
    tool = planner(("docs", "calc"))
    assert (tool.name, tool.effect, tool.trust) == ("planner", "pure", "trusted")
    answer: Any = tool.call({"question": "What is 1 + 1?"}, "run:1.1")
    assert answer["note"] == "no plan needed"


# ------------------------------------------------------------------- what an agent can follow

FACTS_AND_SUMS = "What is the birth year of the author of Emma minus 3?"


async def planned(agent: Agent, question: str) -> Any:
    """What the planner of an agent says in a run."""
    store = MemoryStore()
    model = ScriptedModel([act("planner", question=question), finish("so")])
    result = await run(agent.replace(model=model), "?", store=store)
    seen = (await read(result.run_id, store=store)).calls[0].observation
    assert seen is not None
    return seen.content


async def steps_with(tools: Sequence[Tool], question: str = FACTS_AND_SUMS) -> list[str]:
    """The tools that a plan names."""
    answer = await planned(Agent("offline", tools), question)
    return [step["tool"] for step in answer["steps"]]


@tool(effect="read")
def archive(query: str, year: int = 0) -> str:
    """Search the town's archive."""
    return f"{query} {year}"


@tool(effect="read")
def weather(city: str) -> str:
    """Forecast the weather."""
    return city


@tool
def order(query: str) -> str:
    """Order what is found first."""
    return query


@tool(effect="pure")
def sums(expression: str) -> str:
    """Work an expression out."""
    return expression


def dependent(one: Tool, among: Any) -> Tool:
    """The tool, as one that depends on the agent's other tools."""
    return DependentTool(one.name, one.description, one.parameters, one.call, among=among)


async def test_tools_of_ones_own_are_named_by_what_they_take() -> None:
    assert await steps_with([planner(), weather, order, archive, sums]) == [
        *("archive", "archive", "sums")
    ]
    assert await steps_with([planner(), weather, order]) == ["", "", ""]
    assert await steps_with([planner(), replace(archive, hidden=True)]) == ["", "", ""]


@pytest.mark.parametrize("name", [name for name in tool_names() if name not in {"docs", "planner"}])
async def test_beside_any_tool_alone_no_other_is_named(name: str) -> None:
    assert set(await steps_with([shipped(name), planner()])) <= {name, ""}


async def test_a_plan_follows_the_agent_when_its_tools_change() -> None:
    agent = Agent("offline", [planner(), shipped("calc"), archive])
    fewer = agent.replace(tools=[one for one in agent.tools if one is not archive])
    answers = [await planned(one, FACTS_AND_SUMS) for one in (agent, fewer, agent)]
    assert [answer["steps"][0]["tool"] for answer in answers] == ["archive", "", "archive"]


@pytest.mark.parametrize("made", [None, archive, "planner"])
def test_what_a_tool_becomes_among_others_is_still_that_tool(made: Any) -> None:
    odd = dependent(weather, lambda _: made)
    with pytest.raises(ConfigError, match="the tool weather must stay a tool of that name"):
        Agent("offline", [odd])


def test_what_fails_among_others_is_told_when_the_agent_is_made() -> None:
    odd = dependent(weather, lambda tools: cast("Tool", tools[1]))
    with pytest.raises(ConfigError, match="the tool weather failed when the agent was made: Index"):
        Agent("offline", [odd])


# ------------------------------------------------------------------------------ pronouns

PEOPLE = [
    "Orwell", "George Orwell", "Orwell's wife", "the wife of Orwell", "the author", "the king",
    "the son of Ada Holm", "the sister of the author", "he", "the man who wrote Emma",
]  # fmt: skip
EVENTS = ["it came out", "it was published", "they built it", "it and its sequel appeared"]


@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize("who", PEOPLE)
async def test_it_is_never_taken_for_a_person(who: str, event: str) -> None:
    agent = Agent("offline", [planner(), archive])
    answer = await planned(agent, f"How old was {who} when {event}?")
    steps = [step["do"] for step in answer["steps"]]
    assert steps[-1].endswith(f"when {event}")
    assert "put the name in the place of “it”" in answer["note"]


@pytest.mark.parametrize("who", PEOPLE[:-1])
def test_it_is_no_part_of_a_person(who: str) -> None:
    assert dos(f"Where was {who} when it came out?")[-1].endswith("when it came out")


@pytest.mark.parametrize(
    ("who", "thing"),
    [
        ("the author of Emma", "Emma"),
        ("Emma's author", "Emma"),
        ("the inventor of the telephone", "the telephone"),
        ("the wife of the architect of the town hall", "the town hall"),
        ('the writer of "It"', '"It"'),
    ],
)
def test_it_is_the_work_that_a_person_made(who: str, thing: str) -> None:
    answer = plan(f"How old was {who} when it came out?")
    steps = [step["do"] for step in answer["steps"]]
    assert f"the year {thing} came out" in steps
    assert "“it”" not in answer["note"]


def test_he_is_the_person() -> None:
    assert dos("How old was Orwell when he died?")[1] == "the year Orwell died"
    assert dos("How old was the author of Emma when she published it?") == [
        "the author of Emma", "the year #1 was born", "the year #1 published Emma", "#3 - #2",
    ]  # fmt: skip
