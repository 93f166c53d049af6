"""The paper's format: what real models write, and what is made of it."""

from typing import Any

import pytest

from clew.codecs.react_text import Paper
from clew.core.actions import Action
from clew.core.codec import Parsed
from clew.core.contents import Reply
from tests.codecs.samples import POINT, prompt_spec, tool

PARIS = Action("search", {"query": "Paris"})


def parse(text: str, answer: Any = None, finish: Any = "stop", **changes: Any) -> Parsed:
    asked = prompt_spec(answer, **changes) if answer else prompt_spec(**changes)
    return Paper().parse(asked, Reply(text, finish=finish))


def test_a_clean_step_needs_no_repair() -> None:
    parsed = parse("Thought 1: I look it up.\nAction 1: search[Paris]")
    assert parsed == Parsed("I look it up.", (PARIS,))


def test_the_paper_writes_finish_with_a_capital() -> None:
    assert parse("Action 2: Finish[yes]") == Parsed("", (Action("finish", {"answer": "yes"}),))


@pytest.mark.parametrize(
    ("text", "thought", "repairs"),
    [
        ("Thought: a\nAction: search[Paris]", "a", ()),
        ("Thought 9: a\nAction 3: search[Paris]", "a", ()),
        ("thought 1: a\naction 1: search[Paris]", "a", ()),
        ("**Thought 1:** a\n**Action 1:** search[Paris]", "a", ()),
        ("**Action 1: search[Paris]**", "", ()),
        ("Thought 1: a\r\nb\r\nAction 1: search[Paris]\r\n", "a\nb", ()),
        ("Thought 1: a\n\nb\nAction 1:\n\nsearch[Paris]", "a\n\nb", ()),
        ("Action 1: search [ Paris\n ]", "", ()),
        ("Action 1: `search`[Paris]", "", ()),
        ('Action 1: search[{"query": "Paris"}]', "", ()),
        ("Thought 1: Question: what?\nQuestion: really?\nAction 1: search[Paris]", ..., ()),
        ("I think so.\nAction 1: search[Paris]", "I think so.", ("prose",)),
        ("Sure!\nThought 1: a\nAction 1: search[Paris]", "Sure!\na", ("prose",)),
        (
            "Thought 1: a\nThought 2: b\nAction 2: search[Paris]",
            "a\nb",
            ("several thoughts joined",),
        ),
        ("Action 1: None\nAction 2: search[Paris]", "", ("empty action ignored",)),
        ("Action 1: Search[Paris]", "", ("name matched without case",)),
        ("Action 1: search[Paris]\nAction 2: search[Rome]", "", ("second action dropped",)),
        ("Action 1: search[Paris], search[Rome]", "", ("second action dropped",)),
        ("Action 1: search[Paris] Eiffel", "", ("trailing text dropped",)),
        ('Action 1: search[{"query": "Paris"}] Eiffel', "", ("trailing text dropped",)),
        ("Action 1: search[Paris]\n\nQuestion: next", "", ("trailing text dropped",)),
        ("Action 1: search[Paris]\nThought 2: b\nAction 2: x[y]", "", ("trailing text dropped",)),
        ("Action 1: search[Paris]\nObservation 1: big", "", ("invented observation dropped",)),
        ("```tool_code\nAction 1: search[Paris]\n```\n", "", ("code fence removed",)),
        ("Thought 1: a\n```\nAction 1: search[Paris]\n```", "a", ("code fence removed",)),
        ("```\nAction 1: search[Paris]", "", ("code fence removed",)),
        ("```\nsearch[Paris]\n```", "", ("code fence removed", "action label missing")),
        ("Thought 1: a\nsearch[Paris]", "a", ("action label missing",)),
        ("Action 1: search[Paris", "", ("closing bracket added",)),
        ('Action 1: search[{"query": "Paris"}', "", ("closing bracket added",)),
        ("Action 1: search(Paris)", "", ("round brackets read as a call",)),
        ("Action 1: search('Paris')", "", ("round brackets read as a call",)),
        ('Action 1: search("Paris")', "", ("round brackets read as a call",)),
        ('Action 1: search({"query": "Paris"})', "", ("round brackets read as a call",)),
        ("Action 1: search[{'query': 'Paris',}]", "", ("trailing comma dropped", "single quotes")),
    ],
)
def test_what_real_models_write(text: str, thought: Any, repairs: tuple[str, ...]) -> None:
    parsed = parse(text)
    assert parsed.actions == (PARIS,)
    assert parsed.fault == ""
    assert thought in {..., parsed.text}
    assert len(parsed.repairs) == len(repairs)
    assert all(any(had.startswith(want) for had in parsed.repairs) for want in repairs), (
        parsed.repairs
    )


