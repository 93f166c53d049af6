"""Whatever is wrong is told in a line that says what to do, with a proper code and no traceback."""

import os
import re
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing
from itertools import chain
from pathlib import Path

import pytest

from clew import Agent, run_sync
from clew.cli import COMMANDS
from clew.toolbox.calc import calc
from tests.cli.shell import COMMAND, clew, environment, library

OFFLINE = ("--model", "offline")
DEEP = "[" * 5_000 + "]" * 5_000


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["ask", ""], 2, "the question is empty"),
        (["ask", "   "], 2, "the question is empty"),
        (["ask"], 2, "Missing argument 'QUESTION'"),
        (["ask", "hm?", "--docs", "nowhere"], 2, "no folder"),
        (["ask", "hm?", "--docs", "broken.py"], 2, "broken.py is a file"),
        (["ask", "hm?", "--docs", ""], 2, "'--docs': it is empty"),
        (["ask", "hm?", "--model", ""], 2, "'--model': it is empty"),
        (["runs", "--store", ""], 2, "'--store': it is empty"),
        (["ask", "hm?", *OFFLINE, "--tools", "clac"], 2, "did you mean calc?"),
        (["ask", "hm?", *OFFLINE, "--tools", "docs"], 2, "add --docs FOLDER"),
        (["ask", "hm?", *OFFLINE, "--tools", "zebra"], 2, "there are calc, planner"),
        (["ask", "hm?", *OFFLINE, "--tools", "nothing:here"], 2, "cannot be imported"),
        (["ask", "hm?", *OFFLINE, "--tools", "os:path"], 2, "is no Tool"),
        (["ask", "hm?", *OFFLINE, "--tools", "broken:tool"], 2, "fails: ZeroDivisionError"),
        (["ask", "hm?", "--model", "opnai:gpt-4o"], 2, "did you mean openai"),
        (["ask", "hm?", "--model", "openai:gpt-4o"], 2, "set OPENAI_API_KEY"),
        (["ask", "hm?", *OFFLINE, "--codec", "papr"], 2, "choose one of: native, paper"),
        (["ask", "hm?", *OFFLINE, "--codec", "paper"], 2, "leave the codec out"),
        (["ask", "hm?", *OFFLINE, "--steps", "0"], 2, "0 is not in the range"),
        (["ask", "hm?", *OFFLINE, "--steps", "9" * 30], 2, "is not in the range"),
        (["ask", "hm?", *OFFLINE, "--tokens", "-1"], 2, "is not in the range"),
        (["ask", "hm?", *OFFLINE, "--tools", ",,,"], 2, "',,,' names none"),
        (["ask", "hm?", *OFFLINE, "--agent", "deep.toml"], 2, "is nested too deeply"),
        (["ask", "hm?", *OFFLINE, "--extra", f"a={DEEP}"], 2, "offline takes no a"),
        (["fork", "last", "--at", "0", "--set", f"limits.steps={DEEP}"], 2, "limits.steps"),
        (["fork", "last", "--at", "0", "--set", "observation.1.1=@deep.json"], 2, "is no JSON"),
        (["runs", "-n", "-5"], 2, "-5 is not in the range"),
        (["resume", "last", "--say", ""], 2, "the question is empty"),
        (["records", "verify", "last", "--expect", "zz"], 2, "--expect 'zz' is no hash"),
        (["ask", "hm?", *OFFLINE, "--steps", "few"], 2, "not a valid integer"),
        (["ask", "hm?", *OFFLINE, "--temperature", "1"], 2, "no temperature"),
        (["ask", "hm?", "--colour"], 2, "No such option"),
        (["ask", "hm?", "--modle"], 2, "No such option '--modle': did you mean --model? Try: clew"),
        (["aks", "hm?"], 2, "No such command"),
        (["show", "nothing"], 2, "`clew runs` lists them"),
        (["show", "last"], 0, ""),
        (["show", "2"], 2, "write more of the id"),
        (["resume", "nothing"], 2, "there is no run 'nothing'"),
        (["replay", "nothing"], 2, "there is no run 'nothing'"),
        (
            ["approve", "last", "--no-resume"],
            2,
            "waits for a ruling: `clew show` tells what it did",
        ),
        (["approve", "last", "7.7", "--no-resume"], 2, "waits for a ruling"),
        (["doctor", "completion"], 2, "bash, zsh, fish. Try: clew doctor completion --help"),
        (["approve", "last", "1.1", "--edit", "{}", "--answer", "x", "--no-resume"], 2, "not both"),
        (["reject", "last", "1.1", "--no-resume"], 2, "waits for a ruling"),
        (["tools", "list", "--tools", "clac"], 2, "did you mean calc?"),
        (
            ["show", "last", "--store", "nowhere.sqlite"],
            2,
            "there are no runs yet at nowhere.sqlite",
        ),
    ],
)
def test_a_line_says_what_to_do(words: list[str], code: int, said: str) -> None:
    Path("broken.py").write_text("1 / 0\n")
    Path("deep.toml").write_text(f"x = {'[' * 9_000}")
    Path("deep.json").write_text(DEEP)
    run_sync(Agent(model="offline", tools=[calc()]), "What is 2+3?")
    run_sync(Agent(model="offline", tools=[calc()]), "What is 2+4?")
    before = entries()
    done = clew(*words)
    assert done.code == code, done.err
    assert said in done.err
    lines = [line for line in done.err.splitlines() if not line.startswith("Model: ")]
    assert len(lines) == (1 if code else 0)
    assert entries() == before


