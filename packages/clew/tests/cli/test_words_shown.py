"""The answer on a terminal: its words as they come, and as Markdown once it is there."""

import json
import re
from typing import Final

import pytest

from clew.cli.answer_text import markdown_of
from clew_testing.model_script import Delay, Say
from clew_testing.servers.openai_server import OpenAIServer
from tests.cli.shell import clew
from tests.cli.terminal import Terminal, terminal

TEXT = "# Vienna\n\nIt lies **on the Danube**, and has:\n\n- a wheel\n- an opera\n"


def _environment(server: OpenAIServer) -> dict[str, str]:
    return {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": "sk-test-0123456789"}


def _finish(text: str) -> Say:
    return Say(calls=[("finish", json.dumps({"answer": text}))])


@pytest.mark.slow
@pytest.mark.parametrize("reply", [_finish("one two three four " * 90), Say("one two three " * 90)])
def test_words_are_shown_before_the_reply_has_ended(reply: Say) -> None:
    """The server says no more, and Ctrl-C leaves a run that goes on."""
    with OpenAIServer([Delay(reply, 9_000), Say("It is over.")], piece=60) as server:
        env = _environment(server)
        with terminal("ask", "Where?", "--model", "openai:test", **env) as shown:
            shown.shows("one two three")
            shown.interrupts("the record is open")
            assert shown.leaves() == 130
        again = clew("resume", "last", "--json", env=env)
        assert json.loads(again.out)["answer"] == "It is over."


WORDS: Final = "one two three four five " * 90
REPLIES: Final = {
    "native": WORDS,
    "paper": f"Thought 1: I know it.\nAction 1: Finish[{WORDS}]",
    "labelled": f"Thought: I know it.\nFinal Answer: {WORDS}",
    "code": f"Thought: I know it.\nAnswer: {WORDS}",
}
COLUMNS: Final = 31


@pytest.mark.slow
@pytest.mark.parametrize("codec", REPLIES)
def test_a_terminal_may_be_resized_and_left_while_an_answer_comes(codec: str) -> None:
    """Its words are wrapped anew, and Ctrl-C leaves a run that goes on."""
    with OpenAIServer([Delay(Say(REPLIES[codec]), 9_000)], piece=60) as server:
        words = ("ask", "Where?", "--model", "openai:test", "--codec", codec)
        free = {"COLUMNS": "", "LINES": ""}  # nothing but the terminal says how large it is
        with terminal(*words, **_environment(server), **free) as shown:
            shown.resize(24, 70)
            shown.shows("one two three")
            shown.resize(24, COLUMNS)
            shown.shows(r"\n.*" * 60)  # what was on its way at the old width
            shown.shows(r"one two three")
            drawn = shown.shows(r"\n.*" * 40)
            assert max(map(len, _lines(drawn))) <= COLUMNS
            shown.interrupts("the record is open")
            assert shown.leaves() == 130
    reply = REPLIES[codec].replace(WORDS, "It is over.")
    with OpenAIServer([Say(reply)]) as server:
        again = clew("resume", "last", "--json", env=_environment(server))
    assert json.loads(again.out)["answer"] == "It is over.", again.err


def _lines(drawn: str) -> list[str]:
    """The lines that a terminal drew, without what moves its cursor."""
    return re.sub("\x1b\\[[0-9;?]*[A-Za-z]", "", drawn).replace("\r", "\n").split("\n")


def _asked(text: str) -> str:
    with OpenAIServer([_finish(text)]) as server:
        with terminal("ask", "Where?", "--model", "openai:test", **_environment(server)) as shown:
            return _end(shown)


def _end(shown: Terminal) -> str:
    assert shown.leaves() == 0
    return shown.seen[shown.seen.rindex("Answer") :]


@pytest.mark.slow
def test_markdown_is_shown_as_it_is_meant_once_it_is_complete() -> None:
    shown = _asked(TEXT)
    assert "Vienna" in shown
    assert "\u2022" in shown
    assert "**" not in shown
    assert "# Vienna" not in shown
    plain = _asked("2 * 3 is six, as *nobody* doubts.")
    assert "2 * 3 is six, as *nobody* doubts." in plain


@pytest.mark.parametrize(
    "text",
    [
        "2 * 3",
        "a_b and *this*",
        "**bold** <b>and tags</b>",
        "- one\n\n[1]: http://example.org/x",
        "![a picture](http://example.org/x.png) `code`",
        "3. three\n3. three again",
    ],
)
def test_what_would_be_lost_stays_as_it_was_written(text: str) -> None:
    assert markdown_of(text) is None


@pytest.mark.parametrize(
    "text", [TEXT, "```python\nx = 1\n```", "See [this](http://example.org/x).", "1. one\n2. two"]
)
def test_markdown_of_which_no_word_is_lost(text: str) -> None:
    assert markdown_of(text) is not None
