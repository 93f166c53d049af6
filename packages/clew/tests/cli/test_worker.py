"""`clew submit` and `clew worker` as people use them: several terminals, some of them killed."""

import json
import os
import pty
import re
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from clew import Agent, sync
from clew.cli.worker import EventPrinter
from clew.cli.worker import worker as worker_command
from clew.core.contents import text_parts
from clew.core.events import Started
from clew.core.journal import Journal
from clew.operations import Operations
from clew.stores.sqlite.store import SqliteStore
from clew.testing.models import ScriptedModel, say
from clew.workers import WorkerConfig, WorkerEvent
from clew_testing.servers.openai_server import OpenAIServer, Say
from tests.cli.shell import (
    COMMAND,
    RUN_ID,
    Done,
    begin,
    clew,
    environment,
    own_tools,
    until,
    until_told,
)
from tests.patience import PATIENCE
from tests.warm import Process

TOOLS = ("--model", "openai:test", "--tools", "own:wait,own:pay,own:send")
WAIT = Say(calls=[("wait", '{"for_what": "the ship"}')])
STARTED: list[Process] = []
DESK = """
from clew import Agent
from clew.testing import ScriptedModel, say

def agent():
    return Agent(model=ScriptedModel([say("At your service.")]))
"""
LETTERS = """
from clew import Agent, Verdict, sync, tool
from clew.guards import Provenance
from clew.testing import ScriptedModel, act, say

@tool(effect="unsafe")
def write(text: str) -> str:
    "Write a letter."
    return text

async def hold(call, trajectory):
    return Verdict("hold", "a person reads it") if call.action.name == "write" else None

def agent():
    model = ScriptedModel([act("write", text="Dear Ada"), say("done")], tools=[write])
    return Agent(model, tools=[write], guards=[hold, Provenance("off")])

def submitted():
    return sync.submit(agent(), "Write to Ada.")
"""
SEND = Say(calls=[("send", '{"to": "Bob"}')])


