"""A declared tool's name in markup is never an answer in silence; prose that names it is one."""

import pytest

from clew.codecs.call_traces import trace
from clew.codecs.native import Native
from clew.core.actions import Action
from clew.core.contents import Reply
from tests.codecs.call_forms import FAULTY
from tests.codecs.samples import TEXT, prompt_spec, tool

CANCEL = tool("cancel", "reservation_id", effect="unsafe", reservation_id=TEXT)
SEARCH = tool("search", "query", query=TEXT)
ASKED = prompt_spec(tools=(CANCEL, SEARCH, tool("now")))

MARKUP = (
    '[cancel(reservation_id="r")]I am cancelling it now.',
    'I am on it. [cancel(reservation_id="r")] Done.',
    '<cancel(reservation_id="r")>',
    'cancel(reservation_id: "r")',
    "Action: `cancel`",
    "**Action:** cancel",
    "Action: cancel.",
    "Tool: cancel\nInput: r",
    "Function call: cancel(r)",
    "Tool: cancel",
    '<|DSML|function_calls><|DSML|invoke name="cancel"><|DSML|parameter name="reservation_id">',
    '<｜｜DSML｜｜invoke name="cancel">',
    "< DSML invoke name='cancel'>",
    "<tool_call><parameter=name>cancel</parameter><parameter=reservation_id>r</parameter>",
    "<parameter=cancel>r</parameter>",
    "One moment.\n```tool_code\nprint(cancel(reservation_id='r'))\n```\nThank you.",
    "One moment.\n```tool_code\ncancel r",
    "<|channel|>commentary to=functions.cancel<|message|>r",
    "<|channel|>analysis to=cancel code<|message|>",
    "commentary to=functions.cancel json",
    "[cancel(",
    "[cancel",
    "I do it: cancel(reservation",
    '[cancel("r"',
    "[TOOL_CALLS]cancel",
    "[Calling tool: cancel]",
    "<function=cancel",
    "<function=cancel>",
    "<cancel>",
    "<cancel>r",
    "Then <cancel>r</cancel>.",
    "Then <cancel> <reservation_id>r",
    '{"name": "cancel", "argu',
    '{"name": "cancel"',
    '{"cancel": {"reserv',
    'Sure. {"arguments": {"reservation_id": "r"}, "name": "cancel"',
    '{"tool": "cancel", "reservation_id": "r", "why": "asked"}',
    'cancel{"reservation_id": "r"} it is',
    "cancel[r]\nIt is done.",
    ">>>cancel\nr",
    "`cancel(reservation_id='r')`",
    "I call it now: `cancel(reservation_id='r')`",
    'I will do that.\n```json\n{"name": "cancel", "arguments": {"reservation_id": }}\n```',
    'I will.\n```json\n{"name": "cancel", "arguments": {"reservation_id": "r"}}\n```\nDone.',
    "print(default_api.cancel(reservation_id='r')) as you asked",
    "[Cancel(reservation_id='r')] Done.",
    "Action: Cancel",
    "Cancelling.\n\ncancel(reservation_id='r')\n\nIt is cancelled.",
)

PROSE = (
    "I used `search` to find it.",
    "I used search to find it, and cancel was not needed.",
    "Search: she was born in London. To cancel, call us.",
    "The tools are `search(query)` and `cancel(reservation_id)`.",
    "- `search`: finds pages\n- `cancel`: cancels a reservation",
    "- **search**: finds pages\n- **cancel**: cancels",
    "You can cancel (free of charge) until noon.",
    "See [search](https://example.org) for more.",
    "| tool | does |\n|---|---|\n| search | finds |\n| cancel | cancels |",
    'To cancel, write `cancel(reservation_id="...")`, for example.',
    'For example:\n```json\n{"name": "cancel", "arguments": {"reservation_id": "r"}}\n```',
    "Use this:\n```python\nclient.search(query='x')\n```\nIt finds all pages.",
    "My search(es) gave nothing: <none>.",
    "Actions:\n- cancel the flight\n- search again",
    "Action: cancel the flight with the desk.",
    "<p>Press <b>cancel</b> to stop.</p>",
    "The function f(x) = search depth [1].",
    'The page has {"stars": 4} for search.',
    "x < cancel and y > search",
    "Result (search): 4 pages; cancel = no.",
    "The name is [search] in the index.",
)  # fmt: skip


@pytest.mark.parametrize("text", MARKUP)
def test_markup_with_a_declared_name_is_a_fault(text: str) -> None:
    parsed = Native().parse(ASKED, Reply(text))
    assert (parsed.answer, parsed.actions) == (None, ())
    assert "cancel with {" in parsed.fault or "cancel" in parsed.fault


@pytest.mark.parametrize("text", PROSE)
def test_prose_that_names_a_tool_is_an_answer(text: str) -> None:
    parsed = Native().parse(ASKED, Reply(text))
    assert (parsed.fault, parsed.answer) == ("", text)


@pytest.mark.parametrize("spelling", FAULTY)
def test_a_call_that_cannot_be_read_is_a_fault(spelling: str) -> None:
    text = FAULTY[spelling]("cancel", {"reservation_id": "r"})
    parsed = Native().parse(ASKED, Reply(text))
    assert (parsed.answer, parsed.actions) == (None, ())
    assert parsed.fault


def test_a_name_that_nobody_declared_is_no_trace() -> None:
    assert trace(ASKED, "[delete(path='x')] <delete>") == ""


def test_a_marked_call_behind_words_is_made_and_its_words_are_the_thought() -> None:
    call = '{"name": "cancel", "arguments": {"reservation_id": "r"}}'
    text = f"I cancel it.\n<tool_call>{call}</tool_call>"
    parsed = Native().parse(ASKED, Reply(text))
    assert parsed.text == "I cancel it."
    assert parsed.actions == (Action("cancel", {"reservation_id": "r"}),)


def test_text_behind_an_answer_that_was_written_as_a_call_is_dropped() -> None:
    text = '<tool_call>{"name": "finish", "arguments": {"answer": "4"}}</tool_call>\nThat is it.'
    parsed = Native().parse(ASKED, Reply(f"I know.\n{text}"))
    assert (parsed.text, parsed.actions) == ("I know.", (Action("finish", {"answer": "4"}),))
    assert "text behind the answer dropped" in parsed.repairs
