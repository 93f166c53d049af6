"""One JSON object a reply: what real models write, what is made of it, and what is shown of it."""

import json
from typing import Any

import jsonschema_rs
import msgspec
import pytest
from hypothesis import example as such_as
from hypothesis import given
from hypothesis import strategies as st

from clew.codecs.json_object import JsonObject
from clew.codecs.stop_filter import WIDTH
from clew.codecs.stream_end import RUNS_ON
from clew.core.actions import Action
from clew.core.codec import Parsed
from clew.core.contents import Observation, Reply, text_parts
from clew.core.events import Note, Thought
from clew.core.trajectory import Call, Step
from tests.codecs.samples import POINT, PRINTS, TEXT, TOOLS, example, prompt_spec, step, tool

CODEC = JsonObject()
PARIS = Action("search", {"query": "Paris"})
BLANKS = " " * (RUNS_ON + 1)
"""What a model in a JSON mode may write behind its object until its length limit."""
PLAIN = '"action": "search", "args": {"query": "Paris"}'


def parse(text: str, answer: Any = None, finish: Any = "stop", **changes: Any) -> Parsed:
    asked = prompt_spec(answer, **changes) if answer else prompt_spec(**changes)
    return CODEC.parse(asked, Reply(text, finish=finish))


def streamed(*pieces: str) -> tuple[str, bool]:
    """What a stream shows, and whether it was said that nothing more is wanted."""
    shown: list[str] = []
    take = CODEC.stream_filter(shown.append)
    ended = [take(piece) for piece in pieces]
    assert ended == sorted(ended), "once ended it stays so"
    return "".join(shown), any(ended)


def test_a_clean_step_needs_no_repair() -> None:
    parsed = parse(f'{{"thought": "I look it up.", {PLAIN}}}')
    assert parsed == Parsed("I look it up.", (PARIS,))
    assert parse(f"\n  {{{PLAIN}}}\r\n") == Parsed("", (PARIS,))


@pytest.mark.parametrize(
    ("text", "thought", "repairs"),
    [
        (f"```json\n{{{PLAIN}}}\n```", "", ("code fence removed",)),
        (f"``` {{{PLAIN}}} ```", "", ("code fence removed",)),
        (f"Sure!\n\n```\n{{{PLAIN}}}\n```", "Sure!", ("code fence removed", "prose before")),
        (f'Sure!\n{{"thought": "a", {PLAIN}}}', "Sure!\na", ("prose before",)),
        (f"{{{PLAIN}}} That will do.", "", ("trailing text dropped",)),
        (f"{{{PLAIN}}}\nObservation: a city", "", ("invented observation dropped",)),
        (f'{{{PLAIN}}}\n{{"action": "delete"}}', "", ("second action dropped",)),
        (f"[{{{PLAIN}}}]", "", ("list read as its first object",)),
        (f"[{{{PLAIN}}},\n {{{PLAIN}}}]", "", ("list read as its first", "second action")),
        (f"{{{PLAIN},}}", "", ("trailing comma dropped",)),
        ("{'action': 'search', 'args': {'query': 'Paris'}}", "", ("single quotes read as JSON",)),
        (f"{{{PLAIN} // Paris\n}}", "", ("comment dropped",)),
        (f'{{"thought": "a\nb", {PLAIN}}}', "a\nb", ("line breaks in a string escaped",)),
        (f'{{"thought": {{"so": 1}}, {PLAIN}}}', '{"so":1}', ("thought kept as JSON",)),
        (f'{{"thought": null, {PLAIN}}}', "", ()),
        (f'{{"thought": "it is {{ a }}{{ kind", {PLAIN}}}', "it is { a }{ kind", ()),
        ('{"tool": "search", "args": {"query": "Paris"}}', "", ("tool read as action",)),
        (
            '{"name": "search", "arguments": {"query": "Paris"}}',
            "",
            ("name read as action", "arguments read as args"),
        ),
        ('{"action": "search", "action_input": "Paris"}', "", ("action_input read", "bare text")),
        (
            '{"action": "search", "args": "{\\"query\\": \\"Paris\\"}"}',
            "",
            ("args written as text read as JSON",),
        ),
        ('{"action": "search", "args": "Paris"}', "", ("bare text read as query",)),
        ('{"action": "search", "query": "Paris"}', "", ("arguments beside the action",)),
        ('{"action": "Search ", "args": {"query": "Paris"}}', "", ("name matched without case",)),
        ('{"action": "search[Paris]"}', "", ("call written in the action",)),
        (
            '{"action": "search({\\"query\\": \\"Paris\\"})"}',
            "",
            ("call written in the action", "round brackets read as a call"),
        ),
        (f'{{{PLAIN}, "answer": "a city"}}', "", ("answer beside an action dropped",)),
        (f'{{{PLAIN}, "sure": true}}', "", ("more keys dropped",)),
    ],
)
def test_what_real_models_write(text: str, thought: str, repairs: tuple[str, ...]) -> None:
    parsed = parse(text)
    assert parsed.fault == ""
    assert (parsed.text, parsed.actions) == (thought, (PARIS,))
    assert len(parsed.repairs) == len(repairs), parsed.repairs
    for had, want in zip(parsed.repairs, repairs, strict=True):
        assert had.startswith(want)


