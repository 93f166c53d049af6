"""A program in the midst of a call, moved to another store: its dump goes with the record."""

from pathlib import Path

from clew import Agent, MemoryStore, SqliteStore, read, resume, rule, run
from clew.retention import export_runs, import_runs, verify
from clew.testing import ScriptedModel, act, say
from clew_code.programs import run_code
from tests.code.test_programs import ask_first, lookup, seen, send

PROGRAM = "a = lookup('a')['found']\nprint(send('b'))\na"


def agent() -> Agent:
    moves = [act("run_code", code=PROGRAM), say("done")]
    tools = [lookup, send, run_code()]
    return Agent(model=ScriptedModel(moves), tools=tools, guards=[ask_first])


async def test_an_archive_has_what_a_program_goes_on_with(tmp_path: Path) -> None:
    first, second = SqliteStore(tmp_path / "first.sqlite"), MemoryStore()
    assert (await run(agent(), "?", store=first, run_id="r")).status == "held"
    await export_runs(tmp_path / "archive.jsonl", ["r"], store=first)
    await import_runs(tmp_path / "archive.jsonl", store=second)
    await second.adopt("r", (await second.read("r"))[-1])
    await rule("r:1.3", allow=True, store=second)
    assert (await resume(agent(), "r", store=second)).answer == "done"
    assert seen(await read("r", store=second)) == ["sent b\n[1, 2, 3]"]
    checked, _ = await verify(store=second)
    assert [one.ok for one in checked] == [True]
    await first.close()
