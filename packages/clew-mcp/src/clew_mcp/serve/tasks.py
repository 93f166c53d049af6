"""Tasks: runs by id, always read from their records in the store.

Two forms: the tasks of the 2025-11-25 specification, and the extension of 2026-07-28
(`io.modelcontextprotocol/tasks`, SEP-2663).
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, Literal, TypeAlias

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from clew import ConfigError, PendingApproval, Trajectory, result_of
from clew.agent.approvals import pending_in
from clew.interfaces import RunInfo
from clew.stores.listing import status_of
from clew_mcp.serve.approvals import apply_responses, input_requests
from clew_mcp.serve.results import held_text, result_of_run
from clew_mcp.serve.runs import ClientRuns

EXTENSION: Final = "io.modelcontextprotocol/tasks"
RELATED: Final = "io.modelcontextprotocol/related-task"
TASKS_IN_CORE: Final = frozenset({"2025-11-25"})
"""The versions whose core has tasks."""

_POLL: Final = 1_000  # milliseconds
_PAGE: Final = 50

TaskStatus: TypeAlias = Literal["working", "input_required", "completed", "cancelled"]
Context: TypeAlias = ServerRequestContext[ClientRuns]
Wait: TypeAlias = Callable[[Context, str], Awaitable[types.CallToolResult]]


class TaskParams(types.RequestParams):
    """Parameters that name a task."""

    task_id: str


class UpdateTaskParams(TaskParams):
    """Parameters of `tasks/update`."""

    input_responses: types.InputResponses


@dataclass(frozen=True)
class TaskState:
    """A run as a task: its record, status, held calls, and its result once it has ended."""

    record: Trajectory
    status: TaskStatus
    message: str
    waiting: tuple[PendingApproval, ...] = ()
    result: types.CallToolResult | None = None

    def as_core_task(self) -> dict[str, Any]:
        """The task of 2025-11-25; a result that is an error makes it failed."""
        failed = self.status == "completed" and self.result is not None and self.result.is_error
        entries = self.record.entries
        return _task_json(
            self.record.run_id, "failed" if failed else self.status, self.message,
            entries[0].at, entries[-1].at, "ttl", "pollInterval",
        )  # fmt: skip

    def as_extension_task(self) -> dict[str, Any]:
        """The task of the extension, with its result or its open questions."""
        entries = self.record.entries
        task = _task_json(
            self.record.run_id, self.status, self.message,
            entries[0].at, entries[-1].at, "ttlMs", "pollIntervalMs",
        )  # fmt: skip
        if self.status == "completed" and self.result is not None:
            task["result"] = _as_json(self.result)
        if self.status == "input_required":
            asked = input_requests(self.waiting)
            task["inputRequests"] = {key: _as_json(one) for key, one in asked.items()}
        return task


async def state_of(runs: ClientRuns, run_id: str) -> TaskState:
    """The current state of a run. Raises `ConfigError` if no client began it."""
    record, served = await runs.find(run_id)
    if await runs.cancelled(record):
        return TaskState(record, "cancelled", "cancelled: the step at hand is the last")
    if record.stop is None or (record.stop.status == "held" and await runs.has_message(run_id)):
        return TaskState(record, "working", runs.trouble(run_id) or _progress_message(record))
    if record.stop.status == "held":
        waiting = await pending_in(runs.store, record)
        return TaskState(
            record, "input_required", held_text(run_id, waiting, runs.store_location), waiting
        )
    result = await result_of(served.agent, run_id, store=runs.store)
    message = record.stop.reason or record.stop.status
    return TaskState(
        record, "completed", message, result=result_of_run(record, result, runs.store_location)
    )


def declares_tasks(ctx: Context) -> bool:
    """Whether the client of this request declares the extension."""
    capabilities = ctx.session.client_capabilities
    extensions = (capabilities.extensions if capabilities is not None else None) or {}
    return ctx.protocol_version in MODERN_PROTOCOL_VERSIONS and EXTENSION in extensions


class Tasks:
    """The methods `tasks/…` of both forms. `wait` awaits a run's result."""

    def __init__(self, wait: Wait) -> None:
        self._wait = wait

    async def get(self, ctx: Context, params: TaskParams) -> dict[str, Any]:
        """`tasks/get`: the current state of the task."""
        state = await self._state(ctx, params.task_id)
        return state.as_extension_task() if _modern(ctx) else state.as_core_task()

    async def result(self, ctx: Context, params: TaskParams) -> dict[str, Any]:
        """`tasks/result` (2025-11-25): wait until the task ends, and ask about held calls."""
        _core_only(ctx, "tasks/result")
        await self._state(ctx, params.task_id)
        result = await self._wait(ctx, params.task_id)
        related = {RELATED: {"taskId": params.task_id}}
        return {**_as_json(result), "_meta": related}

    async def cancel(self, ctx: Context, params: TaskParams) -> dict[str, Any]:
        """`tasks/cancel`: ask the run to stop; the request is on disk when this returns."""
        state = await self._state(ctx, params.task_id)
        over = state.status in {"completed", "cancelled"}
        if over and not _modern(ctx):
            message = f"the task is {state.as_core_task()['status']} already"
            raise MCPError(types.INVALID_PARAMS, message)
        if not over:
            await ctx.lifespan_context.cancel(params.task_id)
        if _modern(ctx):
            return {}
        return (await self._state(ctx, params.task_id)).as_core_task()

    async def update(self, ctx: Context, params: UpdateTaskParams) -> dict[str, Any]:
        """`tasks/update` (extension): apply answers to open questions; ignore others."""
        if not _modern(ctx):
            raise MCPError(types.METHOD_NOT_FOUND, "Method not found", "tasks/update")
        state = await self._state(ctx, params.task_id)
        try:
            await apply_responses(ctx.lifespan_context.store, state.waiting, params.input_responses)
        except ConfigError as error:
            raise MCPError(types.INVALID_PARAMS, str(error)) from error
        return {}

    async def list(self, ctx: Context, params: types.PaginatedRequestParams) -> dict[str, Any]:
        """`tasks/list` (2025-11-25): the runs that clients began, last written first."""
        _core_only(ctx, "tasks/list")
        runs = ctx.lifespan_context
        infos, more = await runs.page_after(params.cursor or "", _PAGE)
        listed: dict[str, Any] = {"tasks": [await _listed_task(runs, info) for info in infos]}
        if more:
            listed["nextCursor"] = more
        return listed

    async def _state(self, ctx: Context, run_id: str) -> TaskState:
        _check_declared(ctx)
        try:
            return await state_of(ctx.lifespan_context, run_id)
        except ConfigError as error:
            raise MCPError(types.INVALID_PARAMS, str(error)) from error


