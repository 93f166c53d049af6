"""Agent files on the command line: written, used, kept in the record, told with a line."""

import re
import subprocess
from pathlib import Path

import pytest

from clew.agent_files import TEMPLATE, read_agent_file
from tests.cli.shell import clew

FILE = """
model = "offline"
store = "here.sqlite"
tools = ["calc", "parts:double"]

[limits]
steps = 6
"""
PARTS = '''
from clew import tool

@tool(effect="pure")
def double(number: int) -> int:
    """Twice the number."""
    return 2 * number
'''


def test_init_writes_a_file_that_works_and_never_over_another() -> None:
    wrote = clew("init")
    assert wrote.code == 0
    assert "agent.toml" in wrote.out
    asked = clew("ask", "What is 17 * 23?", "--agent", "agent.toml", "--quiet")
    assert (asked.code, "391" in asked.out) == (0, True)
    again = clew("init")
    assert (again.code, again.err) == (
        2,
        "clew: agent.toml is there already: name another file, or move it away\n",
    )
    assert "cannot be written" in clew("init", "no/such/folder/a.toml").err


def test_what_init_writes_is_short_and_all_of_it_is_read() -> None:
    clew("init")
    lines = Path("agent.toml").read_text().splitlines()
    assert len(lines) <= 30
    assert max(map(len, lines)) <= 100
    commented = re.compile(r"# ((?:[a-z]+ = .*)|(?:\[\[.*))$")
    told = "\n".join(commented.sub(r"\1", line) for line in lines)
    Path("every.toml").write_text(told)
    spec = read_agent_file("every.toml")
    places = [Path(str(name)).name for name in (spec.docs, spec.memory, spec.workspace)]
    assert places == ["notes", "memory.sqlite", "project"]
    assert spec.guards == ("my_guards:ask_first",)
    assert spec.mcp[0].name == "files"
    assert clew("init", "--all", "long.toml").code == 0
    assert Path("long.toml").read_text() == TEMPLATE


def test_a_new_folder_keeps_records_and_keys_out_of_git() -> None:
    assert clew("init", "mine").code == 0
    text = Path("mine/agent.toml").read_text().replace("# store", "store")
    Path("mine/agent.toml").write_text(text)
    assert clew("ask", "What is 17 * 23?", "--agent", "mine/agent.toml", "--quiet").code == 0
    assert Path("mine/runs.sqlite.claims").exists()
    Path("mine/.env").write_text("OPENAI_API_KEY=none")
    subprocess.run(["git", "init", "--quiet", "mine"], check=True)
    listed = subprocess.run(
        ["git", "-C", "mine", "status", "--porcelain", "--untracked-files=all"],
        check=True,
        capture_output=True,
        text=True,
    )
    assert listed.stdout.split() == ["??", ".gitignore", "??", "agent.toml"]
    assert "mine is there already" in clew("init", "mine").err


def test_the_record_keeps_what_the_file_said(tmp_path: Path) -> None:
    place = tmp_path / "elsewhere"
    place.mkdir()
    (place / "parts.py").write_text(PARTS)
    file = place / "my.toml"
    file.write_text(FILE)
    asked = clew("ask", "What is 6 * 7?", "--agent", str(file), "--steps", "5", "--json")
    assert asked.document["answer"].startswith("6 * 7 = 42")
    store = str(place / "here.sqlite")  # which the file named
    shown = clew("show", "last", "--store", store, "--json").document
    origin = shown["entries"][0]["origin"]["cli"]
    assert origin["limits"] == {"steps": 5}  # the option goes over the file
    assert origin["tools"] == ["calc", "parts:double"]
    file.unlink()
    resumed = clew("resume", "last", "--say", "And 6 * 8?", "--store", store, "--json")
    assert resumed.document["answer"].startswith("6 * 8 = 48")
    assert clew("replay", "last", "--store", store).code == 0


def test_a_store_of_the_file_is_found_again_by_the_file() -> None:
    Path("parts.py").write_text(PARTS)
    Path("my.toml").write_text(FILE)
    assert clew("ask", "What is 6 * 7?", "--agent", "my.toml", "--quiet").code == 0
    assert clew("replay", "last", "--set", "agent=my.toml").code == 0
    resumed = clew("resume", "last", "--set", "agent=my.toml", "--say", "What is 2 * 4?", "--quiet")
    assert "2 * 4 = 8" in resumed.out
    listed = clew("tools", "list", "--agent", "my.toml").out
    assert "double(number: integer): pure" in listed


def test_what_is_wrong_is_one_line_with_file_and_line() -> None:
    Path("my.toml").write_text(FILE.replace("parts:double", "parts:absent"))
    Path("parts.py").write_text(PARTS)
    failed = clew("ask", "Why?", "--agent", "my.toml")
    assert failed.code == 2
    assert failed.err.count("\n") == 1
    assert "my.toml, line 4: the tool 'parts:absent' cannot be imported" in failed.err
    assert "absent.toml cannot be read" in clew("ask", "Why?", "--agent", "absent.toml").err


OWN_SEARCH = """
from clew import tool

@tool(effect="read")
def search(entity: str) -> str:
    "Search."
    return entity
"""


def test_demonstrations_with_tools_of_ones_own_are_replayed_without_them() -> None:
    Path("ownsearch.py").write_text(OWN_SEARCH)
    tools = 'tools = ["ownsearch:search", "calc"]'
    Path("my.toml").write_text(f'model = "offline"\n{tools}\nprompt.examples = 3\n')
    assert clew("ask", "What is 17 * 23?", "--agent", "my.toml").code == 0
    Path("ownsearch.py").unlink()
    replayed = clew("replay", "last")
    assert (replayed.code, replayed.err) == (0, "")


def test_a_replay_needs_no_key_of_a_critic(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = ('model = "offline"', 'rewinds.critic = "openai:gpt-4.1-mini"', "rewinds.rejected = 3")
    Path("my.toml").write_text("\n".join(lines))
    wrong = clew("ask", "What is 17 * 23?", "--agent", "my.toml")
    assert wrong.code == 2
    assert "line 2: openai:gpt-4.1-mini needs a key" in wrong.err
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    assert clew("ask", "What is 17 * 23?", "--agent", "my.toml").code == 0
    monkeypatch.delenv("OPENAI_API_KEY")
    replayed = clew("replay", "last")
    assert (replayed.code, replayed.err) == (0, "")
