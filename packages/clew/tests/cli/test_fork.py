"""`clew fork` and `clew diff`: a run begun with another's steps, and the two side by side."""

import os
import re
import shutil
from pathlib import Path

import pytest

from clew import Agent, ConfigError, run_sync
from clew.cli.settings import SetOptions, read_settings
from clew.testing.models import ScriptedModel, say
from clew_testing.servers.openai_server import OpenAIServer, Say
from tests.cli.shell import LIBRARY, RUN_ID, clew, own_tools


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A store with one run, and its id: made once, for every test to copy."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "library").mkdir()
    for name, text in LIBRARY.items():
        (folder / "library" / name).write_text(text)
    question = "Where was the author of Frankenstein born?"
    place = {"CLEW_STORE": str(folder / "store"), "HOME": str(folder)}
    docs = str(folder / "library")
    done = clew("ask", question, "--docs", docs, "--model", "offline", "--json", env=place)
    assert done.document["fork_of"] is None
    assert done.document["steps"] > 2
    return folder / "store", done.document["run_id"]


@pytest.fixture
def run_id(made: tuple[Path, str]) -> str:
    store, found = made
    shutil.copy(store, os.environ["CLEW_STORE"])
    shutil.copytree(store.parent / ".local", Path.home() / ".local")  # so that it is the same user
    return found


def test_a_fork_goes_on_from_the_step_and_leaves_the_run_as_it_is(run_id: str) -> None:
    before = clew("show", run_id, "--jsonl").out
    done = clew("fork", run_id, "--at", "1", "--json")
    assert done.code == 0
    document = done.document
    assert re.fullmatch(RUN_ID, document["run_id"])
    assert document["fork_of"] == {"run_id": run_id, "step": 1, "changed": []}
    assert "London" in document["answer"]
    assert clew("show", run_id, "--jsonl").out == before
    forked = clew("show", document["run_id"], "--jsonl").out.replace(document["run_id"], run_id)
    lines = forked.splitlines()
    cut = next(at for at, line in enumerate(lines) if '"event":"forked"' in line)
    assert cut > 1
    assert lines[:cut] == before.splitlines()[:cut]


def test_what_is_a_fork_says_so(run_id: str) -> None:
    done = clew("fork", run_id, "--at", "2", "--set", "limits.steps=9")
    assert f"Fork: of {run_id} after step 2; changed: parts.bounds, parts.limits\n" in done.out
    assert "Observation 2.1" not in done.out, "what is shared is not told again"
    assert "Question:" not in done.out
    _, first, second = clew("runs").out.splitlines()
    assert first.endswith(f"born?  (fork of {run_id} after step 2)")
    assert second.endswith("born?")
    fork_of = [run["fork_of"] for run in clew("runs", "--json").document]
    assert fork_of == [{"run_id": run_id, "step": 2}, None]
    shown = clew("show", "last").out
    assert re.match(rf"Run: {RUN_ID} \(answered\), fork of {run_id} after step 2\n", shown)
    assert f"\nFork: of {run_id} after step 2; changed: parts.bounds" in shown
    assert f"of {run_id} after step 2" in clew("show", "last", "--md").out


def test_a_fork_is_replayed_and_resumed_with_its_own_agent(run_id: str) -> None:
    clew("fork", run_id, "--at", "1", "--set", "limits.steps=9", "--set", "tools=calc")
    replayed = clew("replay", "last")
    assert replayed.code == 0, replayed.err
    assert (
        f"passed over: entries 1 to 4 were taken as they are: shared with run {run_id}"
        in replayed.out
    )
    further = clew("resume", "last", "--say", "What is 3+4?", "--json")
    assert further.code == 0, further.err
    assert "7" in further.document["answer"]
    assert further.document["fork_of"]["step"] == 1


