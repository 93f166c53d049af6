"""The offline rules over real tools: the sample documents, the calculator, the real loop."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from clew.agent.agent import Agent
from clew.agent.api import read, replay, resume, run
from clew.agent.result import Result
from clew.core.codes import FINISH
from clew.core.contents import Observation, Usage
from clew.core.tools import Tool
from clew.core.trajectory import Trajectory
from clew.guards.limits import Limits
from clew.models.offline import (
    EMPTY,
    GREETING,
    LOOKED,
    MAX_CHARACTERS,
    NEEDS,
    NO_OBJECT,
    REFUSED,
    SIGNED,
    OfflineModel,
)
from clew.stores.memory import MemoryStore
from clew.toolbox.calc import calc
from clew.toolbox.docs import Library, docs_tools
from clew.toolbox.planner import planner

SAMPLES = Path(__file__).parents[4] / "examples" / "library"

ONE_FACT = [
    ("When was Mary Shelley born?", "30 August 1797", "mary-shelley.md"),
    ("when was mary shelley born", "30 August 1797", "mary-shelley.md"),
    ("When did Lord Byron die?", "19 April 1824", "ada-lovelace.md"),
    ("When did Pierre Curie die?", "19 April 1906", "marie-curie.md"),
    ("Where was Marie Curie born?", "born in Warsaw", "marie-curie.md"),
    ("Where does the Danube rise?", "rises in the Black Forest", "rivers.md"),
    ("Into which sea does the Vistula flow?", "into the Baltic Sea", "rivers.md"),
    ("Who wrote Frankenstein?", "written by Mary Shelley", "frankenstein.md"),
    ("Who wrote Dracula?", "Bram Stoker: His novel Dracula", "bram-stoker.md"),
    ("Who wrote “The Last Man”?", "Mary Shelley: Four years later", "mary-shelley.md"),
    ("Who was Mary Shelley’s mother?", "the writer Mary Wollstonecraft", "mary-shelley.md"),
    ("Who first climbed Mount Everest?", "Edmund Hillary and Tenzing", "mountains.md"),
    ("Who was Ada Lovelace?", "was an English mathematician", "ada-lovelace.md"),
    ("How long is the Danube?", "2,850 kilometres long", "rivers.md"),
    ("How many children did Charles Darwin have?", "ten children", "charles-darwin.md"),
    ("How many inhabitants does Vienna have?", "2,006,000 inhabitants", "vienna.md"),
    ("What is the population of Warsaw?", "1,860,000 inhabitants", "warsaw.md"),
    ("What is the capital of Austria?", "Vienna is the capital", "vienna.md"),
    ("Which city is the capital of Poland?", "Warsaw is the capital", "warsaw.md"),
    ("When was the University of Vienna founded?", "Rudolf IV in 1365", "vienna.md"),
    ("Which year did Marie Curie win the Nobel Prize in Chemistry?", "In 1911", "marie-curie.md"),
    (
        "How many copies did the first edition of Frankenstein have?",
        "500 copies",
        "frankenstein.md",
    ),
    ("Please tell me about Kilimanjaro.", "the highest mountain of Africa", "mountains.md"),
]
HOPS = [
    ("In what year was the author of Frankenstein born?", "1797 – ", 2, "mary-shelley.md"),
    ("When did Dracula's author die?", "1912 – ", 2, "bram-stoker.md"),
    (
        "Where was the author of On the Origin of Species born?",
        "Shrewsbury – ",
        2,
        "charles-darwin.md",
    ),
    ("When was the designer of the Analytical Engine born?", "1791", 2, "ada-lovelace.md"),
    ("What is the population of the capital of Austria?", "2,006,000 – ", 2, "vienna.md"),
    ("When did the person who wrote Dracula die?", "1912 – ", 2, "bram-stoker.md"),
    ("How long is the river of the birthplace of Marie Curie?", "1,047 – ", 3, "rivers.md"),
    ("How long is the river of the city where Marie Curie was born?", "1,047 – ", 3, "rivers.md"),
    ("When did the mother of the author of Frankenstein die?", "1797 – ", 3, "mary-shelley.md"),
]
OVER_FACTS = [
    (
        "How old was Mary Shelley when she died?",
        "1851 - 1797 - 1 = 53 (that year's birthday was still to come",
    ),
    ("At what age did Bram Stoker die?", "1912 - 1847 - 1 = 64 (that"),
    ("How long did Ada Lovelace live?", "1852 - 1815 - 1 = 36 (that"),
    ("What is the year Frankenstein's author was born minus 1700?", "1797 - 1700 = 97"),
    (
        "How old was Charles Darwin when On the Origin of Species was published?",
        "1859 - 1809 = 50 (that year's birthday was over)",
    ),
    (
        "How many years after the publication of Frankenstein did Mary Shelley die?",
        " = 33 (by",
    ),
    (
        "How many years before the death of Lord Byron was the birth of Ada Lovelace?",
        " = 9 (by",
    ),
    (
        "How many years are between the birth of Lord Byron and the birth of Ada Lovelace?",
        " = 27 (by calendar years)",
    ),
    ("How much longer is the Danube than the Thames?", "2850 - 346"),
    (
        "What is the difference between the length of the Thames and the length of the Danube?",
        "2504",
    ),
    ("How many times longer is the Danube than the Thames?", "2850 / 346 = 8.2369"),
]
CHOICES = [
    ("Who was born earlier, Ada Lovelace or Charles Darwin?", "Charles Darwin – "),
    ("Who was born later: Ada Lovelace or Charles Darwin?", "Ada Lovelace – "),
    ("Who was older, Marie Curie or Pierre Curie?", "Pierre Curie – "),
    ("Which river is longer, the Danube or the Vistula?", "the Danube – "),
    ("Which is shorter, the Danube or the Vistula?", "the Vistula – "),
    ("Which mountain is higher: Mont Blanc, or Kilimanjaro?", "Kilimanjaro – "),
    ("Which novel was published first, Dracula or Frankenstein?", "Frankenstein – "),
    ("Is the Danube longer than the Thames?", "the Danube – "),
    ("Was Ada Lovelace born before Charles Darwin?", "Charles Darwin – "),
    ("Which is longer, the Danube or the Danube?", "neither – "),
]
AT_ONCE = [
    ("When were Mary Shelley and Ada Lovelace born?", ["30 August 1797", "10 December 1815"], 2),
    ("Who wrote Frankenstein, and when did Lord Byron die?", ["Mary Shelley", "19 April 1824"], 2),
    ("When was Ada Lovelace born and when did she die?", ["10 December 1815", "1852"], 2),
    ("When were Bram Stoker and Napoleon born?", ["1847", LOOKED], 2),
    ("How old was Mary Shelley when she died?", ["1851 - 1797 - 1 = 53"], 2),
    ("Who is Ada Lovelace, and who was the?", ["mathematician", LOOKED], 1),
]
NOTHING = [
    "When was Napoleon born?",
    "What is the capital of France?",
    "When did Mary Shelley move to Italy?",
    "When did Mary Shelley drown?",  # it was her husband who did
    "Who was the mother of William Godwin?",  # a sentence beside his says who hers was
    "When was Vienna founded?",  # its university was
    "How high is Vienna?",  # a wheel in it is
    "How long is the Lyceum Theatre?",  # somebody was there for long
    "How old was Napoleon when he died?",
    "How long is the river of the capital of France?",
    "What is the wifi password?",
]
SUMS = [
    ("What is 9876543 * 1234567?", "12193254061881"),
    ("12% of 80", "9.6"),
    ("how much is 3 plus 4", "7"),
    ("Calculate seven times (two minus 12)", "-70"),
    ("What is the square root of 144?", "12"),
    ("2 to the power of 10 divided by 4", "256"),
    ("please compute 12 x 12 =", "144"),
]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    return Library(SAMPLES, index=tmp_path_factory.mktemp("index") / "docs.sqlite")


@pytest.fixture
def agent(library: Library) -> Agent:
    return Agent(model=OfflineModel(), tools=(*docs_tools(library), calc(), planner()))


async def tools_called(store: MemoryStore, result: Result) -> list[str]:
    return [call.action.name for call in (await read(result.run_id, store=store)).calls]


@pytest.mark.parametrize(("question", "said", "source"), ONE_FACT)
async def test_one_fact_is_answered_with_its_sentence_and_citation(
    agent: Agent, question: str, said: str, source: str
) -> None:
    result = await run(agent, question, store=MemoryStore())
    assert result.ok
    assert said in result.raw_answer
    assert [piece.source for piece in result.cited] == [source]
    assert result.note == SIGNED
    assert "offline rules" not in result.raw_answer
    assert result.usage == Usage(cost=0.0)


@pytest.mark.parametrize(("question", "said", "hops", "source"), HOPS)
async def test_up_to_three_hops_are_followed_a_step_each(
    agent: Agent, question: str, said: str, hops: int, source: str
) -> None:
    result = await run(agent, question, store=MemoryStore())
    assert said in result.raw_answer
    assert result.steps == hops + 2  # the plan, the hops, the answer
    assert result.cited[-1].source == source


@pytest.mark.parametrize(("question", "said"), OVER_FACTS)
async def test_what_is_found_is_calculated_with(agent: Agent, question: str, said: str) -> None:
    store = MemoryStore()
    result = await run(agent, question, store=store)
    assert said in result.raw_answer
    assert result.cited
    assert (await tools_called(store, result))[-2:] == ["calc", FINISH]


@pytest.mark.parametrize(("question", "said", "searches"), AT_ONCE)
async def test_what_does_not_wait_for_each_other_is_searched_in_one_step(
    agent: Agent, question: str, said: list[str], searches: int
) -> None:
    store = MemoryStore()
    result = await run(agent, question, store=store)
    assert all(words in result.raw_answer for words in said), result.raw_answer
    record = await read(result.run_id, store=store)
    together = [[call.action.name for call in step.calls] for step in record if step.calls]
    assert together[0] == ["planner"]
    assert together[1] == ["docs"] * searches


@pytest.mark.parametrize(("question", "said"), CHOICES)
async def test_two_things_are_compared(agent: Agent, question: str, said: str) -> None:
    result = await run(agent, question, store=MemoryStore())
    assert result.raw_answer.startswith(said)
    assert result.cited


@pytest.mark.parametrize("question", NOTHING)
async def test_what_is_not_there_is_not_answered(agent: Agent, question: str) -> None:
    store = MemoryStore()
    result = await run(agent, question, store=store)
    assert result.status == "declined"
    assert LOOKED in result.answer or EMPTY in result.answer
    assert bool(result.cited) == (LOOKED in result.answer)
    calls = [call.hash for call in (await read(result.run_id, store=store)).calls]
    assert len(calls) == len(set(calls))


@pytest.mark.parametrize(("question", "value"), SUMS)
async def test_arithmetic_is_calculated(agent: Agent, question: str, value: str) -> None:
    result = await run(agent, question, store=MemoryStore())
    assert result.raw_answer.split("\n")[0].endswith(f" = {value}")
    assert result.steps == 2


async def test_it_says_in_its_first_thought_what_it_is(agent: Agent) -> None:
    store = MemoryStore()
    result = await run(agent, "Who wrote Dracula?", store=store)
    first, last = (await read(result.run_id, store=store)).steps
    assert first.thought is not None
    assert first.thought.text.startswith("These are clew's offline rules, not a language model.")
    assert "Who wrote Dracula" in first.thought.text
    assert last.thought is not None
    assert "language model" not in last.thought.text


async def test_notes_that_are_no_encyclopedia_are_read_too(tmp_path: Path) -> None:
    (tmp_path / "office.md").write_text(
        "# Office\n\n- The wifi password is `hunter2`.\n- The printer is in the cellar, near the "
        "kitchen.\n- Rent: 1,850 euros a month.\n- The insurance is 1200 euros a year.\n\n"
        "## Meeting\n\nAnna will send the budget to Dr. "
        "Meyer. The deadline was moved to 2 May 2025.\n"
    )
    tools = (*docs_tools(tmp_path, index=tmp_path / ".index"), calc(), planner())
    agent = Agent(model=OfflineModel(), tools=tools)
    for question, said in (
        ("What is the wifi password of the office?", "The wifi password is hunter2. [doc_1]"),
        ("Where is the printer?", "The printer is in the cellar"),
        ("What is the rent times 12?", "1850 * 12 = 22200"),
        ("How much is the insurance?", "The insurance is 1200 euros a year. [doc_1]"),
        ("What is the insurance times 3?", "1200 * 3 = 3600"),
        ("Who sends the budget?", "Anna will send the budget to Dr. Meyer. [doc_2]"),
        ("When is the deadline?", "moved to 2 May 2025. [doc_2]"),
        ("Where is the deadline?", f"{LOOKED}\n[doc_2] Office › Meeting: "),
    ):
        assert said in (await run(agent, question, store=MemoryStore())).raw_answer


NOTES = """# Island