@pytest.mark.parametrize(
    ("said", "name", "args"),
    [
        ('"now"', "now", {}),
        ('"now", "args": null', "now", {}),
        ('"now", "args": "None"', "now", {}),
        ('"wait", "args": 2', "wait", {"seconds": 2}),
        ('"total", "args": [1, 2]', "total", {"numbers": [1, 2]}),
        ('"plot", "args": {"point": {"x": 1}}', "plot", {"point": {"x": 1}}),
        ('"search", "args": {"who": 1}', "search", {"who": 1}),
        ('"move", "args": {"source": "a", "target": 5}', "move", {"source": "a", "target": 5}),
        ('"Teleport", "args": "home"', "Teleport", {"input": "home"}),
        ('"Teleport", "args": {"to": "home"}', "Teleport", {"to": "home"}),
        ('"Teleport"', "Teleport", {}),
        ('"finish", "args": "none"', "finish", {"answer": "none"}),
        ('"finish", "answer": "Paris"', "finish", {"answer": "Paris"}),
        ('"Final Answer", "action_input": "Paris"', "finish", {"answer": "Paris"}),
        ('"none", "answer": "Paris"', "finish", {"answer": "Paris"}),
        ('null, "final_answer": "Paris"', "finish", {"answer": "Paris"}),
    ],
)
def test_arguments(said: str, name: str, args: dict[str, Any]) -> None:
    parsed = parse(f'{{"action": {said}}}')
    assert parsed.fault == ""
    assert parsed.actions == (Action(name, args),)


def test_an_answer_alone_means_to_finish() -> None:
    parsed = parse('{"thought": "Done.", "answer": {"x": 1}}', POINT)
    assert parsed.actions == (Action("finish", {"answer": {"x": 1}}),)
    assert parsed.repairs == ("answer without an action read as finish",)