def test_an_observation_may_be_another_as_text_or_from_a_file(run_id: str) -> None:
    Path("seen.json").write_text('{"results": []}')
    Path("seen.txt").write_text("Nothing at all.\n")
    for given, seen in (("a=b", "a=b"), ("@seen.txt", "Nothing at all.\n"), ("", "")):
        assert read_settings([f"observation.1.1={given}"]) == SetOptions({}, {"1.1": seen})
    done = clew("fork", run_id, "--at", "1", "--set", "observation.1.1=@seen.json", "--json")
    assert done.document["fork_of"]["changed"] == ["observation 1.1"]
    entries = clew("show", done.document["run_id"], "--json").document["entries"]
    observations = [e for e in entries if e["event"] == "observation" and e["call"] == "1.1"]
    assert [o["content"] for o in observations] == [{"results": []}]


def test_settings_are_read_as_what_they_are(run_id: str) -> None:
    Path("prompt.txt").write_text("Be brief.")
    clew(
        "fork", run_id, "--at", "0", "--set", "prompt=@prompt.txt", "--set", "limits.steps=7",
        "--set", "limits.tool_calls=5", "--set", "limits.landing=false", "--set", "codec=native",
    )  # fmt: skip
    entries = clew("show", "last", "--json").document["entries"]
    (forked,) = [entry for entry in entries if entry["event"] == "forked"]
    spec = forked["origin"]["cli"]
    assert (spec["prompt"], spec["codec"]) == ("Be brief.", "native")
    assert spec["limits"] == {"steps": 7, "tool_calls": 5, "landing": False}
    clew("fork", "last", "--at", "1", "--set", "limits.tool_calls=null")
    entries = clew("show", "last", "--json").document["entries"]
    *_, forked = [entry for entry in entries if entry["event"] == "forked"]
    assert forked["origin"]["cli"]["limits"] == {"steps": 7, "landing": False}


def test_a_word_may_follow(run_id: str) -> None:
    steps = clew("show", run_id, "--json").document["steps"]
    done = clew("fork", run_id, "--at", str(steps), "--say", "What is 3+4?", "--json")
    assert done.code == 0, done.err
    assert "7" in done.document["answer"]


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        ("model", "--set model: write KEY=VALUE"),
        ("modell=x", "--set modell: there is no such key: did you mean model?"),
        ("qqq=x", "--set qqq: there is no such key: there are agent, model, "),
        ("steps=9", "--set steps: there is no such key: did you mean limits.steps?"),
        (
            "temperatur=1",
            "--set temperatur: there is no such key: did you mean settings.temperature?",
        ),
        ("store=x", "--set store: there is no such key"),
        ("observation.1.1=@nosuch", "nosuch cannot be read: "),
        ("observation.1.1=@bad.json", "bad.json is no JSON: "),
        ("prompt=@nosuch", "nosuch cannot be read: "),
    ],
)
def test_a_setting_that_cannot_be_read_is_told(setting: str, told: str) -> None:
    Path("bad.json").write_text("{")
    with pytest.raises(ConfigError) as caught:
        read_settings([setting])
    assert str(caught.value).startswith(told)
    assert "\n" not in str(caught.value)


WRONG = [
    ("--at 99", "cannot be forked at 99: give 0 to "),
    (
        "--at 1 --set limits.steps=x",
        "--set does not fit an agent: limits.steps: expected int, got str",
    ),
    (
        "--at 1 --set limits.step=1",
        "--set does not fit an agent: unknown key 'step' in limits: did you mean steps?",
    ),
    (
        "--at 1 --set limits.unknown=ask",
        "--set does not fit an agent: limits.unknown: 'ask' is none of tell, hold",
    ),
    ("--at 1 --set observation.1.1=@absent.txt", "absent.txt cannot be read: No such file"),
    ("--at 1 --set model.name=x", "--set does not fit an agent: model: expected str, got object"),
    ("--at 1 --set grounded.threshold=much", "--set does not fit an agent: grounded"),
    ("--at 1 --set observation.1.9=x", "1.9 is no call of step 1: its calls are 1.1"),
]


