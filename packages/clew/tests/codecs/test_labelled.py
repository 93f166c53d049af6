"""The labelled format and its dialects: what real models write, and what is made of it."""

from typing import Any

import pytest

from clew.codecs import by_name
from clew.codecs.labelled import Dialect, Labelled
from clew.core.actions import Action
from clew.core.codec import Parsed
from clew.core.contents import RawCall, Reply
from tests.codecs.samples import POINT, prompt_spec

PARIS = Action("search", {"query": "Paris"})
INPUT = 'Action Input: {"query": "Paris"}'


def parse(text: str, answer: Any = None, finish: Any = "stop", **changes: Any) -> Parsed:
    asked = prompt_spec(answer, **changes) if answer else prompt_spec(**changes)
    return Labelled().parse(asked, Reply(text, finish=finish))


def test_a_clean_step_needs_no_repair() -> None:
    parsed = parse(f"Thought: I look it up.\nAction: search\n{INPUT}")
    assert parsed == Parsed("I look it up.", (PARIS,))


def test_a_final_answer_finishes_and_may_have_many_lines() -> None:
    parsed = parse("Thought: Done.\nFinal Answer: Paris\n\n- a\n```\ncode\n```\n")
    answer = "Paris\n\n- a\n```\ncode\n```"
    assert parsed == Parsed("Done.", (Action("finish", {"answer": answer}),))


@pytest.mark.parametrize(
    ("text", "repairs"),
    [
        (f"Action: search \n{INPUT}\n", ()),
        (f"Action: `search`\n{INPUT}", ()),
        (f'Action: "search".\n{INPUT}', ()),
        (f"**Action:** search\n**Action Input:** {INPUT[14:]}", ()),
        (f"**Action: search**\n{INPUT}", ()),
        (f"action:\n\nsearch\naction input:\n{INPUT[14:]}", ()),
        (f"Action 1: search\nAction Input 1:{INPUT[14:]}", ()),
        (f"Action: search\r\n{INPUT}\r\n", ()),
        ('Action: search\nAction Input: {\n  "query":\n "Paris"\n}', ()),
        (f"Action: Search\n{INPUT}", ("name matched without case",)),
        ("Action: search\nAction Input: {'query': 'Paris'}", ("single quotes read as JSON",)),
        ('Action: search\nAction Input: {"query": "Paris",}', ("trailing comma dropped",)),
        ('Action: search\nAction Input: {"query": "Paris" // city\n}', ("comment dropped",)),
        (f"Action: search\n{INPUT}\nThat will do.", ("trailing text dropped",)),
        (f"Action: search\nI do it.\n{INPUT}", ("trailing text dropped",)),
        (f"Action: search\n{INPUT}\nObservation: x", ("invented observation dropped",)),
        (f"Action: search\n{INPUT}\nThought: x\nAction: y", ("trailing text dropped",)),
        (f"Action: search\n{INPUT}\nAction: move", ("second action dropped",)),
        (f"Action: search\n{INPUT}\nFinal Answer: x", ("answer beside an action dropped",)),
        (f"Action: search\n{INPUT}\nFinal: x", ("answer beside an action dropped",)),
        (f"Action: search\n{INPUT}\nAction Input: {{}}", ("second input dropped",)),
        (f"Action: None\nAction Input: None\nAction: search\n{INPUT}", ("empty action ignored",)),
        (f"```\nAction: search\n{INPUT}\n```", ("code fence removed",)),
        (f"Action: search\nAction Input:\n```json\n{INPUT[14:]}\n```", ("code fence removed",)),
        (f"Action: search\n{INPUT[14:]}", ("Action Input label missing",)),
        (
            f"Action: search\n```json\n{INPUT[14:]}\n```",
            ("Action Input label missing", "code fence removed"),
        ),
        ("Action: search\nAction Input: Paris", ("bare text read as query",)),
        ('Action: search\nAction Input: "Paris"', ("bare text read as query",)),
        ('Action: search({"query": "Paris"})', ("call written", "round brackets")),
        ("Action: search[Paris]", ("call written",)),
        (f"Action: search()\n{INPUT}", ("brackets behind the tool's name dropped",)),
        (f"Action: search[query]\n{INPUT}", ("brackets behind the tool's name dropped",)),
        (f"I think so.\nAction: search\n{INPUT}", ("prose before the action kept",)),
    ],
)
def test_what_real_models_write(text: str, repairs: tuple[str, ...]) -> None:
    parsed = parse(text)
    assert parsed.fault == ""
    assert parsed.actions == (PARIS,)
    assert len(parsed.repairs) == len(repairs), parsed.repairs
    for had, want in zip(parsed.repairs, repairs, strict=True):
        assert had.startswith(want)