@contextmanager
def provider(*script: Say) -> Iterator[dict[str, str]]:
    """A model's server, and the environment in which commands find it."""
    own_tools()
    with OpenAIServer(script) as server:
        try:
            yield {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": "sk-test-0123456789"}
        finally:
            while STARTED:
                STARTED[-1].kill()
                STARTED.pop().wait()


def submitted(env: dict[str, str], *words: str) -> str:
    done = clew("submit", "Is it there?", *TOOLS, *words, env=env)
    assert (done.code, done.err) == (0, "")
    assert re.fullmatch(RUN_ID, done.out.strip())
    return done.out.strip()


def worker(env: dict[str, str], *words: str) -> Process:
    return started("worker", *words, **env)


def started(*words: str, **env: str) -> Process:
    """A command that goes on, until it ends or the test does."""
    STARTED.append(begin(*words, **env))
    return STARTED[-1]


def ended(process: Process, how: signal.Signals | None = None) -> Done:
    if how is not None:
        process.send_signal(how)
    out, err = process.communicate(timeout=PATIENCE)
    return Done(process.wait(), out, err)


def news(done: Done) -> list[tuple[str, str]]:
    """What a worker told with --json, but for when it began."""
    found = [json.loads(line) for line in done.out.splitlines()]
    return [(one["what"], one["text"]) for one in found if one["what"] != "serving"]


def entries(run_id: str) -> list[dict[str, Any]]:
    shown = clew("show", run_id, "--jsonl")
    lines = [json.loads(line) for line in shown.out.splitlines()]
    return [line for line in lines if line["event"] != "final"]  # which is no entry


def until_stopped(run_id: str) -> None:
    """Wait until a run has stopped; whoever works on it is another process."""
    while entries(run_id)[-1]["event"] != "stop":
        assert any(process.poll() is None for process in STARTED)


def test_what_is_submitted_is_answered_by_a_worker_and_can_be_waited_for() -> None:
    with provider(Say("It is there."), Say("It is there.")) as env:
        run_id = submitted(env)
        assert f"{run_id}  " in clew("runs").out
        told = clew("worker", "--until-idle", env=env)
        assert told.code == 0
        lines = [line.split("  ", 1)[1] for line in told.out.splitlines()]
        assert lines[1:] == [f"took up   {run_id}  Is it there?", f"ended     {run_id}  answered"]
        waiting = started("submit", "And now?", *TOOLS, "--wait", "--json", **env)
        serving = worker(env)
        done = ended(waiting)
        assert (done.code, done.document["answer"]) == (0, "It is there.")
        assert ended(serving, signal.SIGTERM).code == 0


@pytest.mark.parametrize(("call", "file", "code"), [(WAIT, "begun", ""), (SEND, "sent", "unknown")])
def test_another_worker_takes_over_what_a_killed_one_had(call: Say, file: str, code: str) -> None:
    with provider(call, Say("Done.")) as env:
        run_id = submitted(env)
        first = worker(env)
        until(file, first)
        second = worker(env, "--json")
        if not code:
            Path("go").touch()
        assert ended(first, signal.SIGKILL).code == -signal.SIGKILL
        until_stopped(run_id)
        done = ended(second, signal.SIGTERM)
        assert (done.code, news(done)) == (0, [("taken", "Is it there?"), ("ended", "answered")])
    (observation,) = [one for one in entries(run_id) if one["event"] == "observation"]
    assert observation.get("code", "") == code
    if code:
        assert Path("sent").read_text() == "Bob\n"
    assert clew("replay", run_id).code == 0


def test_what_a_killed_worker_had_goes_on_with_the_agent_as_it_is_now() -> None:
    file = 'model = "openai:test"\ntools = ["own:wait", "own:send"]\nprovenance = "off"\n'
    with provider(SEND, Say("Done.")) as env:
        Path("desk.toml").write_text(f'{file}prompt = "Be quick."\n')
        run_id = clew("submit", "Is it sent?", "--agent", "desk.toml", env=env).out.strip()
        first = worker(env)
        until("sent", first)
        assert ended(first, signal.SIGKILL).code == -signal.SIGKILL
        Path("desk.toml").write_text(f'{file}prompt = "Be brief."\n')
        words = ("worker", "--agent", "desk.toml", "--only", "--until-idle", "--json")
        refused = clew(*words, env=env)
        assert [what for what, _ in news(refused)] == ["refused"]
        assert "differs in prompt" in refused.out
        done = clew(*words, "--accept-change", env=env)
        assert news(done) == [("taken", "Is it sent?"), ("ended", "answered")]
    (changed,) = [one for one in entries(run_id) if one["event"] == "changed"]
    assert (changed["what"], changed["spec"]["prompt"]) == (["prompt"], "Be brief.")
    assert Path("sent").read_text() == "Bob\n"
    assert clew("replay", run_id).code == 0
    shown = clew("resume", run_id, "--json", env=env)  # its agent is that of the changed file
    assert shown.document["answer"] == "Done."


def test_a_worker_that_is_told_to_leave_ends_its_step_and_others_go_on() -> None:
    with provider(WAIT, Say("Done.")) as env:
        run_id = submitted(env)
        first = worker(env, "--json")
        until("begun", first)
        first.send_signal(signal.SIGTERM)
        assert "is being worked on by another process" in clew("resume", run_id, env=env).err
        Path("go").touch()
        done = ended(first)
        assert (done.code, news(done)[-1][0]) == (0, "left")
        assert "leaving when 1 run(s) have ended their step" in done.err
        assert [one["event"] for one in entries(run_id)].count("observation") == 1
        last = clew("worker", "--until-idle", "--json", env=env)
    assert news(last)[-1] == ("ended", "answered")
    assert [one["event"] for one in entries(run_id)].count("thought") == 2


def test_a_second_ctrl_c_waits_for_effects_and_a_third_does_not() -> None:
    with provider(SEND, Say("Done.")) as env:
        run_id = submitted(env)
        first = worker(env)
        until("sent", first)
        first.send_signal(signal.SIGINT)
        until_told(first, "leaving when")  # two signals of one kind that come at once are one
        first.send_signal(signal.SIGINT)
        until_told(first, "are waited for")
        assert ended(first, signal.SIGINT).code == 130
        assert clew("worker", "--until-idle", env=env).code == 0
    # The third ends the process wherever it is: whichever process tells it, the outcome is unknown.
    (observation,) = [one for one in entries(run_id) if one["event"] == "observation"]
    assert observation["outcome"] == "unknown"
    assert Path("sent").read_text() == "Bob\n"


def test_a_frozen_worker_that_was_replaced_appends_nothing() -> None:
    with provider(SEND, Say("Done.")) as env:
        run_id = submitted(env)
        frozen = worker(env, "--json")
        until("sent", frozen)
        os.kill(frozen.pid, signal.SIGSTOP)
        left = clew("worker", "--until-idle", "--json", env=env)
        assert news(left) == []  # it may be working
        over = clew("worker", "--until-idle", "--take-over", "--json", env=env)
        assert news(over) == [("taken", "Is it there?"), ("ended", "answered")]
        before = entries(run_id)
        Path("go").touch()
        os.kill(frozen.pid, signal.SIGCONT)
        done = ended(frozen, signal.SIGTERM)
    assert done.code == 0
    assert [what for what, _ in news(done)] == ["taken", "lost"]
    assert entries(run_id) == before
    assert Path("sent").read_text() == "Bob\n"


def test_a_person_takes_a_run_over_on_purpose() -> None:
    with provider(SEND, Say("Done.")) as env:
        run_id = submitted(env)
        frozen = worker(env)
        until("sent", frozen)
        os.kill(frozen.pid, signal.SIGSTOP)
        refused = clew("resume", run_id, env=env)
        assert refused.code == 2
        assert "clew resume --take-over" in refused.err
        taken = clew("resume", run_id, "--take-over", env=env)
        frozen.kill()
        frozen.wait()
    assert (taken.code, "Answer: Done." in taken.out) == (0, True)


def test_queues_agents_and_names_are_kept_apart() -> None:
    with provider(Say("It is there.")) as env:
        run_id = submitted(env, "--queue", "nightly")
        assert news(clew("worker", "--until-idle", "--json", env=env)) == []
        Path("other.toml").write_text('model = "openai:test"\ntools = ["calc"]\n')
        words = ("worker", "--queue", "nightly", "--until-idle", "--json", "--agent", "other.toml")
        refused = clew(*words, "--only", env=env)
        assert refused.code == 5
        ((what, why),) = news(refused)
        assert what == "refused"
        tools = "tools.calc, tools.pay, tools.send, tools.wait"
        assert f"other.toml differs in {tools}, parts.provenance (" in why
        assert len(entries(run_id)) == 1
        told, tells = os.pipe()
        words_of_one = ("worker", "--name", "one", "--queue", "other", "--json")
        holder = Process([*COMMAND[1:], *words_of_one], environment(**env), stdout=tells)
        STARTED.append(holder)
        os.close(tells)
        with os.fdopen(told) as news_of_one:
            assert "serving" in news_of_one.readline()  # from here on it has its name
            named = clew("worker", "--name", "one", env=env)
            assert (named.code, named.err) == (
                2, "clew: there is a worker 'one' at this store: choose another name\n",
            )  # fmt: skip
            assert ended(holder, signal.SIGTERM).code == 0
        assert news(clew(*words, env=env))[-1] == ("ended", "answered")  # made from the record


def test_a_run_that_cannot_be_carried_is_said_to_be_so() -> None:
    with provider() as env:
        submitted(env)
        done = clew("worker", "--until-idle", "--json", env=env)
    assert done.code == 5
    assert news(done)[-1] == (
        "failed", "openai:test refused the request (400): the script has no further entry",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--only",), 2, "--only leaves no agents"),
        (("--at-once", "0"), 2, "0 is not in the range"),
        (("--queue", ""), 2, "it is empty"),
        (("--driver", "celery"), 2, "'celery' is not one of"),
        (("--agent", "missing.toml"), 2, "missing.toml cannot be read"),
        (("--store", "folder/x"), 5, "another program"),
        (("--store", "memory:"), 2, "no other process sees a store in memory"),
    ],
)
def test_what_cannot_be_meant_is_told_in_a_line(
    words: tuple[str, ...], code: int, said: str
) -> None:
    Path("folder").mkdir()
    with closing(sqlite3.connect("folder/x")) as theirs:
        theirs.execute("CREATE TABLE t (x)")
    done = clew("worker", "--until-idle", *words)
    assert (done.code, done.err.count("\n"), said in done.err) == (code, 1, True), done.err


