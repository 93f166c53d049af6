"""`clew runs`, `show`, `replay`, `resume`: what is done with a record afterwards."""

import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from clew import Agent, run_sync
from clew.testing.models import ScriptedModel, say
from clew_testing.servers.openai_server import OpenAIServer, Say
from tests.cli.shell import RUN_ID, clew, library


@pytest.fixture
def run_id() -> str:
    done = clew("ask", "When was Mary Shelley born?", "--docs", library(), "--json")
    found: str = done.document["run_id"]
    return found


def test_runs_lists_the_last_first() -> None:
    assert clew("runs").out.startswith("there is no store at ")
    assert clew("runs", "--json").document == []
    clew("ask", "What is 2+3?")
    clew("ask", "What is 2+4?")
    head, *lines = clew("runs").out.splitlines()
    assert head.split() == ["RUN", "WRITTEN", "STATUS", "ENTRY", "QUESTION"]
    assert [line.rpartition("  ")[2] for line in lines] == ["What is 2+4?", "What is 2+3?"]
    assert re.fullmatch(rf"{RUN_ID}  \d{{4}}-\d\d-\d\d \d\d:\d\d  answered +6  .*", lines[0])
    assert len(clew("runs", "-n", "1").out.splitlines()) == 2
    assert [run["status"] for run in clew("runs", "--json").document] == ["answered", "answered"]


def test_show_tells_the_whole_record(run_id: str) -> None:
    shown = clew("show", run_id)
    assert shown.out.startswith(
        f"Run: {run_id} (answered)\nQuestion: When was Mary Shelley born?\n"
    )
    for label in ("Agent", "Thought 1", "Action 1.1", "Observation 1.1", "Stop", "Answer"):
        assert re.search(rf"^{label}: ", shown.out, re.MULTILINE), label
    assert "You answer a question by thinking" in clew("show", run_id, "--prompt").out


def test_show_speaks_json_and_jsonl(run_id: str) -> None:
    document = clew("show", run_id, "--json").document
    lines = [json.loads(line) for line in clew("show", run_id, "--jsonl").out.splitlines()]
    entries = [line for line in lines if "seq" in line]
    assert [line["seq"] for line in entries] == list(range(1, len(entries) + 1))
    for told, line in zip(document["entries"], entries, strict=True):
        assert told.items() <= line.items()
    actions = [line for line in lines if line["event"] == "action"]
    assert {"step", "time", "call", "name", "input"} <= actions[0].keys()
    assert [lines[place]["event"] for place in (0, -2, -1)] == ["started", "stop", "final"]
    assert document["status"] == "answered"


def test_markdown_fences_what_machines_wrote() -> None:
    Path("notes").mkdir()
    Path("notes/a.md").write_text(
        "# Lanterns\n\nThe lantern keeper is Ida.\n\n```\n## not a step\n```\n"
    )
    clew("ask", "Who is the lantern keeper?", "--docs", "notes")
    document = clew("show", "last", "--md").out
    assert document.startswith("# Who is the lantern keeper?\n")
    assert "\n## Step 1\n" in document
    assert "\n````\n" in document


def test_a_run_is_named_by_its_beginning_end_or_last(run_id: str) -> None:
    for name in (run_id, run_id[:17], run_id[-8:], "last"):
        assert clew("show", name).out.startswith(f"Run: {run_id}")


