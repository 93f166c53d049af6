"""A call as a task: the run's record answers, whoever asks and whenever."""

from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp import Client, MCPError

from clew import Agent, MemoryStore, follow, pending_approvals, read, rule, run, tool
from clew.testing import ScriptedModel, act, finish, say
from clew_mcp.serve import server
from tests.serve.served import (
    CORE,
    ERAS,
    STATELESS,
    TASKS,
    Letters,
    Person,
    begin_task,
    keeper,
    raw,
    until,
    words,
    writer,
)

eras = pytest.mark.parametrize("era", ERAS)


class Door:
    """A tool that waits until it is let through."""

    def __init__(self) -> None:
        self.reached = anyio.Event()
        self.open = anyio.Event()

    def agent(self) -> Any:
        @tool(effect="read")
        async def wait() -> str:
            """Wait at the door."""
            self.reached.set()
            await self.open.wait()
            return "through"

        return keeper([act("wait"), finish("I am through.")], [wait])


async def result_of(client: Client, run_id: str) -> dict[str, Any]:
    """The result of a task, as its era has it."""
    if client.protocol_version == STATELESS:
        found: dict[str, Any] = (await until(client, run_id, "completed"))["result"]
        return found
    return await raw(client, "tasks/result", taskId=run_id)


async def stopped(run_id: str, store: MemoryStore) -> None:
    """Wait for the run's stop."""
    async for _ in follow(run_id, store=store):
        pass


@eras
async def test_a_server_says_that_it_has_tasks_as_its_era_does(era: str) -> None:
    mode = CORE if era == CORE else "auto"
    async with Client(server([keeper()], store=MemoryStore()), mode=mode) as client:
        capabilities = client.server_capabilities
        (shown,) = (await client.list_tools()).tools
    tasks = capabilities.tasks
    assert (tasks is not None and tasks.requests is not None) == (era == CORE)
    extensions = capabilities.extensions or {}
    assert ("io.modelcontextprotocol/tasks" in extensions) == (era == STATELESS)
    assert (shown.execution is not None) == (era == CORE)


@eras
async def test_a_task_is_on_disk_before_its_id_is_told_and_ends_with_its_answer(era: str) -> None:
    store = MemoryStore()
    async with Client(server([keeper()], store=store), mode=era, extensions=TASKS) as client:
        run_id = await begin_task(client, "Who keeps it?")
        assert (await read(run_id, store=store)).goal == "Who keeps it?"
        result = await result_of(client, run_id)
        again = await result_of(client, run_id)
    assert result["content"][0]["text"] == "Nobody keeps it."
    assert result["structuredContent"] == again["structuredContent"]
    assert result["structuredContent"]["run_id"] == run_id


@eras
async def test_a_client_may_go_away_and_another_asks_at_another_server(era: str) -> None:
    door, store = Door(), MemoryStore()
    async with Client(server([door.agent()], store=store), mode=era, extensions=TASKS) as client:
        run_id = await begin_task(client, "Go through.")
        await door.reached.wait()
        door.open.set()
    async with Client(server([door.agent()], store=store), mode=era, extensions=TASKS) as client:
        result = await result_of(client, run_id)
    assert result["content"][0]["text"] == "I am through."


async def test_a_call_that_its_client_cancels_is_a_run_that_is_cancelled() -> None:
    door, store = Door(), MemoryStore()
    async with Client(server([door.agent()], store=store), mode=CORE) as client:
        async with anyio.create_task_group() as group:
            group.start_soon(client.call_tool, "keeper", {"question": "Go through."})
            await door.reached.wait()
            group.cancel_scope.cancel()
        (info,) = await store.runs()
        await until(client, info.run_id, "cancelled")
        door.open.set()
        await stopped(info.run_id, store)
    stop = (await read(info.run_id, store=store)).stop
    assert stop is not None
    assert stop.reason == "the client cancelled it"


@eras
async def test_a_cancelled_task_stops_its_run(era: str) -> None:
    door, store = Door(), MemoryStore()
    async with Client(server([door.agent()], store=store), mode=era, extensions=TASKS) as client:
        run_id = await begin_task(client, "Go through.")
        await door.reached.wait()
        await raw(client, "tasks/cancel", taskId=run_id)
        assert (await raw(client, "tasks/get", taskId=run_id))["status"] == "cancelled"
        door.open.set()
        await stopped(run_id, store)
        assert (await raw(client, "tasks/get", taskId=run_id))["status"] == "cancelled"
    stop = (await read(run_id, store=store)).stop
    assert stop is not None
    assert (stop.status, stop.reason) == ("interrupted", "the client cancelled it")


async def test_a_task_that_is_over_cannot_be_cancelled() -> None:
    async with Client(server([keeper()], store=MemoryStore()), mode=CORE) as client:
        run_id = await begin_task(client, "Who?")
        await result_of(client, run_id)
        with pytest.raises(MCPError, match="completed already"):
            await raw(client, "tasks/cancel", taskId=run_id)


@eras
async def test_a_held_task_says_so_and_a_ruling_from_elsewhere_lets_it_go_on(era: str) -> None:
    letters, store = Letters(), MemoryStore()
    served = server([writer(letters)], store=store)
    async with Client(served, mode=era, extensions=TASKS) as client:
        run_id = await begin_task(client, "Write to Ada.")
        task = await until(client, run_id, "input_required")
        assert f"clew approve {run_id}:1.1:" in task["statusMessage"]
        (waiting,) = await pending_approvals(store=store)
        await rule(waiting.id, allow=True, store=store)
        result = await result_of(client, run_id)
    assert result["content"][0]["text"] == "It is sent."
    assert letters.sent == ["Dear Ada"]


