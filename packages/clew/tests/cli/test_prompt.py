"""`clew show --prompt`: what was sent, of runs of the command line and of programs alike."""

import pytest

from clew import Agent, Image, Instructions, Limits, ModelSettings, run_sync, tool
from clew.context import PROMPT, Variant
from clew.core.contents import Reply, Wire
from clew.testing.models import ScriptedModel, act, finish, say
from tests.cli.shell import clew, library


@tool(effect="read")
def peek(key: str) -> str:
    """Peek under a key."""
    return f"the value of {key}\x1b[31m"


def program(**more: object) -> str:
    """A run that a program began: two steps in native form."""
    model = ScriptedModel([act("peek", thought="I peek.", key="a"), finish("ok")])
    return run_sync(Agent(model=model, tools=[peek], **more), "What is there?").run_id  # type: ignore[arg-type]  # fields of any type


def test_the_prompt_of_the_last_thought_is_shown_whole() -> None:
    run_id = program(limits=Limits(steps=2))
    done = clew("show", run_id, "--prompt")
    lines = done.out.splitlines()
    assert lines[0] == (
        f"Prompt of thought 2 in run {run_id}: exactly what was sent: every section has its "
        "recorded fingerprint"
    )
    assert lines[1] == "scripted:test, native/3, calls: auto"
    places = [line for line in lines if line.startswith("===")]
    assert places == [
        "=== head: system ===",
        "=== head: user ===",
        "=== steps: user ===",
        "=== steps: assistant ===",
        "=== steps: tool peek, answering call_1_1 ===",
        "=== tail: user ===",
        "=== tools ===",
    ]
    assert PROMPT.text in done.out
    assert '[call call_1_1: peek {"key":"a"}]' in lines
    assert "the value of a\\x1b[31m" in lines
    assert "NOTE: 2 steps are left." in lines
    assert "NOTE: This is the last step: finish now." in lines
    assert "peek: Peek under a key." in lines


def test_a_step_is_chosen_and_programs_get_json() -> None:
    run_id = program()
    first = clew("show", run_id, "--prompt", "--step", "1", "--json").document
    last = clew("show", run_id, "--prompt", "--json").document
    assert (first["step"], last["step"]) == (1, 2)
    assert (first["exact"], first["differs"], first["reason"]) == (True, [], "")
    assert first["parts"] == []
    assert [part["role"] for part in last["head"]] == ["system", "user"]
    assert last["parts"][0] == {
        "role": "assistant",
        "text": "I peek.",
        "calls": [{"name": "peek", "arguments": '{"key":"a"}', "id": "call_1_1"}],
    }
    assert last["parts"][1]["text"] == "the value of a\x1b[31m"
    assert [one["name"] for one in last["tools"]] == ["peek", "finish"]
    assert (last["model"], last["codec"], last["calls"]) == ("scripted:test", "native/3", "auto")


def test_a_landing_of_a_text_format_shows_its_stop_sequences_and_no_tools() -> None:
    steps = ["Action 1: peek[a]", "Action 2: Finish[7]"]
    model = ScriptedModel(steps, settings=ModelSettings(temperature=0))
    agent = Agent(model=model, tools=[peek], codec="paper", limits=Limits(steps=1))
    run_sync(agent, "What is there?")
    shown = clew("show", "last", "--prompt").out
    assert '\nscripted:test, paper/2, calls: none, stop: ["\\nObservation ' in shown
    assert 'parameters: {"temperature":0}\n' in shown
    assert "=== tools ===" not in shown


def test_the_form_of_a_typed_answer_is_shown() -> None:
    model = ScriptedModel([act("peek", key="a"), say("7")])
    run_sync(Agent(model=model, tools=[peek], answer=int, limits=Limits(steps=1)), "How many?")
    assert '=== form of the reply ===\n{"type":"integer"}\n' in clew("show", "last", "--prompt").out


def test_a_run_of_the_command_line_is_shown_the_same() -> None:
    clew("ask", "When was Mary Shelley born?", "--docs", library())
    shown = clew("show", "last", "--prompt").out
    assert "exactly what was sent" in shown
    assert "for example: " in shown


def backwards(text: str) -> str:
    """Show an observation backwards."""
    return text[::-1]


def test_what_cannot_be_made_again_is_said() -> None:
    own = Variant(name="own", match=("scripted:*",), shape=backwards)
    run_id = program(prompt=Instructions(variants=(own,)))
    shown = clew("show", run_id, "--prompt")
    assert shown.code == 0
    assert f"in run {run_id}: NOT exactly what was sent: the steps cannot be made" in shown.out
    assert "test_prompt.backwards shapes them" in shown.out
    document = clew("show", run_id, "--prompt", "--json").document
    assert (document["exact"], document["differs"]) == (False, ["parts"])


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--step", "1"], "--step names the thought whose prompt is shown: add --prompt."),
        (["--prompt", "--md"], "a prompt is shown as text or with --json, not with --md."),
        (["--prompt", "--jsonl"], "a prompt is shown as text or with --json, not with --jsonl."),
        (["--prompt", "--step", "9"], "has no thought 9: its thoughts are 1 to 2"),
        (["--prompt", "--step", "0"], "has no thought 0: its thoughts are 1 to 2"),
    ],
)
def test_what_cannot_be_shown_is_one_line(words: list[str], complaint: str) -> None:
    done = clew("show", program(), *words)
    assert done.code == 2
    assert complaint in done.err
    assert done.out == ""


def test_pictures_and_items_of_a_provider_are_named() -> None:
    @tool(effect="read")
    def look() -> Image:
        """Look."""
        return Image("image/png", b"\x89PNG\r\n\x1a\n")

    wire = Wire("scripted", "test", {"signature": "abc"})
    first = ScriptedModel([]).written(act("look"), 1)
    thinking = Reply("Hm.", first.calls, "calls", wire=wire)
    run_sync(Agent(model=ScriptedModel([thinking, finish("ok")]), tools=[look]), "What?")
    shown = clew("show", "last", "--prompt").out
    assert "[items of scripted for test: see --json]" in shown
    assert "[image: image/png, blob " in shown
    part = clew("show", "last", "--prompt", "--json").document["parts"][0]
    assert part["wire"]["items"] == {"signature": "abc"}
