"""A call of a tool with an effect is made as it was written, or not at all."""

import random
from typing import Any

import pytest

from clew import Agent, MemoryStore, read, run, tool
from clew.codecs import by_name
from clew.codecs.labelled import Labelled
from clew.codecs.native import Native
from clew.core.actions import Action
from clew.core.contents import Reply
from clew.testing import ScriptedModel
from tests.codecs.call_forms import FAULTY, READ, VALUES
from tests.codecs.call_fuzz import CODECS, COMMANDS, asked_for, tried
from tests.codecs.samples import TEXT, installed, prompt_spec
from tests.codecs.samples import tool as declared

CANCEL = declared("cancel", "reservation_id", effect="unsafe", reservation_id=TEXT)
WRITE = declared("write", "path", "text", effect="unsafe", path=TEXT, text=TEXT)
STOP = declared("stop", effect="unsafe")
RESET = declared("reset", effect="idempotent", hard={"type": "boolean"})
SEARCH = declared("search", "query", query=TEXT)
ASKED = prompt_spec(tools=(CANCEL, WRITE, STOP, RESET, SEARCH))


def parsed(codec: str, text: str) -> Any:
    return by_name(codec).parse(ASKED, Reply(text))


# --------------------------------------------------------------------------- to the letter


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('Action: cancel\nAction Input: {"reservation_id": "a `b` c"}', "a `b` c"),
        ('Action: cancel\nAction Input: {"reservation_id": "```x```"}', "```x```"),
        ('Thought: `q`\nAction: cancel\nAction Input: {"reservation_id": "`"}', "`"),
        ('{"name": "cancel", "arguments": {"reservation_id": "a｜DSML｜b"}}', "a｜DSML｜b"),
        ('{"name": "cancel", "arguments": {"reservation_id": "<escape>"}}', "<escape>"),
        ('cancel(reservation_id="</tool_call>")', "</tool_call>"),
        ('[cancel(reservation_id="a) b] c")]', "a) b] c"),
        ('<function=cancel>{"reservation_id": "a</function>b"}</function>', "a</function>b"),
        (
            (
                "<function=cancel>\n<parameter=reservation_id>\n a </arg_value> \n</parameter>\n"
                "</function>"
            ),
            " a </arg_value> ",
        ),
        (
            '<invoke name="cancel"><parameter name="reservation_id">\na\n</parameter></invoke>',
            "\na\n",
        ),
        (
            (
                "<tool_call>cancel\n<arg_key>reservation_id</arg_key>\n<arg_value></parameter>"
                "</arg_value>\n</tool_call>"
            ),
            "</parameter>",
        ),
        ("<cancel><reservation_id>`a` </cancel> b</reservation_id></cancel>", "`a` </cancel> b"),
        (
            '<|tool_call>call:cancel{reservation_id:<|"|>a "b" {c}<|"|>}<tool_call|>',
            'a "b" {c}',
        ),
        (
            (
                '<｜DSML｜tool_calls>\n<｜DSML｜invoke name="cancel">\n<｜DSML｜parameter '
                'name="reservation_id" string="true">a</parameter>b</｜DSML｜parameter>\n'
                "</｜DSML｜invoke>\n</｜DSML｜tool_calls>"
            ),
            "a</parameter>b",
        ),
        (
            (
                "<|start|>assistant to=functions.cancel<|channel|>commentary json<|message|>"
                '{"reservation_id": "<|call|>"}<|call|>'
            ),
            "<|call|>",
        ),
        ('{{"name": "cancel", "arguments": {{"reservation_id": "{{a}}"}}}}', "{{a}}"),
    ],
)
def test_a_value_arrives_as_it_was_written(text: str, value: str) -> None:
    read = parsed("native", text)
    assert (read.fault, read.actions) == ("", (Action("cancel", {"reservation_id": value}),))


OPEN = "<parameter=reservation_id>"


