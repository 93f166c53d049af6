"""The prompt as a part: what it says, who decides that, and that the record can tell it again."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from clew import (
    Agent,
    Call,
    ConfigError,
    Instructions,
    Limits,
    MemoryStore,
    Step,
    Trajectory,
    read,
    replay,
    resume,
    run,
)
from clew.codecs.react_text import Paper
from clew.context import PROMPT, VARIANTS, Example, Variant, demonstrations
from clew.context.demonstrations import DEMONSTRATIONS
from clew.context.variants import FIRST, LAST, SHAPES, matching, shortened
from clew.core.actions import Action
from clew.core.contents import Observation
from clew.core.events import Thought
from clew.core.journal import load
from clew.core.models import ModelInfo
from clew.core.tools import Tool
from clew.core.values import encode
from clew.interfaces import Left
from clew.support.errors import ReplayError
from clew.testing.models import Line, ScriptedModel, act, acts, finish, say
from clew.toolbox.calc import calc
from tests.core.scenarios import TOOLS
from tests.core.watched import CODECS, SHAPED, shipped, watched

pytestmark = pytest.mark.anyio


ONE_STEP = Limits(steps=1)


def named(name: str, *script: Line) -> ScriptedModel:
    return ScriptedModel(script or [say("ok")], name=name)


def head(agent: Agent) -> str:
    return "\n".join(
        part.text for part in agent.engine.codec.head(agent.engine.prompt_spec, "What?")
    )


# ------------------------------------------------------------------------------ the form of a reply


@pytest.mark.parametrize(
    ("codec", "answer", "form"),
    [
        ("native", int, [None, {"type": "integer"}]),
        ("native", str, [None, None]),
        ("paper", int, [None, None]),
        ("labelled", int, [None, None]),
    ],
)
async def test_the_last_reply_of_a_typed_answer_is_held_to_its_schema(
    codec: str, answer: type, form: list[Any]
) -> None:
    last = {"native": "7", "paper": "Action 2: Finish[7]", "labelled": "Final Answer: 7"}[codec]
    model = watched(act("lookup", key="a"), last, codec=codec, tools=TOOLS, answer=answer)
    agent = Agent(model=model, tools=TOOLS, codec=codec, answer=answer, limits=ONE_STEP)
    store = MemoryStore()
    result = await run(agent, "What?", store=store)
    assert (result.status, result.answer) == ("bound", answer(7))
    assert [prompt.reply_schema for prompt in model.sent] == form
    record = await load(store, result.run_id)
    prints = [e.event.prints.params for e in record.entries if isinstance(e.event, Thought)]
    assert (prints[0] == prints[1]) is (form[0] == form[1])


# ------------------------------------------------------------------------------ instructions


def test_instructions_are_persona_constraints_and_output() -> None:
    assert Instructions() == PROMPT
    assert Instructions("You are terse.").constraints == PROMPT.constraints
    own = Instructions("You are terse.", ("Be brief.", "Be right."), "a single word")
    text = (
        "You are terse.\n- Be brief.\n- Be right.\n\n"
        "The answer should look like this:\na single word"
    )
    agent = Agent(model=named("scripted:test"), prompt=own)
    assert own.text == text
    assert agent.spec.prompt == text
    assert head(agent).startswith(text)
    assert PROMPT.replace(output="").text == Agent(model=named("scripted:test")).spec.prompt
    assert Instructions("", ("Be brief.",)).text == "- Be brief."


def test_one_text_is_the_whole_of_the_instructions() -> None:
    agent = Agent(model=named("anthropic:claude-x"), prompt="Do as asked.")
    assert agent.spec.prompt == "Do as asked."
    with pytest.raises(ConfigError, match=r"constraints is one text: give a tuple"):
        Instructions("You are terse.", "Be brief.")  # type: ignore[arg-type]  # that is the point


# ------------------------------------------------------------------------------ the tail


def count_down(trajectory: Trajectory, left: Left) -> str:
    """Say anew what is left."""
    last = "; the last" if left.last else ""
    return f"{left.steps}/{left.tool_calls}/{left.tokens} left after {len(trajectory.steps)}{last}."


def quiet(trajectory: Trajectory, left: Left) -> str:
    """Say nothing."""
    return ""


def tails(model: Any) -> list[list[str]]:
    return [[part.text for part in prompt.tail] for prompt in model.sent]


SCRIPT = (act("lookup", key="a"), act("lookup", key="b"), act("lookup", key="c"), say("ok"))


@pytest.mark.parametrize(
    ("tell_left", "said"),
    [
        ("never", [[], [], [], [], []]),
        ("near", [[], ["3 steps are left."], ["2 steps are left."], ["L\n3"], []]),
        ("always", [["4\n6"], ["3\n5"], ["2\n4"], ["L\n3"], []]),
    ],
)
async def test_what_is_left_is_told_at_the_end(tell_left: Any, said: list[list[str]]) -> None:
    model = watched(*SCRIPT[:3], act("lookup", key="d"), say("landed"))
    limits = Limits(steps=4, tool_calls=6)
    prompt = PROMPT.replace(tell_left=tell_left)
    agent = Agent(model=model, tools=TOOLS, limits=limits, prompt=prompt)
    assert (await run(agent, "What?", store=MemoryStore())).answer == "landed"

    def full(line: str) -> str:
        steps, _, calls = line.partition("\n")
        steps = "This is the last step: finish now." if steps == "L" else f"{steps} steps are left."
        return f"{steps}\n{calls} tool calls are left."

    expected = [[f"NOTE: {one if 'left' in one else full(one)}" for one in tail] for tail in said]
    assert tails(model) == expected


def test_when_to_tell_what_is_left_is_one_of_three() -> None:
    with pytest.raises(
        ConfigError, match="tell_left is 'often': choose one of near, always, never"
    ):
        Instructions(tell_left="often")  # type: ignore[arg-type]  # that is the point


async def test_a_tail_is_said_before_each_thought_and_is_in_the_record() -> None:
    model = watched(SCRIPT[0], SCRIPT[1], say("landed"))
    agent = Agent(
        model=model,
        tools=TOOLS,
        prompt=PROMPT.replace(tail=count_down, tell_left="never"),
        limits=Limits(steps=2, tokens=9_000),
    )
    store = MemoryStore()
    result = await run(agent, "What?", store=store)
    expected = [
        "2/30/9000 left after 0.",
        "1/29/8985 left after 1; the last.",
        "0/28/8970 left after 2.",
    ]
    assert tails(model) == [[f"NOTE: {line}"] for line in expected]
    record = await read(result.run_id, store=store)
    thoughts = [e.event for e in record.entries if isinstance(e.event, Thought)]
    assert [thought.reminders for thought in thoughts] == [(line,) for line in expected]
    assert record.started.spec.parts["tail"] == f"{__name__}.count_down"
    await replay(agent, result.run_id, store=store)
    other = agent.replace(prompt=PROMPT.replace(tail=quiet))
    with pytest.raises(ReplayError) as caught:
        await replay(other, result.run_id, store=store)
    assert caught.value.field == "spec.parts.tail"
    with pytest.raises(ConfigError, match=r"differs from the record's in parts\.tail"):
        await resume(other, result.run_id, store=store)


async def test_a_tail_that_says_nothing_leaves_none() -> None:
    model = watched(say("ok"))
    agent = Agent(model=model, prompt=PROMPT.replace(tail=quiet))
    await run(agent, "What?", store=MemoryStore())
    assert tails(model) == [[]]


def test_a_tail_without_a_name_is_refused() -> None:
    class Nameless:
        def __call__(self, trajectory: Trajectory, left: Left) -> str:
            return ""

    with pytest.raises(ConfigError, match="has another name in every process"):
        Agent(model=named("scripted:test"), prompt=PROMPT.replace(tail=Nameless()))


# ------------------------------------------------------------------------------ variants


@pytest.mark.parametrize(
    ("model", "native", "text"),
    [
        ("ollama:qwen2.5:7b", "small, native", "small, text"),
        ("ollama:llama3.2:1b-instruct", "tiny, native", "tiny, text"),
        ("llamacpp:Qwen2.5-1.5B-Instruct-Q4_K_M.gguf", "tiny, native", "tiny, text"),
        ("lmstudio:mistral-7b-instruct", "small, native", "small, text"),
        ("vllm:Qwen/Qwen2.5-7B-Instruct", "small, native", "small, text"),
        ("openai:qwen2.5-coder-1.5b-instruct", "tiny, native", "tiny, text"),
        ("together:mistralai/7b-instruct", "small, native", "small, text"),
        ("ollama:llama3.3:70b", None, "llama"),
        ("groq:mixtral-8x7b-32768", None, None),
        ("ollama:qwen2.5:72b", "qwen", None),
        ("dashscope:qwen-plus", "qwen", None),
        ("groq:llama-3.3-70b-versatile", None, "llama"),
        ("together:meta-llama/Llama-3.3-70B-Instruct-Turbo", None, "llama"),
        ("google:gemini-2.0-flash", None, "gemini"),
        ("openrouter:google/gemini-2.5-pro", None, "gemini"),
        ("openai:gpt-4.1-mini", "gpt", None),
        ("openai:o3", "gpt", None),
        ("anthropic:claude-sonnet-4", "claude", None),
        ("deepseek:deepseek-flash", None, None),
        ("offline", None, None),
    ],
)
def test_the_variants_that_ship_fit_their_families(
    model: str, native: str | None, text: str | None
) -> None:
    info = ModelInfo(model)
    found = [matching(VARIANTS, info, native=is_native) for is_native in (True, False)]
    assert [one and one.name for one in found] == [native, text]


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.name)
def test_a_variant_that_ships_is_in_the_setting_and_changes_the_head(variant: Variant) -> None:
    name = variant.match[0].replace("*", "x").replace("[0-9]", "7")
    model = named(f"ollama:model-{variant.below - 1:g}b" if variant.below else name)
    codec = "paper" if variant.native is False else "native"
    agent = Agent(model=model, tools=TOOLS, codec=codec)
    plain_agent = agent.replace(prompt=PROMPT.replace(variants=()))
    assert agent.spec.parts["variant"] == variant.name
    assert "variant" not in plain_agent.spec.parts
    assert all(line in agent.spec.prompt for line in variant.constraints)
    assert agent.spec.fingerprint != plain_agent.spec.fingerprint
    assert (head(agent) == head(plain_agent)) is (variant.name == "small, text")


OWN = Variant(
    name="own",
    match=("SCRIPTED:*",),
    persona="You are terse.",
    constraints=("Be brief.",),
    codec="paper",
    thought=False,
)


def test_one_pattern_in_the_place_of_several_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"match is one text: give a tuple of them, \('gpt\*',\)"):
        Variant(name="own", match="gpt*")  # type: ignore[arg-type]  # "*" alone would fit all


def test_a_users_own_variant_comes_first_and_what_the_agent_says_comes_before_it() -> None:
    model = named("scripted:gpt-x")
    agent = Agent(model=model, prompt=PROMPT.replace(variants=(OWN, *VARIANTS)))
    assert agent.engine.codec.name == "paper/2"
    assert not agent.engine.prompt_spec.thought
    assert (
        agent.spec.prompt
        == PROMPT.replace(
            persona="You are terse.", constraints=(*PROMPT.constraints, "Be brief.")
        ).text
    )
    mine = Instructions("I decide.", ("Mine.",), variants=(OWN,), thought=True)
    explicit = agent.replace(codec="native", prompt=mine)
    assert explicit.engine.codec.name == "native/3"
    assert explicit.engine.prompt_spec.thought
    assert explicit.spec.prompt == "I decide.\n- Mine.\n- Be brief."
    assert explicit.replace(prompt=mine.replace(verbatim=True)).spec.prompt == mine.text
    other = PROMPT.replace(variants=(replace(OWN, native=True),))
    assert agent.replace(codec=Paper(), prompt=other).parts.variant is None
    other = PROMPT.replace(variants=(replace(OWN, persona="", codec=None, thought=None),))
    usual = agent.replace(prompt=other)
    assert usual.spec.prompt == f"{PROMPT.text}\n- Be brief."
    assert (usual.engine.codec.name, usual.engine.prompt_spec.thought) == ("native/3", True)


def shouting(tool: Tool) -> str:
    """Describe every tool in capitals."""
    return tool.description.upper()


@pytest.mark.parametrize(
    ("wording", "lookup", "add"),
    [
        ({"lookup": "Find it."}, "Find it.", "Add two numbers."),
        (shouting, "LOOK A KEY UP.", "ADD TWO NUMBERS."),
    ],
)
def test_a_variant_may_describe_tools_in_its_own_words(wording: Any, lookup: str, add: str) -> None:
    own = Variant(name="own", match=("scripted:*",), wording=wording)
    agent = Agent(model=named("scripted:test"), tools=TOOLS, prompt=PROMPT.replace(variants=(own,)))
    told = {tool.name: tool.description for tool in agent.engine.prompt_spec.tools}
    assert (told["lookup"], told["add"]) == (lookup, add)
    usual = agent.replace(prompt=PROMPT.replace(variants=()))
    assert agent.spec.tools["lookup"] != usual.spec.tools["lookup"]
    assert (agent.spec.tools["add"] != usual.spec.tools["add"]) is (wording is shouting)


async def test_a_shape_changes_what_is_shown_and_not_what_is_recorded() -> None:
    model = watched(acts(act("lookup", key="a"), act("add", a=1, b=2)), finish("ok"), say("two"))
    agent = Agent(model=model, tools=TOOLS, prompt=PROMPT.replace(variants=(SHAPED,)))
    assert agent.spec.parts["shape"] == "tests.core.watched.vowels_only"
    store = MemoryStore()
    result = await run(agent, "What?", store=store)
    await resume(agent, result.run_id, say="And?", store=store)
    seen = [part.text for part in model.sent[-1] if part.role == "tool"]
    assert seen == ["eaueoa", "", "the answer was accepted"]
    record = await read(result.run_id, store=store)
    first = record.steps[0].calls[0].observation
    assert first is not None
    assert first.content == "the value of a"


@pytest.mark.parametrize("extra", [0, 1, 5_000])
def test_a_long_text_is_shown_by_its_two_ends(extra: int) -> None:
    text = "a" * FIRST + "b" * extra + "c" * LAST
    shown = shortened(text)
    gap = f"\n[{extra:,} characters left out here]\n" if extra else ""
    assert shown == "a" * FIRST + gap + "c" * LAST
    assert [*SHAPES.items()] == [("clew.prompts.variants.shortened", shortened)]


# ------------------------------------------------------------------------------ demonstrations


@pytest.mark.parametrize("count", [0, 1, 6])
@pytest.mark.parametrize("codec", CODECS)
async def test_demonstrations_are_shown_and_are_nothing_that_happened(
    codec: str, count: int, tmp_path: Path
) -> None:
    tools = shipped(tmp_path)
    model = watched(act("calc", expression="1+1"), finish("2"), codec=codec, tools=tools)
    agent = Agent(
        model=model, tools=tools, codec=codec, prompt=PROMPT.replace(examples=demonstrations(count))
    )
    store = MemoryStore()
    result = await run(agent, "What is 1+1?", store=store)
    text = "\n".join(
        "\n".join([part.text, *(call.arguments or "" for call in part.calls)])
        for part in model.sent[0].head
    )
    for place, example in enumerate(demonstrations(6)):
        assert (example.goal in text) is (place < count)
        for step in example.steps:
            for call in step.calls:
                first = next(iter(call.action.args.values()))
                assert (encode(first).decode()[1:-1] in text) is (place < count)
    calls = [call.id for part in model.sent[0].head for call in part.calls]
    results = [part.call_id for part in model.sent[0].head if part.role == "tool"]
    assert calls == results
    assert len(set(calls)) == len(calls)
    record = await read(result.run_id, store=store)
    assert record.evidence == []
    assert (record.spent.steps, dict(record.spent.calls)) == (2, {"calc": 1})
    assert (result.answer, record.started.spec.parts["examples"]) == ("2", count)
    await replay(agent, result.run_id, store=store)


def test_what_a_demonstration_finds_is_what_the_tool_would_say() -> None:
    for example in DEMONSTRATIONS:
        for step in example.steps:
            for call in step.calls:
                if call.action.name == "calc":
                    assert call.observation is not None
                    assert call.observation.content == calc_of(call.action.args["expression"])


def calc_of(expression: str) -> Any:
    return calc().call({"expression": expression}, "key")


def test_there_are_six_demonstrations_and_fewer_with_fewer_tools() -> None:
    assert demonstrations(1) == DEMONSTRATIONS[:1]
    (calculation,) = demonstrations(1, ["calc"])
    assert calculation.steps[0].calls[0].action.name == "calc"
    with pytest.raises(
        ConfigError, match="6 demonstrations with no more tools than docs, calc, not 7"
    ):
        demonstrations(7)
    with pytest.raises(ConfigError, match="1 demonstrations with no more tools than calc, not 2"):
        demonstrations(2, ["calc"])
    with pytest.raises(ConfigError, match="0 demonstrations with no more tools than none, not 1"):
        demonstrations(1, [])


def test_an_example_must_be_one_that_the_agent_could_live() -> None:
    model = named("scripted:test")
    with pytest.raises(
        ConfigError, match=r"1 calls docs, which the agent does not have; it has calc, finish$"
    ):
        Agent(model=model, tools=[calc()], prompt=PROMPT.replace(examples=demonstrations(1)))
    with pytest.raises(ConfigError, match="example 1 calls finish wrongly: "):
        Agent(
            model=model,
            tools=[calc()],
            answer=int,
            prompt=PROMPT.replace(examples=demonstrations(1, ["calc"])),
        )


def test_an_example_must_be_one_that_a_record_can_hold() -> None:
    step = Step(1, None, (Call("1.1", Action("lookup", {"key": "a"})),))
    step.calls[0].observation = Observation(content=object())
    with pytest.raises(ConfigError, match="an example, or another part of the prompt, is not JSON"):
        Agent(
            model=named("scripted:test"),
            tools=TOOLS,
            prompt=PROMPT.replace(examples=[Example("What?", (step,))]),
        )


async def test_an_example_may_show_a_call_that_fails() -> None:
    store = MemoryStore()
    script = [act("lookup", key=5), act("serach", key="a"), say("ok")]
    agent = Agent(model=ScriptedModel(script), tools=TOOLS)
    worked = await read((await run(agent, "What?", store=store)).run_id, store=store)
    shown = agent.replace(prompt=PROMPT.replace(examples=[Example("What?", tuple(worked.steps))]))
    assert "ERROR: unknown_tool" in head(shown)


def test_the_variants_that_ship_do_not_fill_what_instructions_are_shown_as() -> None:
    assert "Variant(" not in repr(PROMPT)
