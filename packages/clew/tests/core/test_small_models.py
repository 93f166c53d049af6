"""What models known to be small get by default, each of it by itself on or off."""

import re
from dataclasses import dataclass
from typing import Any, Literal

import pytest

from clew import (
    Agent,
    ConfigError,
    Instructions,
    Limits,
    MemoryStore,
    ModelError,
    ModelSettings,
    NoProgress,
    prompt_of,
    read,
    replay,
    resume,
    run,
    tool,
)
from clew.context import PROMPT, VARIANTS
from clew.context.instructions import SHORT
from clew.context.variants import billions_in
from clew.core.actions import Action
from clew.core.contents import Reply
from clew.core.events import Changed
from clew.core.models import ModelInfo, OnText
from clew.core.prompts import Prompt
from clew.guards import Provenance
from clew.guards.no_progress import EARLY
from clew.testing.models import Line, ScriptedModel, act, finish, say
from tests.core.watched import Watched, watched

pytestmark = pytest.mark.anyio

SMALL = "local:qwen2.5-coder-1.5b-instruct-q4_k_m"


@tool(effect="read")
def search(query: str) -> list[dict[str, str]]:
    """Search the notes."""
    return [{"title": f"About {query}"}, {"title": "Elsewhere"}] if query else []


@tool(effect="read")
def read_note(title: str) -> str:
    """Read one note."""
    return f"{title}: it was built in 1850."


TOOLS = [search, read_note]


def small(*script: Line, codec: str = "json", **changes: Any) -> Agent:
    model = watched(*script, codec=codec, tools=TOOLS, name=SMALL)
    return Agent(model=model, tools=TOOLS, guards=[Provenance("off")], **changes)


def sent_by(agent: Agent) -> list[Prompt]:
    assert isinstance(agent.model, Watched)
    return agent.model.sent


def texts(parts: Any) -> str:
    return "\n".join(part.text for part in parts)


# --------------------------------------------------------------------------- which models are small


@pytest.mark.parametrize(
    ("model", "billions"),
    [
        (SMALL, 1.5),
        ("ollama:qwen2.5-coder:1.5b", 1.5),
        ("openai:HuggingFaceTB/SmolLM2-135M-Instruct", 0.135),
        ("local:/models/7b/SmolLM2-360M.Q8_0.gguf", 0.36),
        ("ollama:gemma3n:e2b", 2.0),
        ("vllm:Qwen/Qwen2.5-7B-Instruct-1M", 7.0),
        ("vllm:Qwen/Qwen3-30B-A3B", 30.0),
        ("groq:mixtral-8x7b-32768", None),
        ("ollama:llama3.2", None),
        ("mlx:phi-3-mini-4bit", None),
        ("openai:gpt-4.1-mini", None),
    ],
)
def test_how_big_a_model_is_stands_in_its_name(model: str, billions: float | None) -> None:
    assert billions_in(model) == billions


@dataclass(frozen=True)
class Sized:
    """A model of which only the size matters."""

    info: ModelInfo

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        return Reply("1850")


@pytest.mark.parametrize(
    ("billions", "codec"), [(1.5, "json/2"), (3.9, "json/2"), (4.0, "native/3"), (None, "native/3")]
)
def test_a_model_may_say_its_size_where_its_name_does_not(
    billions: float | None, codec: str
) -> None:
    assert Agent(Sized(ModelInfo("local:mine.gguf", billions=billions))).engine.codec.name == codec


# ------------------------------------------------------------------------------- all at once


