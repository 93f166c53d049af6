"""`--attach`: pictures that go with a question on the command line, and in a chat."""

import base64
import re
from pathlib import Path
from typing import Any

import pytest

from clew_testing.servers.openai_server import Fail, OpenAIServer, Say
from tests.cli.shell import clew
from tests.cli.terminal import terminal
from tests.cli.test_interrupted import with_model
from tests.toolbox.odd_files import ODD, WHY, make

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(64))
URL = "data:image/png;base64," + base64.b64encode(PNG).decode()
MODEL = ("--model", "openai:test")


def urls(server: OpenAIServer, at: int = -1) -> list[str]:
    """The pictures of a request."""
    blocks: list[Any] = [
        block
        for message in server.requests[at].body["messages"]
        if isinstance(message["content"], list)
        for block in message["content"]
    ]
    return [block["image_url"]["url"] for block in blocks if block["type"] == "image_url"]


def test_a_question_goes_with_its_pictures_and_a_further_word_too() -> None:
    Path("a.png").write_bytes(PNG)
    with OpenAIServer([Say("A map."), Say("The same.")]) as server:
        env = with_model(server)
        done = clew("ask", "What is it?", "--attach", "a.png", *MODEL, env=env)
        assert (done.code, "Answer: A map." in done.out) == (0, True)
        assert urls(server) == [URL]
        done = clew("resume", "last", "--say", "And this?", "--attach", "a.png", env=env)
        assert (done.code, "Answer: The same." in done.out) == (0, True)
        assert urls(server) == [URL, URL]
    shown = clew("show", "last").out
    assert "What is it?" in shown
    assert shown.count("[attached: image/png]") == 2
    assert clew("replay", "last").code == 0
    assert clew("records", "verify").code == 0


@pytest.mark.parametrize("what", ODD)
def test_what_cannot_be_attached_is_told_in_one_line(what: str) -> None:
    path = make(what, Path())
    done = clew("ask", "What is it?", "--attach", str(path), "--model", "offline")
    assert (done.code, done.out) == (2, "")
    assert f"{path} {WHY[what]}" in " ".join(done.err.split())
    assert re.match("there is no store|no runs yet", clew("runs").out)


@pytest.mark.parametrize("what", ["large", "fifo"])
@pytest.mark.parametrize("command", ["chat", "submit", "resume last", "fork last --at 0"])
def test_every_command_refuses_it_and_adds_nothing(command: str, what: str) -> None:
    clew("ask", "What is 2 * 3?", "--model", "offline")
    before = clew("show", "last", "--json").out
    words = {"submit": ["What is it?"], "chat": []}.get(command, ["--say", "And this?"])
    done = clew(*command.split(), *words, "--attach", str(make(what, Path())))
    assert (done.code, done.out) == (2, "")
    assert WHY[what] in " ".join(done.err.split())
    assert clew("show", "last", "--json").out == before


@pytest.mark.parametrize("words", [(), ("--votes", "2")])
def test_a_model_that_sees_nothing_is_not_asked(words: tuple[str, ...]) -> None:
    Path("a.png").write_bytes(PNG)
    done = clew("ask", "What is it?", "--attach", "a.png", *words, "--model", "offline")
    assert done.code == 2
    assert "takes no pictures of the type image/png: give it a text, or ask another" in done.err
    assert re.match("there is no store|no runs yet", clew("runs").out)


def test_each_run_of_a_vote_is_asked_with_them_and_so_is_a_resumed_one() -> None:
    Path("a.png").write_bytes(PNG)
    words = ("ask", "What is it?", "--attach", "a.png", "--votes", "2", *MODEL)
    with OpenAIServer([Fail(400), Say("A map."), Say("A map.")]) as server:
        env = with_model(server)
        assert clew(*words, env=env).code == 5
        done = clew("resume", "last", env=env)
        assert (done.code, "A map." in done.out) == (0, True), done.err
        assert [urls(server, at) for at in range(len(server.requests))] == [[URL]] * 3


def test_memories_are_searched_by_the_words_beside_a_picture() -> None:
    Path("a.png").write_bytes(PNG)
    clew("memory", "add", "The lighthouse is red", "--memory", "m.sqlite")
    words = ("ask", "Is that the lighthouse?", "--attach", "a.png", "--memory", "m.sqlite")
    with OpenAIServer([Say("Yes."), Say("Yes.")]) as server:
        for more in ([], ["--votes", "1"]):
            assert clew(*words, *MODEL, *more, env=with_model(server)).code == 0
            assert "The lighthouse is red" in str(server.requests[-1].body)
            assert urls(server) == [URL]


def test_the_offline_rules_say_that_they_read_no_attachment() -> None:
    Path("a.txt").write_text("Bram Stoker was born in 1847.")
    question = "When was Bram Stoker born?"
    done = clew("ask", question, "--attach", "a.txt", "--model", "offline")
    assert done.code == 7
    assert "read nothing that is attached" in " ".join(done.out.split())


def test_in_a_chat_a_picture_is_attached_by_a_command_or_by_its_path() -> None:
    for name in ("a.png", "my map.png"):
        Path(name).write_bytes(PNG)
    with OpenAIServer([Say("Two maps."), Say("No picture.")]) as server:
        env = with_model(server) | {"HOME": str(Path.cwd())}
        with terminal("chat", *MODEL, **env) as shell:
            shell.shows("> ")
            shell.type("/attach a.png\n")
            shell.shows("attached, 1 in all: what do you want to know")
            for number, path in enumerate(("'a.png'", r"my\ map.png", "~/a.png"), 2):
                shell.type(f"{path}\n")
                shell.shows(f"attached, {number} in all: what do you want to know")
            shell.type("What are they?\n")
            shell.shows("Two maps")
            shell.shows("> ")
            assert urls(server) == [URL] * 4
            for path in ("gone.png", "~nobody/gone.png"):
                shell.type(f"/attach {path}\n")
                shell.shows(r"gone\.png cannot be attached: No such file")
            shell.type("And now?\n")
            shell.shows("No picture")
            shell.shows("> ")
            assert urls(server) == [URL] * 4
            shell.type("\x04")
            assert shell.leaves() == 0