@pytest.mark.parametrize(
    ("call", "name", "args"),
    [
        ("search[a [b] c]", "search", {"query": "a [b] c"}),
        ("search[{not json]", "search", {"query": "{not json"}),
        ("search[{x: 1}]", "search", {"query": "{x: 1}"}),
        ('search[{"who": 1}]', "search", {"who": 1}),
        ('search[{"a": 1} and more]', "search", {"query": '{"a": 1} and more'}),
        ("search[{}]", "search", {}),
        ("search('Paris' or Rome)", "search", {"query": "'Paris' or Rome"}),
        ("web_search[x]", "web_search", {"query": "x"}),
        ("Web Search[x]", "web_search", {"query": "x"}),
        ('web_search[{"query": "x", "limit": 2}]', "web_search", {"query": "x", "limit": 2}),
        ('move[{"source": "a", "target": "b"}]', "move", {"source": "a", "target": "b"}),
        ("now[]", "now", {}),
        ("peek[]", "peek", {}),
        ("peek[2]", "peek", {"depth": 2}),
        ("tune[]", "tune", {}),
        ("wait[2]", "wait", {"seconds": 2}),
        ("wait[2.5]", "wait", {"seconds": 2.5}),
        ("wait[a while]", "wait", {"seconds": "a while"}),
        ("wait[2 seconds]", "wait", {"seconds": "2 seconds"}),
        ("roll[6]", "roll", {"sides": 6}),
        ("roll[null]", "roll", {"sides": None}),
        ("roll[6.0]", "roll", {"sides": "6.0"}),
        ("roll[true]", "roll", {"sides": "true"}),
        ("switch[true]", "switch", {"on": True}),
        ("switch[yes]", "switch", {"on": "yes"}),
        ('plot[{"x": 1}]', "plot", {"point": {"x": 1}}),
        ('plot[{"point": {"x": 1}}]', "plot", {"point": {"x": 1}}),
        ("total[[1, 2]]", "total", {"numbers": [1, 2]}),
        ("total[1, 2]", "total", {"numbers": "1, 2"}),
        ("pick[a]", "pick", {"one": "a"}),
        ("level[1]", "level", {"at": 1}),
        ("keep[1]", "keep", {"thing": "1"}),
        ("keep[[1]]", "keep", {"thing": [1]}),
        ('spot[{"x": 1}]', "spot", {"where": {"x": 1}}),
        ("secret[x]", "secret", {"input": "x"}),
        ("Teleport[home]", "Teleport", {"input": "home"}),
        ("Teleport[]", "Teleport", {}),
        ("Teleport[{broken]", "Teleport", {"input": "{broken"}),
        ('Teleport[{"to": "home"}]', "Teleport", {"to": "home"}),
        ("FINISH [yes]", "finish", {"answer": "yes"}),
        ("FINISH([-1])", "finish", {"answer": "[-1]"}),
        ("Finish[Paris", "finish", {"answer": "Paris"}),
        ("Finish[]", "finish", {"answer": ""}),
    ],
)
def test_arguments_in_brackets(call: str, name: str, args: dict[str, Any]) -> None:
    parsed = parse(f"Action 1: {call}")
    assert parsed.fault == ""
    assert parsed.actions == (Action(name, args),)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "empty"),
        (" \n", "empty"),
        ("Paris is in France.", "nothing of the form Action 1: tool[argument]"),
        ("Thought 1: hm", "nothing of the form"),
        ("Action 1: None", "nothing of the form"),
        ("Observation 1: it worked\nAction 1: search[x]", "ahead of an observation it invented"),
        ("Action 1: search Paris", "no brackets"),
        ("Action 1: I should search for [Paris]", "names no tool"),
        ("Action 1: move[a, b]", "move takes source, target: give one JSON object"),
        ("Action 1: move[{'source': }]", "the JSON is wrong at"),
        ('Action 1: move[{"source": "a", "source": "b"}]', '"source" is given twice'),
        ("Action 1: move[]", "move needs source, target"),
        ("Action 1: search[]", "search needs query"),
        ("Action 1: now[today]", "now takes no arguments"),
        ("Action 1: tune[x]", "tune takes low, high"),
        ("Action 1: search[Paris\nI wait.", "never closed"),
        ("Action 1: delete[/home", "delete changes things"),
        ("Action 1: search(query='Paris')", "equals sign"),
        ("search[a]\nsearch[b]", "nothing of the form"),
        ("search[a] is what I did", "nothing of the form"),
        ("Nobody[a]", "nothing of the form"),
        ('Thought 1: like {"name": "search", "arguments": {"query": "x"}}', "nothing of the form"),
        ("Action 1: plot[{'x' 1}]", "the JSON is wrong"),
        ('Action 1: search[{"query": "x]', "ends before it is closed"),
    ],
)
def test_a_fault_says_what_was_wrong_and_shows_the_right_form(text: str, says: str) -> None:
    parsed = parse(text)
    assert parsed.actions == ()
    assert says in parsed.fault.split("\n")[0]
    assert parsed.fault.endswith("\nAction 1: search[<query>]")