def test_a_replay_needs_no_documents_and_no_key(run_id: str) -> None:
    Path("library").rename("elsewhere")
    done = clew("replay", run_id)
    assert re.fullmatch(r"replayed \d+ entries, \d steps: identical, no call made\n", done.out)
    with OpenAIServer([Say("42.")]) as server:
        keyed = {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": "sk-0123456789"}
        assert clew("ask", "What is 6*7?", "--model", "openai:gpt-4.1-mini", env=keyed).code == 0
    assert clew("replay", "last").code == 0


def test_a_replay_tells_the_first_difference(run_id: str) -> None:
    done = clew("replay", run_id, "--set", "limits.steps=3")
    assert done.code == 5
    assert re.match(r"clew: step 0, spec\.parts\.\w+: ", done.err)


def test_a_further_word_continues_the_record(run_id: str) -> None:
    done = clew("resume", run_id, "--say", "What is 3+4?", "--json")
    assert done.code == 0
    assert done.document["run_id"] == run_id
    assert "7" in done.document["answer"]
    assert "You: What is 3+4?" in clew("show", run_id).out
    assert clew("replay", run_id).code == 0


def test_a_run_that_has_ended_shows_its_result_again(run_id: str) -> None:
    done = clew("resume", run_id)
    assert done.code == 0
    assert "Thought" not in done.out
    assert "1797" in done.out


def test_a_changed_agent_must_be_accepted_and_is_remembered(run_id: str) -> None:
    refused = clew("resume", run_id, "--say", "What is 3+4?", "--set", "limits.steps=9")
    assert refused.code == 2
    assert "parts.limits" in refused.err
    assert "--accept-change" in refused.err
    accepted = clew(
        "resume", run_id, "--say", "What is 3+4?", "--set", "limits.steps=9", "--accept-change"
    )
    assert accepted.code == 0
    assert "Changed: parts.bounds, parts.limits" in clew("show", run_id).out
    assert clew("resume", run_id, "--say", "What is 3+5?").code == 0


def test_a_value_is_taken_away_and_names_stand_between_commas(run_id: str) -> None:
    change = ("--set", "tools=calc,planner", "--set", "limits.steps=9", "--set", "model=offline")
    assert clew("resume", run_id, "--say", "What is 3+4?", *change, "--accept-change").code == 0
    usual = ("--set", "limits.steps=null", "--set", "model=null", "--set", "grounded=null")
    done = clew("resume", run_id, "--say", "What is 3+5?", *usual, "--accept-change")
    assert (done.code, "Model: offline (" in done.err) == (0, True)
    made_of = clew("show", run_id, "--json").document["entries"]
    *_, spec = [entry["origin"]["cli"] for entry in made_of if entry.get("origin")]
    assert not spec.get("limits")
    assert spec["tools"] == ["calc", "planner"]


@pytest.mark.parametrize(
    ("command", "setting", "told"),
    [
        ("resume", "limit.steps=9", "--set limit.steps: there is no such key: did you mean limits"),
        ("resume", "limits.steps=x", "--set does not fit an agent: limits.steps: expected int"),
        ("replay", "steps=9", "--set steps: there is no such key: did you mean limits.ste"),
        ("replay", "agent=no.toml", "the agent file no.toml cannot be read (No such file"),
        ("resume", "observation.1.1=x", "--set observation.1.1: another observation makes a fork"),
    ],
)
def test_a_setting_that_does_not_fit_is_told(
    run_id: str, command: str, setting: str, told: str
) -> None:
    done = clew(command, run_id, "--set", setting)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"clew: {told}")
    assert done.err.count("\n") == 1


@pytest.mark.parametrize("command", ["resume", "replay", "fork"])
def test_who_has_a_record_is_told_how_its_agent_is_changed(run_id: str, command: str) -> None:
    for option, key in (("--model", "model"), ("--cost", "limits.cost"), ("--agent", "agent")):
        done = clew(command, run_id, option, "1")
        told = f"No such option {option}: write --set {key}=VALUE. Try: clew {command} --help\n"
        assert (done.code, done.err) == (2, f"clew: {told}")


def test_a_program_s_run_is_shown_but_resumed_by_the_program() -> None:
    agent = Agent(model=ScriptedModel([say("42")]))
    run_id = run_sync(agent, "What is 6*7?").run_id
    assert "Answer: 42" in clew("show", run_id).out
    for command in ("resume", "replay"):
        done = clew(command, run_id)
        assert done.code == 2
        assert "was begun by a program" in done.err
        assert "do this in that program" in done.err


def test_a_changed_record_is_refused(run_id: str) -> None:
    with closing(sqlite3.connect("store")) as store, store:
        store.execute("UPDATE entries SET body = CAST(replace(body, 'Mary', 'Anne') AS BLOB)")
    done = clew("show", run_id)
    assert done.code == 5
    assert "was changed after it was written" in done.err