@pytest.mark.parametrize(
    "text",
    [
        f"<function=cancel>{OPEN}a</parameter>b</parameter></function>",
        f"<function=cancel>{OPEN}a</function>b</parameter></function>",
        f"<function=cancel>{OPEN}a</parameter></function>b</parameter></function>",
        f"<function=cancel>{OPEN}a{OPEN}b</parameter></function>",
        f"<function=cancel>{OPEN}\na</parameter></function>",
        f"<tool_call><function=cancel>{OPEN}a</tool_call>b</parameter></function></tool_call>",
        f"<tool_call><function=cancel>{OPEN}a</parameter></function>",
        f"<function=cancel>{OPEN}a</parameter></function></tool_call>",
        f"<tool_call><tools><function=cancel>{OPEN}a</parameter></function></tool_call>",
        "<function=cancel>reservation_id: a</function>",
        "<function=cancel><reservation_id>a</function>",
        "<function=cancel><reservation_id>a</reservation_id> b</function>",
        "<function=write><parameter=path>a</parameter><parameter=text>\nb\n</parameter></function>",
        '<function=cancel>{"reservation_id": "a"} b</function>',
        '<function=cancel>{"reservation_id": "a"}</func',
        (
            "<tool_call>cancel<arg_key>reservation_id</arg_key><arg_value>a</arg_value>b</arg_value>"
            "</tool_call>"
        ),
        "<tool_call>cancel<arg_key>reservation_id</arg_key><arg_value>a</tool_call>",
        "<tool_call>cancel<arg_key>reservation_id</arg_key><arg_value>a</arg_value>",
        "<tool_call>cancel<arg_key>reservation_id</arg_key>",
        (
            "<invoke><tool_name>cancel</tool_name><parameters><reservation_id>a</parameters>b"
            "</reservation_id></parameters></invoke>"
        ),
        "<invoke><tool_name>cancel</tool_name><parameters>",
        "<invoke>cancel</invoke>",
        "call:cancel{reservation_id:<escape>a<escape>b<escape>}",
        "call:cancel{reservation_id:<escape>a}",
        "call:cancel{reservation_id:<escape>a<escape>",
        '{"name": "cancel", "arguments": {"reservation_id": "a"}}}',
        '{"name": "cancel", "arguments": {"reservation_id": "\\ud83d"}}',
        '<function=cancel>{"reservation_id": "\\ud83d"}</function>',
        '```json\n{"name": "cancel", "arguments": {"reservation_id": "a"}}\n',
        '```json\n{"name": "cancel", "arguments": {"reservation_id": "a"}}\n``',
        '{{"name": "cancel", "arguments": {{"reservation_id": "a"}}}} and then',
        'cancel(reservation_id="a")(1)',
        '<tool_call>{"name": "cancel", "arguments": {"reservation_id": "a"}}</tool_call> Done.',
        '{"name": "cancel", "arguments": {"reservation_id": "a"}}</parameter>',
        '<parameter=x>\n<tool_call>cancel{"reservation_id": "a"}</tool_call>',
    ],
)
def test_what_is_not_closed_or_left_over_is_a_fault(text: str) -> None:
    read = parsed("native", text)
    assert (read.actions, read.answer) == ((), None)
    assert "Call a tool by function calling" in read.fault


def test_a_parameter_of_a_list_takes_nothing_behind_it() -> None:
    asked = prompt_spec(tools=(declared("send", "to", effect="unsafe", to={"type": "array"}),))
    form = '<function=send><parameter=to>["a"]{}</parameter></function>'
    assert Native().parse(asked, Reply(form.format(""))).actions == (Action("send", {"to": ["a"]}),)
    assert "text behind the JSON" in Native().parse(asked, Reply(form.format(" b"))).fault


