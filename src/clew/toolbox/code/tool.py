"""The tool `run_code`: a program whose functions are the agent's other tools.

Each call of a function is a call of the step, as if the model had asked for it: judged, held for
approval, recorded. The program waits for it. What it needs to go on is on record, so it goes on
after a crash, or after days, where it was.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from clew.codecs.functions import RUN_CODE, functions
from clew.core.errors import ToolError
from clew.core.events import Action, Json, Observation, Suspended
from clew.core.interfaces import CALL, AnyTool, CallContext, Tool, ToolSpec
from clew.core.trajectory import Call
from clew.toolbox.code.functions import action, result, same
from clew.toolbox.code.interface import Asked, Came, CodeLimits, Executor, Failed, Finished, Raised
from clew.toolbox.code.kept import Kept, ended, kept_of, programs_before, state_of
from clew.toolbox.code.report import call_line, report
from clew.toolbox.code.sessions import Open, Place, Sessions

MISTAKES: Final = 100
"""How often a program may call a function in a way that is no call."""

STARTING: Final = 20.0
"""Seconds that a call gets beyond what its program may work."""


def code_tool(executor: Executor, limits: CodeLimits | None = None) -> Tool:
    """The tool `run_code`, whose programs run in this executor within these limits."""
    return _tool(executor, CodeLimits() if limits is None else limits, ())


def _tool(executor: Executor, limits: CodeLimits, tools: Sequence[AnyTool]) -> Tool:
    known = functions(tools)
    names = ", ".join(known)
    return Tool(
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
        timeout=limits.seconds + STARTING,
        among=lambda others: _tool(executor, limits, others),
    )


class _Programs:
    """Runs the programs of an agent's runs; it holds nothing but what can be opened again."""

    def __init__(
        self, executor: Executor, limits: CodeLimits, known: Mapping[str, ToolSpec]
    ) -> None:
        self.executor, self.limits, self.known = executor, limits, known
        self.sessions = Sessions(executor, limits, tuple(known))

    async def call(self, args: dict[str, Json], key: str) -> Suspended | Observation:
        """Begin a program, or go on with it, until it calls a tool or ends."""
        if (made := CALL.get()) is None:
            raise ToolError("a program calls tools of a run: make the call in one")
        run_id, _, place = key.rpartition(":")
        work = _Work(self, made, run_id, made.record.call(place), str(args["code"]))
        try:
            return await work.on()
        except (
            BaseException
        ):  # cut off in the midst of something: what is on record is all there is
            await self.sessions.close(run_id)
            raise


