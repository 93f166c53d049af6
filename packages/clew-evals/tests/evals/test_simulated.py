"""Simulated models: the declared rates, the same run for the same seed, nothing kept in between."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from clew import (
    Agent,
    ConfigError,
    Instructions,
    Limits,
    MemoryStore,
    ModelError,
    ModelSettings,
    read,
    resume,
    run,
)
from clew.codecs import by_name, names
from clew.context import demonstrations
from clew.context.view import first_prompt
from clew.core.actions import Action
from clew.core.contents import Reply
from clew.core.models import Model, ModelInfo, OnText
from clew.core.prompts import Prompt
from clew.core.tools import Tool
from clew.core.trajectory import Trajectory
from clew.core.values import Json
from clew.evidence import CANNOT_ANSWER, Grounded
from clew.toolbox.calc import calc
from clew.toolbox.docs import docs_tools
from clew.toolbox.planner import planner
from clew_evals.case import Case
from clew_evals.simulated import NAMES, PROFILES, Profile, Simulated, simulated
from clew_strategies import vote

NOTES = {
    "mill.md": "# The mill\n\nThe paper mill of Orsk was built in 1911 by Ada Thorne.\n",
    "tower.md": "# The tower\n\nThe tower of Lisk was finished in 1894 and is 62 metres high.\n",
}


def case(name: str, question: str, *script: Json, wrong: Sequence[str] = ()) -> Case:
    return Case(name, question, "", extra={"script": list(script), "wrong": list(wrong)})


def search(*queries: str) -> Json:
    return {
        "think": "I look that up.",
        "calls": [["docs", {"query": query}] for query in queries],
    }


LOOK_UP = case(
    "look-up",
    "When was the paper mill of Orsk built?",
    search("paper mill Orsk built"),
    {"think": "There it is.", "answer": "The mill was built in 1911 {{cite: built in 1911}}."},
    wrong=["The mill was built in 1894 {{cite: built in 1911}}."],
)
TWO_FACTS = case(
    "two-facts",
    "How many years lie between the tower of Lisk and the paper mill of Orsk?",
    search("tower Lisk finished", "paper mill Orsk built"),
    {"think": "Now the difference.", "calls": [["calc", {"expression": "1911 - 1894"}]]},
    {"answer": "17 years lie between 1894 {{cite: in 1894}} and 1911 {{cite: built in 1911}}."},
    wrong=["I make it 27 years."],
)
SUM = case(
    "sum",
    "What is 1234567 times 7654321?",
    {"think": "A sum.", "calls": [["calc", {"expression": "1234567 * 7654321"}]]},
    {"answer": "It is 9,449,772,114,007."},
    wrong=["It is about nine million."],
)
PLANNED = case(
    "planned",
    "Who built the paper mill of Orsk, and how high is the tower of Lisk?",
    {"calls": [["planner", {"question": "Who built the mill, and how high is the tower?"}]]},
    search("paper mill Orsk built"),
    search("tower Lisk high"),
    {"answer": "Ada Thorne {{cite: by Ada Thorne}}; 62 metres {{cite: 62 metres}}."},
)
CASES = (LOOK_UP, TWO_FACTS, SUM, PLANNED)


def but(name: str, /, **changes: Any) -> Simulated:
    """A simulated model with other rates."""
    model = simulated(name, CASES)
    return replace(model, profile=replace(model.profile, **changes))


def flawless(name: str = "strong", /, **changes: Any) -> Simulated:
    """One that makes no mistake but those given."""
    none: dict[str, Any] = {"text": {}, "native": {}, "wrong": 0.0, "misnamed": 0.0, "slips": 0.0}
    return but(name, **{**none, **changes})


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> tuple[Tool, ...]:
    folder = tmp_path_factory.mktemp("notes")
    for name, text in NOTES.items():
        (folder / name).write_text(text)
    index = tmp_path_factory.mktemp("index") / "index.sqlite"
    return (calc(), planner(), *docs_tools(folder, index=index))


def replies(record: Trajectory) -> list[Reply]:
    return [step.thought.reply for step in record.steps if step.thought is not None]


async def played(agent: Agent, each: Case) -> tuple[Any, Trajectory]:
    store = MemoryStore()
    result = await run(agent, each.question, store=store)
    return result, await read(result.run_id, store=store)


# ------------------------------------------------------------------------------------ the script


@pytest.mark.parametrize(
    ("each", "steps", "calls"),
    [(LOOK_UP, 2, ["docs"]), (TWO_FACTS, 3, ["docs", "docs", "calc"]), (SUM, 2, ["calc"])],
)
async def test_a_native_model_makes_calls_that_stand_together_at_once(
    each: Case, steps: int, calls: list[str], tools: tuple[Tool, ...]
) -> None:
    result, record = await played(Agent(model=flawless(), tools=tools), each)
    assert result.status == "answered"
    assert result.steps == steps
    assert [call.action.name for call in record.calls] == calls


async def test_another_makes_one_call_at_a_time(tools: tuple[Tool, ...]) -> None:
    result, record = await played(Agent(model=flawless("chatty"), tools=tools), TWO_FACTS)
    assert [len(step.calls) for step in record.steps] == [1, 1, 1, 0]
    thoughts = [step.thought.text for step in record.steps if step.thought is not None]
    assert thoughts == ["I look that up.", "", "Now the difference.", ""]
    assert result.answer.startswith("17 years lie between 1894 [doc_")


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("codec", sorted({*names()} - {"code"}))  # they write no programs
@pytest.mark.parametrize("number", [0, 6])
@pytest.mark.parametrize("thought", [True, False])
async def test_the_format_and_the_tools_are_read_off_the_prompt(
    codec: str, number: int, thought: bool, tools: tuple[Tool, ...]
) -> None:
    agent = Agent(
        model=flawless(),
        tools=tools,
        codec=codec,
        prompt=Instructions(
            "Be brief.\n\nThe tools:\n- hammer: none of ours",
            constraints=(),
            thought=thought,
            examples=demonstrations(number),
        ),
    )
    for each in (LOOK_UP, TWO_FACTS, SUM, PLANNED):
        result, record = await played(agent, each)
        assert result.status == "answered", (result, replies(record))
        asked = [
            Action(name, args)
            for step in each.extra["script"]
            for name, args in step.get("calls", ())
        ]
        made = [call.action for call in record.calls if call.action.name != "finish"]
        assert made == asked
        assert all(call.observation is not None and call.observation.ok for call in record.calls)
        assert not any(step.thought and step.thought.repairs for step in record.steps)
        assert "{{" not in result.answer
        assert len(result.cited) == each.extra["script"][-1]["answer"].count("{{cite")
        texts = [step.thought.text for step in record.steps if step.thought]
        assert any(texts) is thought


async def test_without_the_planner_it_goes_without(tools: tuple[Tool, ...]) -> None:
    agent = Agent(model=flawless(), tools=[each for each in tools if each.name != "planner"])
    result, record = await played(agent, PLANNED)
    assert [call.action.name for call in record.calls] == ["docs", "docs"]
    assert result.answer.startswith("Ada Thorne [doc_")


async def test_without_documents_it_cannot_know_and_mostly_says_so(
    tools: tuple[Tool, ...],
) -> None:
    agent = Agent(model=but("strong", guesses=0.3), tools=[calc()])
    answers = [(await played(agent.seeded(seed), LOOK_UP))[0].answer for seed in range(40)]
    guessed = answers.count("The mill was built in 1894.")
    assert 6 <= guessed <= 18
    assert answers.count("I cannot answer this: I have no way to look it up.") == 40 - guessed


async def test_without_calc_it_slips_in_some_digit(tools: tuple[Tool, ...]) -> None:
    without = [each for each in tools if each.name != "calc"]
    agent = Agent(model=flawless(slips=1.0), tools=without)
    answer = (await played(agent, SUM))[0].answer
    right = "It is 9,449,772,114,007."
    assert len(answer) == len(right)
    assert sum(one != other for one, other in zip(answer, right, strict=True)) == 1
    assert (await played(agent, TWO_FACTS))[0].answer.startswith("1")
    assert not (await played(agent, TWO_FACTS))[0].answer.startswith("17 ")
    sure = Agent(model=flawless(slips=0.0), tools=without)
    assert (await played(sure, SUM))[0].answer == right


async def test_longer_numbers_go_wrong_more_often() -> None:
    short = case(
        "short",
        "What is 7 times 8?",
        {"calls": [["calc", {"expression": "7 * 8"}]]},
        {"answer": "It is 56."},
    )
    model = simulated("small", [short, SUM])
    model = replace(model, profile=replace(model.profile, wrong=0.0, native={}))

    async def slipped(each: Case, right: str) -> int:
        agent = Agent(model=model)
        prompt = first_prompt(agent.engine.codec, agent.engine.prompt_spec, each.question)
        texts = [
            (await model.complete(structs.replace(prompt, seed=seed))).text for seed in range(200)
        ]
        return 200 - texts.count(right)

    few, many = await slipped(short, "It is 56."), await slipped(SUM, "It is 9,449,772,114,007.")
    assert 20 <= few <= 60  # four digits, of which each goes wrong in 5 %: 18.5 %
    assert 140 <= many <= 190  # 27 digits: 75 %


# ----------------------------------------------------------------------------- seeds and resuming


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("name", NAMES)
async def test_the_same_seed_gives_the_same_run(name: str, tools: tuple[Tool, ...]) -> None:
    for codec in ("native", "paper"):
        told: list[list[str]] = []
        for seed in (*range(4), *range(4)):
            agent = Agent(
                model=simulated(name, CASES),
                tools=tools,
                codec=codec,
                settings=ModelSettings(seed=seed),
            )
            told.append([reply.text for reply in replies((await played(agent, TWO_FACTS))[1])])
        assert told[:4] == told[4:]
        if name == "small":
            assert len({tuple(each) for each in told}) > 1


@dataclass(frozen=True)
class Cut:
    """A model whose provider is gone after some replies; it may be taken up where it was."""

    model: Model
    limit: int
    made: list[int] = field(default_factory=list[int])

    @property
    def info(self) -> ModelInfo:
        return self.model.info

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        if len(self.made) == self.limit:
            message = "the provider is gone"
            raise ModelError(message)
        self.made.append(1)
        return await self.model.complete(prompt, on_text)


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("codec", ["native", "labelled"])
async def test_a_run_that_is_cut_anywhere_goes_on_as_if_it_had_not_been(
    codec: str, tools: tuple[Tool, ...]
) -> None:
    model = but("small", misnamed=0.4, asks=0.0, repeats=0.5)
    agents = [
        Agent(model=model, tools=tools, codec=codec, settings=ModelSettings(seed=seed))
        for seed in range(12)
    ]
    records = [(await played(agent, TWO_FACTS))[1] for agent in agents]
    longest = max(range(12), key=lambda number: len(records[number].steps))
    whole, undisturbed = agents[longest], records[longest]
    assert len(undisturbed.steps) > 5
    for steps in range(len(undisturbed.steps)):
        store = MemoryStore()
        cut = whole.replace(model=Cut(whole.engine.model, steps))
        with pytest.raises(ModelError, match="gone"):
            await run(cut, TWO_FACTS.question, store=store, run_id="cut")
        await resume(whole, "cut", store=store)
        assert replies(await read("cut", store=store)) == replies(undisturbed)


async def test_the_members_of_a_vote_differ(tools: tuple[Tool, ...]) -> None:
    agent = Agent(model=but("older", wrong=0.6), tools=tools)
    answers: list[set[Any]] = []
    for seed in range(0, 50, 5):
        store = MemoryStore()
        found = await vote(agent.seeded(seed), LOOK_UP.question, 5, store=store)
        runs = [await read(one.run_id, store=store) for one in found.runs if one.steps]
        assert [one.started.seed for one in runs] == [
            seed + one.run - 1 for one in found.runs if one.steps
        ]
        answers.append({one.answer for one in found.runs if one.answer is not None})
    assert 0 < sum(len(each) > 1 for each in answers) < 10


# ------------------------------------------------------------------------------------- the rates

SEEDS = 800


def kinds(reply: Reply, codec: str) -> str:
    """What fault a first reply shows, told from its text alone."""
    text = reply.text
    if not text and not reply.calls:
        return "empty"
    if text.startswith("```"):
        return "fence"
    if text.startswith("Sure,"):
        return "prose"
    if "Observation: " in text:
        return "several pairs"
    if text.count("Action 1:") + text.count("Action 2:") > 1:
        return "two actions"
    if reply.finish == "length":
        return "cut"
    return "beside" if codec == "native" and "Let me call" in text else ""


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("profile", PROFILES, ids=NAMES)
@pytest.mark.parametrize("codec", ["native", "paper"])
async def test_faults_are_as_frequent_as_declared(
    profile: Profile, codec: str, tools: tuple[Tool, ...]
) -> None:
    model = simulated(profile.name, CASES)
    agent = Agent(model=model, tools=tools, codec=codec)
    prompt = first_prompt(agent.engine.codec, agent.engine.prompt_spec, LOOK_UP.question)
    seen = [
        kinds(await model.complete(structs.replace(prompt, seed=seed)), codec)
        for seed in range(SEEDS)
    ]
    rates = profile.native if codec == "native" else profile.text
    declared = {str(kind): rate for kind, rate in rates.items()}
    if "finish form" in declared:  # this reply is no answer
        declared["prose"] += declared.pop("finish form")
    for kind in {*declared, *filter(None, seen)}:
        rate = declared[kind]
        spread = 4 * (rate * (1 - rate) / SEEDS) ** 0.5
        assert abs(seen.count(kind) / SEEDS - rate) <= spread, kind


async def test_an_answer_in_the_paper_s_brackets_is_misspelt(tools: tuple[Tool, ...]) -> None:
    model = flawless("chatty", text={"finish form": 1.0})
    result, record = await played(Agent(model=model, tools=tools, codec="paper"), SUM)
    assert "FINISH [It is" in replies(record)[-1].text
    assert result.answer == "It is 9,449,772,114,007."


@pytest.mark.parametrize("codec", ["paper", "labelled", "json"])
async def test_what_a_model_invents_is_dropped_and_does_no_harm(
    codec: str, tools: tuple[Tool, ...]
) -> None:
    for kind in ("several pairs", "two actions", "prose", "fence"):
        for stops in (True, False):
            model = flawless(text={kind: 1.0}, stops=stops)
            result, record = await played(Agent(model=model, tools=tools, codec=codec), TWO_FACTS)
            assert result.answer.startswith("17 years lie between 1894 [doc_"), (kind, result)
            made = [call.action.name for call in record.calls if call.action.name != "finish"]
            assert made == ["docs", "docs", "calc"]


async def test_replies_that_cannot_be_read_cost_steps_and_at_last_the_run(
    tools: tuple[Tool, ...],
) -> None:
    agent = Agent(model=flawless(native={"empty": 1.0}), tools=tools)
    result, _ = await played(agent, LOOK_UP)
    assert result.status == "bound"
    assert result.reason.startswith("faults")


# ------------------------------------------------------------------- errors, refusals, landings


@pytest.mark.parametrize("habit", ["", "repeats", "asks"])
async def test_after_an_error_it_makes_the_call_right_or_again_or_asks(
    habit: str, tools: tuple[Tool, ...]
) -> None:
    rates = {habit: 1.0} if habit else {}
    failed = 0
    for seed in range(8):
        agent = Agent(
            model=flawless(**rates, misnamed=0.5), tools=tools, settings=ModelSettings(seed=seed)
        )
        result, record = await played(agent, LOOK_UP)
        first, *more = record.calls
        if first.observation is None or first.observation.ok:
            continue
        failed += 1
        if habit == "asks":
            assert not more
            assert result.answer.startswith("Something did not work as I expected.")
        elif habit == "repeats":
            assert more
            assert {str(call.action) for call in more} == {str(first.action)}
        else:
            assert result.answer.startswith("The mill was built in 1911 [doc_")
            assert more[-1].observation is not None
            assert more[-1].observation.ok
    assert failed


@pytest.mark.parametrize("codec", ["native", "json"])
async def test_a_refused_answer_is_corrected_or_dropped_or_insisted_on(
    codec: str, tools: tuple[Tool, ...]
) -> None:
    def agent(corrects: float, drops: float) -> Agent:
        always = 2.0  # half of it whatever the seed is
        return Agent(
            model=flawless(wrong=always, corrects=corrects, drops=drops),
            tools=tools,
            codec=codec,
            checks=[Grounded()],
            fallback=CANNOT_ANSWER,
        )

    corrected, _ = await played(agent(1.0, 0.0), LOOK_UP)
    assert corrected.status == "answered"
    assert corrected.answer.startswith("The mill was built in 1911 [doc_")
    dropped, _ = await played(agent(0.0, 1.0), LOOK_UP)
    assert dropped.answer == "I cannot answer this with the evidence that I have."
    insisted, record = await played(agent(0.0, 0.0), LOOK_UP)
    assert insisted.fallback
    assert len(record.steps) == 4


@pytest.mark.parametrize("codec", ["native", "paper"])
async def test_in_a_landing_it_answers_as_best_it_can(codec: str, tools: tuple[Tool, ...]) -> None:
    agent = Agent(model=flawless("chatty"), tools=tools, codec=codec)
    early, _ = await played(agent.replace(limits=Limits(steps=1)), TWO_FACTS)
    assert early.status == "bound"
    assert early.answer.startswith("I cannot answer this: I did not get to")
    late, _ = await played(agent.replace(limits=Limits(steps=2)), TWO_FACTS)
    assert late.answer.startswith("17 years lie between 1894 [doc_")


# ------------------------------------------------------------------------- what cannot be played


def test_a_name_there_is_not_is_told_with_the_nearest() -> None:
    with pytest.raises(ConfigError, match="no simulated model 'stong': did you mean strong"):
        simulated("stong", CASES)
    with pytest.raises(ConfigError, match="there are strong, fencing, chatty, older, small"):
        simulated("zzz", CASES)


@pytest.mark.parametrize(
    ("extra", "words"),
    [
        ({}, "case x has no script"),
        ({"script": []}, "must end in its only answer"),
        ({"script": [{"answer": "a"}, {"answer": "b"}]}, "must end in its only answer"),
        ({"script": [{"calls": [["calc"]]}, {"answer": "b"}]}, "cannot be played"),
        ({"script": [{"anwser": "b"}]}, "anwser"),
        ({"script": [{"answer": "b"}], "wrong": "c"}, "cannot be played"),
    ],
)
def test_a_script_that_cannot_be_played_is_told(extra: dict[str, Json], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        simulated("strong", [Case("x", "?", "", extra=extra)])


def test_two_cases_with_one_question_are_told() -> None:
    with pytest.raises(ConfigError, match="cases look-up and other ask the same question"):
        simulated("strong", [LOOK_UP, Case("other", LOOK_UP.question, "", extra=LOOK_UP.extra)])


async def test_a_question_without_a_script_is_told(tools: tuple[Tool, ...]) -> None:
    with pytest.raises(ModelError, match="simulated:strong has no script for this question"):
        await run(Agent(model=flawless(), tools=tools), "Why?", store=MemoryStore())


async def test_usage_is_estimated_and_priced(tools: tuple[Tool, ...]) -> None:
    result, record = await played(Agent(model=flawless(), tools=tools), SUM)
    assert result.usage.estimated
    first = replies(record)[0].usage
    assert first.input > 200
    assert first.cost == (first.input * 2.5 + first.output * 10.0) / 1_000_000
    assert record.started.spec.model == "simulated:strong"
    assert by_name("native").name == record.started.spec.codec


# ------------------------------------------------------------------------------- what is declared


def test_the_document_tells_the_invented_rates_as_they_are() -> None:
    text = (Path(__file__).parents[2] / "README.md").read_text("utf-8")
    for one in PROFILES:
        shares = (one.wrong, one.misnamed, one.guesses, one.slips, one.corrects, one.drops)
        told = " | ".join(f"{share * 100:g} %" for share in shares)
        price = " / ".join(f"{each:g}" for each in one.price)
        assert f"| `{one.name}` | {told} | {price} |" in text


@pytest.mark.parametrize(
    ("name", "kind", "share", "native"),
    [
        ("strong", "none (0 %)", 0.0, 0.0),
        ("fencing", "in a code fence 24 %", 0.24, 0.0),
        ("chatty", "7.7 %: prose", 0.077, 0.0),
        ("older", "cut 0.24 %", 0.0024, 0.0),
        ("small", "16 %: nothing", 0.17, 0.16),
    ],
)
def test_the_document_tells_the_rates_that_were_seen(
    name: str, kind: str, share: float, native: float
) -> None:
    text = (Path(__file__).parents[2] / "README.md").read_text("utf-8")
    profile = simulated(name, CASES).profile
    assert kind in next(line for line in text.splitlines() if line.startswith(f"| `{name}` |"))
    assert sum(profile.text.values()) == pytest.approx(share)
    assert sum(profile.native.values()) == pytest.approx(native)
