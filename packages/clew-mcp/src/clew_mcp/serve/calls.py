"""`tools/call`: one call is one run.

The call waits for its run. If the client disconnects, the run continues; if the client cancels the
call, the run is cancelled. The person at the client rules on held calls, if the client has forms.
"""

from collections import OrderedDict
from typing import Any, Final, TypeAlias

import mcp_types as types
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from clew import ConfigError, Entry, PendingApproval, Question, Trajectory, result_of
from clew.interfaces import Thought
from clew_mcp.serve.approvals import (
    apply_response,
    apply_responses,
    approval_form,
    can_ask,
    input_requests,
)
from clew_mcp.serve.questions import is_asked, read_question
from clew_mcp.serve.results import error_result, failure_result, result_of_run
from clew_mcp.serve.runs import ClientRuns
from clew_mcp.serve.tasks import RELATED, TASKS_IN_CORE, declares_tasks, state_of

Context: TypeAlias = ServerRequestContext[ClientRuns]
_Key: TypeAlias = tuple[int, types.RequestId]

_KEPT: Final = 1_000
"""The calls of disconnected clients that are remembered, in case a cancellation follows."""


class CallHandler:
    """Answers calls, and tracks the run that each one waits for."""

    def __init__(self) -> None:
        self._waiting: OrderedDict[_Key, str] = OrderedDict()

    async def call(
        self, ctx: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult | dict[str, Any]:
        """Answer a call: with its result, a form (stateless era), or a task (where declared)."""
        runs = ctx.lifespan_context
        try:
            question = _parse_question(runs, params)
        except ConfigError as error:
            return error_result(str(error))
        try:
            if params.request_state is not None:
                run_id = await _continue_run(runs, params, question)
            else:
                run_id = await runs.begin(params.name, question)
        except ConfigError as error:
            return error_result(str(error))
        if params.request_state is None and declares_tasks(ctx):
            return {"resultType": "task", **(await state_of(runs, run_id)).as_extension_task()}
        return await self._await_result(ctx, run_id)

    async def middleware(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        """Answer a call made as a task (2025-11-25), and handle cancellations.

        The SDK checks the result of `tools/call` against a schema that has no tasks; a middleware
        answers for itself.
        """
        if ctx.method == "notifications/cancelled" and ctx.params is not None:
            await self._cancel(ctx)
        if ctx.method != "tools/call" or ctx.protocol_version not in TASKS_IN_CORE:
            return await call_next(ctx)
        params = types.CallToolRequestParams.model_validate(ctx.params or {}, by_name=False)
        if params.task is None:
            return await call_next(ctx)
        runs = ctx.lifespan_context
        try:
            run_id = await runs.begin(params.name, _parse_question(runs, params))
        except ConfigError as error:
            raise MCPError(types.INVALID_PARAMS, str(error)) from error
        state = await state_of(runs, run_id)
        return {"task": state.as_core_task(), "_meta": {RELATED: {"taskId": run_id}}}

    async def _await_result(
        self, ctx: Context, run_id: str
    ) -> types.CallToolResult | types.InputRequiredResult:
        key = _key(ctx, ctx.request_id or 0)
        self._waiting[key] = run_id
        while len(self._waiting) > _KEPT:
            self._waiting.popitem(last=False)
        result = await wait_for_result(ctx, run_id)
        self._waiting.pop(key, None)  # kept if the client is gone: a cancellation may follow
        return result

    async def _cancel(self, ctx: Context) -> None:
        request = (ctx.params or {}).get("requestId")
        if isinstance(request, str | int):
            run_id = self._waiting.pop(_key(ctx, request), None)
            if run_id is not None:
                await ctx.lifespan_context.cancel(run_id)


def _key(ctx: Context, request: types.RequestId) -> _Key:
    """A request of a connection; stateless connections that can cancel are one, on stdio."""
    stateless = ctx.protocol_version in MODERN_PROTOCOL_VERSIONS
    return (0 if stateless else id(ctx.session.client_params), request)


def _parse_question(runs: ClientRuns, params: types.CallToolRequestParams) -> Question:
    """The question of a call. Raises `MCPError` for an unknown tool, `ConfigError` for the rest."""
    if params.name not in runs.agents:
        raise MCPError(types.INVALID_PARAMS, f"Unknown tool: {params.name}")
    return read_question(params.arguments or {}, runs.longest)


async def _continue_run(
    runs: ClientRuns, params: types.CallToolRequestParams, question: Question
) -> str:
    """The run that a repeated call continues, after applying the answers that it carries.

    The request state is the run's id. It needs no signature: it grants nothing that a call with the
    same question to the same tool would not.
    """
    record, served = await runs.find(params.request_state or "")
    if served.name != params.name or not is_asked(record.started, question):
        message = "the request state is of another call"
        raise ConfigError(message)
    waiting = (await state_of(runs, record.run_id)).waiting
    await apply_responses(runs.store, waiting, params.input_responses or {})
    return record.run_id


async def wait_for_result(
    ctx: Context, run_id: str, *, patient: bool = False
) -> types.CallToolResult | types.InputRequiredResult:
    """Wait for the run, report its progress, and ask the client to rule on held calls.

    A `patient` wait ends only with the run, not on a failure or a held call.
    """
    runs = ctx.lifespan_context
    progress = _ClientProgress(ctx, run_id)
    while True:
        trouble = await runs.wait(run_id, progress.entry, progress.seen)
        state = await state_of(runs, run_id)
        if state.status == "working" or state.record.stop is None:
            if trouble and not patient:
                return failure_result(run_id, trouble, runs.store_location)
        elif state.status != "input_required":
            return await _result(runs, state.record)
        elif asked := await _ask(ctx, state.waiting, run_id, task=patient):
            if isinstance(asked, types.InputRequiredResult):
                return asked
            continue
        elif not patient:
            return await _result(runs, state.record)
        await runs.wait_for_news()


async def _result(runs: ClientRuns, record: Trajectory) -> types.CallToolResult:
    _, served = await runs.find(record.run_id)
    result = await result_of(served.agent, record.run_id, store=runs.store)
    return result_of_run(record, result, runs.store_location)


async def _ask(
    ctx: Context, waiting: tuple[PendingApproval, ...], run_id: str, *, task: bool
) -> types.InputRequiredResult | bool:
    """Ask the person at the client to rule on held calls; whether there was any ruling."""
    if not waiting or not can_ask(ctx.session.client_capabilities):
        return False
    if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
        if declares_tasks(ctx):
            return False
        return types.InputRequiredResult(
            input_requests={**input_requests(waiting)}, request_state=run_id
        )
    ruled = False
    for each in waiting:
        asked = approval_form(each)
        if task:
            asked = asked.model_copy(update={"meta": {RELATED: {"taskId": run_id}}})
        try:
            response = await ctx.session.send_request(
                types.ElicitRequest(params=asked),
                types.ElicitResult,
                metadata=ServerMessageMetadata(related_request_id=ctx.request_id),
            )
            ruled = await apply_response(ctx.lifespan_context.store, each, response) or ruled
        except (MCPError, ConfigError):  # the client cannot, or someone else ruled first
            return False
    return ruled


class _ClientProgress:
    """Reports progress to the client: one unit per entry, one message per step."""

    def __init__(self, ctx: Context, run_id: str) -> None:
        self._ctx = ctx
        self._run_id = run_id
        self._step = 0
        self.seen = 0

    async def entry(self, entry: Entry) -> None:
        """Report an entry of the record."""
        self.seen = entry.seq
        message = None
        if isinstance(entry.event, Thought):
            self._step += 1
            names = ", ".join(action.name for action in entry.event.actions)
            message = f"step {self._step}: {names or 'the answer'}"
        elif entry.seq == 1:
            message = f"run {self._run_id}"
        if message is not None:
            await self._ctx.session.report_progress(entry.seq, None, message)