async def test_a_small_model_is_asked_for_json_in_a_few_lines_with_worked_examples() -> None:
    agent = small(finish("1850"))
    result = await run(agent, "When?", store=(store := MemoryStore()))
    [system, question] = sent_by(agent)[0].head
    assert agent.spec.parts["variant"] == "tiny, text"
    assert agent.engine.codec.name == "json/2"
    assert system.text.startswith(f"{SHORT.text}\n\nYou work in steps.")
    assert system.text.count("An example:") == 3
    assert '{"answer":"It was not found."}' in system.text
    assert question.text == "Question: When?"
    assert isinstance(agent.parts.no_progress, NoProgress)
    assert agent.parts.no_progress == EARLY
    prompt_spec = agent.engine.prompt_spec
    assert (prompt_spec.repeat_question, prompt_spec.strict_landing, prompt_spec.raw_replies) == (
        True,
        True,
        True,
    )
    assert result.answer == "1850"
    assert (await prompt_of(result.run_id, store=store)).differs == ()


@pytest.mark.parametrize(
    ("on", "off"),
    [
        ({"prompt": PROMPT.replace(examples=3)}, {"prompt": PROMPT.replace(examples=0)}),
        ({"prompt": PROMPT.replace(short=True)}, {"prompt": PROMPT.replace(short=False)}),
        *(
            tuple({"prompt": PROMPT.replace(**{name: choice})} for choice in (True, False))
            for name in ("repeat_question", "strict_landing", "raw_replies")
        ),
        ({"limits": Limits(no_progress="early")}, {"limits": Limits(no_progress="late")}),
        ({"limits": Limits(no_progress=EARLY)}, {"limits": Limits(no_progress=NoProgress())}),
        ({"codec": "json"}, {"codec": "labelled"}),
    ],
    ids=[
        "examples", "short", "repeat_question", "strict_landing", "raw_replies", "early",
        "a guard of one's own", "codec",
    ],
)  # fmt: skip
def test_each_is_on_or_off_by_itself_and_what_a_user_says_wins(
    on: dict[str, Any], off: dict[str, Any]
) -> None:
    usual = small()
    assert usual.replace(**on).spec == usual.spec
    without = usual.replace(**off)
    assert without.spec.fingerprint != usual.spec.fingerprint
    big = Agent(ScriptedModel([], name="openai:big"), TOOLS)
    assert big.replace(**on).spec.fingerprint != big.spec.fingerprint
    if "codec" not in off and "raw_replies" not in str(off):
        assert big.replace(**off).spec == big.spec


def test_all_of_it_is_off_without_variants() -> None:
    without = small(prompt=Instructions(variants=()))
    big = Agent(ScriptedModel([], name="openai:big"), TOOLS)
    assert without.engine.prompt_spec == big.engine.prompt_spec
    assert without.engine.codec.name == "native/3"


def test_native_calls_are_a_users_choice_and_have_no_examples() -> None:
    agent = small(codec="native").replace(codec="native")
    assert agent.spec.parts["variant"] == "tiny, native"
    assert (agent.engine.prompt_spec.examples, agent.engine.prompt_spec.thought) == ((), False)
    assert agent.spec.prompt == SHORT.text


def test_ones_own_persona_and_constraints_stay() -> None:
    mine = small(prompt=Instructions("I am terse.", ("Be brief.",)))
    assert mine.spec.prompt == "I am terse.\n- Be brief."
    assert small(prompt="As it stands.").spec.prompt == "As it stands."
    half = small(prompt=Instructions("I am terse."))
    assert half.spec.prompt == "\n- ".join(["I am terse.", *SHORT.constraints])


# ------------------------------------------------------------------------------- worked examples


@tool(effect="idempotent")
def write_note(title: str) -> str:
    """Write a note, to be read by others."""
    return title


@tool
def look_up(topic: str, place: str) -> str:
    """Look a topic up."""
    return topic + place


@tool(effect="pure", examples=({"q": "mills", "year": 1900},))
def find(q: str, year: int) -> str:
    """Find notes."""
    return f"{q} {year}"


@tool(effect="read")
def fetch(kind: Literal["note", "letter"], topic: str) -> str:
    """Fetch a note."""
    return f"{kind} {topic}"


@tool(effect="read")
def tides(place: str) -> str:
    """Say when the tide is high."""
    return place


def calls_of(agent: Agent[Any]) -> list[list[Action]]:
    return [
        [call.action for step in example.steps for call in step.calls]
        for example in agent.engine.prompt_spec.examples
    ]