def entries() -> int:
    """How many lines the store holds."""
    with closing(sqlite3.connect("store")) as store:
        (count,) = store.execute("SELECT count(*) FROM entries").fetchone()
        return int(count)


def test_a_near_run_id_is_suggested() -> None:
    found = clew("ask", "What is 2+3?", "--json").document["run_id"]
    typo = found[:-1] + ("0" if found[-1] != "0" else "1")
    assert f"did you mean {found}?" in clew("show", typo).err


@pytest.mark.parametrize("words", [["ask", b"caf\xe9?"], ["ask", "-"]])
def test_text_must_be_utf_8(words: list[str | bytes]) -> None:
    done = clew(*words, stdin=b"caf\xe9?")
    assert (done.code, done.out) == (2, "")
    assert "not valid UTF-8" in done.err


def test_an_unreadable_env_file_is_named() -> None:
    Path(".env").write_bytes(b"\xff\xfe\x00broken")
    done = clew("runs")
    assert done.code == 2
    assert f"{Path.cwd()}/.env cannot be read" in done.err


def test_a_line_of_the_env_file_that_says_nothing_is_told_and_not_shown() -> None:
    Path(".env").write_text("OPENAI_API_KEY sk-secret\n\n# a remark\nCLEW_RATE=5 requests\n")
    done = clew("doctor")
    assert done.err == f"clew: {Path.cwd()}/.env, line 1 is passed over: write NAME=value\n"
    assert "5 requests" in done.out, "the other lines count"


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("PRAGMA user_version = 99", "open it with that version"),
        ("PRAGMA application_id = 7", "another program"),
    ],
)
def test_a_store_that_is_not_ours_is_left_alone(statement: str, said: str) -> None:
    clew("ask", "What is 2+3?")
    with closing(sqlite3.connect("store")) as store, store:
        store.execute(statement)
    store.close()
    kept = Path("store").read_bytes()
    for words in (["ask", "hm?"], ["runs"], ["show", "last"]):
        done = clew(*words)
        assert done.code == 5
        assert said in done.err
    assert Path("store").read_bytes() == kept


def test_a_place_that_cannot_hold_a_store_is_named() -> None:
    Path("file").write_text("")
    done = clew("ask", "hm?", "--store", "file/below")
    assert done.code == 5
    assert "file/below" in done.err


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_place_is_named() -> None:
    Path("locked").mkdir(mode=0o500)
    done = clew("ask", "hm?", "--store", "locked/store")
    assert done.code == 5
    assert "may not be written" in done.err


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_behind_stdout_is_told() -> None:
    with Path("/dev/full").open("w") as full:
        words = [*COMMAND, "ask", "What is 2+3?"]
        done = subprocess.run(
            words, stdout=full, stderr=subprocess.PIPE, env=environment(), text=True, check=False
        )
    assert done.returncode == 5
    assert re.search(
        r"cannot be written: No space left on device\nthe run is on record: clew show \S+\n$",
        done.stderr,
    )
    assert " answered " in clew("runs").out
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_a_stream_that_was_closed_leads_nowhere() -> None:
    words = ["sh", "-c", 'exec "$@" >&- 2>&- <&-', "sh", *COMMAND, "ask", "What is 2+3?"]
    assert subprocess.run(words, env=environment(), check=False).returncode == 0
    assert " answered " in clew("runs").out


