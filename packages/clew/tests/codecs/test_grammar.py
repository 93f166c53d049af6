"""What a grammar lets a model write is read as it was meant, whatever that is."""

import random
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, get_args

import jsonschema_rs
import msgspec
import pytest

import clew
from clew.codecs import by_name, names
from clew.codecs.gbnf import Grammar
from clew.core.codec import Constrains
from clew.core.codes import AnswerOutcome
from clew.core.contents import Reply
from clew.core.values import encode
from clew.testing import ScriptedModel, act, finish, say
from clew.testing.models import Move
from clew.toolbox.calc import calc
from clew.toolbox.docs import docs_tools
from tests.codecs.gbnf import pattern, sampler
from tests.codecs.samples import installed
from tests.codecs.stand_ins import run_code

CODECS = [name for name in installed(*names()) if name != "native:strict"]
TEXT_CODECS = [name for name in CODECS if name != "native"]


class Life(msgspec.Struct):
    born: int
    died: int | None = None


@clew.tool(effect="read")
def search(query: str, top: int = 5) -> str:
    """Search."""
    return ""


@clew.tool(effect="read")
def fetch(path: str) -> str:
    """Fetch."""
    return ""


@clew.tool
def book(
    nights: int, price: float, names: list[str], kind: Literal["a", 'b"'], late: bool | None = None
) -> str:
    """Book."""
    return ""


@clew.tool(effect="read")
def now() -> str:
    """Say the time."""
    return ""


@clew.tool(effect="read")
def square(number: int) -> int:
    """Square."""
    return 0


TOOLS = [search, fetch, book, now, square]


@pytest.mark.parametrize("calls", ["auto", "none"])
@pytest.mark.parametrize("answer", [str, Life])
@pytest.mark.parametrize("name", CODECS)
def test_every_reply_of_the_grammar_is_read_without_a_repair(
    name: str, answer: Any, calls: Literal["auto", "none"]
) -> None:
    agent = clew.Agent(ScriptedModel([say("")]), TOOLS, codec=name, answer=answer)
    codec = by_name(name)
    assert isinstance(codec, Constrains)
    draw, source = sampler(codec.grammar(agent.engine.prompt_spec, calls, None)), random.Random(7)
    called: set[str] = set()
    for _ in range(300):
        text = draw(source)
        read = codec.parse(agent.engine.prompt_spec, Reply(text))
        assert not read.fault, text
        assert name == "native" or not read.repairs, text  # there a model's adapter takes calls out
        for action in read.actions:
            called.add(action.name)
            assert not action.fault, text
            tool = next(
                (one for one in TOOLS if one.name == action.name), agent.engine.prompt_spec.finish
            )
            jsonschema_rs.validate(tool.parameters, action.args)
    others = {tool.name for tool in TOOLS} if calls == "auto" else set[str]()
    assert called - {"finish"} == others


@pytest.mark.parametrize("name", CODECS)
def test_where_all_tools_are_withheld_it_is_the_answer_that_is_left(name: str) -> None:
    """A small model that repeats itself is held to an answer: it would write the same again."""
    codec = by_name(name)
    assert isinstance(codec, Constrains)
    tools = [*TOOLS, run_code()] if name == "code" else TOOLS
    prompt_spec = replace(
        clew.Agent(ScriptedModel([say("")]), tools, codec=name).engine.prompt_spec, tools=()
    )
    draw, source = sampler(codec.grammar(prompt_spec, "auto", None)), random.Random(3)
    for _ in range(100):
        read = codec.parse(prompt_spec, Reply(draw(source)))
        assert read.answer is not None or [one.name for one in read.actions] == ["finish"]


@pytest.mark.parametrize("asked", [True, False])
@pytest.mark.parametrize("name", [name for name in TEXT_CODECS if name != "code"])
def test_an_answer_may_say_its_outcome_where_one_is_asked_for(name: str, asked: bool) -> None:
    """Every outcome can be written, no other word, and none where nobody asks for it."""
    prompt = clew.Instructions(outcome=asked)
    prompt_spec = clew.Agent(
        ScriptedModel([say("")]), TOOLS, codec=name, prompt=prompt
    ).engine.prompt_spec
    codec = by_name(name)
    assert isinstance(codec, Constrains)
    draw, source = sampler(codec.grammar(prompt_spec, "none", None)), random.Random(3)
    finished = [codec.parse(prompt_spec, Reply(draw(source))).actions[0].args for _ in range(300)]
    outcomes = {args.get("outcome") for args in finished}
    assert outcomes == {None, *(get_args(AnswerOutcome) if asked else ())}
    assert all("answer" in args for args in finished)


