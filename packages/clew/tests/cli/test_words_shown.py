"""The answer on a terminal: its words as they come, and as Markdown once it is there."""

import json

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