@pytest.mark.parametrize(
    ("given", "name", "args"),
    [
        (
            'move\nAction Input: {"source": "a", "target": "b"}',
            "move",
            {"source": "a", "target": "b"},
        ),
        (
            'search\nAction Input: {"query": {"a": {"b": "}"}}}',
            "search",
            {"query": {"a": {"b": "}"}}},
        ),
        ('search\nAction Input: {"who": 1}', "search", {"who": 1}),
        ("search\nAction Input: {x for x in y}", "search", {"query": "{x for x in y}"}),
        ('search\nAction Input: "a" or "b"', "search", {"query": '"a" or "b"'}),
        ("now", "now", {}),
        ("now\nAction Input:", "now", {}),
        ("now\nAction Input: {}", "now", {}),
        ("now\nAction Input: None", "now", {}),
        ("wait\nAction Input: 2", "wait", {"seconds": 2}),
        ('plot\nAction Input: {"x": 1}', "plot", {"point": {"x": 1}}),
        ("total\nAction Input: [1, 2]", "total", {"numbers": [1, 2]}),
        ("finish\nAction Input: Paris", "finish", {"answer": "Paris"}),
        ('finish\nAction Input: {"answer": "Paris"}', "finish", {"answer": "Paris"}),
        ("Teleport\nAction Input: home", "Teleport", {"input": "home"}),
        ("Teleport", "Teleport", {}),
        ('Teleport\nAction Input: {"to": "x"}', "Teleport", {"to": "x"}),
    ],
)
def test_arguments(given: str, name: str, args: dict[str, Any]) -> None:
    parsed = parse(f"Action: {given}")
    assert parsed.fault == ""
    assert parsed.actions == (Action(name, args),)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "empty"),
        ("Paris is in France.", "nothing of the form Action: and Action Input:, or Final Answer:"),
        ("Action: None\nAction Input: None", "nothing of the form"),
        ("Final Answer:", "nothing stands behind Final Answer:"),
        ("Action: search", "search needs query"),
        ("Action: search\nAction Input: none", "search needs query"),
        (INPUT, "Action Input stands without its Action"),
        (f"{INPUT}\nAction: search", "Action Input stands without its Action"),
        ("Action: use the search tool\nAction Input: {}", "names no tool"),
        ('Action: search\nAction Input: {"query": "Par', "ends before it is closed"),
        ('Action: search\nAction Input: {"query": "a", "query": "b"}', "given twice"),
        ("Action: move\nAction Input: a to b", "move takes source, target"),
        ("Action: now\nAction Input: today", "now takes no arguments"),
        (
            "Action: now\nAction Input: today\nor tomorrow\nor when",
            'now takes no arguments, and "today" was given',
        ),
        (f"Action: now\nAction Input: {'day ' * 30}", f'and "{"day " * 9}day…" was given'),
        ('Thought: like {"name": "search", "arguments": {"query": "x"}}', "nothing of the form"),
        ("I see.\nObservation: done\nFinal Answer: x", "ahead of an observation it invented"),
        ("Observation: done", "nothing of the form"),
        (f"Final Answer: 4 so far. Now computing.\nAction: search\n{INPUT}", "beside an action"),
        (f"Final: 4. Next:\nAction: search\n{INPUT}\nObservation: 5", "beside an action"),
        ("Final Answer: 4.\nAction: now", "beside an action"),
        ("Final Answer: 4.\nAction: search[Paris]", "beside an action"),
        (f"Final Answer: 4.\nAction: teleport\n{INPUT}", "beside an action"),
    ],
)
def test_a_fault_says_what_was_wrong_and_shows_the_right_form(text: str, says: str) -> None:
    parsed = parse(text)
    assert parsed.actions == ()
    assert says in parsed.fault.split("\n")[0]
    assert parsed.fault.endswith('\nAction: search\nAction Input: {"query":"<query>"}')


WHOLE = [
    "First I add: 2.\nFinal Answer: True",
    "It is A.\n\nQuestion: Is it?\nThought: It is.\nFinal: A",
    "Three steps.\nAction: call the bank\nAction: write to the landlord",
    "Done.\nAction: None\nAction Input: None",
    "Done.\nAction Input: is what tools are given.",
    "Done.\nAction: search",
]