class _Work:
    """One stretch of one program: from its start, or from what a call gave, to the next call."""

    def __init__(
        self, programs: _Programs, made: CallContext, run_id: str, call: Call, code: str
    ) -> None:
        self.programs, self.sessions = programs, programs.sessions
        self.made, self.run_id, self.own, self.code = made, run_id, call, code
        self.remarks: list[str] = []

    async def on(self) -> Suspended | Observation:
        """Go on until the program calls a tool, or ends."""
        self._refuse_another()
        here = await self.sessions.of(self.run_id)
        try:
            if ended(self.own):
                return await self._ended(here)
            if self.own.suspended is None:
                here = await self._before(here)
                here.printed, here.remarks, here.end = "", [], None
                came = await here.session.start(self.code)
            else:
                here = await self._waiting(here)
                came = await here.session.resume(result(self.own.asked[-1]))
            return await self._next(here, came)
        finally:
            await self.sessions.rest(self.run_id)

    def _refuse_another(self) -> None:
        """Raise `ToolError` for a second program of a step: both would have the same variables."""
        step = self.made.record.step
        first = next(call for call in step.calls if call.action.name == RUN_CODE)
        if first is not self.own:
            raise ToolError(f"{first.key} is a program too: run one program in a step")

    async def _next(self, here: Open, came: Came) -> Suspended:
        """The call that the program asks for, or its end, for the record."""
        asked, came = await self._asked(here, came)
        here.printed += here.session.printed()
        here.remarks += self.remarks
        self.remarks = []
        number = len(self.own.asked) + 1
        if asked is None:
            return await self._end(here, came)
        why = ""
        if number > self.programs.limits.calls:
            why = f"the program called tools {number - 1} times, and may not call them more often"
        elif self.made.left().seconds <= 0:
            why = "the time of this run is over"
        if why:
            return await self._end(here, Failed(why, lost=True))
        here.place = Place(self.own.key, number)
        name, dump = self.programs.executor.name, await here.session.dump()
        kept = Kept(name, dump, here.printed, remarks=here.remarks)
        return Suspended(actions=(asked,), state=state_of(kept))

    async def _asked(self, here: Open, came: Came) -> tuple[Action | None, Came]:
        """The call that a function stands for; what is no call is an exception in the program."""
        for _ in range(MISTAKES):
            if not isinstance(came, Asked):
                return None, came
            try:
                return action(self.programs.known, came), came
            except TypeError as error:
                came = await here.session.resume(Raised("TypeError", str(error)))
        return None, Failed("the program calls functions wrongly, again and again", lost=True)

    async def _end(self, here: Open, came: Came) -> Suspended:
        """The end of a program: what came of it, and the variables that are left."""
        printed, remarks = here.printed, here.remarks
        lost = isinstance(came, Failed) and came.lost
        if lost:
            here = await self._before(await self.sessions.anew(self.run_id))
        shown = came if isinstance(came, Finished | Failed) else Finished()
        text = report(self.own, printed, shown, remarks, self.programs.limits.output)
        ok = not isinstance(came, Failed)
        here.place, here.end = Place(self.own.key, len(self.own.asked), ended=True), _seen(text, ok)
        name, dump = self.programs.executor.name, await here.session.dump()
        return Suspended(state=state_of(Kept(name, dump, printed, text, ok, lost)))

    async def _ended(self, here: Open) -> Observation:
        """What came of the program, which has ended: known here, on record, or found anew."""
        place = Place(self.own.key, len(self.own.asked), ended=True)
        if here.place == place and here.end is not None:
            return here.end
        kept = await kept_of(self.made, self.own)
        if isinstance(kept, Kept):
            return _seen(kept.text, kept.ok)
        here = await self._before(await self.sessions.anew(self.run_id))
        came = await self._again(here, self.own, self.code, self.own.asked)
        here.remarks = self.remarks
        await self._end(here, came)
        return here.end or _seen("", ok=True)

    # ----------------------------------------------------------- a session, where it has to be

    async def _waiting(self, here: Open) -> Open:
        """A session that waits for the last call that the program asked for."""
        place = Place(self.own.key, len(self.own.asked))
        if here.place == place:
            return here
        kept = await kept_of(self.made, self.own)
        why = kept if isinstance(kept, str) else ""
        here = await self.sessions.anew(self.run_id)
        if isinstance(kept, Kept):
            if await self._loads(here, kept):
                here.place, here.printed, here.remarks = place, kept.printed, kept.remarks
                return here
            why = f"{self.programs.executor.name} cannot load what {kept.executor} kept of it"
            here = await self.sessions.anew(self.run_id)
        here = await self._before(here)
        *gave, last = self.own.asked
        came = await self._again(here, self.own, self.code, gave)
        await self._compare(here, self.own, came, last)
        self.remarks.append(f"{why}: it was run anew over the recorded observations")
        here.place = place
        return here

    async def _before(self, here: Open) -> Open:
        """A session with the variables that programs of earlier steps left."""
        earlier = list(programs_before(self.made.record, self.own, RUN_CODE))
        if not earlier:
            return here if here.place is None else await self.sessions.anew(self.run_id)
        last = earlier[-1]
        if here.place == Place(last.key, len(last.asked), ended=True):
            return here
        if here.place is not None:
            here = await self.sessions.anew(self.run_id)
        kept = await kept_of(self.made, last)
        if isinstance(kept, Kept) and await self._loads(here, kept):
            return here
        return await self._rebuilt(earlier)

    async def _rebuilt(self, earlier: Sequence[Call]) -> Open:
        """The variables of earlier programs, by running these anew over what is on record."""
        here = await self.sessions.anew(self.run_id)
        try:
            for call in earlier:
                kept = await kept_of(self.made, call)
                if isinstance(kept, str) or not kept.lost:
                    await self._again(here, call, str(call.args.get("code", "")), call.asked)
        except ToolError as error:
            self.remarks.append(f"the variables of earlier programs are gone: {error}")
            here = await self.sessions.anew(self.run_id)
        here.session.printed()
        return here

    async def _loads(self, here: Open, kept: Kept) -> bool:
        name = self.programs.executor.name
        return kept.executor == name and bool(kept.dump) and await here.session.load(kept.dump)

    async def _again(self, here: Open, call: Call, code: str, gave: Sequence[Call]) -> Came:
        """Run a program anew over recorded observations. Raises `ToolError` where it differs."""
        if call.redacted and call is not self.own:
            raise ToolError(f"{call.key} held a secret, which the record does not keep")
        here.printed = ""
        came = await here.session.start(code)
        for one in gave:
            await self._compare(here, call, came, one)
            came = await here.session.resume(result(one))
        here.printed += here.session.printed()
        return came

    async def _compare(self, here: Open, call: Call, came: Came, was: Call) -> None:
        asked, _ = await self._asked(here, came)
        here.printed += here.session.printed()
        if asked is not None and same(asked, was.action):
            return
        now = "ends" if asked is None else f"asks for {call_line(asked)}"
        raise ToolError(
            f"the program of {call.key} was run anew over the recorded observations, and {now} "
            f"where the record has {was.key}, {call_line(was.action)}: it cannot go on. What it "
            "had called is done; look at that before you call it again"
        )


def _seen(text: str, ok: bool) -> Observation:  # noqa: FBT001 - as in the record
    return Observation(content=text, ok=ok, code="" if ok else "tool_error")
