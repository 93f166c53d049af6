"""`clew chat`, through a pipe and through a real terminal."""

import re
import signal
from pathlib import Path

from clew_testing.servers.openai_server import Fail, OpenAIServer, Say
from tests.cli.shell import RUN_ID, begin, clew, library, own_tools, until
from tests.cli.terminal import terminal


def with_model(server: OpenAIServer) -> dict[str, str]:
    return {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": "sk-0123456789"}


def test_follow_ups_continue_the_record_until_it_is_cleared() -> None:
    lines = "What is 2+3?\nWhat is 4+5?\n/clear\nWhat is 6+7?\n"
    done = clew("chat", stdin=lines)
    assert done.code == 0
    assert [f"{a}+{b} = {a + b}" in done.out for a, b in ((2, 3), (4, 5), (6, 7))] == [True] * 3
    runs = clew("runs", "--json").document
    assert [run["question"] for run in runs] == ["What is 6+7?", "What is 2+3?"]
    assert "You: What is 4+5?" in clew("show", runs[1]["run_id"]).out
    assert f"Go on with: clew chat --resume {runs[0]['run_id']}" in done.out


def test_an_earlier_run_is_taken_up() -> None:
    clew("ask", "What is 2+3?")
    done = clew("chat", "--resume", "last", stdin="What is 4+5?\n/exit\nnever read\n")
    assert "4+5 = 9" in done.out
    assert len(clew("runs").out.splitlines()) == 2


def test_lines_with_a_slash_are_commands() -> None:
    done = clew(
        "chat", stdin="/help\n/debug on\nWhat is 2+3?\n/debug off\n/dance\n/attach\n/exit\n"
    )
    assert done.code == 0
    assert "/debug on|off" in done.out
    assert "debug is on" in done.out
    assert "Question: What is 2+3?" in done.out
    assert "/dance: there is no such command" in done.out
    assert "name the file: /attach FILE" in done.out


def test_a_line_that_is_no_utf_8_is_refused_and_the_next_one_answered() -> None:
    done = clew("chat", stdin=b"caf\xe9?\nWhat is 2+3?\n")
    assert "not valid UTF-8" in done.err
    assert "2+3 = 5" in done.out


def test_a_failed_model_does_not_end_the_session() -> None:
    with OpenAIServer([Fail(401, "bad key"), Say("It is 42.")]) as server:
        words = ("chat", "--model", "openai:test")
        done = clew(*words, stdin="What is it?\nAgain?\n", env=with_model(server))
    assert done.code == 0
    assert "clew resume" in done.err
    assert "Answer: It is 42." in done.out


def test_what_cannot_be_searched_is_said_once_and_ctrl_d_leaves() -> None:
    folder = library()
    Path(folder, "a.bin").write_bytes(bytes(range(256)))
    said = ""
    with terminal("chat", "--model", "offline", "--docs", folder) as shell:
        for question in ("When was Mary Shelley born?", "Who wrote Frankenstein?"):
            shell.shows("> ")
            shell.type(f"{question}\n")
            said += shell.shows("answered · ")
        assert said.count("Not searched: ") == 1
        shell.shows("> ")
        shell.type("\x04")
        shell.shows(rf"^(\x1b\[\S+)?\r\nGo on with: clew chat --resume {RUN_ID}")
        assert shell.leaves() == 0


def test_ctrl_c_interrupts_the_step_and_not_the_session() -> None:
    own_tools()
    script = [Say(calls=[("wait", '{"for_what": "it"}')]), Say("Never mind.")]
    with OpenAIServer(script) as server:
        words = ("chat", "--model", "openai:test", "--tools", "own:wait")
        with terminal(*words, **with_model(server)) as shell:
            shell.shows("> ")
            shell.type("Is it there?\n")
            shell.shows(r"wait\(for_what")
            shell.shows(r"acting: wait \(\d+ s\)")
            shell.process.send_signal(signal.SIGINT)
            shell.shows("Stopped: .*a person interrupted")
            shell.shows("> ")
            shell.type("Then forget it.\n")
            shell.shows("Never mind")
            shell.shows("> ")
            shell.interrupts(r"\(/exit leaves\)")
            shell.type("/exit\n")
            shell.shows(rf"clew chat --resume {RUN_ID}")
            assert shell.leaves() == 0
    assert len(clew("runs").out.splitlines()) == 2
    assert "Interrupt: a person interrupted" in clew("show", "last").out
    assert clew("replay", "last").code == 0


def test_a_held_call_is_ruled_on_in_the_session() -> None:
    own_tools()
    with OpenAIServer([Say(calls=[("send", '{"to": "Bob"}')]), Say("As you like.")]) as server:
        model = ("--model", "openai:test", "--tools", "own:send", "--unknown", "hold")
        killed = begin("ask", "Write to Bob.", *model, **with_model(server))
        until("begun", killed)
        killed.kill()
        killed.communicate()
        with terminal("chat", "--resume", "last", **with_model(server)) as shell:
            shell.shows("> ")
            shell.type("And?\n")
            shell.shows(r"Held 1\.1: .*send\([\s\S]*Was 1\.1 send done\? ")
            shell.type("\n")
            shell.shows(r"Allow 1\.1 send\? ")
            shell.type("n\n")
            shell.shows(r"Why ")
            shell.type("not twice\n")
            shell.shows("As you like")
            shell.shows("> ")
            shell.type("\x04")
            assert shell.leaves() == 0
    assert "Ruling 1.1: refused: not twice" in clew("show", "last").out
    assert Path("sent").read_text() == "Bob\n"


def test_what_a_call_asks_is_answered_in_the_session() -> None:
    """An answer of another form is refused in a line, and asked for again."""
    Path("shop.py").write_text("""
from clew import Tool, Verdict
from clew.interfaces import CALL

async def call(args, key):
    size = CALL.get().answer
    if size is None:
        return Verdict("hold", "which size?", asks={"type": "integer", "minimum": 1})
    return f"a box of {size} cm"

order = Tool("order", "Order a box.", {"type": "object"}, call)
""")
    with OpenAIServer([Say(calls=[("order", "{}")]), Say("It is ordered.")]) as server:
        words = ("chat", "--model", "openai:test", "--tools", "shop:order")
        with terminal(*words, **with_model(server)) as shell:
            shell.shows("> ")
            shell.type("Order a box.\n")
            for answer, told in (("0", "less than the minimum of 1"), ("30", "It is ordered")):
                shell.shows(r"Your answer to 1\.1 [\s\S]*[?] ")
                shell.type(f"{answer}\n")
                shell.shows(told)
            shell.shows("> ")
            shell.type("\x04")
            assert shell.leaves() == 0
    assert "a box of 30 cm" in clew("show", "last").out


def test_a_terminal_has_colours_unless_they_are_unwanted() -> None:
    coloured = {}
    for wish in ("", "1"):
        with terminal("ask", "What is 2+3?", **({"NO_COLOR": wish} if wish else {})) as shell:
            text = shell.shows(rf"run {RUN_ID}")
            assert shell.leaves() == 0
        coloured[wish] = re.search(r"\x1b\[\d*;?3\dm", text) is not None
    assert coloured == {"": True, "1": False}


def test_a_question_is_answered_in_the_session() -> None:
    question = Say(calls=[("ask_person", '{"question": "Which colour?"}')])
    with OpenAIServer([question, Say("Painted blue.")]) as server:
        words = ("chat", "--model", "openai:test", "--tools", "ask_person")
        with terminal(*words, **with_model(server)) as shell:
            shell.shows("> ")
            shell.type("Paint it.\n")
            shell.shows(r"Your answer to 1\.1")
            shell.type("blue\n")
            shell.shows("Answer: .*Painted blue")
            shell.shows("> ")
            shell.type("/exit\n")
            assert shell.leaves() == 0
    assert "Observation 1.1: blue" in clew("show", "last").out


def test_a_gist_is_cut_where_the_terminal_ends() -> None:
    Path("docs").mkdir()
    Path("docs/lamp.md").write_text("# The lamp\n\n" + "The lamp was lit in 1844. " * 20)
    ask = ("ask", "When was the lamp lit?", "--docs", "docs", "--model", "offline")
    with terminal(*ask, COLUMNS="60", NO_COLOR="1") as shell:
        said = shell.shows(rf"run {RUN_ID}")
        assert shell.leaves() == 0
    plain = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", said)
    gists = re.findall(r"Observation \d\.\d: \[doc_.*$", plain.replace("\r", ""), re.MULTILINE)
    assert gists, plain
    assert {len(line) for line in gists} == {60}


def test_a_session_by_name_is_gone_on_with_from_any_process() -> None:
    words = ("chat", "--session", "Ada's trip", "--owner", "ada")
    done = clew(*words, stdin="What is 2+3?\n")
    assert "2+3 = 5" in done.out
    assert 'Go on with: clew chat --session "Ada\'s trip" --owner ada' in done.out.replace(
        "'Ada'\"'\"'s trip'", '"Ada\'s trip"'
    )
    again = clew(*words, stdin="What is 4+5?\nWhat is 1+1?\n")
    assert ["4+5 = 9" in again.out, "1+1 = 2" in again.out] == [True, True]
    other = clew("chat", "--session", "Ada's trip", "--owner", "eve", stdin="What is 6+7?\n")
    assert "6+7 = 13" in other.out
    listed = clew("runs", "--session", "Ada's trip", "--owner", "ada", "--json").document
    assert [(run["session"], run["question"]) for run in listed] == [("Ada's trip", "What is 2+3?")]
    assert "You: What is 1+1?" in clew("show", listed[0]["run_id"]).out
    assert len(clew("runs", "--json").document) == 2
    assert clew("chat", "--session", " ", stdin="").code == 2
    assert "exclude each other" in clew("chat", "--session", "a", "--resume", "last", stdin="").err


def test_a_session_waits_for_another_process_and_says_what_came_since() -> None:
    words = ("chat", "--session", "s")
    with terminal(*words) as shell:
        shell.shows("> ")
        shell.type("What is 2+3?\n")
        shell.shows("2\\+3 = 5")
        shell.shows("> ")
        assert "4+5 = 9" in clew(*words, stdin="What is 4+5?\n").out
        shell.type("What is 6+7?\n")
        shell.shows("entries came from elsewhere since then: clew show session:s")
        shell.shows("6\\+7 = 13")
        shell.shows("> ")
        shell.type("/clear\n")
        shell.shows("> ")
        shell.type("/exit\n")
        assert shell.leaves() == 0
    assert len(clew("runs").out.splitlines()) == 2