def test_examples_are_made_with_the_tools_that_look_things_up() -> None:
    compared, found, missed = calls_of(small())
    assert [action.name for action in compared] == ["search", "search", "finish"]
    assert [action.args for action in compared[:-1]] == [
        {"query": "Farrow height"},
        {"query": "Ostrel height"},
    ]
    assert [action.name for action in found] == ["search", "read_note", "finish"]
    assert found[0].args == {"query": "Vellmark mill builder"}
    assert found[1].args == {"title": "Oda Brandt"}
    assert [action.name for action in missed] == ["search", "read_note", "finish"]
    assert missed[-1].args == {"answer": "It was not found."}


def test_one_tool_alone_is_never_asked_the_same_again() -> None:
    for calls in calls_of(small().replace(tools=[find])):
        assert [action.name for action in calls] == ["find", "find", "finish"]
        assert calls[0].args != calls[1].args
        assert all(action.args["year"] == 1900 for action in calls[:-1])


def test_other_parameters_take_what_their_schema_names() -> None:
    compared, *_ = calls_of(small().replace(tools=[fetch]))
    assert compared[0].args == {"kind": "letter", "topic": "Farrow"}


def test_what_an_example_quotes_stands_in_an_observation_of_it() -> None:
    for example in small().engine.prompt_spec.examples:
        seen = ""
        for step in example.steps:
            assert step.thought is not None
            assert all(words in seen for words in re.findall(r"'([^']+)'", step.thought.text))
            seen += "".join(
                str(call.observation and call.observation.content) for call in step.calls
            )


@pytest.mark.parametrize("tools", [[write_note], [look_up], [tides], []])
def test_none_is_made_with_tools_that_change_things_or_need_more(tools: list[Any]) -> None:
    assert calls_of(small().replace(tools=tools)) == []


def test_a_typed_answer_has_no_example_in_words() -> None:
    assert calls_of(small().replace(answer=int)) == []


# ------------------------------------------------------------------------------- the question again


def empty(codec: str) -> Line:
    return say("") if codec == "native" else ""


@pytest.mark.parametrize("codec", ["native", "json", "labelled", "paper"])
async def test_the_question_is_said_again_after_an_empty_reply_and_stays_there(codec: str) -> None:
    agent = small(empty(codec), act("search", query="x"), finish("1850"), codec=codec)
    agent = agent.replace(codec=codec)
    result = await run(agent, "When was it built?", store=(store := MemoryStore()))
    sent = sent_by(agent)
    again = "The question again: When was it built?"
    assert [again in texts(prompt.tail) for prompt in sent] == [False, True, False]
    assert [again in texts(prompt.parts) for prompt in sent] == [False, False, True]
    assert result.answer == "1850"
    await replay(agent, result.run_id, store=store)
    for step in (1, 2, 3):
        assert (await prompt_of(result.run_id, step, store=store)).differs == ()


async def test_it_is_not_said_again_where_that_is_off_or_the_reply_was_wrong_in_itself() -> None:
    off = PROMPT.replace(repeat_question=False)
    for agent in (small("", finish("1850"), prompt=off), small("I think so.", finish("1850"))):
        await run(agent, "When?", store=MemoryStore())
        assert "again" not in texts(sent_by(agent)[1].tail)


# ------------------------------------------------------------------------------- repetition


def names_in(form: Any) -> list[str]:
    branches = form.get("anyOf", [form])
    return [branch["properties"]["action"]["enum"][0] for branch in branches]