def test_a_folder_without_text_is_told_before_the_model_is_asked() -> None:
    Path("photos").mkdir()
    Path("photos", "a.jpg").write_bytes(bytes(range(256)))
    Path("photos", "nothing.txt").touch()
    done = clew("ask", "When was Mary Shelley born?", "--docs", "photos", "--quiet")
    assert (done.code, done.out) == (2, "")
    assert re.search(r"clew: there is no text in .*/photos: name a folder with text", done.err)
    assert "(1 not searched, such as a.jpg: not text, HTML or PDF)\n" in done.err
    Path("photos", "mary.md").write_text("Mary Shelley was born in 1797.\n")
    assert "1797" in clew("resume", "last").out
    assert "steps: identical" in clew("replay", "last").out


def test_debug_shows_where_it_went_wrong() -> None:
    done = clew("ask", "hm?", "--docs", "nowhere", "--debug")
    assert done.code == 2
    assert "Traceback" in done.err


def test_a_folder_that_vanishes_is_told_on_resume() -> None:
    clew("ask", "When was Mary Shelley born?", "--docs", library())
    shutil.rmtree("library")
    done = clew("resume", "last", "--say", "And the novel?")
    assert done.code == 2
    assert re.match(r"clew: there is no folder .*library", done.err)


@pytest.mark.parametrize(
    ("words", "command"),
    [
        ("ask hm? --references=maybe", "clew ask"),
        ("ask hm? --model", "clew ask"),
        ("records gc --dry-run=no", "clew records gc"),
        ("records --helped", "clew records"),
        ("approvals --interactiv", "clew approvals"),
        ("--helped", "clew"),
    ],
)
def test_whose_options_are_wrong_is_told(words: str, command: str) -> None:
    done = clew(*words.split())
    assert (done.code, done.out) == (2, "")
    assert done.err.endswith(f" Try: {command} --help\n")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("aks hm?", "No such command 'aks': did you mean `clew ask`? Try: clew --help"),
        ("verify last", "did you mean `clew records verify`?"),
        ("models", "did you mean `clew doctor models`?"),
        ("rejected last", "did you mean `clew reject`?"),
        (
            "records purge",
            "there are export, import, verify, gc, batches. Try: clew records --help",
        ),
    ],
)
def test_a_command_that_there_is_not_is_told_with_the_one_that_is_meant(
    words: str, told: str
) -> None:
    done = clew(*words.split())
    assert (done.code, done.out) == (2, "")
    assert told in done.err


def test_a_group_that_does_nothing_by_itself_shows_what_there_is() -> None:
    done = clew("records")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("Usage: clew records ")


def test_a_group_without_a_command_is_its_default_one() -> None:
    assert clew("doctor").out == clew("doctor", "check").out
    assert "[default]" in clew("doctor", "--help").out


def every_command() -> Iterator[str]:
    for entry in chain.from_iterable(COMMANDS.values()):
        yield entry.name
        yield from (f"{entry.name} {command.name}" for command in entry.commands)


@pytest.mark.parametrize("command", ["", *every_command()])
def test_help_fits_a_terminal_of_80_columns(command: str) -> None:
    done = clew(*command.split(), "--help", env={"COLUMNS": "80"})
    assert done.code == 0
    assert [line for line in done.out.splitlines() if len(line) > 80] == []
    assert r"\x08" not in done.out  # a mark of click's that it did not take for one
    options = " ".join(done.out.split()).split(" --")
    assert [each for each in options if each.count("Repeatable") > 1] == []


@pytest.mark.parametrize("command", ["ask", "submit", "chat", "runs", "approvals"])
def test_help_of_owners_is_of_the_one_run_or_of_those_listed(command: str) -> None:
    told = " ".join(clew(command, "--help").out.split())
    assert ("Only runs of this owner" in told) is (command in {"runs", "approvals"})
    assert ("Whose run it is." in told) is (command in {"ask", "submit", "chat"})
    assert ("A label of the run." in told) is (command in {"ask", "submit"})
    assert ("Only runs with this label" in told) is (command in {"runs", "approvals"})


@pytest.mark.parametrize("command", ["ask hm --model offline", "tools list", "init", "runs"])
def test_a_working_folder_that_has_gone_is_said(command: str, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    python = " ".join(COMMAND)
    done = subprocess.run(
        ["sh", "-c", f"cd {gone} && rmdir {gone} && {python} {command}"],
        env=environment(), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stderr == "clew: the working folder is not there any more: cd to one that is\n"