@pytest.mark.parametrize("codec", ["labelled", "native"])
@pytest.mark.parametrize(
    "text",
    [
        "Action: cancel\nAction Input: {",
        'Action: cancel\nAction Input: {"rese',
        'Action: cancel\nAction Input: "omar_ro',
        "Action: cancel\nAction Input: omar",
        'Action: cancel\nAction Input: "a"',
        'Action: cancel\nAction Input: `"a"`',
        'Action: cancel\nAction Input:\n```\n"a"\n```',
        "Action: cancel\nAction Input: None",
        'Action: cancel\nAction Input: {"reservation_id": "a"} b',
        'Action: cancel\nAction Input: {"reservation_id": "\\ud83d"}',
        'Action: cancel\nAction Input:\n```json\n{"reservation_id": "a"}\n',
        'Action: cancel\nAction Input:\n```json\n{"reservation_id": "a"}\n``',
        'Action: cancel\nAction Input: `{"reservation_id": "a"}`',
        'Action: cancel\nI do it.\nAction Input: {"reservation_id": "a"}',
        'Action: cancel(x)\nAction Input: {"reservation_id": "a"}',
        "Action: reset\nAction Input:",
        "Action: reset\nAction Input: tr",
        "Action: cancel[a",
        "Action: cancel[a] b",
        'Action: cancel(reservation_id: "a")',
    ],
)
def test_a_labelled_effect_needs_one_closed_object(codec: str, text: str) -> None:
    read = parsed(codec, text)
    assert read.actions == ()
    assert read.fault


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("Action: stop\nAction Input:", Action("stop")),
        ("Action: stop\nAction Input: none", Action("stop")),
        ("Action: stop\nAction Input: {}", Action("stop")),
        (
            'Action: cancel\nAction Input:\n```json\n{"reservation_id": "a"}\n```',
            Action("cancel", {"reservation_id": "a"}),
        ),
        (
            'Action: cancel()\nAction Input: {"reservation_id": "a"}',
            Action("cancel", {"reservation_id": "a"}),
        ),
    ],
)
def test_a_labelled_effect_that_is_closed_is_made(text: str, action: Action) -> None:
    assert Labelled().parse(ASKED, Reply(text)).actions == (action,)


MADE = {
    "labelled": 'Action: cancel\nAction Input: {"reservation_id": "a"}',
    "paper": "Action 1: cancel[a]",
}


@pytest.mark.parametrize("codec", MADE)
@pytest.mark.parametrize(
    ("behind", "made"),
    [
        ("\n\nThought 2: wait, do not", False),
        ("\nAction 2: cancel[b]", False),
        ("\nThought: I wait for the Observation: it comes", False),
        ("\nQuestion: what next?", False),
        ("\n**Action 2:** stop[]\nObservation: done", False),
        (".", False),
        ("`", False),
        (" and then", False),
        ("\n.", False),
        ("\nObservation: done", True),
        ("\nObservation 1: done\nThought 2: wait, do not", True),
        ("\n \n", True),
    ],
)
def test_behind_an_effect_stands_nothing_but_an_invented_observation(
    codec: str, behind: str, made: bool
) -> None:
    read = parsed(codec, MADE[codec] + behind)
    assert bool(read.actions) is made
    assert bool(read.fault) is not made
    looked = MADE[codec].replace("cancel", "search").replace("reservation_id", "query")
    assert parsed(codec, looked + behind).actions == (Action("search", {"query": "a"}),)


@pytest.mark.parametrize("behind", ["Final Answer: done", "Final: done", "Action Input: {}"])
def test_behind_a_labelled_effect_stands_no_answer(behind: str) -> None:
    fault = parsed("labelled", f"{MADE['labelled']}\n{behind}").fault
    assert fault.startswith("more stands behind the call of cancel, which changes things")


@pytest.mark.parametrize(
    "text",
    [
        "**Action 1: cancel[a]**",
        "Action 1: `cancel[a]`",
        "Action 1: **`cancel`[a]**",
        "```\nAction 1: cancel[a]\n```",
        "I do it.\ncancel[a]",
    ],
)
def test_emphasis_around_an_effect_is_nothing_behind_it(text: str) -> None:
    read = parsed("paper", text)
    assert (read.fault, read.actions) == ("", (Action("cancel", {"reservation_id": "a"}),))


def test_an_action_within_a_block_of_code_names_no_tool() -> None:
    for codec in ("labelled", "paper"):
        assert "block of code" in parsed(codec, 'Action 1: ```json\n[{"name": "stop"}]\n```').fault


@pytest.mark.parametrize(
    "argument",
    [
        'reservation_id="a"',
        "reservation_id = a",
        'reservation_id: "a"',
        '"a"',
        "'a'",
        '{"reservation_id": "\\ud83d"}',
        '{"reservation_id": "a"}] b[',
        "a] b",
        "a]]",
        "a], cancel[b",
        '{"rese',
    ],
)
def test_an_argument_in_brackets_is_the_value_or_a_fault(argument: str) -> None:
    read = parsed("paper", f"Action 1: cancel[{argument}]")
    assert read.actions == ()
    assert read.fault