async def test_after_a_repeated_call_only_its_tool_is_not_offered() -> None:
    same = act("search", query="mill")
    agent = small(same, same, act("write_note", title="Mill"), same, finish("1850"))
    agent = agent.replace(tools=[*TOOLS, write_note])
    result = await run(agent, "When?", store=(store := MemoryStore()))
    sent = sent_by(agent)
    offered = [names_in(prompt.reply_schema) for prompt in sent]
    everything = ["search", "read_note", "write_note", "finish"]
    others = ["read_note", "write_note", "finish"]
    assert offered == [everything, everything, others, everything, everything]
    said = sent[2].parts[-1].text
    assert "this call was made before, with the same result. Open what was found and not" in said
    assert "(Elsewhere)" in said
    assert "not found" not in said
    assert len({texts(prompt.head) for prompt in sent}) == 1
    for step in range(1, 6):
        assert (await prompt_of(result.run_id, step, store=store)).differs == ()
    await replay(agent, result.run_id, store=store)


@pytest.mark.parametrize("name", ["write_note", "search"])
async def test_a_call_that_cannot_be_made_is_not_offered_a_third_time(name: str) -> None:
    wrong = act(name, number=0)
    agent = small(wrong, wrong, finish("1850")).replace(tools=[*TOOLS, write_note])
    await run(agent, "When?", store=MemoryStore())
    offered = [names_in(prompt.reply_schema) for prompt in sent_by(agent)]
    left = {
        "write_note": ["search", "read_note", "finish"],
        "search": ["read_note", "write_note", "finish"],
    }
    everything = ["search", "read_note", "write_note", "finish"]
    assert offered == [everything, everything, left[name]]


async def test_the_grammar_leaves_it_out_too_and_what_is_declared_stays() -> None:
    same = act("search", query="mill")
    for codec in ("native", "labelled"):
        script = (same, same, finish("1850"))
        model = watched(
            *script,
            codec=codec,
            tools=TOOLS,
            name=SMALL,
            settings=ModelSettings(extra={"grammar": True}),
        )
        await run(Agent(model, TOOLS, codec=codec), "When?", store=MemoryStore())
        sent = model.sent
        assert ["search" in prompt.grammar for prompt in sent] == [True, True, False]
        assert len({len(prompt.tools) for prompt in sent}) == 1


async def test_a_tool_is_offered_again_where_its_result_is_another() -> None:
    results = iter(["one", "two", "three", "three"])

    @tool(effect="read")
    def look() -> str:
        """Look again."""
        return next(results)

    again = act("look")
    model = watched(again, again, again, again, finish("x"), codec="json", tools=[look], name=SMALL)
    await run(Agent(model, [look]), "What?", store=MemoryStore())
    offered = ["look" in names_in(prompt.reply_schema) for prompt in model.sent]
    assert offered == [True, True, True, True, False]


async def test_a_person_who_speaks_starts_it_anew() -> None:
    same = act("search", query="mill")
    agent = small(same, same, finish("no"), same, finish("1850"))
    result = await run(agent, "When?", store=(store := MemoryStore()))
    await resume(agent, result.run_id, say="Look again.", store=store)
    offered = ["search" in names_in(prompt.reply_schema) for prompt in sent_by(agent)]
    assert offered == [True, True, False, True, True]


async def test_a_model_that_repeats_itself_all_the_same_is_refused_and_lands() -> None:
    same = act("search", query="mill")
    agent = small(same, same, same, same, finish("It was not found."))
    result = await run(agent, "When?", store=(store := MemoryStore()))
    record = await read(result.run_id, store=store)
    seen = [call.observation for call in record.calls if call.observation is not None]
    assert [each.code for each in seen[2:4]] == ["repeated_same_tool_call_too_many_times"] * 2
    offered = [names_in(prompt.reply_schema) for prompt in sent_by(agent)]
    assert [("search" in names) for names in offered] == [True, True, False, False, False]
    assert (result.status, result.answer) == ("bound", "It was not found.")


# ------------------------------------------------------------------------------- the landing


@pytest.mark.parametrize("codec", ["native", "json", "labelled", "paper"])
async def test_a_landing_asks_only_for_what_an_observation_says(codec: str) -> None:
    last = say("It was not found.") if codec == "native" else finish("It was not found.")
    agent = small(act("search", query="x"), last, codec=codec, limits=Limits(steps=1))
    agent = agent.replace(codec=codec)
    result = await run(agent, "When?", store=MemoryStore())
    asked = texts(sent_by(agent)[-1].parts)
    assert "Answer in the form that the question asks for, only with what stands in an" in asked
    assert (result.status, result.answer) == ("bound", "It was not found.")


