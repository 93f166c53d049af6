"""The native codec where the scenarios do not reach: tags, asides, and arguments sent back."""

import pytest

from clew import Agent, MemoryStore, run
from clew.codecs.native import Native
from clew.core.codec import PromptSpec
from clew.core.contents import RawCall, Reply, Wire, text_parts
from clew.core.events import Fingerprints, Landing, Note, Thought
from clew.core.tools import Parameters
from clew.core.trajectory import Call, Step
from clew.support.surrogates import HALF
from clew.testing.models import ScriptedModel, say
from tests.codecs.samples import prompt_spec as asked_for
from tests.core.scenarios import TOOLS

CODEC = Native()
TAGGED = '<tool_call>{{"name": "{}", "arguments": {{"key": "a"}}}}</tool_call>'


def prompt_spec(answer: type = str) -> PromptSpec:
    return Agent(model=ScriptedModel([say("ok")]), tools=TOOLS, answer=answer).engine.prompt_spec


def step(reply: Reply, number: int = 1, answer: type = str) -> Step:
    """A reply as the loop would have recorded it."""
    read = CODEC.parse(prompt_spec(answer), reply)
    thought = Thought(
        reply=reply,
        prints=Fingerprints("", "", "", ""),
        text=read.text,
        actions=read.actions,
        answer=read.answer,
        fault=read.fault,
        repairs=read.repairs,
    )
    calls = [Call(f"{number}.{n}", action) for n, action in enumerate(read.actions, start=1)]
    return Step(number, thought, tuple(calls))


@pytest.mark.parametrize(
    "text",
    [
        "<tool_call>{not json}</tool_call>",
        '<tool_call>{"name": "lookup"}</tool_call>',
        TAGGED.format("lookup") + TAGGED.format("unknown"),
    ],
)
def test_tags_that_hold_no_whole_call_are_a_fault_that_teaches(text: str) -> None:
    read = CODEC.parse(prompt_spec(), Reply(text=text))
    assert (read.answer, read.actions) == (None, ())
    assert 'Call a tool by function calling, not in text: lookup with {"key":"<key>"}' in read.fault


def test_several_tagged_calls_are_several_actions() -> None:
    text = "".join(
        f'<tool_call>{{"name": "lookup", "arguments": {{"key": "{key}"}}}}</tool_call>'
        for key in "ab"
    )
    read = CODEC.parse(prompt_spec(), Reply(text=f"Both.\n{text}"))
    assert [action.args for action in read.actions] == [{"key": "a"}, {"key": "b"}]
    assert read.text == "Both."
    assert read.repairs == ("calls written as text were read as calls",)


def test_the_end_of_a_tag_in_an_argument_ends_no_tag() -> None:
    text = '<tool_call> {"name": "lookup", "arguments": {"key": "</tool_call>"}}\n</tool_call> So.'
    read = CODEC.parse(prompt_spec(), Reply(text=text))
    assert [action.args for action in read.actions] == [{"key": "</tool_call>"}]
    assert read.text == "So."


def test_tags_that_are_never_closed_are_looked_at_once() -> None:
    """Looked at anew from each of them, this takes minutes."""
    text = "<tool_call>{" * 60_000
    assert CODEC.parse(prompt_spec(), Reply(text=text)).fault.startswith("the call cannot be read")


def test_each_call_goes_back_with_an_id_of_its_own_and_arguments_that_are_json() -> None:
    calls = (
        RawCall(name="lookup", arguments='{"key":  "a"}', id="same"),
        RawCall(name="lookup", arguments="{'key'", id="same"),
        RawCall(name="broken", arguments=None, id="same"),
    )
    parts = CODEC.render(prompt_spec(), step(Reply(calls=calls, finish="calls"), 4))
    assert [call.id for call in parts[0].calls] == ["call_4_1", "call_4_2", "call_4_3"]
    assert [call.arguments for call in parts[0].calls] == [
        '{"key":  "a"}',
        """{"unreadable":"{'key'"}""",
        "{}",
    ]
    assert [part.call_id for part in parts[1:]] == ["call_4_1", "call_4_2", "call_4_3"]


def test_the_providers_ids_and_items_go_back_as_they_came() -> None:
    wire = Wire("openai", "gpt", {"reasoning": "sealed"})
    reply = Reply(
        calls=(RawCall(name="lookup", arguments='{"key":"a"}', id="c9"),), finish="calls", wire=wire
    )
    assistant, result = CODEC.render(prompt_spec(), step(reply))
    assert (assistant.wire, assistant.calls[0].id, result.call_id) == (wire, "c9", "c9")
    answer = CODEC.render(prompt_spec(), step(Reply(text="It is a.", wire=wire)))
    assert (answer[0].text, answer[0].wire) == ("It is a.", wire)


def test_of_a_reply_that_was_mended_what_must_go_back_does() -> None:
    wire = Wire("openai", "gpt", {"reasoning": "sealed"})
    reply = Reply(
        calls=(RawCall(name="lookup", arguments=None, id="c9"),), finish="calls", wire=wire
    )
    assistant, _ = CODEC.render(prompt_spec(), step(reply))
    assert (assistant.wire, assistant.calls[0].arguments) == (wire, "{}")


