"""A call of a server's tool."""

from functools import partial
from typing import Any, Final

import anyio
import mcp_types as types
from mcp.shared.exceptions import MCPError

from clew import Observation
from clew.interfaces import Json, Trust
from clew_mcp.connection import Connection
from clew_mcp.outcomes import ServerFailed
from clew_mcp.pending_requests import PendingRequest, Request
from clew_mcp.raw import raw_result
from clew_mcp.results import observation_of
from clew_mcp.settings import printable
from clew_mcp.tasks import TaskHandle, answers, began, begin, wait_for

_MAX_ROUNDS: Final = 10
"""How often a server may ask something in one call, as in the SDK."""

_STATE_ONLY: Final = 0.05
"""Seconds before a call is made again that the server only wants repeated, as in the SDK."""


def tool_call(
    connection: Connection, tool: str, args: dict[str, Json], trust: Trust, *, wants_task: bool
) -> Request:
    """Call a tool, as a task if it wants one; a call that is a task already is asked for."""
    return _ToolCall(connection, tool, args, trust, wants_task=wants_task).request


class _ToolCall:
    """The call, and what may follow upon its first result."""

    def __init__(
        self,
        connection: Connection,
        tool: str,
        args: dict[str, Json],
        trust: Trust,
        *,
        wants_task: bool,
    ) -> None:
        self._connection = connection
        self._tool = tool
        self._args = args
        self._trust: Trust = trust
        self._wants_task = wants_task
        self._rounds = 0

    async def request(self, pending: PendingRequest) -> Observation | Request:
        """Make the call; what may have to wait for a person is returned as another request."""
        if pending.task or (self._wants_task and self._connection.has_tasks):
            return self._task
        return await self._call(pending)

    def _observed(self, result: dict[str, Json]) -> Observation:
        """A result as an observation."""
        schema = self._connection.output_schema(self._tool)
        return observation_of(result, self._trust, self._tool, schema)

    async def _call(
        self,
        pending: PendingRequest,
        responses: types.InputResponses | None = None,
        state: str | None = None,
    ) -> Observation | Request:
        """Make the call, with what was answered to the server's questions in it."""
        result = await self._send(pending, responses, state)
        kind = result.get("resultType") if self._connection.modern else None
        if kind == "input_required":
            self._rounds += 1
            if self._rounds > _MAX_ROUNDS:
                message = f"it asked something {_MAX_ROUNDS} times in one call"
                raise ServerFailed(message)
            asked = types.InputRequiredResult.model_validate(result, by_name=False)
            return partial(self._answer, asked)
        if kind == "task":
            handle = TaskHandle.model_validate(result, by_name=False)
            await began(pending, handle.task_id)
            return self._task
        return self._observed(result)

    async def _send(
        self, pending: PendingRequest, responses: types.InputResponses | None, state: str | None
    ) -> dict[str, Json]:
        """Send the call; once more where the server wants headers of a list that is not known."""
        params = types.CallToolRequestParams(
            name=self._tool, arguments=self._args, input_responses=responses, request_state=state
        )
        request, connection = types.CallToolRequest(params=params), self._connection

        async def send() -> dict[str, Json]:
            headers = connection.headers(self._tool, self._args)
            return await raw_result(
                connection.client.session, request, headers=headers, progress=_progress(pending)
            )

        try:
            return await send()
        except MCPError as error:
            if error.code != types.HEADER_MISMATCH or not connection.modern:
                raise
            await connection.listing()
            return await send()

    async def _answer(
        self, asked: types.InputRequiredResult, pending: PendingRequest
    ) -> Observation | Request:
        """Answer what the server asks, and make the call again."""
        if not asked.input_requests:
            await anyio.sleep(_STATE_ONLY)
        responses = await answers(self._connection.client.session, asked.input_requests or {})
        return await self._call(pending, responses or None, asked.request_state)

    async def _task(self, pending: PendingRequest) -> Observation:
        session = self._connection.client.session
        if not pending.task:
            await began(pending, await begin(session, self._tool, self._args))
        return self._observed(await wait_for(session, pending.task, pending))


def _progress(pending: PendingRequest) -> Any:
    async def heard(progress: float, total: float | None, message: str | None) -> None:
        share = f"{progress:g} of {total:g}" if total else f"{progress:g}"
        pending.context.progress(f"{printable(message)} ({share})" if message else share)

    return heard