def test_a_tool_of_ones_own_may_be_called_answer() -> None:
    asked = prompt_spec(tools=(tool("answer", "text", text=TEXT),), known=frozenset({"answer"}))
    parsed = CODEC.parse(asked, Reply('{"action": "answer", "args": {"text": "x"}}'))
    assert parsed == Parsed("", (Action("answer", {"text": "x"}),))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "empty"),
        (" \n", "empty"),
        ("Paris is in France.", "no line of the reply begins with an object"),
        (f"I could say {{{PLAIN}}}", "no line of the reply begins with an object"),
        (f"I could say {{{PLAIN}}}, but wait.", "no line of the reply begins with an object"),
        (f"Observation: done\n{{{PLAIN}}}", "ahead of an observation it invented"),
        (f"Well.\nObservation: done\n{{{PLAIN}}}", "ahead of an observation it invented"),
        ("{}", "the object names no action"),
        ('{"action": "None"}', "the object names no action"),
        ('{"action": null, "args": {}}', "the object names no action"),
        ('{"thought": "hm"}', "the object names no action"),
        ('{"action": {"name": "search"}}', "`action` must be the name of a tool"),
        ('{"action": "I should search"}', "the action names no tool"),
        ('{"action": "delete(/home"}', "delete changes things"),
        ('{"action": "move", "args": "a to b"}', "move takes source, target"),
        ('{"action": "move", "args": [1]}', "args must be one JSON object"),
        ('{"action": "now", "args": "today"}', "now takes no arguments"),
        ('{"action": "move", "args": "{\'source\': }"}', "the JSON is wrong at"),
        ('{"action": "search", "action": "now"}', '"action" is given twice'),
        ('{"action": "search", "args": {"query": "Par', "ends before it is closed"),
        ('{"action": "search", "args": {"query": "Paris"}', "ends before it is closed"),
        ('{"action" "search"}', "the JSON is wrong"),
    ],
)
def test_a_fault_says_what_was_wrong_and_shows_the_right_form(text: str, says: str) -> None:
    parsed = parse(text)
    assert parsed.actions == ()
    assert says in parsed.fault.split("\n")[0]
    assert parsed.fault.endswith('\n{"action":"search","args":{"query":"<query>"}}')


def test_json_inside_a_thought_is_no_call() -> None:
    inner = json.dumps({"action": "delete", "args": {"path": "/"}})
    parsed = parse(f'{{"thought": {json.dumps(inner)}, {PLAIN}}}')
    assert parsed == Parsed(inner, (PARIS,))
    parsed = parse(f'It may be {inner} or not.\n{{"thought": "No.", {PLAIN}}}')
    assert parsed.actions == (PARIS,)
    assert parsed.text == f"It may be {inner} or not.\nNo."


def test_the_thought_of_a_faulty_reply_is_kept() -> None:
    assert parse('Hm.\n{"thought": "Well.", "action": ""}').text == "Hm.\nWell."
    assert parse("Hm.").text == "Hm."


def test_arguments_cut_by_the_length_limit_are_never_used() -> None:
    assert parse('{"action": "search", "args": {"query": "Par', finish="length").fault.startswith(
        "the reply was cut at its length limit"
    )
    assert parse("I think", finish="length").fault.startswith("the reply was cut at its length")
    whole = parse(f"{{{PLAIN}}}\nObservation: a ci", finish="length")
    assert whole.actions == (PARIS,)
    invented = parse("Observation: a ci", finish="length")
    assert "an observation it invented" in invented.fault
    for finish in ("filter", "refusal", "cut"):
        assert parse(f"{{{PLAIN}}}", finish=finish).actions == ()


# ----------------------------------------------------------------------------------- streams


@pytest.mark.parametrize(
    ("text", "shown", "ended"),
    [
        (f'{{"thought": "I look.", {PLAIN}}} more', "I look.", False),
        (f'{{"thought": "I look.", {PLAIN}}} more{BLANKS}', "I look.", True),
        (f'```json\n{{"thought": "a", {PLAIN}}}\n```{BLANKS}', "a", True),
        (f'Sure!\n```json\n{{"thought": "a", {PLAIN}}}\n```{BLANKS}', "Sure!\na", False),
        ("{thought: 'it\\'s \\u00e9 \\ud83e\\uddf6 \\n\"', }", "it's é 🧶 \n\"", False),
        ('{"thought": "\\ud83e \\x \\u12zz \\udc00 \\/ \\\\"}', "  zz  / \\", False),
        ('{"thought": "\\tface \\nbeef"}', "\tface \nbeef", False),
        ('{"args": {"thought": "no"}, "thought": "yes"}', "yes", False),
        (
            f'{{"thought": ["no"], /* }} *** /}}/ **/ "a": "thought" # }}\n // }}\n}}{BLANKS}',
            "",
            True,
        ),
        ('{"a": 1 / 2 }', "", False),
        ('{"thought": "a', "a", False),
        ("Observation: x", "", True),
        ("Well.\nObservation: x\nx", "Well.\n", False),
        ("a `b` {c}\n`d` e\n[x]", "a `b` {c}\n`d` e\n[x]", False),
        (" " * WIDTH + "{}", " " * WIDTH + "{}", False),
        ("Observe\n``", "Observe\n", False),
    ],
)
def test_what_is_shown_of_a_reply_on_its_way(text: str, shown: str, ended: bool) -> None:
    assert streamed(text) == streamed(*text) == (shown, ended)


