"""ReWOO: plan all tool calls in advance, make them, and answer once from all results.

Xu et al., arXiv 2305.18323: planner, workers, solver. The model is asked twice, however many
calls there are. Calls that do not depend on each other are made at once.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from clew import Agent, ConfigError, Limits
from clew.core.tools import AnyTool
from clew.interfaces import Json, encode
from clew.support.json_values import text_or_json
from clew.support.settings import check_fields, check_minimum
from clew.tools.schema import problems
from clew_strategies.default_roles import solver, typed_agent, worker
from clew_strategies.interface import NoAnswerError, Request, RoleResult, Runs
from clew_strategies.limits import scaled_limits
from clew_strategies.policy import base_agent
from clew_strategies.references import NoValueError, is_id, referred, replaced, unread
from clew_strategies.roles import Role
from clew_strategies.transcript import short

PLAN: Final = (
    "You plan all tool calls that answer a task, before any is made. These are the tools, with "
    "their parameters:\n{tools}\nGive each call an id (E1, E2, …), and say why it is needed. Where "
    "an argument needs the result of another call, write #E1 in its place, or #E1.name for one "
    "field of a result that has fields. Plan at most {max_calls} calls, and none that is not "
    "needed."
)
FAILED: Final = "Find out: {what}. {call} was tried and failed: {why}"
IN_DOUBT: Final = (
    "{call} was called for this: {what}. Whether it happened is not known: {why}\n"
    "Find out whether it did. Do not do it again, in this way or another."
)
WITHOUT_WHY: Final = "what {tool} was to give for this task"
SERVES: Final = "Others work on this task, and you do one part of it, no more:\n{task}\n\n"
VALUE: Final = (
    "\nThe answer becomes an argument of another call: give the value itself (a name, a number, an "
    "object), as short as it is, and no sentence. If you do not find it, give null and say why."
)
FORMS: Final = "a reference is #E1, #E1.name, #E1['a name'] or #E1[0], and nothing else"


class Planned(msgspec.Struct, frozen=True):
    """A planned call; texts among the arguments may refer to earlier results as #E1 or #E1.name."""

    id: str
    tool: str
    args: dict[str, Any]
    why: str = ""


class CallPlan(msgspec.Struct, frozen=True):
    """A plan of calls."""

    calls: list[Planned]


class Substitute(msgspec.Struct, frozen=True):
    """What a run found in place of a failed call: a value, or null and why there is none."""

    value: Any = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class _CallResult:
    """What came of a planned call: the text for the solver, and the value for other calls."""

    text: str
    value: Json = None
    """What references to it carry; None if there is nothing."""


@dataclass(frozen=True)
class ReWOO:
    """The strategy `rewoo`: one plan of calls, made in parallel where possible, and one answer.

    A plan that cannot be executed (an unknown tool or #E, invalid arguments, a cycle, more than
    `max_calls` calls) goes back to the planner with the error, at most `replans` times. For a call
    that fails, a run of the agent looks for another way, unless a guard, a limit or a person
    refused it. A call is only made if all its references have values. `planner` answers with
    `CallPlan`.
    """

    agent: Agent[Any]
    planner: Agent[Any] | None = None
    max_calls: int = 12
    replans: int = 1

    def __post_init__(self) -> None:
        """Raise `ConfigError` for settings that allow no work."""
        check_fields(self)
        check_minimum(self, "max_calls")

    @property
    def name(self) -> str:
        return "rewoo"

    @property
    def answering(self) -> str:
        """The role that gives the answer."""
        return "solve"

    @property
    def params(self) -> Mapping[str, Json]:
        return {"max_calls": self.max_calls, "replans": self.replans}

    @property
    def _tools(self) -> dict[str, AnyTool]:
        return {tool.name: tool for tool in base_agent(self.agent).tools if not tool.hidden}

    @property
    def defaults(self) -> Mapping[str, Agent[Any]]:
        """The agents used where none is given."""
        lines = "\n".join(
            f"- {name}: {tool.description} {encode(tool.parameters).decode()}"
            for name, tool in self._tools.items()
        )
        prompt = PLAN.format(tools=lines, max_calls=self.max_calls)
        return {"planner": typed_agent(self.agent, prompt, CallPlan)}

    @property
    def roles(self) -> Mapping[str, Role]:
        runs = {
            "plan_calls": self.planner or self.defaults["planner"],
            "find_another_way": worker(self.agent),
            "find_value": _finder(base_agent(self.agent)),
            "solve": solver(self.agent),
        }
        if taken := sorted(runs.keys() & self._tools.keys()):
            message = f"rewoo: a tool is called {taken[0]}, as one of its runs is: rename the tool"
            raise ConfigError(message)
        return {**self._tools, **runs}

    def extended_limits(self, limits: Limits) -> Limits:
        """Steps and calls for all planned calls, and for another way to the result of each."""
        return scaled_limits(limits, self.max_calls, self.max_calls + self.replans + 2)

    async def __call__(self, runs: Runs, task: str) -> Json:
        """The answer. Raises `NoAnswerError` if no plan can be executed."""
        calls, tools = await self._plan(runs, task), self._tools
        needed = {id_ for call in calls for id_ in referred(call.args)}
        results: dict[str, _CallResult] = {}
        while left := [call for call in calls if call.id not in results]:
            ready = [call for call in left if referred(call.args) <= results.keys()]
            ready = ready[: base_agent(self.agent).limits.calls_per_step]
            runs.say(f"{', '.join(call.id for call in ready)} of {len(calls)} planned calls.")
            requests, made = list[Request](), list[Planned]()
            for call in ready:
                try:
                    requests.append(
                        runs.call(call.tool, **_resolved_args(tools[call.tool], call, results))
                    )
                    made.append(call)
                except NoValueError as error:
                    runs.say(f"{call.id} is not made: {error}.")
                    results[call.id] = _CallResult(f"{call.tool} was not called: {error}")
            for call, result in zip(made, await runs.together(requests), strict=True):
                results[call.id] = (
                    _CallResult(result.text + result.notes, _value(result))
                    if result.ok
                    else await _instead(runs, task, call, result, needed=call.id in needed)
                )
        runs.say("All calls are made.")
        lines = [f"{call.id} ({call.why or call.tool}): {results[call.id].text}" for call in calls]
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
            calls = msgspec.convert(planned.answer, CallPlan).calls
            problem = self._plan_error(calls)
            if not problem:
                return calls
        raise NoAnswerError(f"No plan of calls could be carried out: {problem}")

    def _plan_error(self, calls: Sequence[Planned]) -> str:
        """Why a plan cannot be executed, or ""."""
        if len(calls) > self.max_calls:
            return f"it has {len(calls):,} calls, and may have {self.max_calls}"
        tools = self._tools
        resolved: set[str] = set()
        ids = [call.id for call in calls]
        for call in calls:
            if not is_id(call.id):
                return f"a call has the id {call.id!r}: ids are E1, E2 and so on"
            if call.tool not in tools:
                return f"{call.id} calls {call.tool!r}: there are {', '.join(sorted(tools))}"
            if ids.count(call.id) > 1:
                return f"two calls are called {call.id}"
            if wrong := _args_error(tools[call.tool], call, ids):
                return wrong
        while ready := [c for c in calls if c.id not in resolved and referred(c.args) <= resolved]:
            resolved |= {call.id for call in ready}
        if cycle := [call.id for call in calls if call.id not in resolved]:
            waits = "wait for each other" if len(cycle) > 1 else "waits for itself"
            return f"{', '.join(cycle)} {waits}"
        return ""


