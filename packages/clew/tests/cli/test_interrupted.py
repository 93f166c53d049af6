"""Ctrl-C and `kill -9` in the middle of a run: the record stays, and `resume` goes on."""

import json
import os
import re
import signal
import time
from pathlib import Path

import pytest

from clew.models.batches.ledger import Ledger
from clew_testing.servers import OpenAIBatchServer
from clew_testing.servers.openai_server import OpenAIServer, Say
from tests.cli.shell import COMMAND, RUN_ID, begin, clew, environment, own_tools, until
from tests.patience import PATIENCE
from tests.warm import Process

KEY = "sk-very-secret-0123456789"
ASK = ("ask", "Is it there?", "--model", "openai:test", "--tools", "own:wait,own:pay,own:send")


def with_model(server: OpenAIServer) -> dict[str, str]:
    return {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": KEY}


def stopped(process: Process, how: signal.Signals) -> tuple[int, str, str]:
    process.send_signal(how)
    out, err = process.communicate(timeout=PATIENCE)
    return process.wait(), out, err


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_what_asks_it_to_leave_leaves_a_record_that_resumes(how: signal.Signals) -> None:
    own_tools()
    script = [Say(calls=[("wait", '{"for_what": "the ship"}')]), Say("It is there.")]
    with OpenAIServer(script) as server:
        process = begin(*ASK, **with_model(server))
        until("begun", process)
        code, _, err = stopped(process, how)
        assert code == 130
        assert re.search(rf"the record is open, go on with: clew resume {RUN_ID}$", err.strip())
        assert "Traceback" not in err
        shown = clew("show", "last").out
        assert re.search(rf"^Go on: clew resume {RUN_ID}$", shown, re.MULTILINE)
        Path("go").touch()
        resumed = clew("resume", "last", env=with_model(server))
    assert resumed.code == 0
    assert "Observation 1.1: the ship is here" in resumed.out
    assert "Answer: It is there." in resumed.out
    replayed = clew("replay", "last")
    assert (replayed.code, replayed.err) == (0, "")
    assert replayed.out == "replayed 5 entries, 2 steps: identical, no call made\n"


def test_kill_9_between_two_calls_repeats_no_effect() -> None:
    own_tools()
    script = [
        Say(calls=[("pay", '{"to": "Ann"}')]),
        Say(calls=[("wait", '{"for_what": "the ship"}')]),
        Say("Paid, and it is there."),
    ]
    with OpenAIServer(script) as server:
        process = begin(*ASK, **with_model(server))
        until("begun", process)
        code, _, _ = stopped(process, signal.SIGKILL)
        assert code == -signal.SIGKILL
        assert " open " in clew("runs").out
        Path("go").touch()
        resumed = clew("resume", "last", env=with_model(server))
    assert resumed.code == 0
    assert Path("paid").read_text() == "Ann\n"
    assert clew("replay", "last").code == 0


@pytest.mark.parametrize(
    ("ruling", "times"),
    [
        (["approve", "last", "--yes", "--no-resume"], 2),
        (["reject", "last", "1.1", "--why", "it did", "--no-resume"], 1),
    ],
)
def test_an_effect_in_doubt_can_be_held_for_a_person(ruling: list[str], times: int) -> None:
    own_tools()
    with OpenAIServer([Say(calls=[("send", '{"to": "Bob"}')]), Say("Done.")]) as server:
        process = begin(*ASK, "--unknown", "hold", **with_model(server))
        until("begun", process)
        stopped(process, signal.SIGKILL)
        held = clew("resume", "last", env=with_model(server))
        assert held.code == 4
        assert 'Held 1.1: send(to="Bob")' in held.out
        assert "it may or may not have happened" in held.out
        Path("go").touch()
        for told in (held, clew("approvals"), ruled := clew(*ruling)):
            read = " ".join(told.out.split())
            assert ("To allow it is to make it again" in read) == (
                "reject" not in ruling or told is not ruled
            )
        assert ruled.code == 0
        resumed = clew("resume", "last", env=with_model(server))
    assert resumed.code == 0, resumed.err
    assert Path("sent").read_text() == "Bob\n" * times
    assert clew("replay", "last").code == 0


def test_a_thread_that_nobody_waits_for_does_not_keep_the_command(tmp_path: Path) -> None:
    Path("stuck.py").write_text(
        "import threading\nfrom pathlib import Path\nfrom clew import tool\n\n"
        "@tool(effect='read', timeout=60)\n"
        "def block() -> str:\n"
        "    '''Block for ever.'''\n"
        "    Path('begun').touch()\n"
        "    threading.Event().wait()\n"
        "    return ''\n"
    )
    with OpenAIServer([Say(calls=[("block", "{}")])]) as server:
        words = ("ask", "Hm?", "--model", "openai:test", "--tools", "stuck:block")
        process = begin(*words, **with_model(server))
        until("begun", process)
        code, _, err = stopped(process, signal.SIGINT)
    assert code == 130
    assert "clew resume" in err


@pytest.mark.parametrize("words", [["show", "last", "--jsonl"], ["show", "last"], ["runs"]])
def test_nobody_reads_the_output(words: list[str]) -> None:
    assert clew("ask", "What is 2+3?").code == 0
    assert unread(*words) == (0, "")


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_nobody_reads_a_run_which_goes_on_to_its_end(form: list[str]) -> None:
    own_tools()
    calls = [Say(calls=[("pay", '{"to": "Ann"}')]), Say(calls=[("pay", '{"to": "Bob"}')])]
    with OpenAIServer([*calls, Say("Both are paid.")]) as server:
        assert unread(*ASK, *form, **with_model(server)) == (0, "")
    assert Path("paid").read_text() == "Ann\nBob\n"
    assert "Stop: answered" in clew("show", "last").out
    bound = unread("ask", "What is 2+3?", "--model", "offline", "--steps", "1", *form)
    assert bound == (3, "")


def unread(*words: str, **env: str) -> tuple[int, str]:
    """Exit code and stderr of a command whose output nobody reads any more."""
    reading, writing = os.pipe()
    os.close(reading)
    process = Process([*COMMAND[1:], *words], environment(**env), stdout=writing)
    os.close(writing)
    _, err = process.communicate(timeout=PATIENCE)
    return process.wait(), err


@pytest.mark.parametrize(
    "command",
    [
        "ask there? --model offline --tools heavy:tool",
        "resume last --say And? --set tools=heavy:tool --accept-change",
    ],
)
def test_ctrl_c_while_the_parts_are_imported_leaves_nothing_behind(command: str) -> None:
    clew("ask", "What is 2+3?")
    Path("heavy.py").write_text(
        "import time\nfrom pathlib import Path\nfrom clew.toolbox.calc import calc\n"
        "Path('begun').touch()\n"
        "while not Path('go').exists(): time.sleep(0.01)\n"
        "tool = calc()\n"
    )
    before = clew("show", "last").out
    process = begin(*command.split(), "--quiet")
    until("begun", process)
    process.send_signal(signal.SIGINT)
    Path("go").touch()
    _, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, err.strip()) == (130, "clew: interrupted")
    assert clew("show", "last").out == before