def test_a_store_of_a_newer_clew_is_told_in_a_line() -> None:
    clew("submit", "?", "--model", "offline")
    with closing(sqlite3.connect(os.environ["CLEW_STORE"])) as store:
        store.execute("PRAGMA user_version = 99")
    for words in (("worker",), ("submit", "?", "--model", "offline"), ("runs", "--watch")):
        newer = clew(*words)
        assert (newer.code, newer.err.count("\n")) == (5, 1)
        assert "was written by another version of clew" in newer.err


def test_on_a_terminal_runs_are_watched_in_a_table() -> None:
    clew("submit", "Is it there?", "--model", "offline", "--queue", "nightly")
    ours, theirs = pty.openpty()
    watching = Process([*COMMAND[1:], "runs", "--watch"], environment(TERM="xterm"), stdout=theirs)
    try:
        os.close(theirs)
        shown = b""
        while not re.search(rb"waiting.*1.*nightly.*Is it there[?]", shown):
            shown += os.read(ours, 10_000)
        watching.send_signal(signal.SIGINT)
        assert watching.wait(PATIENCE) == 0
    finally:
        watching.kill()
        watching.wait()
        os.close(ours)


def test_a_chat_about_a_run_of_a_queue_claims_it() -> None:
    with provider(SEND, Say("Done.")) as env:
        run_id = submitted(env)
        holder = worker(env)
        until("sent", holder)
        done = clew("chat", "--resume", run_id, env=env)
    assert (done.code, "is being worked on by another process" in done.err) == (2, True)