The lighthouse is kept by Brigid Moran. The ferry leaves at 7:30. The inn costs 95 euros a night.
The spare key is under the blue pot. The cliff walk takes two hours and is about 6 kilometres long.
Lent the tent to Amira. The bins are emptied on Thursdays. Every guest gets two towels.

The harbour was built in 1902. It holds forty boats. The Star bridge was built by Ann Orr, and it
is 38 metres long.

| Boat | Price | Weight |
|------|-------|--------|
| Gull | 249 euros | 320 kg |
| Tern | 899 euros | 1,450 kg |
Boats are hired by the day.

```python
codec = "a codec is what no sentence says"
```

A codec is a way to write things down. Every codec has a name.
"""
ORDINARY = [
    ("Who keeps the lighthouse?", "The lighthouse is kept by Brigid Moran. ["),
    ("When does the ferry leave?", "The ferry leaves at 7:30. ["),
    ("How much does the inn cost?", "95 euros"),
    ("Where is the spare key?", "under the blue pot"),
    ("How long does the cliff walk take?", "two hours"),
    ("When are the bins emptied?", "on Thursdays"),
    ("How many towels does a guest get?", "two towels"),
    ("How many boats does the harbour hold?", "It holds forty boats"),
    ("How long is the Star bridge?", "38 metres"),
    ("What is the price of the Tern?", "Boat: Tern, Price: 899 euros, Weight: 1,450 kg ["),
    ("Which is heavier, the Gull or the Tern?", "the Tern – "),
    ("What is a codec?", "A codec is a way to write things down. ["),
    ("Who did I lend the tent to?", "Lent the tent to Amira."),
    ("When was the lighthouse built?", LOOKED),
    ("How much does the harbour cost?", LOOKED),
]


@pytest.mark.parametrize(("question", "said"), ORDINARY)
async def test_ordinary_notes_are_asked_ordinary_questions(
    tmp_path: Path, question: str, said: str
) -> None:
    (tmp_path / "island.md").write_text(NOTES)
    tools = (*docs_tools(tmp_path, index=tmp_path / ".index"), calc(), planner())
    result = await run(Agent(model=OfflineModel(), tools=tools), question, store=MemoryStore())
    assert said in result.raw_answer
    assert "```" not in result.raw_answer
    assert "|" not in result.raw_answer


@pytest.mark.parametrize("question", ["Who wrote Dracula?", "What is 2 + 2?"])
async def test_an_answer_that_was_not_accepted_is_never_given_again(
    agent: Agent, question: str
) -> None:
    given: list[str] = []

    async def never(answer: str, trajectory: Trajectory) -> str:
        given.append(answer)
        return "cite your sources as [doc_1]"

    store = MemoryStore()
    result = await run(agent.replace(checks=(never,)), question, store=store)
    assert result.status == "declined"
    assert len(given) == 1
    assert result.answer.startswith(f"{REFUSED} (ERROR: ")
    assert "cite your sources" in result.answer
    assert (LOOKED in result.answer) == ("docs" in await tools_called(store, result))


async def test_a_number_that_was_not_accepted_is_not_given_again(agent: Agent) -> None:
    given: list[int] = []

    async def never(answer: int, trajectory: Trajectory) -> str:
        given.append(answer)
        return "too long"

    typed = agent.replace(answer=int, checks=(never,))
    result = await run(typed, "How long is the Danube?", store=MemoryStore())
    assert result.status == "declined"
    assert given == [2850]


async def test_a_later_question_forgets_what_was_not_accepted(agent: Agent) -> None:
    async def short(answer: str, trajectory: Trajectory) -> str | None:
        return "say who" if "Dracula" in answer else None

    store, strict = MemoryStore(), agent.replace(checks=(short,))
    first = await run(strict, "Who wrote Dracula?", store=store)
    assert REFUSED in first.raw_answer
    second = await resume(strict, first.run_id, say="What is 2 + 2?", store=store)
    assert (second.answer, second.note) == ("2 + 2 = 4", SIGNED)


async def test_what_he_did_is_not_when_he_was_born(agent: Agent) -> None:
    store = MemoryStore()
    first = await run(agent, "When was Bram Stoker born?", store=store)
    second = await resume(agent, first.run_id, say="What did he write?", store=store)
    assert "His novel Dracula was published" in second.raw_answer


async def test_a_record_replays_without_a_call(agent: Agent) -> None:
    store = MemoryStore()
    result = await run(agent, HOPS[0][0], store=store)
    assert await replay(agent, result.run_id, store=store)


async def test_later_questions_know_what_was_spoken_of(agent: Agent) -> None:
    store = MemoryStore()
    first = await run(agent, "Who wrote Frankenstein?", store=store)
    for question, said in (
        ("And when did she die?", "1 February 1851"),
        ("How old was she when she died?", "1851 - 1797 - 1 = 53"),
        ("Who was her mother?", "Mary Wollstonecraft"),
        ("How long is the Thames?", "346 kilometres"),
        ("Into which sea does it flow?", "into the North Sea"),
        ("Who wrote Dracula?", "Bram Stoker"),
        ("What is 2 + 2?", "= 4"),
    ):
        result = await resume(agent, first.run_id, say=question, store=store)
        assert said in result.raw_answer


async def test_a_typed_answer_is_given_as_a_number(agent: Agent) -> None:
    typed = agent.replace(answer=int)
    assert (await run(typed, "How long is the Danube?", store=MemoryStore())).answer == 2850
    exact = agent.replace(answer=float)
    assert (await run(exact, "12% of 80", store=MemoryStore())).answer == 9.6


async def test_no_number_for_a_typed_answer_is_no_answer(agent: Agent) -> None:
    result = await run(agent.replace(answer=int), "Who wrote Dracula?", store=MemoryStore())
    assert result.status == "declined"
    assert "His novel Dracula was published" in str(result.answer)


class Plan(msgspec.Struct):
    """A plan."""

    steps: list[str]


@pytest.mark.parametrize("wanted", [Plan, list[str], dict[str, int]])
async def test_an_answer_that_rules_cannot_give_names_what_can(agent: Agent, wanted: Any) -> None:
    asked = agent.replace(answer=wanted)
    result = await run(asked, "When was Mary Shelley born?", store=MemoryStore())
    assert (result.status, result.answer) == ("declined", NO_OBJECT)
    assert "Name a language model" in NO_OBJECT


async def test_a_bound_ends_in_what_was_found_so_far(agent: Agent) -> None:
    limited = agent.replace(limits=Limits(steps=2))
    result = await run(limited, HOPS[0][0], store=MemoryStore())
    assert result.status == "bound"
    assert LOOKED in result.raw_answer
    assert "written by Mary Shelley. [doc_" in result.raw_answer


async def test_without_tools_it_says_what_it_needs(agent: Agent) -> None:
    bare = agent.replace(tools=())
    for question in ("What is 2 + 2?", "Who wrote Dracula?"):
        result = await run(bare, question, store=MemoryStore())
        assert (result.status, result.answer, result.note) == ("declined", NEEDS, SIGNED)


async def test_a_failed_search_is_no_answer(library: Library) -> None:
    search, _ = docs_tools(library)

    async def call(args: dict[str, Any], key: str) -> Any:
        return Observation(content="ERROR: timeout", ok=False, code="timeout")

    failing = Tool("docs", search.description, search.parameters, call, effect="read")
    agent = Agent(model=OfflineModel(), tools=(failing,))
    result = await run(agent, "When was Bram Stoker born?", store=MemoryStore())
    assert (result.status, result.answer, result.note) == ("declined", EMPTY, SIGNED)


def says(steps: Any) -> Tool:
    async def call(args: dict[str, Any], key: str) -> Any:
        return {"steps": steps, "note": ""}

    schema = {"type": "object", "properties": {"question": {"type": "string"}}}
    return Tool("planner", "Plan.", schema, call, effect="pure")


async def test_without_the_planner_questions_are_looked_up_whole(library: Library) -> None:
    agent = Agent(model=OfflineModel(), tools=(*docs_tools(library), calc()))
    for question, said in (
        (HOPS[0][0], LOOKED),
        ("What is the capital of Austria?", "Vienna is the capital"),
    ):
        assert (await run(agent, question, store=MemoryStore())).raw_answer.startswith(said)


async def test_the_steps_of_a_plan_are_done(agent: Agent) -> None:
    plan = says(
        [
            {"do": "Find who wrote Dracula", "tool": "docs", "hint": ""},
            {"do": "In which year was #1 born?", "tool": "docs", "hint": ""},
            {"do": "#2 minus 1800", "tool": "calc", "hint": ""},
        ]
    )
    planned = agent.replace(tools=(*agent.tools[:3], plan))
    question = "What is the year the author of Dracula was born minus 1800?"
    store = MemoryStore()
    result = await run(planned, question, store=store)
    assert result.raw_answer.startswith("47 – ")
    assert await tools_called(store, result) == ["planner", "docs", "docs", "calc", FINISH]


@pytest.mark.parametrize(
    "steps",
    [
        None,
        [],
        ["first think"],
        [{"do": "Who wrote Dracula?", "tool": "docs"}, {"do": "Think about #1", "tool": ""}],
        [{"do": "Who wrote Ulysses?", "tool": "docs"}],
        [{"do": "1 / 0", "tool": "calc"}],
    ],
)
async def test_a_plan_that_leads_nowhere_is_left(agent: Agent, steps: Any) -> None:
    planned = agent.replace(tools=(*agent.tools[:3], says(steps)))
    result = await run(planned, "What is the capital of Austria?", store=MemoryStore())
    assert result.raw_answer.startswith("Vienna is the capital of Austria")


async def test_a_simple_question_needs_no_plan(agent: Agent) -> None:
    store = MemoryStore()
    result = await run(agent, "Who wrote Dracula?", store=store)
    assert await tools_called(store, result) == ["docs", FINISH]


async def test_what_cannot_be_calculated_is_said(agent: Agent) -> None:
    result = await run(agent, "What is 1 / 0?", store=MemoryStore())
    assert result.raw_answer.startswith("I cannot work out “What is 1 / 0”.")


async def test_what_is_no_number_is_not_calculated_with(agent: Agent) -> None:
    question = "What is the author of Dracula minus 3?"
    result = await run(agent, question, store=MemoryStore())
    assert result.raw_answer.startswith("I cannot work out “Bram Stoker - 3”.")


async def test_a_question_too_long_to_read_is_not_half_read(agent: Agent) -> None:
    result = await run(agent, "Who wrote Dracula? " * 100, store=MemoryStore())
    assert f"up to {MAX_CHARACTERS} characters" in result.raw_answer


GREETINGS = ["hello", "Hi there!", "thanks", "What can you do?", "Guten Tag", "你好"]


@pytest.mark.parametrize("question", GREETINGS)
async def test_small_talk_is_told_what_can_be_asked(agent: Agent, question: str) -> None:
    store = MemoryStore()
    result = await run(agent, question, store=store)
    assert (result.status, result.answer, result.note) == ("answered", GREETING, SIGNED)
    assert await tools_called(store, result) == [FINISH]
    bare = await run(agent.replace(tools=()), question, store=store)
    assert bare.answer == result.answer


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("What is 15 % of 7,450 euros?", "1117.5"),
        ("How much is €80 plus €20?", "100"),
        ("Add 19.99 and 5.01", "25"),
    ],
)
async def test_one_unit_throughout_a_sum_changes_nothing(
    agent: Agent, question: str, value: str
) -> None:
    result = await run(agent, question, store=MemoryStore())
    assert result.raw_answer.split("\n")[0].endswith(f" = {value}")


async def test_different_units_are_not_added(agent: Agent) -> None:
    result = await run(agent, "What is 5 km + 3 kg?", store=MemoryStore())
    assert result.status == "declined"


DIARY = """# Diary of the yard

