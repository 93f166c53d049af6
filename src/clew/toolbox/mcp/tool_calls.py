"""A call of a server's tool."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, Final

import anyio
import mcp_types as types
from mcp.shared.exceptions import MCPError

from clew.core.events import Json, Observation, Trust
from clew.toolbox.mcp.connection import Connection
from clew.toolbox.mcp.pending_requests import PendingRequest, Request
from clew.toolbox.mcp.results import observation_of
from clew.toolbox.mcp.settings import shown
from clew.toolbox.mcp.tasks import TaskHandle, answers, began, begin, wait_for

_BAD_OUTPUT: Final = ("Invalid structured content", "Invalid schema for tool")
_NO_OUTPUT: Final = "has an output schema but did not return structured content"

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

    async def request(self, pending: PendingRequest) -> Observation | Request:
        """Make the call; what may have to wait for a person is returned as another request."""
        if pending.task or (self._wants_task and self._connection.has_tasks):
            return partial(self._observed, self._task)
        return await self._observed(self._call, pending)

    async def _observed(
        self,
        made: Callable[[PendingRequest], Awaitable[types.CallToolResult | Request]],
        pending: PendingRequest,
    ) -> Observation | Request:
        """What came of it, as an observation."""
        try:
            result = await made(pending)
        except RuntimeError as error:
            if (problem := _bad_output(error)) is None:
                raise
            text = f"{self._tool} did what it did, and what came is unfit: {problem}"
            return Observation(content=f"ERROR: bad_output: {text}", ok=False, code="bad_output")
        if isinstance(result, types.CallToolResult):
            return observation_of(result, self._trust)
        return result

    async def _call(self, pending: PendingRequest) -> types.CallToolResult | Request:
        try:
            result = await self._connection.client.session.call_tool(
                self._tool,
                self._args,
                progress_callback=_progress(pending),
                allow_input_required=True,
                allow_claimed=True,
            )
        except MCPError as error:
            if error.code != types.HEADER_MISMATCH or not self._connection.modern:
                raise
            return partial(self._observed, self._go_on)  # the SDK asks for the list that it lacks
        match result:
            case types.CallToolResult():
                return result
            case types.InputRequiredResult():
                return partial(self._observed, partial(self._answer, result))
            case TaskHandle():
                await began(pending, result.task_id)
                return partial(self._observed, self._task)
            case _:  # pragma: no cover - the SDK knows no other result
                raise TypeError(type(result).__name__)

    async def _answer(
        self, asked: types.InputRequiredResult, pending: PendingRequest
    ) -> types.CallToolResult:
        """Answer what the server asks, and make the call again."""
        if not asked.input_requests:
            await anyio.sleep(_STATE_ONLY)
        given = await answers(self._connection.client.session, asked.input_requests or {})
        return await self._go_on(pending, given or None, asked.request_state)

    async def _go_on(
        self,
        pending: PendingRequest,
        given: types.InputResponses | None = None,
        state: str | None = None,
    ) -> types.CallToolResult:
        """Make the call with these answers; the SDK asks for more until it has a result."""
        return await self._connection.client.call_tool(
            self._tool,
            self._args,
            progress_callback=_progress(pending),
            input_responses=given,
            request_state=state,
        )

    async def _task(self, pending: PendingRequest) -> types.CallToolResult:
        session = self._connection.client.session
        if not pending.task:
            await began(pending, await begin(session, self._tool, self._args))
        found = await wait_for(session, pending.task, pending)
        if not found.is_error:
            await session.validate_tool_result(self._tool, found)
        return found


def _bad_output(error: RuntimeError) -> str | None:
    """What is wrong with a result, if the SDK says that its schema forbids it."""
    text = str(error).partition("\n")[0]
    return shown(text) if text.startswith(_BAD_OUTPUT) or _NO_OUTPUT in text else None


def _progress(pending: PendingRequest) -> Any:
    async def heard(progress: float, total: float | None, message: str | None) -> None:
        share = f"{progress:g} of {total:g}" if total else f"{progress:g}"
        pending.context.progress(f"{shown(message)} ({share})" if message else share)

    return heard