def handed_in(process: Process) -> None:
    """Wait until the ledger knows a batch by the provider's name for it."""
    until("batches.sqlite", process)
    ledger = Ledger(Path("batches.sqlite"))
    while not any(row.remote for row in ledger.batches()):
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    ledger.close()


@pytest.mark.slow  # requests are gathered for ten seconds
def test_ctrl_c_of_an_evaluation_leaves_its_batch_out_and_pays_nothing_twice() -> None:
    cases = [{"id": f"c{n}", "question": f"Which {n}?", "gold": ["Ulm"]} for n in range(3)]
    Path("which.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases))
    with OpenAIBatchServer(lambda _: Say("It is Ulm."), key=KEY, held=True) as server:
        env = {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": KEY}
        env |= {"CLEW_BATCHES": "batches.sqlite"}
        words = ("eval", "run", "which.jsonl", "--model", "batch:openai:gpt-4.1-mini")
        process = begin(*words, **env)
        handed_in(process)
        code, _, err = stopped(process, signal.SIGINT)
        assert code == 130
        assert err.splitlines()[-1] == (
            "what has ended is kept in which.sqlite, batches that are out stay "
            f"(clew records batches), and what has begun goes on with: clew {' '.join(words)}"
        )
        assert "Traceback" not in err
        listed = clew("records", "batches", env=env).out
        assert "batch_0002" in listed
        assert "3 requests, 0 done" in listed
        server.bench.held = False
        again = clew(*words, "--json", env=env)
        assert (again.code, again.document["complete"]) == (0, True), again.err
        assert clew("records", "batches", env=env).out == "no batches are out\n"
    assert [len(batch.entries) for batch in server.bench.batches] == [3]
    assert len(server.bench.paid) == 3


@pytest.mark.slow  # requests are gathered for ten seconds
def test_ctrl_c_while_a_batch_is_out_asks_nothing_anew() -> None:
    with OpenAIBatchServer(lambda _: Say("It is Ulm."), key=KEY, held=True) as server:
        env = {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": KEY}
        env |= {"CLEW_BATCHES": "batches.sqlite"}
        process = begin("ask", "Which city?", "--model", "batch:openai:gpt-4.1-mini", **env)
        handed_in(process)
        code, _, err = stopped(process, signal.SIGINT)
        assert code == 130
        assert re.search(rf"the record is open, go on with: clew resume {RUN_ID}$", err.strip())
        assert "Traceback" not in err
        server.bench.held = False
        resumed = clew("resume", "last", env=env)
    assert (resumed.code, "Answer: It is Ulm." in resumed.out) == (0, True), resumed.err
    assert [len(batch.entries) for batch in server.bench.batches] == [1]
    assert len(server.bench.paid) == 1