async def test_what_a_task_of_the_extension_asks_is_answered_by_an_update() -> None:
    letters, store = Letters(), MemoryStore()
    served = server([writer(letters)], store=store)
    async with Client(served, mode=STATELESS, extensions=TASKS) as client:
        run_id = await begin_task(client, "Write to Ada.")
        task = await until(client, run_id, "input_required")
        ((key, asked),) = task["inputRequests"].items()
        assert asked["method"] == "elicitation/create"
        assert "Dear Ada" in asked["params"]["message"]
        accepted = {"action": "accept", "content": {"allow": True}}
        for responses in ({"nobody": accepted}, {key: accepted}, {key: accepted}):
            await raw(client, "tasks/update", taskId=run_id, inputResponses=responses)
        result = await result_of(client, run_id)
        other = await begin_task(client, "Write to Bob.")
        task = await until(client, other, "input_required")
        empty = {next(iter(task["inputRequests"])): {"action": "accept", "content": {}}}
        with pytest.raises(MCPError, match="no allow"):
            await raw(client, "tasks/update", taskId=other, inputResponses=empty)
    assert result["content"][0]["text"] == "It is sent."
    assert letters.sent == ["Dear Ada"]


async def test_what_a_task_of_the_core_asks_is_asked_while_its_result_is_waited_for() -> None:
    letters, person = Letters(), Person(allow=True)
    served = server([writer(letters)], store=MemoryStore())
    async with Client(served, mode=CORE, elicitation_callback=person) as client:
        run_id = await begin_task(client, "Write to Ada.")
        result = await raw(client, "tasks/result", taskId=run_id)
    related = {"io.modelcontextprotocol/related-task": {"taskId": run_id}}
    assert result["_meta"] == related
    assert dict(person.requests[0].meta or {}) == related
    assert letters.sent == ["Dear Ada"]


@eras
async def test_an_answer_that_is_none_is_an_error_in_each_era_s_words(era: str) -> None:
    agent = keeper([say("")] * 9, [])
    async with Client(server([agent], store=MemoryStore()), mode=era, extensions=TASKS) as client:
        run_id = await begin_task(client, "Who?")
        task = await until(client, run_id, "failed" if era == CORE else "completed")
        result = await result_of(client, run_id)
    assert result["isError"]
    assert task["taskId"] == run_id


async def test_tasks_are_listed_in_pages() -> None:
    store = MemoryStore()
    await run(Agent(ScriptedModel([say("mine")])), "Not a client's.", store=store)
    async with Client(server([keeper()], store=store), mode=CORE) as client:
        begun = [await begin_task(client, f"Question {number}?") for number in range(60)]
        for run_id in begun:
            await raw(client, "tasks/result", taskId=run_id)
        first = await raw(client, "tasks/list")
        rest = await raw(client, "tasks/list", cursor=first["nextCursor"])
    listed = [*first["tasks"], *rest["tasks"]]
    assert (len(first["tasks"]), "nextCursor" in rest) == (50, False)
    assert sorted(task["taskId"] for task in listed) == sorted(begun)
    assert {task["status"] for task in listed} == {"completed"}


@eras
@pytest.mark.parametrize("method", ["tasks/get", "tasks/cancel"])
async def test_runs_that_no_client_began_are_unknown(era: str, method: str) -> None:
    store = MemoryStore()
    mine = await run(Agent(ScriptedModel([say("mine")])), "A secret?", store=store)
    async with Client(server([keeper()], store=store), mode=era, extensions=TASKS) as client:
        for run_id in (mine.run_id, "nothing", ""):
            with pytest.raises(MCPError, match="there is no task") as caught:
                await raw(client, method, taskId=run_id)
            assert caught.value.error.code == types.INVALID_PARAMS


async def test_who_does_not_declare_tasks_gets_none() -> None:
    async with Client(server([keeper()], store=MemoryStore()), mode=STATELESS) as client:
        result = await client.call_tool("keeper", {"question": "Who?"})
        assert words(result) == "Nobody keeps it."
        with pytest.raises(MCPError) as caught:
            await raw(client, "tasks/get", taskId=result.structured_content["run_id"])
    assert caught.value.error.code == types.MISSING_REQUIRED_CLIENT_CAPABILITY


@pytest.mark.parametrize(
    ("era", "method"),
    [(STATELESS, "tasks/result"), (STATELESS, "tasks/list"), (CORE, "tasks/update")],
)
async def test_methods_of_the_other_era_are_not_found(era: str, method: str) -> None:
    served = server([keeper()], store=MemoryStore())
    async with Client(served, mode=era, extensions=TASKS) as client:
        with pytest.raises(MCPError) as caught:
            await raw(client, method, taskId="x", inputResponses={})
    assert caught.value.error.code == types.METHOD_NOT_FOUND


@eras
async def test_no_more_runs_are_executed_than_at_once(era: str) -> None:
    door, store = Door(), MemoryStore()
    served = server([door.agent()], store=store, at_once=1)
    async with Client(served, mode=era, extensions=TASKS) as client:
        first = await begin_task(client, "Go through.")
        await door.reached.wait()
        second = await begin_task(client, "Go through.")
        assert (await raw(client, "tasks/get", taskId=second))["statusMessage"] == (
            "waiting for its turn"
        )
        door.open.set()
        for run_id in (first, second):
            assert (await result_of(client, run_id))["structuredContent"]["status"] == "answered"
