"""`clew answer` and `clew settle`: what came of a call, from another process."""

from pathlib import Path

import pytest

from clew import Agent, run_sync, sync
from clew.guards import Provenance
from clew.testing import ScriptedModel, act, say
from clew.tools import external
from clew_testing.servers.openai_server import OpenAIServer, Say
from tests.cli.shell import clew
from tests.cli.terminal import terminal

FILE = """\
model = "openai:test"
provenance = "off"
tools = ["desk_tools:send"]

[[external]]
name = "scan"
description = "Scan a page."
result = { type = "string" }
timeout = 3600
fallback = "nobody is there"

[external.parameters.page]
type = "integer"
"""
TOOLS = '''
from clew import tool

@tool
def send(to: str) -> str:
    """Send a letter."""
    raise RuntimeError("the line went dead")
'''


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """An agent file in the working folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "desk_tools.py").write_text(TOOLS)
    (tmp_path / "desk.toml").write_text(FILE)
    return "desk.toml"


def env(server: OpenAIServer) -> dict[str, str]:
    """How a command reaches the model."""
    return {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": "sk-0123456789"}


def test_a_call_of_an_agent_file_is_performed_elsewhere(desk: str) -> None:
    with OpenAIServer([Say(calls=[("scan", '{"page": 1}')]), Say("Scanned.")]) as server:
        held = clew("ask", "Scan it.", "--agent", desk, env=env(server))
        assert held.code == 4
        (waiting,) = clew("approvals", "--json").document
        assert (waiting["wants"], waiting["tool"]) == ("result", "scan")
        assert f"Give it: clew answer {waiting['id']} RESULT" in held.out
        done = clew("answer", waiting["id"], "2026", env=env(server))
        assert (done.code, "Scanned." in done.out) == (0, True)
        late = clew("answer", waiting["id"], "another", env=env(server))
        assert (late.code, late.out) == (2, "")
    shown = clew("show", "last").out
    assert 'Settled 1.1: done, with the result "2026"' in shown
    assert clew("replay", "last").code == 0


@pytest.mark.parametrize(
    ("schema", "typed", "result", "told"),
    [
        ('{ type = "string" }', "2026", '"2026"', ""),
        ('{ type = "integer" }', "2026", "2026", ""),
        ('{ type = "integer" }', "soon", "", "does not fit scan, and nothing was recorded:"),
        (
            '{ type = ["string", "integer"] }', "2026", "2026",
            'clew: 2026 is read as JSON: for the text say "2026"',
        ),
        ('{ type = ["string", "integer"] }', '"2026"', '"2026"', ""),
    ],
)  # fmt: skip
def test_what_is_typed_is_read_by_the_schema(
    desk: str, schema: str, typed: str, result: str, told: str
) -> None:
    Path(desk).write_text(FILE.replace('{ type = "string" }', schema).replace("fallback", "#"))
    with OpenAIServer([Say(calls=[("scan", '{"page": 1}')]), Say("Scanned.")]) as server:
        clew("ask", "Scan it.", "--agent", desk, env=env(server))
        (waiting,) = clew("approvals", "--json").document
        done = clew("answer", waiting["id"], typed, env=env(server))
        assert (done.code, told in done.err) == (0 if result else 2, True)
    shown = clew("show", "last").out
    assert (f"done, with the result {result}" in shown) == bool(result)


def test_a_result_that_is_given_again_is_told_with_where_its_run_stands(tmp_path: Path) -> None:
    scan = external("scan", "Scan a page.")
    script = [act("scan"), say("Scanned.")]
    guards = [Provenance("off")]
    store = tmp_path / "desk.sqlite"
    mine = Agent(ScriptedModel(script), tools=[scan], guards=guards, store=store)
    run_sync(mine, "Scan it.", run_id="r")
    give = ("answer", "r:1.1", "a page", "--store", str(store))
    for _ in range(2):
        assert "Go on with: the program that began it" in clew(*give).out
    assert sync.resume(mine, "r").answer == "Scanned."
    told = clew(*give)
    assert told.code == 0
    assert "Its run has gone on with it, and is answered: clew show r" in told.out
    assert "resume" not in told.out


def test_a_schema_is_called_one_and_nothing_waits_in_a_store(tmp_path: Path) -> None:
    scan = external("scan", "Scan a page.", result={"type": "string"})
    store = tmp_path / "desk.sqlite"
    guards = [Provenance("off")]
    model = ScriptedModel([act("scan"), say("Scanned.")])
    mine = Agent(model, tools=[scan], guards=guards, store=store)
    run_sync(mine, "Scan it.", run_id="r")
    listed = clew("approvals", "--store", str(store)).out
    assert 'the answer has this schema: {"type":"string"}' in listed
    sync.answer("r:1.1", "a page", store=store)
    sync.resume(mine, "r")
    told = clew("approvals", "--store", str(store)).out
    assert told == f"nothing waits for a person in {store}\n"


def test_a_call_of_unknown_outcome_is_settled(desk: str) -> None:
    replies = [Say(calls=[("send", '{"to": "Ada"}')]), Say("I do not know.")]
    with OpenAIServer(replies) as server:
        asked = clew("ask", "Write.", "--agent", desk, "--json", env=env(server))
        run_id = asked.document["run_id"]
        for named in ("nobody:1.1", "1.1"):
            wrong = clew("settle", named, "--done", env=env(server))
            assert (wrong.code, wrong.out, wrong.err.count("\n")) == (2, "", 1)
        done = clew("settle", "last:1.1", "--done", "--why", "Ada has it", env=env(server))
        assert done.code == 0
        again = clew("settle", f"{run_id}:1.1", "--not-done", env=env(server))
        assert (again.code, again.out) == (2, "")
    assert "Settled 1.1: done: Ada has it" in clew("show", "last").out
    assert clew("replay", "last").code == 0


def test_a_result_is_given_while_walking(desk: str) -> None:
    Path(desk).write_text(FILE.replace('{ type = "string" }', '{ type = "string", minLength = 3 }'))
    with OpenAIServer([Say(calls=[("scan", '{"page": 1}')]), Say("Scanned.")]) as server:
        assert clew("ask", "Scan it.", "--agent", desk, env=env(server)).code == 4
        with terminal("approvals", "-i") as shell:
            shell.shows("Your answer")
            shell.type("3\n")
            shell.shows("does not fit scan")
            shell.shows("Your answer")
            shell.type("a page\n")
            shell.shows("clew resume")
        resumed = clew("resume", "last", env=env(server))
    assert "Observation 1.1: a page" in resumed.out


def test_an_unknown_outcome_is_settled_while_walking(desk: str) -> None:
    Path(desk).write_text(f'{FILE}\n[limits]\nunknown = "hold"\n')
    replies = [Say(calls=[("send", '{"to": "Ada"}')]), Say("It is sent.")]
    with OpenAIServer(replies) as server:
        assert clew("ask", "Write.", "--agent", desk, env=env(server)).code == 4
        with terminal("approvals", "-i") as shell:
            shell.shows("done[?] ")
            shell.type("d\n")
            shell.shows("clew resume")
        assert clew("resume", "last", env=env(server)).code == 0
    assert "Settled 1.1: done" in clew("show", "last").out
