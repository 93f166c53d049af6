"""What the loggers of clew say of a run, and that nothing is printed unasked."""

import logging
import subprocess
import sys

import pytest

from clew import Agent, MemoryStore, Retry, ToolError, replay, resume, run, tool
from clew.guards import Provenance
from clew.models.openai.chat import openai_chat
from clew.testing.models import ScriptedModel, act, finish
from clew_testing.servers.openai_server import Fail, OpenAIServer, Say

SECRET = "sk-0123456789abcdef"
tries: list[str] = []


@tool(effect="read", retry=Retry(times=2, delay=0.0))
async def look(where: str) -> str:
    """Look somewhere."""
    tries.append(where)
    if len(tries) < 2:
        raise ToolError(f"no luck with {SECRET}")
    return "found"


async def test_the_ways_of_a_run_are_logged_without_what_was_said(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO, logger="clew")
    tries.clear()
    store = MemoryStore()
    agent = Agent(
        model=ScriptedModel([act("look", where="here"), finish("Yes."), finish("No.")]),
        tools=[look],
    )
    run_id = (await run(agent, "Where?", store=store)).run_id
    await resume(agent, run_id, say="Sure?", store=store)
    told = [(record.levelname, record.getMessage()) for record in caplog.records]
    assert told == [
        ("INFO", f"run {run_id}: begun with scripted:test"),
        ("WARNING", f"run {run_id}: attempt 2 of look"),
        ("INFO", f"run {run_id}: stopped, answered"),
        ("INFO", f"run {run_id}: taken up by worker 2"),
        ("INFO", f"run {run_id}: stopped, answered"),
    ]
    caplog.clear()
    await replay(agent, run_id, store=store)  # nothing is begun by it
    assert caplog.records == []


async def test_a_held_run_and_a_request_that_is_made_again_are_logged_with_the_run(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO, logger="clew")

    @tool(approve="only with a yes")
    async def pay(to: str) -> str:
        """Pay somebody."""
        raise AssertionError(to)

    call = ("pay", f'{{"to": "{SECRET}"}}')
    with OpenAIServer([Fail(503, f"busy with {SECRET}"), Say("I pay.", calls=[call])]) as server:
        retries = Retry(times=1, delay=0.0)
        model = openai_chat("m", base_url=server.base_url, api_key=SECRET, retries=retries)
        agent = Agent(model, tools=[pay], guards=[Provenance("off")])
        run_id = (await run(agent, f"Pay {SECRET}.", store=MemoryStore())).run_id
        await model.close()
    told = [record.getMessage() for record in caplog.records]
    assert told[0] == f"run {run_id}: begun with openai:m"
    assert told[1].startswith(f"run {run_id}: openai:m ")
    assert "try 2 of 2" in told[1]
    assert told[2:] == [f"run {run_id}: stopped, held"]
    assert SECRET not in "".join(told)


def test_a_program_that_asks_for_no_log_sees_none() -> None:
    code = "import clew, logging; logging.getLogger('clew.models').warning('Hm.')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert (done.stdout, done.stderr) == (b"", b"")
