"""Calls that go on as tasks at their server, and can be asked for again after a crash.

In the handshake era (2025-11-25) the client asks for a task, and `tasks/result` waits for its end.
In the stateless era the server decides (the extension `io.modelcontextprotocol/tasks`, SEP-2663),
and the client asks from time to time with `tasks/get`.
"""

from collections.abc import Sequence
from typing import Any, Final, Literal

import anyio
import mcp_types as types
from mcp.client.extension import ClaimContext, ClientExtension, ResultClaim
from mcp.client.session import ClientRequestContext, ClientSession
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from typing_extensions import override

from clew.interfaces import Json
from clew_mcp.outcomes import NOT_REACHED, SESSION_LOST, SESSION_OVER, TaskLost
from clew_mcp.pending_requests import OVER, PENDING, PendingRequest
from clew_mcp.raw import raw_result, send_raw
from clew_mcp.settings import printable

EXTENSION: Final = "io.modelcontextprotocol/tasks"

_MIN_POLL_SECONDS: Final = 0.05
_USUAL: Final = 1.0
_MAX_POLL_SECONDS: Final = 30.0
"""Seconds between two questions after a task, whatever the server suggests."""


class TaskHandle(types.Result):
    """A task in the place of a result."""

    result_type: Literal["task"] = "task"
    task_id: str
    poll_interval_ms: int | None = None


class _State(types.Result):
    """What `tasks/get` says, in either era."""

    status: types.TaskStatus
    status_message: str | None = None
    poll_interval_ms: int | None = None
    input_requests: types.InputRequests | None = None
    result: dict[str, Any] | None = None
    error: types.ErrorData | None = None


class _Id(types.RequestParams):
    task_id: str


class _Get(types.Request[_Id, Literal["tasks/get"]]):
    method: Literal["tasks/get"] = "tasks/get"
    params: _Id
    name_param = "taskId"


class _Answers(_Id):
    input_responses: types.InputResponses


class _Update(types.Request[_Answers, Literal["tasks/update"]]):
    method: Literal["tasks/update"] = "tasks/update"
    params: _Answers
    name_param = "taskId"


class TasksExtension(ClientExtension):
    """Says that this client can wait for tasks, and waits for those that a server begins."""

    identifier = EXTENSION

    @override
    def claims(self) -> Sequence[ResultClaim[Any]]:
        return (ResultClaim(result_type="task", model=TaskHandle, resolve=self._resolve),)

    async def _resolve(self, handle: TaskHandle, context: ClaimContext) -> types.CallToolResult:
        pending = PENDING.get()
        await began(pending, handle.task_id)
        state = await wait_for(context.session, handle.task_id, pending)
        return types.CallToolResult.model_validate(state, by_name=False)


async def began(pending: PendingRequest, task: str) -> None:
    """Put the id of the task on record, before anything is waited for."""
    pending.task = task
    await pending.context.begun(task)


async def begin(session: ClientSession, name: str, args: dict[str, Json]) -> str:
    """Ask a server of the handshake era to make the call as a task; returns the task's id."""
    params: dict[str, Json] = {"name": name, "arguments": args, "task": {}}
    raw = await send_raw(session, {"method": "tools/call", "params": params})
    return types.CreateTaskResult.model_validate(raw, by_name=False).task.task_id


async def wait_for(session: ClientSession, task: str, pending: PendingRequest) -> dict[str, Json]:
    """The result of a task. Raises `TaskLost` where there will be none."""
    try:
        if session.protocol_version in MODERN_PROTOCOL_VERSIONS:
            return await _poll(session, task, pending)
        request = types.GetTaskPayloadRequest(
            params=types.GetTaskPayloadRequestParams(task_id=task)
        )
        return await raw_result(session, request)
    except MCPError as error:
        if error.code in {*OVER, NOT_REACHED, SESSION_LOST, SESSION_OVER}:
            raise
        message = f"the server says of the task {printable(task)}: {printable(error.message)}"
        raise TaskLost(message) from error


async def _poll(session: ClientSession, task: str, pending: PendingRequest) -> dict[str, Json]:
    answered: set[str] = set()
    while True:
        state = await session.send_request(_Get(params=_Id(task_id=task)), _State)
        if state.status == "completed":
            return state.result or {}
        if state.status in ("failed", "cancelled"):
            message = state.error.message if state.error else state.status_message
            why = message or f"it was {state.status}"
            raise TaskLost(f"the task {printable(task)} is over: {printable(why)}")
        if state.status_message:
            pending.context.progress(printable(state.status_message))
        asked = {
            key: request
            for key, request in (state.input_requests or {}).items()
            if key not in answered
        }
        if asked:
            await _answer(session, task, asked)
            answered |= asked.keys()
        else:
            await anyio.sleep(_interval(state.poll_interval_ms))


async def _answer(session: ClientSession, task: str, asked: types.InputRequests) -> None:
    """Answer what a task asks."""
    responses = await answers(session, asked)
    update = _Update(params=_Answers(task_id=task, input_responses=responses))
    await session.send_request(update, types.EmptyResult)


async def answers(session: ClientSession, asked: types.InputRequests) -> types.InputResponses:
    """The answers to a server's questions, one after the other. Raises `MCPError` for a refusal."""
    responses: types.InputResponses = {}
    for key, request in asked.items():
        context = ClientRequestContext(session=session, request_id=key)
        response = await session.dispatch_input_request(context, request)
        if isinstance(response, types.ErrorData):
            raise MCPError.from_error_data(response)
        responses[key] = response
    return responses


def _interval(suggested: int | None) -> float:
    return min(
        max(_USUAL if suggested is None else suggested / 1000, _MIN_POLL_SECONDS), _MAX_POLL_SECONDS
    )
