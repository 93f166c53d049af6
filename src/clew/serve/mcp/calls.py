"""`tools/call`: one call is one run.

The call waits for its run. If the client leaves, the run goes on; if the client cancels the call,
the run is cancelled. A held call is put to the person at the client, if the client can.
"""

from collections import OrderedDict
from typing import Any, Final, TypeAlias

import mcp_types as types
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from clew.api import result_of
from clew.core.errors import ConfigError
from clew.core.events import Entry, Thought
from clew.core.pending import PendingApproval
from clew.core.trajectory import Trajectory
from clew.serve.mcp.answers import refused, result_of_run, result_of_trouble
from clew.serve.mcp.approvals import apply, apply_all, can_ask, form, input_requests
from clew.serve.mcp.runs import Runs
from clew.serve.mcp.tasks import RELATED, TASKS_IN_CORE, declares_tasks, state_of

Context: TypeAlias = ServerRequestContext[Runs]
_Key: TypeAlias = tuple[int, types.RequestId]

_KEPT: Final = 1_000
"""So many calls whose client is gone are remembered, in case that it cancelled them."""


class Calls:
    """Answers calls, and knows which run each one waits for."""

    def __init__(self) -> None:
        self._waiting: OrderedDict[_Key, str] = OrderedDict()

    async def call(
        self, ctx: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult | dict[str, Any]:
        """Answer a call: with its result, a form (stateless era), or a task (where declared)."""
        runs = ctx.lifespan_context
        try:
            question = _question(runs, params)
        except ConfigError as error:
            return refused(str(error))
        try:
            if params.request_state is not None:
                run_id = await _continued(runs, params, question)
            else:
                run_id = await runs.begin(params.name, question)
        except ConfigError as error:
            return refused(str(error))
        if params.request_state is None and declares_tasks(ctx):
            return {"resultType": "task", **(await state_of(runs, run_id)).in_extension()}
        return await self._until_result(ctx, run_id)

    async def middleware(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        """Answer a call that is to be a task (2025-11-25), and hear which calls are cancelled.

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
            run_id = await runs.begin(params.name, _question(runs, params))
        except ConfigError as error:
            raise MCPError(types.INVALID_PARAMS, str(error)) from error
        state = await state_of(runs, run_id)
        return {"task": state.in_core(), "_meta": {RELATED: {"taskId": run_id}}}

    async def _until_result(
        self, ctx: Context, run_id: str
    ) -> types.CallToolResult | types.InputRequiredResult:
        key = _key(ctx, ctx.request_id or 0)
        self._waiting[key] = run_id
        while len(self._waiting) > _KEPT:
            self._waiting.popitem(last=False)
        found = await finished(ctx, run_id)
        self._waiting.pop(key, None)  # where the client is gone, a cancellation may still come
        return found

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


def _question(runs: Runs, params: types.CallToolRequestParams) -> str:
    """The question of a call. Raises `MCPError` for an unknown tool, `ConfigError` for the rest."""
    if params.name not in runs.agents:
        raise MCPError(types.INVALID_PARAMS, f"Unknown tool: {params.name}")
    given = dict(params.arguments or {})
    question = given.pop("question", None)
    if not isinstance(question, str) or given:
        message = "give one argument, the text `question`"
        raise ConfigError(message)
    if len(question) > runs.longest:
        message = f"the question has {len(question):,} characters, and may have {runs.longest:,}"
        raise ConfigError(message)
    return question


async def _continued(runs: Runs, params: types.CallToolRequestParams, question: str) -> str:
    """The run that a repeated call goes on with, after the answers that it brings are applied.

    The state names the run. It needs no seal: it opens nothing that a call with the same question
    to the same tool would not.
    """
    record, served = await runs.find(params.request_state or "")
    if served.name != params.name or record.goal != question:
        message = "the request state is of another call"
        raise ConfigError(message)
    waiting = (await state_of(runs, record.run_id)).waiting
    await apply_all(runs.store, waiting, params.input_responses or {})
    return record.run_id


async def finished(
    ctx: Context, run_id: str, *, patient: bool = False
) -> types.CallToolResult | types.InputRequiredResult:
    """Wait for the run with its progress shown, and with held calls put to the client.

    A `patient` wait ends only with the run: held calls and trouble are waited out.
    """
    runs = ctx.lifespan_context
    progress = _Progress(ctx, run_id)
    while True:
        trouble = await runs.wait(run_id, progress.entry, progress.seen)
        state = await state_of(runs, run_id)
        if state.status == "working" or state.record.stop is None:
            if trouble and not patient:
                return result_of_trouble(run_id, trouble, runs.place)
        elif state.status != "input_required":
            return await _result(runs, state.record)
        elif asked := await _ask(ctx, state.waiting, run_id, task=patient):
            if isinstance(asked, types.InputRequiredResult):
                return asked
            continue
        elif not patient:
            return await _result(runs, state.record)
        await runs.rest()


async def _result(runs: Runs, record: Trajectory) -> types.CallToolResult:
    _, served = await runs.find(record.run_id)
    found = await result_of(served.agent, record.run_id, store=runs.store)
    return result_of_run(record, found, runs.place)


async def _ask(
    ctx: Context, waiting: tuple[PendingApproval, ...], run_id: str, *, task: bool
) -> types.InputRequiredResult | bool:
    """Put what is held to the person at the client: whether any of it was ruled on."""
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
        asked = form(each)
        if task:
            asked = asked.model_copy(update={"meta": {RELATED: {"taskId": run_id}}})
        try:
            said = await ctx.session.send_request(
                types.ElicitRequest(params=asked),
                types.ElicitResult,
                metadata=ServerMessageMetadata(related_request_id=ctx.request_id),
            )
            ruled = await apply(ctx.lifespan_context.store, each, said) or ruled
        except (MCPError, ConfigError):  # it cannot, or somebody else was faster
            return False
    return ruled


class _Progress:
    """Tells the client how far its run is: an entry is a unit, a step has a line of text."""

    def __init__(self, ctx: Context, run_id: str) -> None:
        self._ctx = ctx
        self._run_id = run_id
        self._step = 0
        self.seen = 0

    async def entry(self, entry: Entry) -> None:
        """Tell of an entry of the record."""
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
