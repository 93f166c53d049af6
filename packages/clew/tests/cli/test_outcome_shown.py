"""Beside an answer the terminal and --json tell what came of the task, and what is against it."""

import io
from typing import Any

import pytest
from rich.console import Console

from clew import Agent, MemoryStore, ToolError, read, run, tool
from clew.cli.outcome import ShownResult, document, tell_end
from clew.testing.models import ScriptedModel, act, finish


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