def test_runs_are_watched_line_by_line() -> None:
    with provider(WAIT, Say("Done.")) as env:
        run_id = submitted(env)
        reading, writing = os.pipe()
        watching = Process(
            [*COMMAND[1:], "runs", "--watch", "--json"], environment(), stdout=writing
        )
        STARTED.append(watching)
        os.close(writing)
        with os.fdopen(reading) as lines:
            assert json.loads(lines.readline())["standing"] == "waiting"
            serving = worker(env)
            assert json.loads(lines.readline())["standing"] == "working"
            Path("go").touch()
            last = json.loads(lines.readline())
            assert (last["run_id"], last["standing"], last["queue"]) == (
                run_id,
                "answered",
                "default",
            )
            watching.send_signal(signal.SIGINT)
            assert watching.wait(PATIENCE) == 0
        assert ended(serving, signal.SIGTERM).code == 0


def test_who_waits_where_no_worker_is_is_told_how_to_start_one() -> None:
    with provider(Say("It is there.")) as env:
        waiting = started("submit", "Is it?", *TOOLS, "--queue", "far", "--wait", **env)
        told = "no worker has taken it up yet; start one: clew worker --queue far\n"
        until_told(waiting, told, stream=1)
        serving = worker(env, "--queue", "far")
        assert ended(waiting).code == 0
        assert ended(serving, signal.SIGTERM).code == 0


