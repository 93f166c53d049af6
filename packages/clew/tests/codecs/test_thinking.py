"""A call that stands in thinking is not made, in any format and whatever opens the thinking."""

from typing import Any, cast

import pytest

from clew import Agent, MemoryStore, Tool, read, run, tool
from clew.codecs import by_name
from clew.core.actions import Action
from clew.core.codes import Effect, Finish
from clew.core.contents import Reply
from clew.core.entries import Entry
from clew.testing import ScriptedModel
from tests.codecs.samples import TEXT, installed, prompt_spec
from tests.codecs.samples import tool as declared

CALLS = {
    "native": '<tool_call>{"name": "sh", "arguments": {"cmd": "CMD"}}</tool_call>',
    "json": '{"action": "sh", "args": {"cmd": "CMD"}}',
    "labelled": 'Action: sh\nAction Input: {"cmd": "CMD"}',
    "paper": "Action 1: sh[CMD]",
    "code": '```python\nsh(cmd="CMD")\n```',
}
ENDS = {
    "native": "done",
    "json": '{"action": "finish", "args": {"answer": "done"}}',
    "labelled": "Final Answer: done",
    "paper": "Action 2: Finish[done]",
    "code": "Answer: done",
}
TAGS = [
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<Thinking>", "</Thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("<reflection>", "</reflection>"),
    ("<scratchpad>", "</scratchpad>"),
    ("<inner_monologue>", "</inner_monologue>"),
    ("<seed:think>", "</seed:think>"),
    ("[THINK]", "[/THINK]"),
    ("◁think▷", "◁/think▷"),
    ("<|think|>", "<|/think|>"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<|channel>thought", "<channel|>"),
    ("<unused94>", "<unused95>"),
    ('<details type="reasoning">', "</details>"),
    ("<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>final<|message|>"),
]
EFFECTS: tuple[Effect, ...] = ("unsafe", "read")
CUT: tuple[Finish, ...] = ("length", "filter", "cut")


class Quiet:
    """A listener, which makes an agent stream."""

    def token(self, text: str) -> None:
        """Show nothing."""

    def entry(self, entry: Entry) -> None:
        """Note nothing."""


def call(codec: str, cmd: str = "rm") -> str:
    return CALLS[codec].replace("CMD", cmd)


def parsed(codec: str, text: str, effect: Effect = "unsafe", finish: Finish = "stop") -> Any:
    asked = prompt_spec(tools=(declared("sh", "cmd", effect=effect, cmd=TEXT),))
    return by_name(codec).parse(asked, Reply(text, finish=finish))


def streamed(codec: str, text: str) -> str:
    """What of a reply is read where it is streamed."""
    take = by_name(codec).stream_filter(lambda _: None)
    return text[: next((at for at, char in enumerate(text, 1) if take(char)), len(text))]


def none_made(codec: str, form: str) -> None:
    """Whatever opens and closes it, and whatever the tool does."""
    for effect in EFFECTS:
        for opens, closes in TAGS:
            text = form.format(opens=opens, closes=closes, call=call(codec))
            assert parsed(codec, text, effect).actions == (), text


@pytest.mark.parametrize("codec", installed(*CALLS))
@pytest.mark.parametrize(
    "form",
    [
        "{opens}\nI could do\n{call}\n{closes}\nNo, I do not.",
        "{opens}{call}{closes}No.",
        "Let me see.\n{opens}\n{call}\n{closes}\nNo.",
    ],
)
def test_a_call_in_closed_thinking_is_not_made(codec: str, form: str) -> None:
    none_made(codec, form)


@pytest.mark.parametrize("codec", installed(*CALLS))
@pytest.mark.parametrize(
    "form",
    [
        "{opens}\n{call}\n{closes}\n",
        "{opens}\nI could do\n{call}",
        "{opens}\nI could do\n{call}\nbut that would be dan",
        "Let me see.\n{opens}\n{call}\n",
    ],
)
def test_nothing_but_thinking_with_a_call_is_a_fault(codec: str, form: str) -> None:
    none_made(codec, form)
    for opens, closes in TAGS:
        found = parsed(codec, form.format(opens=opens, closes=closes, call=call(codec)))
        assert found.answer is None
        assert found.fault


TEMPLATE = [
    "I could do\n{call}\n{closes}\nNo.",
    "I could do\n{call}\nor\n{call}\n{closes}\nNo.",
    "I could do\n{call}\nThought: no\n{closes}\nNo.",
    "I could do\n{call}\nObservation 1: done\nhm\n{closes}\nNo.",
    "Thought: I could do\n{call}\n{closes}\nNo.",
    "Thought: I could do\n{call}\n{call}\n{closes}\nNo.",
    "{call}\nThat is wrong, so no.\n{closes}\nNo.",
]
"""Replies to a prompt whose template opened the thinking."""


@pytest.mark.parametrize("codec", installed(*CALLS))
@pytest.mark.parametrize("form", TEMPLATE)
def test_a_call_in_thinking_that_the_template_opened_is_not_made(codec: str, form: str) -> None:
    for _, closes in TAGS:
        if closes != "</details>":
            text = form.format(call=call(codec), closes=closes)
            assert parsed(codec, text).actions == (), text
            assert parsed(codec, streamed(codec, text)).actions == (), text
    text = form.format(call=call(codec), closes="</think>")
    assert parsed(codec, text, "read").actions == (), text


@pytest.mark.parametrize("codec", installed(*CALLS))
@pytest.mark.parametrize("form", TEMPLATE)
def test_a_reply_cut_within_such_thinking_makes_no_call(codec: str, form: str) -> None:
    text = form.format(call=call(codec), closes="</think>").partition("</think>")[0]
    for finish in CUT:
        found = parsed(codec, text, finish=finish)
        assert (found.actions, bool(found.fault)) == ((), True), text


@pytest.mark.parametrize("codec", installed(*CALLS))
def test_a_call_behind_the_thinking_is_made(codec: str) -> None:
    for effect in EFFECTS:
        for opens, closes in TAGS:
            text = f"{opens}\nI could do\n{call(codec)}\n{closes}\n{call(codec, 'ls')}"
            found = parsed(codec, text, effect)
            assert (found.fault, found.actions) == ("", (Action("sh", {"cmd": "ls"}),)), text


@pytest.mark.parametrize("codec", installed("json", "code"))
def test_a_call_behind_thinking_that_the_template_opened_is_made(codec: str) -> None:
    found = parsed(codec, f"I could do\n{call(codec)}\n</think>\n\n{call(codec, 'ls')}")
    assert found.actions == (Action("sh", {"cmd": "ls"}),)
    assert found.repairs[0] == "what stood in thinking kept as thought"


@pytest.mark.parametrize("codec", installed(*CALLS))
def test_thinking_without_a_call_changes_nothing(codec: str) -> None:
    plain = parsed(codec, f"hm\n{call(codec)}")
    assert plain.actions == (Action("sh", {"cmd": "rm"}),)
    for opens, closes in TAGS:
        found = parsed(codec, f"{opens}hm{closes}\n{call(codec)}")
        assert (found.actions, found.fault) == (plain.actions, ""), opens
    for words in (
        "As [thought] says,",
        "It is `<think>` that opens it.",
        "The end of </details> is here.",
    ):
        assert parsed(codec, f"{words}\n{call(codec)}").actions == plain.actions
    for lone in ("hm\n</think>\n", "hm</thinking>", "hm\n[/THINK]\n"):
        assert parsed(codec, f"{lone}\n{call(codec)}").actions == plain.actions


@pytest.mark.parametrize("codec", installed(*CALLS))
def test_thinking_again_and_again_ends(codec: str) -> None:
    thinking = "".join(f"<think>\n{call(codec, str(n))}\n</think>\n" for n in range(9))
    assert parsed(codec, f"{thinking}No.").actions == ()


@pytest.mark.parametrize("codec", installed(*CALLS))
@pytest.mark.parametrize(
    "value",
    [
        "a <think> b",
        "a </think> b",
        "<think>a</think>",
        "</think>",
        "[THINK]",
        "a <thinking> b </thinking> c",
        "◁think▷",
        "</details>",
    ],
)
def test_a_tag_in_a_value_stays(codec: str, value: str) -> None:
    if codec == "paper" and "[" in value:
        return  # brackets of the format itself
    found = parsed(codec, call(codec, value))
    assert (found.fault, found.actions) == ("", (Action("sh", {"cmd": value}),))


@pytest.mark.parametrize(
    ("codec", "text", "answer"),
    [
        ("native", "The tag <think> opens thinking.", None),
        ("native", "<think> opens it and </think> closes it.", None),
        ("native", "It ends with </think>, as in sh.", None),
        ("labelled", "Final Answer: use <think> and </think>.", "use <think> and </think>."),
        (
            "labelled",
            "Final Answer: it ends with\n</think>\nthere",
            "it ends with\n</think>\nthere",
        ),
        ("paper", "Action 1: Finish[a <think> b]", "a <think> b"),
        ("paper", "Action 1: Finish[it ends with </think>]", "it ends with </think>"),
        ("json", '{"action": "finish", "args": {"answer": "</think>"}}', "</think>"),
    ],
)
def test_an_answer_that_quotes_a_tag_stays(codec: str, text: str, answer: str | None) -> None:
    found = parsed(codec, text)
    if answer is None:
        assert found.answer == text
    else:
        assert found.actions == (Action("finish", {"answer": answer}),)


def shell(made: list[str]) -> Tool:
    """A tool with an effect, which goes to a list."""

    @tool(effect="unsafe")
    def sh(cmd: str) -> str:
        """Run a command."""
        made.append(cmd)
        return "ran"

    return sh


@pytest.mark.parametrize("codec", installed(*CALLS))
@pytest.mark.parametrize(
    "text",
    [
        "I could do\n{}\n</think>\nNo.",
        "<thinking>\nI could do\n{}\n</thinking>\nNo.",
        "[THINK]I could do\n{}\n",
        "◁think▷\n{}\nbut it would be dan",
    ],
)
@pytest.mark.parametrize("listener", [None, Quiet()], ids=["whole", "streamed"])
async def test_a_run_makes_no_call_of_its_thinking(
    codec: str, text: str, listener: Quiet | None
) -> None:
    made = list[str]()
    said = text.replace("{}", call(codec))
    agent = Agent(
        model=ScriptedModel([said, *[ENDS[codec]] * 2]), tools=[shell(made)], codec=by_name(codec)
    )
    store = MemoryStore()
    result = await run(agent, "Go.", store=store, listener=listener)
    assert made == []
    steps = (await read(result.run_id, store=store)).steps
    assert not any(step.calls for step in steps[:-1])


LONG = "I think about that at length. " * 100
BEHIND = {
    "an end of thinking far behind": ("{call}\n" + LONG + "\n</think>\n{end}", "stop"),
    "behind a label": ("Thought: maybe\n{call}\n" + LONG + "\n</think>\n{end}", "stop"),
    "behind a fence": ("```\n{call}\n```\n" + LONG + "\n</think>\n{end}", "stop"),
    "behind a result": ("{call}\nObservation: gone\nNo.\n</think>\n{end}", "stop"),
    "behind a thought and a result": (
        "Thought: maybe\n{call}\nObservation: gone\nNo.\n</think>\n{end}",
        "stop",
    ),
    "the length limit": ("{call}\n" + LONG, "length"),
    "the length limit behind a result": ("{call}\nObservation: gone\n" + LONG, "length"),
    "a filter": ("{call}\n" + LONG, "filter"),
    "a connection that ends": ("{call}\n" + LONG, "cut"),
    "another call": ("{call}\n" + LONG + "\n{call}", "stop"),
}


@pytest.mark.parametrize("codec", installed(*CALLS))
@pytest.mark.parametrize("form", BEHIND)
async def test_a_stream_means_what_the_whole_reply_means(codec: str, form: str) -> None:
    """An effect is not made of the beginning of a reply."""
    text, finish = BEHIND[form]
    said = Reply(text.format(call=call(codec), end=ENDS[codec]), finish=cast("Finish", finish))
    met = list[tuple[list[str], bool]]()
    for listener in (None, Quiet()):
        made = list[str]()
        model = ScriptedModel([said, *[ENDS[codec]] * 2])
        store = MemoryStore()
        agent = Agent(model=model, tools=[shell(made)], codec=by_name(codec))
        result = await run(agent, "Go.", store=store, listener=listener)
        steps = (await read(result.run_id, store=store)).steps
        met.append((made, bool(steps[0].thought and steps[0].thought.fault)))
    assert met[0] == met[1], form
    assert met[0][0] == [] or form == "another call"