@pytest.mark.parametrize("value", ["a b", "a[0] b", "[a]", "-x = y", "a=b"])
def test_a_plain_argument_in_brackets_stays_as_it_is(value: str) -> None:
    read = parsed("paper", f"Action 1: cancel[{value}]")
    assert read.actions == (Action("cancel", {"reservation_id": value}),)


@pytest.mark.parametrize(
    "text",
    [
        "<tool_call>\n<function=write>\n<parameter=text>\nAction: stop\nAction Input: {}\n",
        '<invoke name="write"><parameter name="text">\nFinal Answer: 4\n',
    ],
)
def test_a_label_within_a_tagged_call_is_no_label(text: str) -> None:
    assert "stands ahead of it" in parsed("labelled", text).fault


@pytest.mark.parametrize(
    "text",
    [
        "<parameter=text>\nAction 1: stop[]",
        '<parameter=text>\n{"action": "stop", "args": {}}',
        "<parameter=text>\n```\nstop()\n```",
    ],
)
def test_a_piece_of_a_tagged_call_ahead_of_an_action_is_a_fault(text: str) -> None:
    for codec in installed("paper", "json", "code"):
        assert parsed(codec, text).actions == ()


# ---------------------------------------------------------------------------------- in a run


EFFECTS = (
    READ["Qwen coder"],
    READ["Claude"],
    READ["GLM"],
    READ["object"],
    READ["ReAct"],
    READ["Python, list"],
    READ["own tag"],
    FAULTY["words behind brackets"],
)


@pytest.mark.parametrize("seed", range(3))
async def test_no_run_makes_a_call_from_a_reply_that_was_cut(seed: int) -> None:
    ledger: list[str] = []

    @tool(effect="unsafe")
    def ex(cmd: str) -> str:
        """Run a command."""
        ledger.append(cmd)
        return "done"

    chance = random.Random(seed)
    for spelled in EFFECTS:
        value = "rm -rf " + chance.choice(VALUES)
        text = spelled("ex", {"cmd": value})
        end = max(text.rfind(last) for last in ("}", ")", ">"))
        for cut in chance.sample(range(end), 4):
            agent = Agent(model=ScriptedModel([text[:cut], "Nothing was done."]), tools=[ex])
            store = MemoryStore()
            result = await run(agent, "Clean up.", store=store)
            assert ledger == [], text[:cut]
            first = (await read(result.run_id, store=store)).steps[0]
            assert first.calls == ()
            if spelled("ex", {}).count("ex") and text[:cut].rfind("ex") > 0:
                assert result.answer == "Nothing was done.", text[:cut]


async def test_a_whole_call_reaches_the_tool_as_it_was_written() -> None:
    ledger: list[str] = []

    @tool(effect="unsafe")
    def ex(cmd: str) -> str:
        """Run a command."""
        ledger.append(cmd)
        return "done"

    made = [
        (READ[name]("ex", {"cmd": value}), value)
        for name, value in zip(READ, VALUES, strict=False)
        if "</" not in value
    ]
    for text, value in made:
        ledger.clear()
        agent = Agent(model=ScriptedModel([text, "Done."]), tools=[ex])
        await run(agent, "Clean up.", store=MemoryStore())
        assert ledger in ([value], []), text


@pytest.mark.parametrize("name", CODECS)
def test_a_short_fuzz_of_spellings_values_and_cuts(name: str) -> None:
    chance = random.Random(7)
    counts = tried(
        name, Action("ex", {"cmd": "rm -rf `pwd` </parameter> " + chance.choice(VALUES)}), 12, 7
    )
    counts += tried(name, Action("ex", {"cmd": "".join(chance.choices(VALUES, k=2))}), 12, 8)
    counts += tried(name, Action("ex", {"cmd": "ls", "count": 3, "last": None}), 12, 9)
    assert counts["wrong"] == 0
    assert counts["call, whole"]
    assert counts["fault, cut"]


def test_what_the_fuzz_asks_for_is_what_a_run_would_know() -> None:
    call = Action("ex", {"cmd": "ls"})
    asked = asked_for([call])
    for codec in (Native(), *COMMANDS):
        assert codec.parse(asked, Reply("It is done.")).actions == ()