Olga Brandt leads the Heron yard. The Heron yard was founded in 1951. The Plover yard was founded in
1962. It was not sold in 1970. Its crane was bought by Timo Vance. The crane of the Heron yard came
in 1980. It broke down in 1999. Piet Bos had warned Olga. The dock will be closed in 2031. The roof
was paid for with 15 % of 7,450 euros.

Ruth carried 40 stones more than Timo.
"""
TAKEN_BACK = [
    "When was the Plover yard sold?",  # it was not
    "When was the dock closed?",  # it is yet to be
    "Who warned Piet Bos?",  # he did the warning
    "Who founded the Heron yard?",  # nobody says so
    "Who bought the Heron yard?",  # a crane was bought
    "How much was paid for the roof?",  # a share of it
    "How many stones did Ruth carry?",  # so many more than another
    "Who leads the Heron yard together?",
    "Why was the Heron yard founded?",
    "When was the Heron yard founded before the Plover yard?",
    "When was the Kite yard founded?",
]


def diary(tmp_path: Path) -> Agent:
    (tmp_path / "diary.md").write_text(DIARY)
    tools = (*docs_tools(tmp_path, index=tmp_path / ".index"), calc(), planner())
    return Agent(model=OfflineModel(), tools=tools)


@pytest.mark.parametrize("question", TAKEN_BACK)
async def test_another_relation_is_no_answer_but_its_passage_is_shown(
    tmp_path: Path, question: str
) -> None:
    result = await run(diary(tmp_path), question, store=MemoryStore())
    assert result.status == "declined"
    assert LOOKED in result.answer
    assert [piece.source for piece in result.cited] == ["diary.md"]


@pytest.mark.parametrize(
    ("questions", "said"),
    [
        (["When was the Plover yard founded?", "And the Heron yard?"], "1951"),
        (["When was the Plover yard founded?", "What about the Heron yard?"], "1951"),
        (["Who leads the Heron yard?", "When was it founded?"], "1951"),
        (["When was the yard of Plover founded?", "And of Heron?"], "1951"),
    ],
)
async def test_a_later_question_may_leave_out_what_was_said(
    tmp_path: Path, questions: list[str], said: str
) -> None:
    agent, store = diary(tmp_path), MemoryStore()
    result = await run(agent, questions[0], store=store)
    for question in questions[1:]:
        result = await resume(agent, result.run_id, say=question, store=store)
    assert result.status == "answered", result.answer
    assert said in result.answer


async def test_who_had_it_done_to_them_is_not_who_did_it(tmp_path: Path) -> None:
    result = await run(diary(tmp_path), "Whom did Piet Bos warn?", store=MemoryStore())
    assert result.raw_answer.startswith("Piet Bos had warned Olga.")


async def test_what_cannot_be_taken_up_is_declined(tmp_path: Path) -> None:
    agent, store = diary(tmp_path), MemoryStore()
    first = await run(agent, "When was the Plover yard founded?", store=store)
    for question in ("And in Spain?", "And the third one?"):
        result = await resume(agent, first.run_id, say=question, store=store)
        assert result.status == "declined"


async def test_it_is_no_person(tmp_path: Path) -> None:
    agent, store = diary(tmp_path), MemoryStore()
    first = await run(agent, "Who leads the Heron yard?", store=store)
    result = await resume(agent, first.run_id, say="When did it break down?", store=store)
    assert "Olga" not in result.raw_answer.split("\n")[0]


async def test_a_question_in_chinese_is_shown_the_passage(tmp_path: Path) -> None:
    (tmp_path / "office.md").write_text("# 办公室\n\n门禁卡由李娜管理。" + "打印机在茶水间。" * 120)
    agent = Agent(model=OfflineModel(), tools=docs_tools(tmp_path, index=tmp_path / ".index"))
    result = await run(agent, "门禁卡由谁管理？", store=MemoryStore())
    assert result.status == "declined"
    assert "门禁卡由李娜管理。" in result.answer
    assert len(result.answer) < 3000
