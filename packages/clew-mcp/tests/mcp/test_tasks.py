"""Calls that go on as tasks in the stateless era (SEP-2663): asked for, answered, lost."""

import json
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp.shared.exceptions import MCPError

from clew import Agent, MemoryStore, Trajectory, read, resume, rule, run
from clew.core.codes import Effect
from clew.core.contents import Observation
from clew.core.entries import Entry
from clew.core.events import Attempt
from clew.testing.models import ScriptedModel, act, finish
from clew_mcp import McpServer, mcp_tools
from tests.mcp.web import Jobs, serving, shop

pytestmark = pytest.mark.parametrize("anyio_backend", ["asyncio"])  # uvicorn's

RESULT = {
    "content": [{"type": "text", "text": "all done"}],
    "structuredContent": {"result": "all done"},
}
DONE = {"status": "completed", "result": RESULT}
QUESTION = {
    "method": "elicitation/create",
    "params": {
        "mode": "form",
        "message": "which size?",
        "requestedSchema": {
            "type": "object",
            "properties": {"size": {"type": "integer"}},
            "required": ["size"],
        },
    },
}
GONE = MCPError(-32602, "no such task")


async def agent_of(url: str, folder: Path, effects: dict[str, Effect] | None = None) -> Agent[str]:
    server = McpServer(name="shop", url=f"{url}/mcp", effects=effects or {})
    tools = await mcp_tools(server, pins=folder / "pins.json")
    return Agent(ScriptedModel([act("shop_job"), finish("done")]), tools=tools)


def job_of(record: Trajectory) -> Observation:
    seen = record.call("1.1").observation
    assert seen is not None
    return seen


class Heard:
    """A listener that keeps what it hears of progress."""

    def __init__(self) -> None:
        self.news: list[str] = []

    def token(self, text: str) -> None:
        del text

    def entry(self, entry: Entry) -> None:
        del entry

    def progress(self, call: str, text: str) -> None:
        self.news.append(f"{call} {text}")


async def test_a_task_is_on_record_before_it_is_asked_for(tmp_path: Path) -> None:
    jobs = Jobs({"statusMessage": "half of it"}, DONE)
    async with serving(shop(jobs).streamable_http_app()) as url:
        agent, store, heard = await agent_of(url, tmp_path), MemoryStore(), Heard()
        result = await run(agent, "go", store=store, listener=heard)
    record = await read(result.run_id, store=store)
    tried = [entry.event for entry in record.entries if isinstance(entry.event, Attempt)]
    assert [one.task for one in tried] == ["", "job-1"]
    assert (job_of(record).text, heard.news) == ("all done", ["1.1 half of it"])
    assert (jobs.begun, jobs.asked) == (1, ["job-1", "job-1"])


async def test_after_a_crash_the_task_is_asked_for_and_not_begun_again(tmp_path: Path) -> None:
    jobs = Jobs({})
    async with serving(shop(jobs).streamable_http_app()) as url:
        # a cancellation cuts what only reads, as a crash would
        agent, store = await agent_of(url, tmp_path, {"job": "read"}), MemoryStore()

        async def begin() -> None:
            await run(agent, "go", store=store, run_id="r1")

        async with anyio.create_task_group() as group:
            group.start_soon(begin)
            while not jobs.asked:
                await anyio.sleep(0.01)
            group.cancel_scope.cancel()
        jobs.states[:] = [DONE]
        await resume(agent, "r1", store=store)
    assert job_of(await read("r1", store=store)).text == "all done"
    assert jobs.begun == 1


@pytest.mark.parametrize(
    ("state", "why"),
    [
        (
            {"status": "failed", "error": {"code": -32000, "message": "no luck"}},
            "the task job-1 is over: no luck",
        ),
        ({"status": "cancelled"}, "the task job-1 is over: it was cancelled"),
        (GONE, "the server says of the task job-1: no such task"),
    ],
)
async def test_a_task_that_failed_or_is_gone_is_unknown(
    tmp_path: Path, state: dict[str, Any] | MCPError, why: str
) -> None:
    async with serving(shop(Jobs(state)).streamable_http_app()) as url:
        agent, store = await agent_of(url, tmp_path), MemoryStore()
        result = await run(agent, "go", store=store)
    seen = job_of(await read(result.run_id, store=store))
    assert (seen.ok, seen.outcome) == (False, "unknown")
    assert why in seen.text


async def test_what_a_task_asks_is_a_held_call(tmp_path: Path) -> None:
    asks = {"status": "input_required", "inputRequests": {"a": QUESTION}}
    jobs = Jobs(asks, asks, DONE)
    async with serving(shop(jobs).streamable_http_app()) as url:
        agent, store = await agent_of(url, tmp_path), MemoryStore()
        result = await run(agent, "go", store=store)
        (waiting,) = result.pending_approvals
        assert "which size?" in waiting.why
        jobs.states[:] = [asks, asks, DONE]
        await rule(f"{result.run_id}:1.1", allow=True, answer={"size": 3}, store=store)
        await resume(agent, result.run_id, store=store)
    assert job_of(await read(result.run_id, store=store)).text == "all done"
    assert jobs.begun == 1
    assert [json.dumps(one["a"]["content"]) for one in jobs.answers] == ['{"size": 3}']


class AskingFirst(Jobs):
    """A job becomes a task once a person has said how large it is."""

    async def intercept_tool_call(
        self, params: types.CallToolRequestParams, ctx: Any, call_next: Any
    ) -> Any:
        if params.input_responses is None:
            return {"resultType": "input_required", "inputRequests": {"a": QUESTION}}
        return await super().intercept_tool_call(params, ctx, call_next)


async def test_a_call_that_asked_becomes_a_task(tmp_path: Path) -> None:
    jobs = AskingFirst(DONE)
    async with serving(shop(jobs).streamable_http_app()) as url:
        agent, store = await agent_of(url, tmp_path), MemoryStore()
        result = await run(agent, "go", store=store)
        await rule(f"{result.run_id}:1.1", allow=True, answer={"size": 3}, store=store)
        await resume(agent, result.run_id, store=store)
    record = await read(result.run_id, store=store)
    tried = [entry.event for entry in record.entries if isinstance(entry.event, Attempt)]
    assert job_of(record).text == "all done"
    assert (tried[-1].task, jobs.begun, jobs.asked) == ("job-1", 1, ["job-1"])


async def test_a_task_whose_question_cannot_be_put_is_unknown(tmp_path: Path) -> None:
    question = {
        "method": "sampling/createMessage",
        "params": {"messages": [], "maxTokens": 5},
    }
    jobs = Jobs({"status": "input_required", "inputRequests": {"a": question}})
    async with serving(shop(jobs).streamable_http_app()) as url:
        agent, store = await agent_of(url, tmp_path), MemoryStore()
        result = await run(agent, "go", store=store)
    seen = job_of(await read(result.run_id, store=store))
    assert (seen.outcome, "Sampling not supported" in seen.text) == ("unknown", True)


async def test_a_task_is_asked_for_again_after_an_answer_that_was_lost(tmp_path: Path) -> None:
    jobs = Jobs({}, MCPError(-32000, "a proxy was in the way"), DONE)
    async with serving(shop(jobs).streamable_http_app()) as url:
        agent, store = await agent_of(url, tmp_path), MemoryStore()
        result = await run(agent, "go", store=store)
    assert job_of(await read(result.run_id, store=store)).text == "all done"
    assert (jobs.begun, len(jobs.asked)) == (1, 3)
