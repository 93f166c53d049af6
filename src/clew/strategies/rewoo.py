"""ReWOO: plan all tool calls in advance, make them, and answer once from all results.

Xu et al., arXiv 2305.18323: planner, workers, solver. The model is asked twice, however many
calls there are. Calls that do not depend on each other are made at once.
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
from clew.strategies.default_roles import solver, typed_agent, worker
from clew.strategies.interface import NoAnswerError, RoleResult, Runs
from clew.strategies.limits import scaled_limits
from clew.strategies.policy import base_agent
from clew.strategies.roles import Role
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
    """The strategy `rewoo`: one plan of calls, made in parallel where possible, and one answer.

    A plan that cannot be executed (an unknown tool or #E, invalid arguments, a cycle, more than
    `most` calls) goes back to the planner with the error, at most `replans` times. For a call that
    fails, a run of the agent looks for another way. `planner` answers with `Calls`.
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
        return {tool.name: tool for tool in base_agent(self.agent).tools if not tool.hidden}

    @property
    def defaults(self) -> Mapping[str, Agent]:
        """The agents used where none is given."""
        lines = "\n".join(
            f"- {name}: {tool.description} {encode(tool.parameters).decode()}"
            for name, tool in self._tools.items()
        )
        prompt = PLAN.format(tools=lines, most=self.most)
        return {"planner": typed_agent(self.agent, prompt, Calls)}

    @property
    def roles(self) -> Mapping[str, Role]:
        return {
            **self._tools,
            "plan_calls": self.planner or self.defaults["planner"],
            "find_another_way": worker(self.agent),
            "solve": solver(self.agent),
        }

    def extended_limits(self, limits: Limits) -> Limits:
        """Steps and calls for all planned calls, and for another way to the result of each."""
        return scaled_limits(limits, self.most, self.most + self.replans + 2)

    async def __call__(self, runs: Runs, task: str) -> Json:
        """The answer. Raises `NoAnswerError` if no plan can be executed."""
        calls, tools = await self._plan(runs, task), self._tools
        results: dict[str, str] = {}
        while left := [call for call in calls if call.id not in results]:
            ready = [call for call in left if _dependencies(call) <= results.keys()]
            runs.say(f"{', '.join(call.id for call in ready)} of {len(calls)} planned calls.")
            requests = [
                runs.call(call.tool, **_resolved_args(tools[call.tool], call, results))
                for call in ready
            ]
            ended = await runs.together(requests)
            for call, result in zip(ready, ended, strict=True):
                results[call.id] = (
                    result.text if result.ok else await _find_another_way(runs, call, result)
                )
        runs.say("All calls are made.")
        lines = [f"{call.id} ({call.why or call.tool}): {results[call.id]}" for call in calls]
        solved = await runs.run("solve", "\n".join([task, "", "Results:", *lines]))
        if not solved.ok:
            raise NoAnswerError(solved.problem)
        return solved.answer

    async def _plan(self, runs: Runs, task: str) -> list[Planned]:
        problem = ""
        for _ in range(self.replans + 1):
            wrong = f"\n\nThe last plan could not be carried out: {problem}" if problem else ""
            runs.say(f"A new plan: {problem}" if problem else "First a plan of all calls.")
            planned = await runs.run("plan_calls", task + wrong)
            if not planned.ok:
                raise NoAnswerError(planned.problem)
            calls = msgspec.convert(planned.answer, Calls).calls
            problem = self._plan_error(calls)
            if not problem:
                return calls
        raise NoAnswerError(f"No plan of calls could be carried out: {problem}")

    def _plan_error(self, calls: Sequence[Planned]) -> str:
        """Why a plan cannot be executed, or ""."""
        if len(calls) > self.most:
            return f"it has {len(calls):,} calls, and may have {self.most}"
        tools = self._tools
        resolved: set[str] = set()
        ids = [call.id for call in calls]
        for call in calls:
            if call.tool not in tools:
                return f"{call.id} calls {call.tool!r}: there are {', '.join(sorted(tools))}"
            if unknown := sorted(_dependencies(call) - {*ids}):
                return f"{call.id} needs #{unknown[0]}, which is no call of the plan"
            if ids.count(call.id) > 1:
                return f"two calls are called {call.id}"
            if not _dependencies(call) and (
                bad := problems(tools[call.tool].parameters, call.args)
            ):
                return f"{call.id} calls {call.tool} with other arguments than it takes: {bad[0]}"
        while ready := [c for c in calls if c.id not in resolved and _dependencies(c) <= resolved]:
            resolved |= {call.id for call in ready}
        if cycle := [call.id for call in calls if call.id not in resolved]:
            waits = "wait for each other" if len(cycle) > 1 else "waits for itself"
            return f"{', '.join(cycle)} {waits}"
        return ""


async def _find_another_way(runs: Runs, call: Planned, failed: RoleResult) -> str:
    """What a run finds in place of a failed call."""
    runs.say(f"{call.id} failed.")
    task = f"Find out: {call.why or call.tool}. {call.tool} was tried and failed: {failed.problem}"
    return (await runs.run("find_another_way", task)).text


def _dependencies(call: Planned) -> set[str]:
    """The ids of the calls whose results it refers to."""
    return {match[0] for match in _REFERENCE.findall(encode(call.args).decode())}


def _resolved_args(tool: AnyTool, call: Planned, results: Mapping[str, str]) -> dict[str, Json]:
    """The arguments with references replaced by results: as text, if the tool accepts that.

    Otherwise an argument that is only a reference becomes the value itself (a number, a list …).
    """
    as_texts: dict[str, Json] = _substitute(call.args, results, values=False)
    if not problems(tool.parameters, as_texts):
        return as_texts
    return _substitute(call.args, results, values=True)  # type: ignore[no-any-return]  # as it was given


def _substitute(value: Any, results: Mapping[str, str], *, values: bool) -> Any:
    if isinstance(value, str):
        reference = _REFERENCE.fullmatch(value)
        if values and reference is not None:
            return _lookup(reference, results)
        return _REFERENCE.sub(lambda match: as_text(_lookup(match, results)), value)
    if isinstance(value, dict):
        fields = msgspec.convert(value, dict[str, Any])
        return {key: _substitute(each, results, values=values) for key, each in fields.items()}
    if isinstance(value, list):
        return [
            _substitute(each, results, values=values) for each in msgspec.convert(value, list[Any])
        ]
    return value


def _lookup(reference: re.Match[str], results: Mapping[str, str]) -> Json:
    """The result that a reference names, or its field; the plain text if it has no such field."""
    text, path = results[reference[1]], reference[2]
    try:
        value: Any = msgspec.json.decode(text)
    except msgspec.DecodeError:
        return text + path
    for name in path.split(".")[1:]:
        fields = msgspec.convert(value, dict[str, Any]) if isinstance(value, dict) else {}
        if name not in fields:
            return text + path
        value = fields[name]
    return value
