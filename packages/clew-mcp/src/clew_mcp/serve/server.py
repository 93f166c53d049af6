"""The server: agents as tools, runs as tasks, records as resources."""

import secrets
from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import anyio
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import NotificationOptions, Server
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from typing_extensions import override

from clew import Agent, Trajectory
from clew.concurrency.tasks import one_error
from clew.stores import Where, default_location, store_at
from clew.workers import OnWorkerEvent, WorkerConfig, WorkerEvent, work
from clew.workers.agents import KnownAgents
from clew.workers.config import ignore_event
from clew_mcp.serve.agents import ServedAgent, by_name
from clew_mcp.serve.calls import CallHandler, wait_for_result
from clew_mcp.serve.resources import list_resources, list_templates, read_resource
from clew_mcp.serve.runs import LONGEST, QUEUE, ClientRuns, tool_of_record
from clew_mcp.serve.tasks import EXTENSION, TaskParams, Tasks, UpdateTaskParams

_NAME: Final = "clew"
_INSTRUCTIONS: Final = (
    "Each tool is an agent: it answers a question in several steps, which may take minutes, and "
    "may ask for approval. Call it as a task where you can. Each call is recorded as a run: its "
    "record is the resource clew://runs/RUN_ID."
)


class _Server(Server[ClientRuns]):
    """The SDK's server, which has tasks only as types; this one also declares them."""

    @override
    def get_capabilities(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
        *,
        protocol_version: str | None = None,
    ) -> types.ServerCapabilities:
        capabilities = super().get_capabilities(
            notification_options,
            experimental_capabilities,
            extensions,
            protocol_version=protocol_version,
        )
        if protocol_version in MODERN_PROTOCOL_VERSIONS:
            return capabilities.model_copy(
                update={"extensions": {**(capabilities.extensions or {}), EXTENSION: {}}}
            )
        tasks = types.ServerTasksCapability(
            list=types.TasksListCapability(),
            cancel=types.TasksCancelCapability(),
            requests=types.ServerTasksRequestsCapability(
                tools=types.TasksToolsCapability(call=types.TasksCallCapability())
            ),
        )
        return capabilities.model_copy(update={"tasks": tasks})


def server(
    agents: Iterable[ServedAgent],
    *,
    store: Where = None,
    queue: str = QUEUE,
    at_once: int = 8,
    longest: int = LONGEST,
    version: str = "",
    on_event: OnWorkerEvent | None = None,
    leaving: anyio.Event | None = None,
) -> Server[ClientRuns]:
    """An MCP server of agents, for `serve_stdio`, `serve_http`, or any host of the SDK's servers.

    While it is served, a worker in this process executes the runs of `queue`, `at_once` at a time:
    new ones, and those that an earlier server left open. A question may have `longest` characters.
    `on_event` receives the events of the worker. When the server ends, or `leaving` is set, each
    run finishes its step and stays open; on cancellation it stops at once.

    Raises `ConfigError` if there are no agents, or two have the same name.
    """
    served = by_name(agents)
    calls = CallHandler()
    tasks = Tasks(_result)
    worker = _Worker(served, store, queue, at_once, longest, on_event or ignore_event, leaving)
    made = _Server(
        _NAME,
        version=version,
        instructions=_INSTRUCTIONS,
        lifespan=worker.lifespan,
        on_list_tools=_list_tools,
        on_call_tool=calls.call,  # type: ignore[arg-type]  # a task is a result that the SDK has no type for
        on_list_resources=list_resources,
        on_list_resource_templates=list_templates,
        on_read_resource=read_resource,
    )
    made.middleware.append(calls.middleware)
    made.add_request_handler("tasks/get", TaskParams, tasks.get)
    made.add_request_handler("tasks/result", TaskParams, tasks.result)
    made.add_request_handler("tasks/cancel", TaskParams, tasks.cancel)
    made.add_request_handler("tasks/update", UpdateTaskParams, tasks.update)
    made.add_request_handler("tasks/list", types.PaginatedRequestParams, tasks.list)
    return made


@dataclass
class _Worker:
    """The resources of a served server: the store, and a worker over its queue."""

    agents: Mapping[str, ServedAgent]
    store: Where
    queue: str
    at_once: int
    longest: int
    on_event: OnWorkerEvent
    leaving: anyio.Event | None

    @asynccontextmanager
    async def lifespan(self, _: Server[ClientRuns]) -> AsyncGenerator[ClientRuns]:
        """Execute the queue while the server is served; at the end each run finishes its step."""
        store_location = str(self.store) if isinstance(self.store, str | Path) else ""
        if store_location == str(default_location()):  # a command that is shown need not name it
            store_location = ""
        async with store_at(self.store) as store:
            runs = ClientRuns(store, self.agents, self.queue, self.longest, store_location)
            leaving = self.leaving or anyio.Event()

            def on_event(event: WorkerEvent) -> None:
                runs.on_worker_event(event)
                self.on_event(event)

            config = WorkerConfig(
                store=store,
                agents=self._agent_of,
                queue=self.queue,
                at_once=self.at_once,
                name=f"serve-mcp-{secrets.token_hex(8)}",
            )
            with one_error():
                async with anyio.create_task_group() as group:
                    group.start_soon(_work, config, on_event, leaving)
                    try:
                        yield runs
                    finally:
                        leaving.set()

    async def _agent_of(self, record: Trajectory) -> Agent[Any]:
        """The agent of a run: the one whose tool was called, if it is unchanged since then.

        Otherwise another served agent that matches the record, or one rebuilt from it. Two agents
        may be identical in everything that a record says of them.
        """
        agents = {name: served.agent for name, served in self.agents.items()}
        called = tool_of_record(record)
        first = {called: agents[called]} if called in agents else {}
        return await KnownAgents(first | agents, recorded=True)(record)


async def _work(config: WorkerConfig, on_event: OnWorkerEvent, leaving: anyio.Event) -> None:
    await work(config, on_event=on_event, leaving=leaving)


async def _list_tools(
    ctx: ServerRequestContext[ClientRuns], params: types.PaginatedRequestParams | None
) -> types.ListToolsResult:
    runs = ctx.lifespan_context
    tools = [served.tool(runs.longest) for served in runs.agents.values()]
    return types.ListToolsResult(tools=tools, ttl_ms=0, cache_scope="private")


async def _result(ctx: ServerRequestContext[ClientRuns], run_id: str) -> types.CallToolResult:
    """Wait for a task's result, however long it takes."""
    result = await wait_for_result(ctx, run_id, patient=True)
    if not isinstance(result, types.CallToolResult):
        raise MCPError(types.INTERNAL_ERROR, "the run asks in a form that this request has not")
    return result