def _modern(ctx: Context) -> bool:
    return ctx.protocol_version in MODERN_PROTOCOL_VERSIONS


def _core_only(ctx: Context, method: str) -> None:
    if ctx.protocol_version not in TASKS_IN_CORE:
        raise MCPError(types.METHOD_NOT_FOUND, "Method not found", method)


def _check_declared(ctx: Context) -> None:
    """Raise `MCPError` if the client's version has no tasks, or it does not declare them."""
    if _modern(ctx):
        if not declares_tasks(ctx):
            data: dict[str, Any] = {"requiredCapabilities": {"extensions": {EXTENSION: {}}}}
            message = "Missing required client capability"
            raise MCPError(types.MISSING_REQUIRED_CLIENT_CAPABILITY, message, data)
    else:
        _core_only(ctx, ctx.method)


async def _listed_task(runs: ClientRuns, info: RunInfo) -> dict[str, Any]:
    """A listed run as a task, from its first and last line and its inbox."""
    status = status_of(info.last.body)
    if status == "open" or (status == "held" and await runs.has_message(info.run_id)):
        known = "working"
    else:
        known = {"held": "input_required", "interrupted": "cancelled"}.get(status, "completed")
        known = "failed" if status in {"bound", "failed", "refused"} else known
    return _task_json(
        info.run_id, known, status, info.first.at, info.last.at, "ttl", "pollInterval"
    )


def _task_json(
    run_id: str, status: str, message: str, created: int, updated: int, ttl: str, poll: str
) -> dict[str, Any]:
    return {
        "taskId": run_id,
        "status": status,
        "statusMessage": message,
        "createdAt": _time(created),
        "lastUpdatedAt": _time(updated),
        ttl: None,  # a record is kept until somebody deletes it
        poll: _POLL,
    }


def _time(at: int) -> str:
    return datetime.fromtimestamp(at / 1000, UTC).isoformat(timespec="milliseconds")


def _progress_message(record: Trajectory) -> str:
    if not record.steps:
        return "waiting for its turn"
    names = ", ".join(call.action.name for call in record.step.calls)
    return f"step {len(record.steps)}: {names or 'the answer'}"


def _as_json(value: types.CallToolResult | types.ElicitRequest) -> dict[str, Any]:
    return value.model_dump(by_alias=True, mode="json", exclude_none=True)