def test_what_is_said_after_a_step_follows_it() -> None:
    said = step(Reply(text="It is a."))
    said.notices += (
        Note(text_parts("and b?")),
        Note(text_parts("name 42"), source="check"),
        Note(text_parts("the mail went out after all"), source="late"),
        Landing("steps"),
    )
    texts = [part.text for part in CODEC.render(prompt_spec(), said)]
    assert texts[1] == "and b?"
    assert texts[2] == "ERROR: the answer was not accepted: name 42"
    assert texts[3] == "NOTE: the mail went out after all"
    assert texts[4].startswith("The limit on steps is reached")


def test_an_unreadable_reply_goes_back_as_text_with_what_was_wrong() -> None:
    parts = CODEC.render(prompt_spec(), step(Reply(finish="length")))
    assert [part.role for part in parts] == ["user"]  # nothing was said, and none is put in
    assert "length limit" in parts[0].text
    cut = CODEC.render(prompt_spec(), step(Reply("Half a", finish="length")))
    assert [(part.role, part.text[:6]) for part in cut] == [
        ("assistant", "Half a"), ("user", "ERROR:"),
    ]  # fmt: skip


def test_a_typed_answer_must_be_json() -> None:
    assert CODEC.parse(prompt_spec(int), Reply(text="seven")).fault
    assert CODEC.parse(prompt_spec(int), Reply(text="7")).answer == "7"


TYPED: Parameters = {
    "type": "object",
    "properties": {"paid": {"type": "integer"}},
    "required": ["paid"],
}
NUMBER: Parameters = {"type": "number"}
WORD: Parameters = {"enum": ["yes", "no"]}


@pytest.mark.parametrize(
    ("schema", "text", "answer"),
    [
        (TYPED, '```json\n{"paid": 3}\n```', '{"paid": 3}'),
        (TYPED, '```\n{"paid": 3}\n```', '{"paid": 3}'),
        (TYPED, '```json\n{\n  "paid": 3\n}\n```\n', '{\n  "paid": 3\n}'),
        (TYPED, '```json {"paid": 3}```', None),
        (TYPED, '{"paid": 3}.', '{"paid": 3}'),
        (TYPED, '`{"paid": 3}`', '{"paid": 3}'),
        (TYPED, 'The answer:\n```json\n{"paid": 3}\n```', '{"paid": 3}'),
        (TYPED, 'A ``` and\n```json\n{"paid": 3}\n```', None),
        (TYPED, '```json\n{"paid": 3}\n```\nor\n```json\n{"paid": 4}\n```', None),
        (TYPED, '```json\n{"paid": 3, "paid": 4}\n```', None),
        (TYPED, '```json\n{"paid": 3}', None),
        (NUMBER, "42.", "42"),
        (NUMBER, "4.5", "4.5"),
        (NUMBER, "4.5.", "4.5"),
        (NUMBER, "**42**", "42"),
        (NUMBER, "**42**.", "42"),
        (NUMBER, "42...", None),
        (NUMBER, "It is 42.", None),
        (WORD, "yes", '"yes"'),
        (WORD, "yes.", '"yes"'),
        (WORD, '"no".', '"no"'),
        (WORD, "maybe", None),
        ({"$ref": "#/$defs/W", "$defs": {"W": WORD}}, "no", '"no"'),
    ],
)
def test_a_typed_answer_is_read_in_what_models_put_around_it(
    schema: Parameters, text: str, answer: str | None
) -> None:
    parsed = Native().parse(asked_for(schema), Reply(text))
    assert parsed.answer == answer
    assert bool(parsed.fault) is (answer is None)


async def test_a_typed_answer_in_a_fence_ends_a_run() -> None:
    model = ScriptedModel([say("```json\n[3, 4]\n```")])
    result = await run(Agent(model=model, answer=list[int]), "Which?", store=MemoryStore())
    assert result.answer == [3, 4]


def test_what_was_mended_in_any_call_is_said() -> None:
    calls = (
        RawCall(name="lookup", arguments=None, id="a"),
        RawCall(name="lookup", arguments='{"key": "\\ud83e"}', id="b"),
    )
    read = CODEC.parse(prompt_spec(), Reply(calls=calls, finish="calls"))
    assert [action.fault for action in read.actions] == ["", ""]
    assert read.repairs == ("a call without arguments was read as having none", HALF)


@pytest.mark.parametrize(
    ("text", "repairs"),
    [
        ("5", ()),
        ("```json\n5\n```", ("code fence removed",)),
        ("The answer:\n```\n5\n```", ("code fence removed",)),
        ("**5**", ("emphasis removed",)),
        ("`5`", ("emphasis removed",)),
        ("5.", ("full stop removed",)),
        ("**5**.", ("emphasis removed",)),
        ("```\n**5**\n```", ("code fence removed", "emphasis removed")),
    ],
)
def test_what_stands_around_a_typed_answer_is_taken_off_and_said(
    text: str, repairs: tuple[str, ...]
) -> None:
    read = CODEC.parse(prompt_spec(int), Reply(text=text))
    assert (read.answer, read.repairs) == ("5", repairs)
