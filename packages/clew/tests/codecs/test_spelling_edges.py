"""The edges of calls in texts: what is cut, given twice, too long, or no plain value."""

from typing import Any

import pytest

from clew.codecs.arguments import example
from clew.codecs.call_spellings import MAX_CALLS, calls_at
from clew.codecs.native import Native
from clew.codecs.written_calls import WrittenCall
from clew.core.actions import Action
from clew.core.contents import RawCall, Reply
from clew.core.tools import Parameters, Tool
from tests.codecs.samples import TEXT, prompt_spec, tool

ONE = '{"name": "search", "arguments": {"query": "Ada"}}'
ADA: dict[str, Any] = {"query": "Ada"}
CITY: Parameters = {
    "type": "object",
    "properties": {"name": TEXT, "arguments": {"type": "object"}},
}


@pytest.mark.parametrize(
    "text",
    [
        "<search>Ada",
        "<search>Ada</search>",
        f"search(query='{'a' * 20_000}')",
        "population(city='Vienna')",
        "search",
    ],
)
def test_what_could_be_anything_else_is_no_call(text: str) -> None:
    assert calls_at(prompt_spec(), text, 0, marked=False)[0] == []


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("<function=search>Ada</function>", "its arguments cannot be read"),
        ("<function=search><query>Ada</function>", "its arguments cannot be read"),
        (
            "<function=search><parameter=query>a</parameter><parameter=query>b</parameter></function>",
            "the parameter 'query' is given twice",
        ),
        ('{"name": "search", "arguments": "{bad"}', ""),
        ('{"name": "move", "arguments": "{bad"}', "the JSON is wrong"),
        ('search{"query": }', ""),
        ("search(query=Ada)", "its arguments are no plain values"),
        ("search(query=1+2j)", "its arguments are no plain values"),
    ],
)
def test_arguments_that_cannot_be_read_are_a_problem_of_their_call(text: str, problem: str) -> None:
    [found] = calls_at(prompt_spec(), text, 0, marked=True)[0]
    assert found.name in {"search", "move"}
    assert found.problem
    assert problem in found.problem


@pytest.mark.parametrize(
    "text",
    [
        "<function=teleport><parameter=to>Rome</parameter></function>",
        "<function=teleport><to>Rome</to></function>",
        '<invoke name="teleport"><parameter name="to">Rome</parameter></invoke>',
        "<invoke><tool_name>teleport</tool_name><parameters><to>Rome</to></parameters></invoke>",
    ],
)
def test_the_parameters_of_a_tool_that_is_not_there_are_texts(text: str) -> None:
    [found] = calls_at(prompt_spec(), text, 0, marked=True)[0]
    assert (found.name, found.args, found.problem) == ("teleport", {"to": "Rome"}, "")


def test_a_parameter_that_is_broken_json_is_a_problem_of_its_call() -> None:
    text = "<function=total><parameter=numbers>[1, </parameter></function>"
    [found] = calls_at(prompt_spec(), text, 0, marked=True)[0]
    assert (found.name, found.problem) == ("total", "the JSON ends before it is closed")


def test_a_labelled_call_with_broken_arguments_is_a_fault_that_shows_the_right_ones() -> None:
    parsed = Native().parse(prompt_spec(), Reply('Action: web_search\nAction Input: {"query": '))
    assert parsed.fault.startswith(
        "the JSON ends before it is closed. Call a tool by function calling, not in text: "
        'web_search with {"query":"<query>"}. '
    )


def test_so_many_calls_of_a_text_are_read_and_no_more() -> None:
    found, end = calls_at(prompt_spec(), ONE * (MAX_CALLS + 1), 0, marked=False)
    assert (found, end) == ([WrittenCall("search", ADA)] * MAX_CALLS, len(ONE) * MAX_CALLS)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ('{"name": "search", "arguments": {"query": "Ada", "x": 1}}', "search takes no x"),
    ],
)
def test_a_call_that_does_not_fit_its_tool_is_a_fault(text: str, fault: str) -> None:
    parsed = Native().parse(prompt_spec(), Reply(text))
    assert (parsed.answer, parsed.actions) == (None, ())
    assert fault in parsed.fault


def test_a_tool_that_is_known_and_not_shown_is_called_as_it_is_written() -> None:
    parsed = Native().parse(prompt_spec(), Reply('{"name": "secret", "arguments": {"a": 1}}'))
    assert parsed.actions == (Action("secret", {"a": 1}),)


def test_a_mark_without_a_call_is_a_word_of_the_answer() -> None:
    text = "Mistral writes [ARGS] ahead of the arguments."
    assert Native().parse(prompt_spec(), Reply(text)).answer == text


def test_a_call_behind_the_rest_of_a_fence_is_read() -> None:
    parsed = Native().parse(prompt_spec(), Reply(f"``\n{ONE}"))
    assert parsed.actions == (Action("search", ADA),)


@pytest.mark.parametrize("schema", [CITY, {"$ref": "#/$defs/City", "$defs": {"City": CITY}}])
def test_a_typed_answer_may_have_the_keys_of_a_call(schema: Parameters) -> None:
    asked = prompt_spec(schema, (tool("search", "query", query=TEXT),))
    assert Native().parse(asked, Reply(ONE)).answer == ONE
    cut = Native().parse(asked, Reply(f"{ONE} and more"))
    assert cut.answer is None


def test_calls_that_stand_in_the_text_too_count_once() -> None:
    call = '{"query": "Ada"}'
    from_text = f"I look.\n<tool_call>{ONE}</tool_call>"
    parsed = Native().parse(
        prompt_spec(), Reply(from_text, calls=(RawCall(name="search", arguments=call, id="c"),))
    )
    assert (parsed.text, parsed.actions) == ("I look.", (Action("search", ADA),))


@pytest.mark.parametrize("keyword", ["anyOf", "oneOf"])
def test_arguments_to_show_meet_what_is_asked_of_all_of_them_together(keyword: str) -> None:
    either: Parameters = {
        "type": "object",
        "properties": {"name": TEXT, "number": {"type": "integer"}},
        keyword: [{"required": ["name"]}, {"required": ["number"]}],
    }
    shown = example(Tool("find", "Find.", either, print))
    assert len(shown.keys() & {"name", "number"}) == 1