def test_the_thought_of_a_faulty_reply_is_kept() -> None:
    assert parse("Thought 1: hm\nAction 1: search").text == "hm"


@pytest.mark.parametrize("finish", ["length", "filter", "refusal", "cut"])
def test_a_reply_that_was_cut_is_a_fault(finish: str) -> None:
    assert parse("Action 1: search[Paris", finish=finish).fault
    assert parse("Action 1: search[Paris]", finish=finish).fault


def test_a_reply_that_was_cut_in_its_invented_tail_is_whole() -> None:
    text = "Action 1: search[Paris]\nObservation 1: and so on and"
    assert parse(text, finish="length").actions == (PARIS,)
    assert parse(text, finish="filter").fault


def test_a_name_that_matches_two_tools_is_left_as_written() -> None:
    both = prompt_spec().tools[0], prompt_spec().tools[1]
    asked = prompt_spec(tools=both, known=frozenset({"SEARCH"}))
    parsed = Paper().parse(asked, Reply("Action 1: Search[x]"))
    assert parsed.actions == (Action("Search", {"input": "x"}),)


@pytest.mark.parametrize(
    ("answer", "inside", "value"),
    [
        ({"type": "integer"}, "42", 42),
        ({"type": "integer"}, "about 42", "about 42"),
        (POINT, '{"x": 1}', {"x": 1}),
        (POINT, '{"answer": {"x": 1}}', {"x": 1}),
        ({"type": "array"}, "[1]", [1]),
        ({"$ref": "#/$defs/Point"}, '{"x": 1}', {"x": 1}),
    ],
)
def test_typed_answers_are_json(answer: Any, inside: str, value: Any) -> None:
    assert parse(f"Action 1: Finish[{inside}]", answer).actions == (
        Action("finish", {"answer": value}),
    )


def test_without_tools_the_example_finishes() -> None:
    assert parse("x", tools=()).fault.endswith("\nAction 1: Finish[<answer>]")


def test_names_and_stop_sequences() -> None:
    codec = Paper()
    assert (codec.name, codec.native) == ("paper/2", False)
    assert codec.stop == ("\nObservation ", "\nObservation:")


def test_the_example_beside_a_fault_may_have_several_arguments() -> None:
    number = {"type": "integer"}
    add = tool("add", "a", "b", a=number, b=number)
    parsed = parse("Action 1: add[1, 2]", tools=(add,))
    assert parsed.fault.endswith('is, for example:\nAction 1: add[{"a":1,"b":1}]')