@pytest.mark.parametrize("answer", WHOLE[:-1])
def test_all_that_follows_the_label_of_an_answer_belongs_to_it(answer: str) -> None:
    parsed = parse(f"Thought: Done.\nFinal Answer: {answer}")
    assert parsed == Parsed("Done.", (Action("finish", {"answer": answer}),))
    cut = parse(f"Thought: Done.\nFinal Answer: {answer}\nObservation: invented")
    assert cut.actions == parsed.actions
    assert cut.repairs == ("invented observation dropped",)


def test_an_answer_beside_a_native_call_is_a_fault() -> None:
    reply = Reply("Final Answer: Paris", calls=(RawCall(name="search", arguments="{}", id="c1"),))
    parsed = Labelled().parse(prompt_spec(), reply)
    assert parsed.actions == ()
    assert "stands beside an action" in parsed.fault


def test_a_result_said_again_ahead_of_an_answer_is_no_invention() -> None:
    parsed = parse("Observation: Paris is in France.\nThought: I see.\nFinal Answer: Paris")
    assert (parsed.fault, parsed.actions) == ("", (Action("finish", {"answer": "Paris"}),))
    assert parsed.text == "Paris is in France.\nI see."
    acting = parse(f"Observation: Paris is in France.\nAction: search\n{INPUT}")
    assert "ahead of an observation it invented" in acting.fault


def test_no_action_beside_an_answer_means_the_answer() -> None:
    parsed = parse("Thought: I know.\nAction: None\nFinal Answer: Paris")
    assert parsed.actions == (Action("finish", {"answer": "Paris"}),)
    assert parsed.repairs == ("empty action ignored",)


def test_all_that_was_mended_is_said() -> None:
    text = "Thought: I know.\nAction: None\nThought: It is there.\nFinal Answer: Paris"
    fenced = parse(f"```\n{text}\n```")
    assert fenced.actions == (Action("finish", {"answer": "Paris"}),)
    assert {*fenced.repairs} == {
        "code fence removed", "empty action ignored", "several thoughts joined",
    }  # fmt: skip


def test_the_answers_label_as_an_action_means_to_finish() -> None:
    parsed = parse("Action: Final Answer\nAction Input: Paris")
    assert parsed.actions == (Action("finish", {"answer": "Paris"}),)
    assert parsed.repairs[0] == "Final Answer as an action read as finish"


def test_arguments_cut_by_the_length_limit_are_never_used() -> None:
    assert parse("Action: search\nAction Input: Par", finish="length").fault
    assert parse("Final Answer: Par", finish="length").fault
    whole = parse(f"Action: search\n{INPUT}\nObservation: in", finish="length")
    assert whole.actions == (PARIS,)


@pytest.mark.parametrize(
    ("answer", "text", "value", "repairs"),
    [
        ({"type": "integer"}, "42", 42, 0),
        ({"type": "integer"}, "many", "many", 0),
        (POINT, '```json\n{"x": 1}\n```', {"x": 1}, 1),
        (POINT, "{'x': 1} as asked", {"x": 1}, 2),
        ({"type": "array"}, "[1]", [1], 0),
    ],
)
def test_typed_answers_are_json(answer: Any, text: str, value: Any, repairs: int) -> None:
    parsed = parse(f"Final Answer: {text}", answer)
    assert parsed.actions == (Action("finish", {"answer": value}),)
    assert len(parsed.repairs) == repairs


def test_a_typed_answer_that_is_broken_json_is_a_fault() -> None:
    assert "the JSON" in parse('Final Answer: {"x": ', POINT).fault


def test_dialects_differ_in_words_only() -> None:
    conclusion = by_name("labelled:conclusion")
    parsed = conclusion.parse(prompt_spec(), Reply("Thought: a\nConclusion: Paris"))
    assert parsed == Parsed("a", (Action("finish", {"answer": "Paris"}),))
    assert conclusion.head(prompt_spec(), "why?")[-1].text == "Objective: why?"
    final = by_name("labelled:final")
    for text in ("Final: Paris", "Final Answer: Paris"):
        assert final.parse(prompt_spec(), Reply(text)).actions == parsed.actions
    own = Labelled(Dialect("de", thought="Gedanke", action="Tat", input="Eingabe", final="Antwort"))
    assert own.parse(
        prompt_spec(), Reply('Gedanke: a\nTat: search\nEingabe: {"query": "Paris"}')
    ) == (Parsed("a", (PARIS,)))


def test_names_and_stop_sequences() -> None:
    codec = by_name("labelled")
    assert (codec.name, codec.native, codec.stop) == ("labelled/2", False, ("\nObservation:",))
    assert by_name("labelled:final").name == "labelled:final/2"