@pytest.mark.parametrize("tokens", [40, 120, 4_000])
@pytest.mark.parametrize("name", CODECS)
def test_a_thought_leaves_room_for_what_it_is_for(name: str, tokens: int) -> None:
    codec = by_name(name)
    assert isinstance(codec, Constrains)
    prompt_spec = clew.Agent(ScriptedModel([say("")]), [fetch], codec=name).engine.prompt_spec
    draw, source = sampler(codec.grammar(prompt_spec, "auto", tokens)), random.Random(5)
    replies = [codec.parse(prompt_spec, Reply(draw(source))) for _ in range(200)]
    assert max(len(read.text) for read in replies if not read.answer) <= min(400, 5 * tokens // 6)


LINE = f"x = 1  # {'a line may have more than a hundred characters, ' * 3}which is no error"
PROGRAM = "\n".join([*[LINE] * 40, "", "print(x)"])
GUESTS = [f"guest {number} {LINE}" for number in range(40)]
FUNCTION = f"def one():\n    # {LINE}\n\n    return 1"


@pytest.mark.parametrize("tokens", [40, None])
@pytest.mark.parametrize("name", TEXT_CODECS)
def test_no_grammar_ends_what_a_call_or_an_answer_says(name: str, tokens: int | None) -> None:
    """Half a text, list or program would count like a whole one, and nobody would know."""
    tools = [book, run_code()] if name == "code" else [book]
    booked = act("book", thought="So.", nights=1, price=0.12345678, names=GUESTS, kind="a")
    program = act("run_code", thought="So.", code=PROGRAM)
    moves: list[tuple[Any, Move]] = [
        (str, program if name == "code" else booked),
        (str, finish(LINE * 40, thought="So.")),
        (list[str], finish(GUESTS, thought="So.")),
        *([(str, finish(FUNCTION, thought="So."))] if name != "paper" else []),
        *([(str, finish(f"```python\n{PROGRAM}\n```", thought="So."))] if name != "paper" else []),
    ]
    for answer, move in moves:
        model = ScriptedModel([move], codec=name, tools=tools, answer=answer)
        agent = clew.Agent(model, tools, codec=name, answer=answer)
        codec = by_name(name)
        assert isinstance(codec, Constrains)
        text = model.reply(agent.parts.first_prompt, 0).text
        allowed = pattern(codec.grammar(agent.engine.prompt_spec, "auto", tokens))
        assert allowed.fullmatch(text), text[:300]
        read = codec.parse(agent.engine.prompt_spec, Reply(text))
        assert read.actions == move.actions
        assert not read.repairs


@pytest.mark.parametrize(
    "answer",
    [
        "It is 42 [1/doc_7].\n\nSee [doc_2], and (if you like) the rest.",
        f"Like this:\n\n```python\n{PROGRAM}\n```\nIt counts.",
        LINE * 40,
    ],
)
def test_an_answer_of_a_native_model_may_cite_and_show_code(answer: str) -> None:
    codec = by_name("native")
    assert isinstance(codec, Constrains)
    prompt_spec = clew.Agent(ScriptedModel([say("")]), [fetch]).engine.prompt_spec
    for calls in ("auto", "none"):
        assert pattern(codec.grammar(prompt_spec, calls, 40)).fullmatch(answer)
    assert codec.parse(prompt_spec, Reply(answer)).answer == answer


def test_a_native_call_may_be_long() -> None:
    codec = by_name("native")
    assert isinstance(codec, Constrains)
    prompt_spec = clew.Agent(ScriptedModel([say("")]), [book]).engine.prompt_spec
    args = {"nights": 1, "price": 0.12345678, "names": GUESTS, "kind": "a"}
    call = f'{{"name": "book", "arguments": {encode(args).decode()}}}'
    text = f"So.\n<tool_call>\n{call}\n</tool_call>"
    assert pattern(codec.grammar(prompt_spec, "auto", 40)).fullmatch(text)


@pytest.mark.parametrize("thought", [True, False])
@pytest.mark.parametrize("name", TEXT_CODECS)
def test_what_a_prompt_shows_can_be_written_in_the_grammar(
    name: str, thought: bool, tmp_path: Path
) -> None:
    (tmp_path / "a.md").write_text("# A\n\nText.", encoding="utf-8")
    tools = [*docs_tools(tmp_path), calc(), *([run_code()] if name == "code" else [])]
    prompt = clew.Instructions(examples=6, thought=thought)
    prompt_spec = clew.Agent(
        ScriptedModel([say("")]), tools, codec=name, prompt=prompt
    ).engine.prompt_spec
    codec = by_name(name)
    assert isinstance(codec, Constrains)
    allowed = pattern(codec.grammar(prompt_spec, "auto", None))
    steps = [step for example in prompt_spec.examples for step in example.steps]
    parts = [part for step in steps for part in codec.render(prompt_spec, step)]
    shown = [part.text for part in parts if part.role == "assistant"]
    assert len(shown) == len(steps) > 10
    assert [text for text in shown if allowed.fullmatch(text) is None] == []


RECURSIVE: dict[str, Any] = {
    "$ref": "#/$defs/node",
    "$defs": {
        "node": {
            "type": "object",
            "properties": {
                "name": {"type": "string", "maxLength": 5},
                "left": {"$ref": "#/$defs/node"},
                "more": {"type": "array", "items": {"$ref": "#/$defs/node"}},
                "one": {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/node"}]},
            },
            "required": ["name", "more", "one"],
            "additionalProperties": False,
        }
    },
}


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "minLength": 3, "maxLength": 9},
        {"type": "integer", "minimum": -3, "maximum": 4},
        {"type": "integer", "minimum": 0},
        {"type": "integer", "minimum": 1},
        {"type": "number", "minimum": 1},
        {"type": "number", "minimum": 0},
        {"type": ["string", "null"]},
        {"enum": ['a "quoted"', 3, None, {"a": [1]}]},
        {"const": "x\n"},
        {"type": "array", "items": {"type": "boolean"}, "minItems": 2, "maxItems": 3},
        {"type": "array", "maxItems": 0},
        {"type": "array"},
        {"allOf": [{"type": "string"}]},
        {"oneOf": [{"type": "boolean"}, {"type": "null"}]},
        {"properties": {"a": {"type": "string"}, "b": {}, "c": True}, "required": ["b"]},
        {"type": "object", "additionalProperties": {"type": "integer"}},
        {"type": "object", "properties": {}, "additionalProperties": False},
        {},
        RECURSIVE,
    ],
)
def test_a_value_of_the_grammar_meets_its_schema(schema: dict[str, Any]) -> None:
    grammar = Grammar()
    draw, source = sampler(grammar.text(grammar.value(schema))), random.Random(3)
    drawn = {draw(source) for _ in range(50)}
    for text in drawn:
        jsonschema_rs.validate(schema, msgspec.json.decode(text))


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {
            "type": "object",
            "properties": {"next": {"$ref": "#"}},
            "required": ["next"],
        },
        {"type": "array", "items": {"$ref": "#"}, "minItems": 1},
        {"anyOf": [{"$ref": "#"}]},
    ],
)
def test_a_schema_that_never_ends_is_refused(schema: dict[str, Any]) -> None:
    with pytest.raises(clew.ConfigError, match="it never ends"):
        Grammar().value(schema)


def test_an_object_may_have_values_that_never_end_as_long_as_it_may_have_none() -> None:
    grammar = Grammar()
    schema = {"type": "object", "additionalProperties": {"anyOf": [{"$ref": "#/$defs/no"}]},
              "$defs": {"no": {"$ref": "#/$defs/no"}}}  # fmt: skip
    assert sampler(grammar.text(grammar.value(schema)))(random.Random(0)) == "{}"