async def test_that_nothing_was_found_is_no_answer_before_anything_was_looked_up() -> None:
    agent = small(finish("It was not found."), act("search", query="x"), finish("it was not found"))
    result = await run(agent, "When?", store=MemoryStore())
    assert "the answer speaks of what was not found, and no call was made" in texts(
        sent_by(agent)[1].parts
    )
    assert (result.status, result.answer) == ("answered", "it was not found")


# ------------------------------------------------------------------------------- replies as written


WRITTEN = {
    "json": '{"thought": "I  search.",\n "action": "search", "args": {"query": "x"}}',
    "labelled": 'Thought: I  search.\nAction:  search\nAction Input: {"query":   "x"}',
    "paper": "Thought 1: I  search.\n\nAction 1: search[ x ]",
}


@pytest.mark.parametrize("codec", WRITTEN)
@pytest.mark.parametrize("kept", [True, False])
async def test_a_reply_is_shown_as_the_model_wrote_it(codec: str, *, kept: bool) -> None:
    prompt = Instructions(raw_replies=kept)
    agent = small(WRITTEN[codec], finish("1850"), codec=codec, prompt=prompt)
    agent = agent.replace(codec=codec)
    await run(agent, "When?", store=(store := MemoryStore()), run_id="run")
    [own, *_] = sent_by(agent)[1].parts
    assert (own.role, own.text == WRITTEN[codec]) == ("assistant", kept)
    assert (await prompt_of("run", store=store)).differs == ()


@pytest.mark.parametrize(
    ("codec", "written"),
    [
        ("json", '{"tool": "search", "args": {"query": "x"}}'),
        ("labelled", "Action: search\nAction Input: x"),
    ],
)
async def test_a_reply_that_had_to_be_mended_is_shown_as_it_was_read(
    codec: str, written: str
) -> None:
    agent = small(written, finish("1850"), codec=codec).replace(codec=codec)
    await run(agent, "When?", store=MemoryStore())
    assert sent_by(agent)[1].parts[0].text != written


# ------------------------------------------------------------------------------- earlier runs

EARLIER = PROMPT.replace(variants=[one for one in VARIANTS if "tiny" not in one.name])
"""As clew was before anything was done for models of this size."""


async def test_a_run_goes_on_with_the_variant_that_it_began_with() -> None:
    script = (act("search", query="x"), act("search", query="y"), say("1850"))
    then = Agent(watched(script[0], name=SMALL), TOOLS, prompt=EARLIER)
    now = Agent(watched(*script, name=SMALL), TOOLS)
    begun = then.spec.parts["variant"], then.engine.codec.name
    assert begun == ("small, native", "native/3")
    store = MemoryStore()
    with pytest.raises(ModelError):
        await run(then, "When?", store=store, run_id="run")
    result = await resume(now, "run", store=store)
    record = await read("run", store=store)
    assert result.answer == "1850"
    assert not any(isinstance(entry.event, Changed) for entry in record.entries)
    assert len(sent_by(now)[0].tools) == 3
    await replay(now, "run", store=store)
    with pytest.raises(ConfigError, match="the agent differs from the record's in prompt"):
        await resume(now.replace(prompt="Mine."), "run", say="And?", store=store)


async def test_a_replay_needs_no_model_that_tells_its_size() -> None:
    info = ModelInfo("local:mine.gguf", billions=1.5)
    agent = Agent(Sized(info), TOOLS, limits=Limits(steps=1, landing=False))
    result = await run(agent, "When?", store=(store := MemoryStore()))
    unsized = agent.replace(model=Sized(ModelInfo("local:mine.gguf")))
    assert unsized.engine.codec.name != agent.engine.codec.name
    await replay(unsized, result.run_id, store=store)
