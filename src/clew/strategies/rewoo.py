"""ReWOO: plan all tool calls beforehand, make them, and answer once from all results.

Xu et al., arXiv 2305.18323: planner, workers, solver. The model is asked twice, however many calls
there are; calls that do not need each other's results are made at once.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from clew.core.agent import Agent
from clew.core.events import Json, encode
from clew.core.interfaces import AnyTool
from clew.guards.limits import Limits
from clew.strategies.plan_and_solve import SOLVE
from clew.strategies.program import Ended, NoAnswerError, Runs
from clew.strategies.reflexion import asking
from clew.strategies.roles import Role
from clew.strategies.room import room
from clew.strategies.transcript import as_text
from clew.tools.schema import problems

PLAN: Final = (
    "You plan all tool calls that answer a task, before any is made. These are the tools, with "
    "their parameters:\n{tools}\nGive each call an id (E1, E2, …), and say why it is needed. Where "
    "an argument needs the result of another call, write #E1 in its place, or #E1.name for one "
    "field of a result that has fields. Plan at most {most} calls, and none that is not needed."
)
_REFERENCE: Final = re.compile(r"#(E\d+)((?:\.[A-Za-z_]\w*)*)")


class Planned(msgspec.Struct, frozen=True):
    """A planned call; texts among the arguments may refer to earlier results as #E1 or #E1.name."""

    id: str
    tool: str
    args: dict[str, Any]
    why: str = ""


class Calls(msgspec.Struct, frozen=True):
    """A plan of calls."""

    calls: list[Planned]


@dataclass(frozen=True)
class ReWOO:
    """The strategy `rewoo`: one plan of calls, the calls in parallel where they can be, one answer.

    A plan that cannot be carried out (a tool or #E that does not exist, arguments that do not fit,
    a circle, more than `most` calls) is made anew, at most `replans` times, with what was wrong. A
    call that fails is left to a run of the agent, which may find another way. `planner` answers
    with `Calls`.
    """

    agent: Agent
    planner: Agent | None = None
    most: int = 12
    replans: int = 1

    @property
    def name(self) -> str:
        return "rewoo"

    @property
    def params(self) -> Mapping[str, Json]:
        return {"most": self.most, "replans": self.replans}

    @property
    def _tools(self) -> dict[str, AnyTool]:
        return {tool.name: tool for tool in self.agent.tools if not tool.hidden}

    @property
    def defaults(self) -> Mapping[str, Agent]:
        """Who does what nobody else was given for."""
        lines = "\n".join(
            f"- {name}: {tool.description} {encode(tool.parameters).decode()}"
            for name, tool in self._tools.items()
        )
        return {"planner": asking(self.agent, PLAN.format(tools=lines, most=self.most), Calls)}

    @property
    def roles(self) -> Mapping[str, Role]:
        solver = Agent(self.agent.model, prompt=SOLVE, answer=self.agent.answer)
        return {
            **self._tools,
            "plan_calls": self.planner or self.defaults["planner"],
            "find_another_way": self.agent.replace(answer=str, checks=()),
            "solve": solver,
        }

    def widened(self, limits: Limits) -> Limits:
        """Room for another way to the result of each call."""
        return room(limits, self.most, self.most + self.replans + 2)

    async def __call__(self, runs: Runs, task: str) -> Json:
        """The answer. Raises `NoAnswerError` where no plan could be carried out."""
        calls, tools = await self._plan(runs, task), self._tools
        results: dict[str, str] = {}
        while left := [call for call in calls if call.id not in results]:
            ready = [call for call in left if _needs(call) <= results.keys()]
            runs.say(f"{', '.join(call.id for call in ready)} of {len(calls)} planned calls.")
            requests = [
                runs.call(call.tool, **_filled(tools[call.tool], call, results)) for call in ready
            ]
            ended = await runs.together(requests)
            for call, came in zip(ready, ended, strict=True):
                results[call.id] = came.text if came.ok else await _otherwise(runs, call, came)
        runs.say("All calls are made.")
        lines = [f"{call.id} ({call.why or call.tool}): {results[call.id]}" for call in calls]
        solved = await runs.run("solve", "\n".join([task, "", "Results:", *lines]))
        if not solved.ok:
            raise NoAnswerError(solved.text)
        return solved.answer

    async def _plan(self, runs: Runs, task: str) -> list[Planned]:
        problem = ""
        for _ in range(self.replans + 1):
            wrong = f"\n\nThe last plan could not be carried out: {problem}" if problem else ""
            runs.say(f"A new plan: {problem}" if problem else "First a plan of all calls.")
            planned = await runs.run("plan_calls", task + wrong)
            if not planned.ok:
                raise NoAnswerError(planned.text)
            calls = msgspec.convert(planned.answer, Calls).calls
            problem = self._wrong(calls)
            if not problem:
                return calls
        raise NoAnswerError(f"No plan of calls could be carried out: {problem}")

    def _wrong(self, calls: Sequence[Planned]) -> str:
        """Why a plan cannot be carried out, or ""."""
        if len(calls) > self.most:
            return f"it has {len(calls):,} calls, and may have {self.most}"
        tools = self._tools
        known: set[str] = set()
        ids = [call.id for call in calls]
        for call in calls:
            if call.tool not in tools:
                return f"{call.id} calls {call.tool!r}: there are {', '.join(sorted(tools))}"
            if strange := sorted(_needs(call) - {*ids}):
                return f"{call.id} needs #{strange[0]}, which is no call of the plan"
            if ids.count(call.id) > 1:
                return f"two calls are called {call.id}"
            if not _needs(call) and (bad := problems(tools[call.tool].parameters, call.args)):
                return f"{call.id} calls {call.tool} with other arguments than it takes: {bad[0]}"
        while fit := [c for c in calls if c.id not in known and _needs(c) <= known]:
            known |= {call.id for call in fit}
        if circle := [call.id for call in calls if call.id not in known]:
            waits = "wait for each other" if len(circle) > 1 else "waits for itself"
            return f"{', '.join(circle)} {waits}"
        return ""