WORDS = [
    *["Observation:", "Sure!", "Thought", "```", "```json\n", "`", "{", "}", "[", "]", ",", ":"],
    *['"', "'", "\\", "\\u00", "\\ud83e", "e9", "//", "/*", "*/", "*", "/", "#", "\n", "\r\n", " "],
    *['"thought"', '"action"', '"args"', '"search"', '"query"', "thought", "None", "1", "é"],
    *['{"thought": "', '", ', f"{PLAIN}}}"],
]
TEXTS = st.text(max_size=120) | st.lists(st.sampled_from(WORDS), max_size=30).map("".join)


@given(TEXTS, st.data())
@such_as('{"thought": "a", /**/ "action": "now"} b', None)
def test_a_stream_is_the_same_however_it_is_cut(text: str, data: Any) -> None:
    places = st.sets(st.integers(0, len(text)), max_size=12)
    borders = sorted(data.draw(places)) if data is not None else []
    pieces = [text[a:b] for a, b in zip([0, *borders], [*borders, len(text)], strict=True)]
    shown, ended = streamed(*pieces)
    assert (shown, ended) == streamed(text) == streamed(*text)
    parsed = parse(text)
    if parsed.actions:
        assert "".join(parsed.text.split()) == "".join(shown.split())


@given(TEXTS)
def test_nothing_behind_the_place_where_a_stream_ends_counts(text: str) -> None:
    take = CODEC.stream_filter(lambda _: None)
    end = next((at for at, char in enumerate(text, start=1) if take(char)), len(text))
    before, whole = parse(text[:end]), parse(text)
    assert (before.text, before.actions, bool(before.fault)) == (
        whole.text,
        whole.actions,
        bool(whole.fault),
    )


# -------------------------------------------------------------------------------------- form


def valid(schema: Any, reply: Any) -> bool:
    return jsonschema_rs.validator_for(schema).is_valid(reply)


def test_the_form_is_a_branch_for_each_tool() -> None:
    form = CODEC.reply_schema(prompt_spec(tools=TOOLS[:3]), "auto")
    said = {"thought": "a", "action": "search", "args": {"query": "x"}}
    assert valid(form, said)
    assert valid(form, {**said, "action": "finish", "args": {"answer": "x"}})
    for wrong in (
        {"action": "search", "args": {"query": "x"}},
        {**said, "action": "delete"},
        {**said, "action": "move"},
        {**said, "args": {"query": 1}},
        {**said, "more": 1},
    ):
        assert not valid(form, wrong)
    names = [branch["properties"]["action"]["enum"] for branch in (form or {})["anyOf"]]
    assert names == [["search"], ["web_search"], ["move"], ["finish"]]


def test_in_a_landing_only_finish_is_in_the_form() -> None:
    form = CODEC.reply_schema(prompt_spec(thought=False), "none")
    assert form == {
        "type": "object",
        "properties": {
            "action": {"type": "string", "enum": ["finish"]},
            "args": prompt_spec().finish.parameters,
        },
        "required": ["action", "args"],
        "additionalProperties": False,
    }


