"""Beside an answer the terminal and --json tell what came of the task, and what is against it."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from clew import Agent, MemoryStore, ToolError, read, run, tool
from clew.cli.outcome import ShownResult, document, tell_end
from clew.cli.outcome import finish as finish_command
from clew.testing.models import ScriptedModel, act, finish
from clew_testing.servers.openai_server import OpenAIServer, Say
from tests.cli.shell import clew


@tool
def edit(path: str) -> str:
    """Edit a file."""
    raise ToolError("it is locked")


@pytest.mark.parametrize(
    ("answer", "line", "outcome", "contradicted"),
    [
        (finish("No.", outcome="not_done"), "Outcome: not done\n", "not_done", False),
        (
            finish("Yes.", outcome="done"),
            "Outcome: done, says the model; the record contradicts it\n",
            "done",
            True,
        ),
        (finish("Well."), "", "answered", False),
    ],
)
async def test_the_end_of_a_run_tells_its_outcome(
    answer: Any, line: str, outcome: str, *, contradicted: bool
) -> None:
    store = MemoryStore()
    script = [act("edit", path="a"), answer, answer]
    result = await run(Agent(ScriptedModel(script, plan=None), [edit]), "Edit it.", store=store)
    end = ShownResult(await read(result.run_id, store=store), result)
    out = io.StringIO()
    tell_end(Console(file=out, width=100), end)
    assert line in out.getvalue()
    assert ("Outcome" in out.getvalue()) == bool(line)
    told = document(end)
    assert (told["outcome"], told["contradicted"]) == (outcome, contradicted)
    assert told["exit_code"] == finish_command(end, as_json=True) == (8 if contradicted else 0)


OWN = '''
from clew import ToolError, tool

@tool
def edit(path: str) -> str:
    """Edit a file."""
    raise ToolError("it is locked")

@tool(effect="read")
def look(path: str) -> str:
    """Look at a file."""
    return "nothing"
'''


@pytest.mark.parametrize(("outcome", "code"), [("done", 8), ("not_done", 0), ("not_found", 7)])
def test_a_command_ends_with_what_the_record_holds(tmp_path: Path, outcome: str, code: int) -> None:
    (tmp_path / "own_edit.py").write_text(OWN)
    end = ("finish", json.dumps({"answer": "So.", "outcome": outcome}))
    calls = [("edit", '{"path": "a"}'), ("look", '{"path": "a"}'), end, end]
    replies = iter([Say(calls=[each]) for each in calls])
    with OpenAIServer(lambda body: next(replies)) as server:
        file = tmp_path / "agent.toml"
        file.write_text(
            f'model = "openai:m"\ntools = ["own_edit:edit", "own_edit:look"]\nprovenance = "off"\n'
            f'[connection]\nbase_url = "{server.base_url}"\n'
        )
        env = {"OPENAI_API_KEY": "sk-secret"}
        done = clew("ask", "Edit it.", "--agent", str(file), "--json", env=env)
    assert done.code == code, done
    assert (done.document["exit_code"], done.document["outcome"]) == (code, outcome)
    assert done.document["contradicted"] == (code == 8)
    lines = [json.loads(line) for line in clew("show", "last", "--jsonl").out.splitlines()]
    assert (lines[-1]["event"], lines[-1]["outcome"]) == ("final", outcome)
