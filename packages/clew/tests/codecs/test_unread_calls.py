"""Nothing but a call is a fault in any spelling; what only looks like one is an answer."""

import pytest

from clew import Agent, MemoryStore, read, run, tool
from clew.codecs.native import Native
from clew.core.codec import PromptSpec
from clew.core.contents import RawCall, Reply
from clew.testing import ScriptedModel
from tests.codecs.call_forms import READ, Spelling
from tests.codecs.samples import TEXT, prompt_spec
from tests.codecs.samples import tool as declared
from tests.codecs.unread_calls import (
    ANSWERS,
    ASKED,
    BLOCKS,
    INSEPARABLE,
    OTHERS,
    OTHERS_ANSWERS,
    OTHERS_SPELLED,
    PRESENTING,
    SPELLED,
    TAUGHT,
)

NATIVE = Native()
CALLS = [(ASKED, text) for text in SPELLED] + [(OTHERS, text) for text in OTHERS_SPELLED]
TEXTS = [(ASKED, text) for text in ANSWERS] + [(OTHERS, text) for text in OTHERS_ANSWERS]


@pytest.mark.parametrize(("asked", "text"), CALLS, ids=range(len(CALLS)))
def test_nothing_but_a_call_is_no_answer(asked: PromptSpec, text: str) -> None:
    parsed = NATIVE.parse(asked, Reply(text))
    assert parsed.answer is None
    assert parsed.actions or "Call a tool by function calling" in parsed.fault


@pytest.mark.parametrize(("asked", "text"), TEXTS, ids=range(len(TEXTS)))
def test_words_data_and_explanations_are_answers(asked: PromptSpec, text: str) -> None:
    parsed = NATIVE.parse(asked, Reply(text))
    assert (parsed.fault, parsed.answer) == ("", text)


TOOLS = [("cancel_booking", "reservation_id"), ("search", "query")]


def blocks(lead: str, behind: str = "") -> list[str]:
    """Replies with words ahead of a block that is a call, and words behind it."""
    texts = [f"{lead}{gap}{block}{behind}" for block in BLOCKS for gap in ("\n", "\n\n")]
    return [text.replace("NAME", name).replace("KEY", key) for text in texts for name, key in TOOLS]


@pytest.mark.parametrize("lead", PRESENTING)
@pytest.mark.parametrize("behind", ["", "\n\nI tell you as soon as it is done."], ids=bool)
def test_what_is_presented_as_the_call_is_no_answer(lead: str, behind: str) -> None:
    for text in blocks(lead, behind):
        parsed = NATIVE.parse(ASKED, Reply(text))
        assert parsed.answer is None, text
        assert parsed.actions or "Call a tool by function calling" in parsed.fault, text


@pytest.mark.parametrize("lead", TAUGHT)
def test_a_call_that_is_told_of_is_an_answer(lead: str) -> None:
    for text in blocks(lead):
        assert NATIVE.parse(ASKED, Reply(text)).answer == text


@pytest.mark.parametrize(
    "behind", ["Paste it into your script.", "You can change the value.", "It needs a key."]
)
def test_a_presented_call_that_is_for_the_reader_is_an_answer(behind: str) -> None:
    for text in blocks("Here is the call:", f"\n\n{behind}"):
        assert NATIVE.parse(ASKED, Reply(text)).answer == text


def test_a_long_object_in_prose_is_no_call() -> None:
    text = f'I use search {{"query": "{"a" * 5_000}"}} for that.'
    assert NATIVE.parse(ASKED, Reply(text)).answer == text


@pytest.mark.parametrize("text", INSEPARABLE, ids=range(len(INSEPARABLE)))
def test_what_could_as_well_be_data_is_an_answer(text: str) -> None:
    assert NATIVE.parse(OTHERS, Reply(text)).answer == text


@pytest.mark.parametrize(
    "text",
    [
        "{“name”: “pay”, “arguments”: {“to”: “ann”}}",
        '["pay", {"to": "ann"}]',
        "tool: pay\nto: ann",
        '@pay {"to": "ann"}',
        "I have paid. <pay/>",
    ],
)
async def test_a_run_goes_on_where_a_call_was_no_call(text: str) -> None:
    paid: list[str] = []

    @tool(effect="unsafe")
    def pay(to: str) -> str:
        """Pay somebody."""
        paid.append(to)
        return "paid"

    agent = Agent(model=ScriptedModel([text, "Nothing was paid."]), tools=[pay])
    store = MemoryStore()
    result = await run(agent, "Pay Ann.", store=store)
    assert (result.answer, paid) == ("Nothing was paid.", [])
    first = (await read(result.run_id, store=store)).steps[0].thought
    assert first is not None
    assert first.fault.startswith("a call of pay stands in the text and cannot be read")


# ------------------------------------------------------------------------ beside native calls

MADE = RawCall(name="cancel_booking", arguments='{"reservation_id": "r"}', id="c1")
CANCEL = {"reservation_id": "r"}


@pytest.mark.parametrize("spelled", READ.values(), ids=READ)
def test_the_same_call_in_the_text_counts_once(spelled: Spelling) -> None:
    parsed = NATIVE.parse(ASKED, Reply(spelled("cancel_booking", CANCEL), calls=(MADE,)))
    assert (parsed.fault, [action.args for action in parsed.actions]) == ("", [CANCEL])
    assert "the calls stood in the text too: they count once" in parsed.repairs


