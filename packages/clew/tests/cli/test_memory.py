"""`clew memory`: what it says, and its exit codes."""

import json
import re
from pathlib import Path

import pytest

from clew.memory import MemorySource, SqliteMemory
from tests.cli.shell import clew


@pytest.fixture(autouse=True)
def _place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLEW_MEMORY", "memory.sqlite")


def test_a_person_remembers_finds_corrects_and_forgets() -> None:
    assert clew("memory").out == "nothing is remembered at memory.sqlite\n"
    assert clew("memory", "list", "--json").document == []
    assert clew("memory", "list", "--json", "--history").document == {
        "memories": [], "forgotten": [],
    }  # fmt: skip
    assert not Path("memory.sqlite").exists()
    done = clew("memory", "add", "I like short answers", "--kind", "preference")
    day = r"\d{4}-\d\d-\d\d"
    line = rf"m1  preference  trusted  {day}  person  I like short answers\n"
    assert re.fullmatch(f"remembered  {line}", done.out)
    assert re.fullmatch(f"known  {line}", clew("memory", "add", "I like short answers.").out)
    added = clew("memory", "add", "-", "--json", stdin="Ada lives in\nBerlin\n").document
    assert (added["id"], added["trust"], added["source"]["by"]) == ("m2", "trusted", "person")
    done = clew("memory", "correct", "m2", "Ada lives in Bonn")
    assert re.fullmatch(rf"corrected  m3  fact  trusted  {day}  person  .* Bonn\n", done.out)
    assert clew("memory", "search", "Berlin").out == "no memory fits\n"
    assert clew("memory", "search", "where is Ada", "--json").document[0]["text"].endswith("Bonn")
    history = clew("memory", "list", "--history").out.splitlines()
    assert history[1].endswith("Ada lives in Berlin  (corrected: m3)")
    assert len(clew("memory", "search", "short Ada", "-n", "1").out.splitlines()) == 1
    assert clew("memory", "forget", "m3").out == "forgotten  m2, m3\n"
    assert re.search(
        rf"^m2  forgotten  {day}$", clew("memory", "list", "--history").out, re.MULTILINE
    )
    gone = clew("memory", "list", "--history", "--json").document
    assert [stone["id"] for stone in gone["forgotten"]] == ["m2", "m3"]
    assert clew("memory", "forget", "m1", "--json").document == {"forgotten": ["m1"]}
    assert clew("memory").out == "nothing is remembered\n"
    corrected = clew("memory", "add", "x", "--json").document["id"]
    assert clew("memory", "correct", corrected, "y", "--json").document["text"] == "y"


def test_where_a_memory_comes_from_is_told_and_acts_on_no_terminal() -> None:
    memories = SqliteMemory("memory.sqlite")
    first = memories.add("one\x1b[2J", source=MemorySource(run="r1", seq=4))
    memories.add("two", source=MemorySource(memories=(first.id,)))
    memories.close()
    one, two = clew("memory").out.splitlines()
    assert one.endswith("run r1 entry 4  one\\x1b[2J")
    assert two.endswith("from m1  two")
    assert "\x1b" not in json.dumps(clew("memory", "--json").document[0]["source"])


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["search", "x"], 2, "there are no memories yet at memory.sqlite: `clew memory add TEXT`"),
        (["forget", "m1"], 2, "there are no memories yet"),
        (["correct", "m1", "x"], 2, "there are no memories yet"),
        (["add", " "], 2, "a memory is empty: say what is to be remembered"),
        (["add", "x" * 2_001], 2, "a memory has 2,001 characters and may have 2,000"),
        (["add", "x", "--kind", "rumour"], 2, "'rumour' is not one of 'fact', 'preference'"),
        (["add", "x", "--memory", ""], 2, "it is empty: name one, or leave the option out"),
        (["remember", "x"], 2, "No such command 'remember'"),
    ],
)
def test_mistakes_are_one_line(words: list[str], code: int, said: str) -> None:
    done = clew("memory", *words)
    assert (done.code, done.out) == (code, "")
    assert said in done.err
    assert done.err.count("\n") == 1


def test_other_files_are_told_and_left_as_they_are() -> None:
    Path("notes.txt").write_text("my notes\n" * 99)
    done = clew("memory", "add", "x", "--memory", "notes.txt")
    assert (done.code, done.out) == (5, "")
    assert done.err == "clew: notes.txt is not a clew memory file: choose another\n"
    assert Path("notes.txt").read_text() == "my notes\n" * 99
    clew("memory", "add", "x")
    done = clew("memory", "forget", "m7")
    assert (done.code, done.err) == (
        2, "clew: there is no memory 'm7': `clew memory list` shows their ids\n",
    )  # fmt: skip
    done = clew("memory", "search", "x", "--embed", "word2vec")
    assert done.code == 2
    assert "there is no embedding 'word2vec'" in done.err


def test_a_question_is_told_what_fits_it() -> None:
    clew("memory", "add", "Ada keeps bees in Bonn", "--memory", "notes")
    clew("memory", "add", "Grace sails", "--memory", "notes")
    ask = ("ask", "What is 2 + 3?", "--model", "offline")
    assert clew(*ask, "--memory", "notes").code == 0
    assert "remembered" not in clew("show", "last").out
    bees = ("ask", "What is 2 + 3 bees?", "--model", "offline")
    assert clew(*bees, "--memory", "notes").code == 7
    assert "Ada keeps bees in Bonn" in clew("show", "last").out
    events = clew("show", "last", "--json").document["entries"]
    (note,) = [event for event in events if event.get("source") == "memory"]
    assert "Ada keeps bees in Bonn" in note["parts"][0]["text"]
    assert "sails" not in note["parts"][0]["text"]
    assert note.get("trust", "trusted") == "trusted"


def test_a_chat_is_told_what_fits_each_question() -> None:
    clew("memory", "add", "Ada keeps bees in Bonn", "--memory", "notes")
    clew("memory", "add", "Grace sails", "--memory", "notes")
    said = "What is 2 + 3 bees?\nWhat does Grace?\n"
    clew("chat", "--model", "offline", "--memory", "notes", stdin=said)
    events = clew("show", "last", "--json").document["entries"]
    notes = [event["parts"][0]["text"] for event in events if event.get("source") == "memory"]
    assert ["bees" in note for note in notes] == [True, False]
    assert ["sails" in note for note in notes] == [False, True]


def test_an_agent_file_names_its_memories() -> None:
    clew("memory", "add", "Ada keeps bees in Bonn", "--memory", "notes.sqlite")
    Path("agent.toml").write_text('model = "offline"\nmemory = "notes.sqlite"\n')
    clew("ask", "What is 2 + 3 bees?", "--agent", "agent.toml")
    document = clew("show", "last", "--json").document
    assert any(event.get("source") == "memory" for event in document["entries"])
    told = clew("tools", "list", "--agent", "agent.toml").out
    assert "remember" in told
    assert "memories" in told
    Path("notes.sqlite").unlink()
    assert clew("replay", "last").code == 0
    assert not Path("notes.sqlite").exists(), "a replay needs no memories"
    Path("agent.toml").write_text('model = "offline"\nmemory = "."\n')
    wrong = clew("ask", "x", "--agent", "agent.toml")
    assert wrong.code == 5
    assert "cannot be opened for writing: change its rights or name another file" in wrong.err