def test_two_waits_end_apart() -> None:
    with provider(WAIT, Say("Done.")) as env:
        waiting = started("submit", "Is it there?", *TOOLS, "--wait", **env)
        serving = worker(env)
        until("begun", serving)
        waiting.send_signal(signal.SIGINT)
        left = ended(waiting)
        assert left.code == 130
        assert re.search(rf"the run goes on without you: clew show {RUN_ID}", left.err)
        Path("go").touch()
        until_stopped(re.findall(RUN_ID, left.err)[0])
        assert ended(serving, signal.SIGTERM).code == 0


async def test_an_id_of_an_older_clew_sends_a_terminal_nothing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    run_id = "\x1b[31mred"
    EventPrinter(as_json=False).print_event(WorkerEvent("ended", run_id, "answered"))
    assert "  \\x1b[31mred  answered" in capsys.readouterr().out
    store = SqliteStore(Path("odd.sqlite"))
    await Journal.create(
        store, Started(text_parts("?"), Agent(model=ScriptedModel([])).spec), run_id
    )
    await store.close()
    assert "\n\\x1b[31mred  " in clew("runs", "--store", "odd.sqlite").out


def test_the_options_are_the_fields_of_its_configuration_with_their_defaults() -> None:
    with worker_command.make_context("worker", []) as context:
        beside = {"as_json", "otel", *(field.name for field in fields(Operations))}
        given = {name: value for name, value in context.params.items() if name not in beside}
    assert given.keys() == {field.name for field in fields(WorkerConfig)} - {"listen"}
    del given["name"]  # by default that of the machine and the process
    usual = WorkerConfig()
    assert given == {name: getattr(usual, name) for name in given}


def test_what_operators_need_runs_beside_a_worker() -> None:
    Path("letters.py").write_text(LETTERS)
    Path("tell.py").write_text("import sys; open('told', 'a').write(sys.stdin.read())")
    done = clew("submit", "Write.", "--model", "offline", "--queue", "other", "--priority", "5")
    assert done.out.strip() in clew("runs", "--label", "priority=5").out
    command = [sys.executable, "-c", "import letters; print(letters.submitted())"]
    run_id = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    done = clew(
        "worker", "--agent", "letters:agent", "--only", "--until-idle", "--log", "json",
        "--on-held", f"'{sys.executable}' tell.py", "--health", "0", "--day-tokens", "100000",
    )  # fmt: skip
    assert done.code == 0
    assert re.fullmatch(r"clew: health is answered at port \d+\n", done.err)
    lines = [json.loads(line) for line in done.out.splitlines()]
    assert [line["event"] for line in lines][:2] == ["serving", "taken"]
    assert all({"at", "worker", "queue", "level"} <= line.keys() for line in lines)
    assert json.loads(Path("told").read_text())["run_id"] == run_id.strip()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--health", "x"), "'x' is no address for the health of a worker: give PORT or HOST:PORT"),
        (("--on-held", "https://x.example/"), "notices are signed: set CLEW_WEBHOOK_SECRET"),
        (("--day-tokens", "0"), "day_tokens is 0: give more than 0, or leave it out"),
    ],
)
def test_what_operators_cannot_mean_is_told_in_a_line(words: tuple[str, ...], told: str) -> None:
    done = clew("worker", "--until-idle", "--store", "some.sqlite", *words)
    assert (done.code, done.out) == (2, "")
    assert told in done.err
    assert "Traceback" not in done.err


def test_a_worker_is_given_an_agent_of_ones_own_module() -> None:
    Path("desk.py").write_text(DESK)
    agent = Agent(model=ScriptedModel([say("At your service.")]))
    run_id = sync.submit(agent, "Is anybody there?")
    done = clew("worker", "--agent", "desk:agent", "--only", "--until-idle")
    assert (done.code, f"ended     {run_id}  answered" in done.out) == (0, True)
    nobody = clew("worker", "--agent", "desk:nobody", "--until-idle")
    assert nobody.code == 2
    assert "desk has no 'nobody'" in nobody.err