def test_wrong_input_is_one_line_and_makes_nothing(run_id: str) -> None:
    for words, told in WRONG:
        done = clew("fork", run_id, *words.split())
        assert done.code == 2
        assert done.err.removeprefix("clew: ").removeprefix(f"run {run_id} ").startswith(told)
        assert done.err.count("\n") == 1
    assert len(clew("runs").out.splitlines()) == 2


def test_where_to_cut_must_be_said(run_id: str) -> None:
    done = clew("fork", run_id)
    assert done.code == 2
    assert "Missing option '--at'" in done.err


def test_a_program_s_run_is_forked_with_an_agent_that_is_named() -> None:
    run_id = run_sync(Agent(model=ScriptedModel([say("42")])), "What is 6*7?").run_id
    refused = clew("fork", run_id, "--at", "0")
    assert refused.code == 2
    assert "was begun by a program" in refused.err
    done = clew("fork", run_id, "--at", "0", "--set", "model=offline", "--json")
    assert (done.code, "42" in done.document["answer"]) == (0, True)


def test_what_was_done_already_is_held_and_told() -> None:
    own_tools()
    pay = Say(calls=[("pay", '{"to":"Ada"}')])
    with OpenAIServer([pay, Say("paid"), pay]) as server:
        keyed = {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": "sk-0123456789"}
        words = ["--model", "openai:gpt-4.1-mini", "--tools", "own:pay"]
        assert clew("ask", "Pay Ada", *words, env=keyed).code == 0
        done = clew("fork", "last", "--at", "0", env=keyed)
    assert done.code == 4
    assert 'Done before: pay({"to":"Ada"}) (done by ' in done.out
    assert "Held 1.1:" in done.out
    assert "was done already, by " in done.out
    assert Path("paid").read_text() == "Ada\n"


# ------------------------------------------------------------------------------- clew diff


def test_diff_says_where_two_runs_part_and_what_they_came_to(run_id: str) -> None:
    clew("fork", run_id, "--at", "2", "--set", "observation.2.1=nothing", "--set", "limits.steps=9")
    done = clew("diff", run_id, "last")
    assert done.code == 0
    fork_id = clew("runs", "--json").document[0]["run_id"]
    lines = done.out.splitlines()
    assert re.fullmatch(r"Shared: \d+ entries, steps 1 to 2", lines[0])
    assert lines[1] == "Agents differ in: parts.bounds, parts.limits"
    assert lines[2] == "They part: in step 2: observation 2.1"
    assert f"  {fork_id}: nothing" in lines
    assert any(line.startswith(f"Answer of {run_id}: ") for line in lines)
    assert f"{'':<10}{run_id:<28}{fork_id}" in lines
    for label in ("status", "model", "codec", "steps", "calls", "tokens", "cost", "seconds"):
        assert sum(line.startswith(f"{label:<10}") for line in lines) == 1
    assert "\x1b" not in done.out


def test_diff_speaks_json(run_id: str) -> None:
    fork = clew("fork", run_id, "--at", "1", "--json").document
    found = clew("diff", run_id, fork["run_id"], "--json").document
    assert (found["shared_entries"], found["shared_steps"], found["parting"]) == (3, 1, None)
    assert found["left"]["answer"] == found["right"]["answer"] == fork["answer"]
    assert (found["left"]["run_id"], found["agents_differ_in"]) == (run_id, [])
    assert found["right"]["usage"]["tokens"] == 0


def test_diff_takes_any_two_runs(run_id: str) -> None:
    clew("ask", "What is 2+3?")
    found = clew("diff", run_id, "last", "--json").document
    assert (found["shared_entries"], found["parting"]["what"]) == (0, "question")
    assert found["parting"]["right"] == "What is 2+3?"
    assert "Shared: nothing" in clew("diff", run_id, "last").out
    assert clew("diff", run_id, "nosuch").code == 2