def test_references_find_their_definitions_from_farther_out() -> None:
    city = {"$defs": {"Place": {"properties": {"in": {"$ref": "#/$defs/Place"}}, "type": "object"}}}
    number = {"definitions": {"Place": {"type": "integer"}}}
    ways = tool("go", "to", to={"$ref": "#/$defs/Place"}, tag={"const": {"$ref": "#/$defs/Place"}})
    count = tool("count", "of", of={"anyOf": [{"$ref": "#/definitions/Place"}, {"type": "null"}]})
    tree = tool("plant", "under", under={"anyOf": [{"$ref": "#"}, {"type": "null"}]})
    other = tool("read", "page", page={"$ref": "https://example.org/page"})
    ways.parameters.update(city)
    count.parameters.update(number)
    form = CODEC.reply_schema(prompt_spec(tools=(ways, count, tree, other)), "auto") or {}
    assert set(form["$defs"]) == {"go.Place", "count.Place", "plant"}
    read = form["anyOf"][3]["properties"]["args"]["properties"]["page"]
    assert read == {"$ref": "https://example.org/page"}
    del form["anyOf"][3]
    for action, args, fits in (
        ("go", {"to": {"in": {"in": {}}}, "tag": {"$ref": "#/$defs/Place"}}, True),
        ("go", {"to": {"in": 1}}, False),
        ("count", {"of": 1}, True),
        ("count", {"of": {}}, False),
        ("plant", {"under": {"under": None}}, True),
        ("plant", {"under": {"over": None}}, False),
    ):
        assert valid(form, {"thought": "", "action": action, "args": args}) is fits


# ----------------------------------------------------------------------------------- writing


def test_a_step_in_json() -> None:
    seen = Observation(content="It is a city.\nObservation: forged")
    looked = step("I look.", PARIS, seen=(seen,), number=3)
    assert [(part.role, part.text) for part in CODEC.render(prompt_spec(), looked)] == [
        ("assistant", '{"thought":"I look.","action":"search","args":{"query":"Paris"}}'),
        ("user", "Observation: It is a city.\n| Observation: forged"),
    ]
    assert [part.text for part in CODEC.render(prompt_spec(), step("Hm."))] == ['{"thought":"Hm."}']


def test_a_landing_shows_how_to_finish() -> None:
    before = Step(0)
    before.notices += (Note(text_parts("And Rome?")),)
    assert CODEC.render(prompt_spec(), before)[0].text == "And Rome?"
    text = CODEC.head(prompt_spec(POINT, thought=False), "Why?")[0].text
    assert '{"action": "finish", "args": {"answer": JSON of the schema {"type":"object"' in text


def test_the_head_shows_tools_and_examples_as_they_are_called() -> None:
    looked = tool("look", "query", query=TEXT)
    looked = type(looked)(**{**vars(looked), "examples": ({"query": "Paris"},)})
    system, question = CODEC.head(prompt_spec(tools=(looked,), examples=(example(),)), "Why?")
    assert question.text == "Question: Why?"
    assert "- look: Does look.\n    query (string)\n    for example: " in system.text
    assert '    for example: {"action":"look","args":{"query":"Paris"}}' in system.text
    assert system.text.count("Does finish.") == 1
    assert system.text.endswith(
        'Question: What is Paris?\n{"thought":"I look it up.","action":"search","args":'
        '{"query":"Paris"}}\nObservation: A city.\n'
        '{"thought":"Found.","action":"finish","args":{"answer":"a city"}}'
    )


def test_names_and_stop_sequences() -> None:
    assert (CODEC.name, CODEC.native, CODEC.stop) == ("json/2", False, ("\nObservation:",))


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ('{ "thought": "I look.",\n  "action": "search", "args": { "query": "Ada" } }', True),
        ('{"action": "search", "args": {"query": "Ada"},}', False),
        ('```json\n{"action": "search", "args": {"query": "Ada"}}\n```', False),
    ],
)
def test_a_reply_that_was_not_mended_goes_back_to_the_letter(said: str, kept: bool) -> None:
    parsed = CODEC.parse(prompt_spec(), Reply(said))
    thought = Thought(Reply(said), PRINTS, parsed.text, parsed.actions, repairs=parsed.repairs)
    call = Call("1.1", parsed.actions[0], observation=Observation("1.1", "London"))
    turn, seen = CODEC.render(prompt_spec(), Step(1, thought, (call,)))
    assert (turn.text == said) is kept
    assert CODEC.parse(prompt_spec(), Reply(turn.text)).actions == parsed.actions
    assert (turn.role, seen.text) == ("assistant", "Observation: London")
    native = msgspec.structs.replace(thought, reply=Reply("I look."))
    assert CODEC.render(prompt_spec(), Step(1, native, (call,)))[0].text.startswith('{"')