def _args_error(tool: AnyTool, call: Planned, ids: Collection[str]) -> str:
    """Why the arguments of a planned call cannot be used, or ""."""
    needed = referred(call.args)
    if unknown := sorted(needed - {*ids}):
        return f"{call.id} needs #{unknown[0]}, which is no call of the plan"
    if odd := unread(call.args, ids):
        return f"{call.id} has {odd!r}, which cannot be read: {FORMS}"
    if not needed and (bad := problems(tool.parameters, call.args)):
        return f"{call.id} calls {call.tool} with other arguments than it takes: {bad[0]}"
    return ""


def _finder(agent: Agent[Any]) -> Agent[Any]:
    """The agent that looks for a value; worked examples end in an answer of another type."""
    words = agent.parts.instructions.replace(examples=None)
    return worker(agent).replace(answer=Substitute, prompt=words, fallback=None)


def _made(tool: str, args: Mapping[str, Json]) -> str:
    return short(f"{tool}({encode(args).decode()})")


async def _instead(
    runs: Runs, task: str, call: Planned, failed: RoleResult, *, needed: bool
) -> _CallResult:
    """What a run finds in place of a failed call; nothing is looked for where it was refused.

    One of which it is not known whether it happened is told as that, whatever the run finds.
    """
    made, why = _made(call.tool, failed.args), failed.problem + failed.notes
    doubtful = failed.outcome == "unknown"
    if failed.forbidden:
        runs.say(f"{call.id} was refused.")
        was = "was begun, and may have happened" if doubtful else "was not called"
        return _CallResult(f"{call.tool} {was}: {why}")
    runs.say(f"{call.id} may have happened." if doubtful else f"{call.id} failed.")
    what = call.why or WITHOUT_WHY.format(tool=call.tool)
    told = (IN_DOUBT if doubtful else FAILED).format(what=what, call=made, why=why)
    told = SERVES.format(task=task) + told
    replacement = await (_value_instead(runs, told) if needed else _text_instead(runs, told))
    if doubtful:
        checked = f"A run that looked into it: {replacement.text}"
        text = f"{made} may or may not have happened: {why}\n{checked}"
    elif needed and replacement.value is None:
        text = f"{made} failed: {why}. {replacement.text}"
    else:
        return replacement
    return _CallResult(text, replacement.value)


async def _text_instead(runs: Runs, task: str) -> _CallResult:
    return _CallResult((await runs.run("find_another_way", task)).text)


async def _value_instead(runs: Runs, task: str) -> _CallResult:
    result = await runs.run("find_value", task + VALUE)
    if not result.ok or result.cut_short:
        return _CallResult(result.text)
    substitute = msgspec.convert(result.answer, Substitute)
    return _CallResult(
        substitute.why if substitute.value is None else text_or_json(substitute.value),
        substitute.value,
    )


def _value(result: RoleResult) -> Json:
    """What references to a result carry; None for a text of which only the ends are here."""
    return None if result.partial or result.cut_short else result.answer


def _resolved_args(
    tool: AnyTool, call: Planned, results: Mapping[str, _CallResult]
) -> dict[str, Json]:
    """The arguments with references replaced by results: as text, if the tool accepts that.

    Otherwise an argument that is only a reference becomes the value itself (a number, a list …).
    Raises `NoValueError`.
    """

    def value_of(id_: str) -> Json:
        return results[id_].value

    as_texts: dict[str, Json] = replaced(call.args, value_of, values=False)
    if not problems(tool.parameters, as_texts):
        return as_texts
    return replaced(call.args, value_of, values=True)  # type: ignore[no-any-return]  # as it was given