async def _otherwise(runs: Runs, call: Planned, came: Ended) -> str:
    """What a run finds instead of a call that failed."""
    runs.say(f"{call.id} failed.")
    task = f"Find out: {call.why or call.tool}. {call.tool} was tried and failed: {came.text}"
    found = await runs.run("find_another_way", task)
    return found.text


def _needs(call: Planned) -> set[str]:
    """The ids of the calls whose results it needs."""
    return {found[0] for found in _REFERENCE.findall(encode(call.args).decode())}


def _filled(tool: AnyTool, call: Planned, results: Mapping[str, str]) -> dict[str, Json]:
    """The arguments with results in the place of references: as texts, where the tool takes such.

    Else what is nothing but a reference to a number, a list or the like becomes that.
    """
    as_texts: dict[str, Json] = _put(call.args, results, values=False)
    if not problems(tool.parameters, as_texts):
        return as_texts
    return _put(call.args, results, values=True)  # type: ignore[no-any-return]  # as it was given


def _put(value: Any, results: Mapping[str, str], *, values: bool) -> Any:
    if isinstance(value, str):
        alone = _REFERENCE.fullmatch(value)
        if values and alone is not None:
            return _referred(alone, results)
        return _REFERENCE.sub(lambda match: as_text(_referred(match, results)), value)
    if isinstance(value, dict):
        fields = msgspec.convert(value, dict[str, Any])
        return {key: _put(each, results, values=values) for key, each in fields.items()}
    if isinstance(value, list):
        return [_put(each, results, values=values) for each in msgspec.convert(value, list[Any])]
    return value


def _referred(reference: re.Match[str], results: Mapping[str, str]) -> Json:
    """What a reference stands for: a result, or a field of it; as it stands where there is none."""
    text, path = results[reference[1]], reference[2]
    try:
        found: Any = msgspec.json.decode(text)
    except msgspec.DecodeError:
        return text + path
    for name in path.split(".")[1:]:
        fields = msgspec.convert(found, dict[str, Any]) if isinstance(found, dict) else {}
        if name not in fields:
            return text + path
        found = fields[name]
    return found