@pytest.mark.parametrize("spelled", READ.values(), ids=READ)
def test_another_call_in_the_text_is_a_fault(spelled: Spelling) -> None:
    other, again = spelled("search", {"query": "a"}), spelled("cancel_booking", CANCEL)
    for text in (
        other,
        f"I do both.\n{other}",
        spelled("cancel_booking", {"reservation_id": "x"}),
        f"{again}\n{other}",
    ):
        parsed = NATIVE.parse(ASKED, Reply(text, calls=(MADE,)))
        assert parsed.actions == (), text
        assert parsed.fault.startswith("the text holds another call"), text


@pytest.mark.parametrize(("asked", "text"), TEXTS, ids=range(len(TEXTS)))
def test_words_beside_a_native_call_stay_words(asked: PromptSpec, text: str) -> None:
    name = asked.tools[0].name
    parsed = NATIVE.parse(asked, Reply(text, calls=(RawCall(name=name, arguments="{}", id="c1"),)))
    assert (parsed.fault, parsed.text, parsed.repairs) == ("", text, ())


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ('cancel_booking(reservation_id="r")', False),
        ('cancel_booking(reservation_id="r") is what I do now.', False),
        ('For example:\n{"name": "search", "arguments": {"query": "a"}}', False),
        ("tool: search\nquery: a", True),
        ("{“tool”: “search”, “query”: “a”}", True),
        ("tool: cancel_booking\nreservation_id: x", False),  # not read: it may be the same one
        ("<tool_call>", False),
        ('{"name": "Ann", "arguments": {"for": "a"}}', False),
    ],
)
def test_only_another_call_that_is_made_is_a_fault(text: str, fault: bool) -> None:
    assert bool(NATIVE.parse(ASKED, Reply(text, calls=(MADE,))).fault) is fault


def test_a_mention_may_leave_out_arguments_and_a_call_in_tags_may_not() -> None:
    made = RawCall(name="search", arguments='{"query": "a", "limit": 3}', id="c1")
    shorter = '{"name": "search", "arguments": {"query": "a"}}'
    assert not NATIVE.parse(ASKED, Reply('search(query="a")', calls=(made,))).fault
    assert NATIVE.parse(ASKED, Reply(f"<tools>{shorter}</tools>", calls=(made,))).fault


def test_strict_reads_no_other_spelling_beside_native_calls() -> None:
    text = 'search(query="a")'
    parsed = Native(spellings=False).parse(ASKED, Reply(text, calls=(MADE,)))
    assert (parsed.fault, parsed.text) == ("", text)


def test_a_typed_answer_beside_a_call_is_no_call() -> None:
    answer = {"type": "object", "properties": {"name": TEXT, "args": {"type": "object"}}}
    asked = prompt_spec(answer, tools=(declared("search", "query", query=TEXT),))
    text = '{"name": "search", "args": {}}'
    call = RawCall(name="search", arguments='{"query": "a"}', id="c1")
    assert NATIVE.parse(asked, Reply(text, calls=(call,))).text == text


# ------------------------------------------------------------------------ names


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('<tool_call>{"name":"Cancel_Booking","arguments":{"reservation_id":"r"}}</tool_call>',
         "cancel_booking"),
        ('<tool_call>{"name":"SEARCH","arguments":{"query":"r"}}</tool_call>', "search"),
        ('<tool_call>{"name":"functions.Search","arguments":{"query":"r"}}</tool_call>', "search"),
        ('<tool_call>{"name":"getWeather","arguments":{"city":"r"}}</tool_call>', "get_weather"),
        ('<tool_call>{"name":"Finish","arguments":{"answer":"r"}}</tool_call>', "finish"),
        ('{"name":"Search","arguments":{"query":"r"}}', "search"),
        ('Search(query="r")', "search"),
        ('Get-Weather {"city": "r"}', "get_weather"),
        ("<function=Search><parameter=query>r</parameter></function>", "search"),
        ('<invoke name="Search"><parameter name="query">r</parameter></invoke>', "search"),
        ("<invoke><tool_name>Send</tool_name><parameters><to>r</to></parameters></invoke>", "send"),
        ('[TOOL_CALLS][{"name":"Search","arguments":{"query":"r"}}]', "search"),
        ('```json\n{"name":"Get_Weather","arguments":{"city":"r"}}\n```', "get_weather"),
    ],
)  # fmt: skip
def test_names_in_text_are_read_without_case_and_separators(text: str, name: str) -> None:
    parsed = NATIVE.parse(ASKED, Reply(text))
    assert ([action.name for action in parsed.actions], parsed.fault) == ([name], "")
    assert list(parsed.actions[0].args.values()) == ["r"]


@pytest.mark.parametrize("name", ["serch", "delete", "Cancel", "search.search"])
def test_no_other_tool_is_proposed_for_a_name_of_none(name: str) -> None:
    text = f'<tool_call>{{"name":"{name}","arguments":{{"query":"r"}}}}</tool_call>'
    fault = NATIVE.parse(ASKED, Reply(text)).fault
    assert f"{name} is no tool. Call a tool by function calling, not in text. The tools " in fault
