"""The tool `run_code`: a program whose functions are the agent's other tools.

Each call of a function is a call of the step, as if the model had asked for it: judged, held for
approval, recorded. The program waits for it. What it needs to go on is on record, so it goes on
after a crash, or after days, where it was.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from clew import Call, Observation, Tool, ToolError
from clew.core.codes import RUN_CODE
from clew.core.tools import AnyTool
from clew.interfaces import CALL, Action, CallContext, Json, Suspended, ToolSpec
from clew.tools import Attempts, DependentTool
from clew_code.codec.functions import functions
from clew_code.programs.bare_calls import with_printed_calls
from clew_code.programs.functions import action, result, same
from clew_code.programs.interface import (
    CodeLimits,
    Executor,
    Finished,
    PendingCall,
    ProgramFailed,
    ProgramState,
    Raised,
)
from clew_code.programs.report import call_line, report
from clew_code.programs.saved_program import (
    SavedProgram,
    encode_saved,
    ended,
    programs_before,
    read_saved,
)
from clew_code.programs.sessions import OpenSession, SessionPosition, Sessions

MISTAKES: Final = 100
"""How often a program may call a function in a way that is no call."""

STARTING: Final = 20.0
"""Seconds that a call gets beyond what its program may work."""


def code_tool(executor: Executor, limits: CodeLimits | None = None) -> Tool:
    """The tool `run_code`, whose programs run in this executor within these limits."""
    return _tool(executor, CodeLimits() if limits is None else limits, ())


def _tool(executor: Executor, limits: CodeLimits, tools: Sequence[AnyTool]) -> Tool:
    known = functions(tools)
    names = ", ".join(name for name, tool in known.items() if not tool.hidden)
    return DependentTool(
        RUN_CODE,
        "Run a Python program. The other tools are functions in it"
        f"{f' ({names})' if names else ''}; variables stay for the next program. You see what it "
        "prints, and the value of its last line.",
        {
            "type": "object",
            "properties": {"code": {"type": "string", "description": "The program"}},
            "required": ["code"],
            "additionalProperties": False,
        },
        call=_Programs(executor, limits, known).call,
        effect="pure",
        attempts=Attempts(timeout=limits.seconds + STARTING),
        among=lambda others: _tool(executor, limits, others),
    )


class _Programs:
    """Runs the programs of an agent's runs. Its sessions can be opened again from the record."""

    def __init__(
        self, executor: Executor, limits: CodeLimits, known: Mapping[str, ToolSpec]
    ) -> None:
        self.executor, self.limits, self.known = executor, limits, known
        self.sessions = Sessions(executor, limits, tuple(known))

    async def call(self, args: dict[str, Json], key: str) -> Suspended | Observation:
        """Begin a program, or go on with it, until it calls a tool or ends."""
        if (context := CALL.get()) is None:
            raise ToolError("a program calls tools of a run: make the call in one")
        run_id, _, position = key.rpartition(":")
        work = _ProgramWork(self, context, run_id, context.record.call(position), str(args["code"]))
        try:
            return await work.proceed()
        except BaseException:  # cut off midway: only what is on record counts
            await self.sessions.close(run_id)
            raise


class _ProgramWork:
    """One part of a program's work: from its start or the result of a call, to the next call."""

    def __init__(
        self, programs: _Programs, context: CallContext, run_id: str, call: Call, code: str
    ) -> None:
        self.programs, self.sessions = programs, programs.sessions
        self.context, self.run_id, self.own_call, self.code = context, run_id, call, code
        self.remarks: list[str] = []

    async def proceed(self) -> Suspended | Observation:
        """Start or continue the program; stop at its next call of a tool, or at its end."""
        self._refuse_another()
        opened = await self.sessions.acquire(self.run_id)
        try:
            if ended(self.own_call):
                return await self._final_observation(opened)
            if self.own_call.suspended is None:
                opened = await self._session_with_variables(opened)
                opened.printed, opened.remarks, opened.end = "", [], None
                reached = await self._start(opened, self.code)
            else:
                opened = await self._session_at_call(opened)
                reached = await opened.session.resume(result(self.own_call.asked[-1]))
            return await self._suspended(opened, reached)
        finally:
            await self.sessions.release(self.run_id)

    async def _start(self, opened: OpenSession, code: str) -> ProgramState:
        """Start a program, whose bare calls print what they give."""
        return await opened.session.start(with_printed_calls(code, self.programs.known))

    def _refuse_another(self) -> None:
        """Raise `ToolError` for a second program of a step: both would have the same variables."""
        step = self.context.record.step
        first = next(call for call in step.calls if call.action.name == RUN_CODE)
        if first is not self.own_call:
            raise ToolError(f"{first.key} is a program too: run one program in a step")

    async def _suspended(self, opened: OpenSession, reached: ProgramState) -> Suspended:
        """What to record now that the program has stopped: a call that it waits for, or its end."""
        asked, reached = await self._next_call(opened, reached)
        opened.printed += opened.session.printed()
        opened.remarks += self.remarks
        self.remarks = []
        number = len(self.own_call.asked) + 1
        if asked is None:
            return await self._finish(opened, reached)
        why = ""
        if number > self.programs.limits.calls:
            why = f"the program called tools {number - 1} times, and may not call them more often"
        elif self.context.left().seconds <= 0:
            why = "the time of this run is over"
        if why:
            return await self._finish(opened, ProgramFailed(why, lost=True))
        opened.position = SessionPosition(self.own_call.key, number)
        name, dump = self.programs.executor.name, await opened.session.dump()
        saved = SavedProgram(name, dump, opened.printed, remarks=opened.remarks)
        return Suspended(actions=(asked,), state=encode_saved(saved))

    async def _next_call(
        self, opened: OpenSession, reached: ProgramState
    ) -> tuple[Action | None, ProgramState]:
        """The next tool call, if the program makes one; wrong arguments raise `TypeError` in it."""
        for _ in range(MISTAKES):
            if not isinstance(reached, PendingCall):
                return None, reached
            try:
                return action(self.programs.known, reached), reached
            except TypeError as error:
                reached = await opened.session.resume(Raised("TypeError", str(error)))
        return None, ProgramFailed(
            "the program calls functions wrongly, again and again", lost=True
        )

    async def _finish(self, opened: OpenSession, reached: ProgramState) -> Suspended:
        """Record the end of a program: what the model is told of it, and its variables."""
        printed, remarks = opened.printed, opened.remarks
        lost = isinstance(reached, ProgramFailed) and reached.lost
        if lost:
            opened = await self._session_with_variables(await self.sessions.reopen(self.run_id))
        outcome = reached if isinstance(reached, Finished | ProgramFailed) else Finished()
        text = report(self.own_call, printed, outcome, remarks, self.programs.limits.output)
        ok = not isinstance(reached, ProgramFailed)
        opened.position, opened.end = (
            SessionPosition(self.own_call.key, len(self.own_call.asked), ended=True),
            _observation(text, ok),
        )
        name, dump = self.programs.executor.name, await opened.session.dump()
        return Suspended(state=encode_saved(SavedProgram(name, dump, printed, text, ok, lost)))

    async def _final_observation(self, opened: OpenSession) -> Observation:
        """The result of a program that has ended: from its session, the record, or a rerun."""
        position = SessionPosition(self.own_call.key, len(self.own_call.asked), ended=True)
        if opened.position == position and opened.end is not None:
            return opened.end
        saved = await read_saved(self.context, self.own_call)
        if isinstance(saved, SavedProgram):
            return _observation(saved.text, saved.ok)
        opened = await self._session_with_variables(await self.sessions.reopen(self.run_id))
        reached = await self._rerun(opened, self.own_call, self.code, self.own_call.asked)
        opened.remarks = self.remarks
        await self._finish(opened, reached)
        return opened.end or _observation("", ok=True)

    # ------------------------------------------------------- a session in the state that is needed

    async def _session_at_call(self, opened: OpenSession) -> OpenSession:
        """A session of this program that waits for the result of its last call."""
        position = SessionPosition(self.own_call.key, len(self.own_call.asked))
        if opened.position == position:
            return opened
        saved = await read_saved(self.context, self.own_call)
        why = saved if isinstance(saved, str) else ""
        opened = await self.sessions.reopen(self.run_id)
        if isinstance(saved, SavedProgram):
            if await self._load(opened, saved):
                opened.position, opened.printed, opened.remarks = (
                    position,
                    saved.printed,
                    saved.remarks,
                )
                return opened
            why = f"{self.programs.executor.name} cannot load what {saved.executor} kept of it"
            opened = await self.sessions.reopen(self.run_id)
        opened = await self._session_with_variables(opened)
        *gave, last = self.own_call.asked
        reached = await self._rerun(opened, self.own_call, self.code, gave)
        await self._compare(opened, self.own_call, reached, last)
        self.remarks.append(f"{why}: it was run anew over the recorded observations")
        opened.position = position
        return opened

    async def _session_with_variables(self, opened: OpenSession) -> OpenSession:
        """A session with the variables that programs of earlier steps left."""
        earlier = list(programs_before(self.context.record, self.own_call, RUN_CODE))
        if not earlier:
            return opened if opened.position is None else await self.sessions.reopen(self.run_id)
        last = earlier[-1]
        if opened.position == SessionPosition(last.key, len(last.asked), ended=True):
            return opened
        if opened.position is not None:
            opened = await self.sessions.reopen(self.run_id)
        saved = await read_saved(self.context, last)
        if isinstance(saved, SavedProgram) and await self._load(opened, saved):
            return opened
        return await self._rerun_earlier(earlier)

    async def _rerun_earlier(self, earlier: Sequence[Call]) -> OpenSession:
        """The variables of earlier programs, by running these anew over what is on record."""
        opened = await self.sessions.reopen(self.run_id)
        try:
            for call in earlier:
                saved = await read_saved(self.context, call)
                if isinstance(saved, str) or not saved.lost:
                    await self._rerun(opened, call, str(call.args.get("code", "")), call.asked)
        except ToolError as error:
            self.remarks.append(f"the variables of earlier programs are gone: {error}")
            opened = await self.sessions.reopen(self.run_id)
        opened.session.printed()
        return opened

    async def _load(self, opened: OpenSession, saved: SavedProgram) -> bool:
        name = self.programs.executor.name
        return saved.executor == name and bool(saved.dump) and await opened.session.load(saved.dump)

    async def _rerun(
        self, opened: OpenSession, call: Call, code: str, gave: Sequence[Call]
    ) -> ProgramState:
        """Run a program anew over recorded observations. Raises `ToolError` where it differs."""
        if call.redacted and call is not self.own_call:
            raise ToolError(f"{call.key} held a secret, which the record does not keep")
        opened.printed = ""
        reached = await self._start(opened, code)
        for one in gave:
            await self._compare(opened, call, reached, one)
            reached = await opened.session.resume(result(one))
        opened.printed += opened.session.printed()
        return reached

    async def _compare(
        self, opened: OpenSession, call: Call, reached: ProgramState, was: Call
    ) -> None:
        asked, _ = await self._next_call(opened, reached)
        opened.printed += opened.session.printed()
        if asked is not None and same(asked, was.action):
            return
        now = "ends" if asked is None else f"asks for {call_line(asked)}"
        raise ToolError(
            f"the program of {call.key} was run anew over the recorded observations, and {now} "
            f"where the record has {was.key}, {call_line(was.action)}: it cannot go on. What it "
            "had called is done; look at that before you call it again"
        )


def _observation(text: str, ok: bool) -> Observation:  # noqa: FBT001 - as in the record
    return Observation(content=text, ok=ok, code="" if ok else "tool_error")
