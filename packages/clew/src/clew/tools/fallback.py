"""A tool that falls back to another one when it certainly did nothing itself."""

import math
from collections.abc import Awaitable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, NamedTuple, cast

import anyio
import msgspec

from clew.concurrency.tasks import stoppable
from clew.core.actions import Action
from clew.core.attachments import has_attachments, taken_out
from clew.core.call_context import CALL
from clew.core.codes import EFFECTFUL, Effect
from clew.core.contents import Observation
from clew.core.judging import Guard
from clew.core.received import renamed
from clew.core.tools import AnyTool, Approve, Attempts, FallbackTool, Parameters, Tool, ToolSpec
from clew.core.trajectory import Call, Trajectory
from clew.core.values import Json
from clew.core.verdicts import Verdict
from clew.deps.parameters import rule_takes_context
from clew.deps.parts import guard_with_context
from clew.deps.run_context import RunContext
from clew.support.error_text import described, message_of
from clew.support.errors import ConfigError, ToolError
from clew.support.json_values import plain
from clew.support.parts import copied, stable_name
from clew.tools.dependent import DependentTool
from clew.tools.schema import checked, problems

__all__ = ["with_fallback"]

Names = Mapping[str, str | None]
"""Parameter names of the other tool that differ; None means it lacks the parameter."""

_STRENGTH: Final[tuple[Effect, ...]] = ("pure", "read", "idempotent", "unsafe")
_REFUSING: Final = frozenset({"deny", "hold"})
_TOLD: Final = frozenset({"invalid_arguments", "bad_output"})
"""Failures that call no other tool: the model can fix the first kind, the author the second."""


def with_fallback(tool: AnyTool, other: AnyTool, arguments: Names | None = None) -> Tool:
    """A tool that calls another one if the first fails and certainly did nothing.

    The model sees one tool, with a sentence about the other. The observation says which of them
    answered, and why the first did not. `arguments` renames parameters for the other tool (None
    omits one). Both attempts have the call's key. The effect is the stronger of the two (`unsafe`
    if both have one, since repeating the call could cause both), the trust the weaker, and the
    deadline the sum. The guards of both tools judge the call.

    Raises `ConfigError` if the parameters are incompatible, or a tool works in a sub-run.
    """
    tool, other = _one_call(tool), _one_call(other)
    if tool.name == other.name:
        raise ConfigError(f"{tool.name} cannot be its own fallback")
    names = dict(arguments or {})
    pair = _Pair(tool, other, names)
    if wrong := [*_misfits(tool.parameters, other.parameters, names)]:
        raise ConfigError(f"{other.name} cannot be called for {tool.name}: {'; '.join(wrong)}")
    effectful = [each for each in (tool, other) if each.effect in EFFECTFUL]
    stronger = _STRENGTH[max(_STRENGTH.index(tool.effect), _STRENGTH.index(other.effect))]
    probed = effectful and all(each.attempts.probe is not None for each in effectful)
    return checked(
        FallbackTool(
            tool.name,
            f"{tool.description}\n\nIf it fails, {other.name} is called instead.",
            tool.parameters,
            pair,
            effect="unsafe" if len(effectful) == 2 else stronger,
            trust="trusted" if tool.trust == other.trust == "trusted" else "untrusted",
            labels=tool.labels | other.labels,
            repair=tool.repair,
            hidden=tool.hidden,
            version=f"{tool.version}|{other.name}@{other.version}",  # one word, as records have it
            examples=tool.examples,
            guard=pair.judge if tool.guard or other.guard else None,
            approve=_approval(tool, other, names),
            attempts=Attempts(
                tool.attempts.timeout + other.attempts.timeout,
                tool.attempts.retry,
                pair.probe if probed else None,
            ),
            first=tool,
            other=other,
            names=names,
        )  # no result: what the other returns has a note with it
    )


def _one_call(tool: AnyTool) -> Tool:
    """The tool, whose call is one that is made here. Raises `ConfigError`."""
    if not isinstance(tool, Tool) or isinstance(tool, DependentTool):
        raise ConfigError(f"{tool.name} cannot have or be a fallback: it is more than one call")
    if tool.external is not None:
        message = f"{tool.name} is performed elsewhere, and cannot have or be a fallback"
        raise ConfigError(f"{message}: give External(fallback=…)")
    return tool


class _Why(NamedTuple):
    """Why the first tool did nothing; not `trusted`, the text may quote what it read."""

    text: str
    trusted: bool = False


_HANDED_ON: Final = _Why("the call was already passed to the fallback tool", trusted=True)


@dataclass(frozen=True)
class _Pair:
    """Two tools; the second is called if the first did nothing."""

    tool: Tool
    other: Tool
    names: Names

    async def __call__(self, args: dict[str, Json], key: str) -> Any:
        """Call the first tool, else the second."""
        value: Any = None
        why: _Why | None = _HANDED_ON
        if not self._was_handed_on(key):
            value, why = await self._first(args, key)
        if why is None:
            return value
        text = f"{self.tool.name} did not do it: {why.text}"
        return await self._second(args, key, _Why(text, why.trusted))

    @property
    def stoppable(self) -> bool:
        """Whether cancelling a call ends the work of either tool."""
        return stoppable(self.tool.call) and stoppable(self.other.call)

    def _was_handed_on(self, key: str) -> bool:
        """Whether the task of an earlier attempt belongs to the second tool."""
        if (made := CALL.get()) is None or not made.task:
            return False
        tried = made.record.call(key.rpartition(":")[2]).attempts
        return any(one.task == made.task and one.tool in _names(self.other) for one in tried)

    async def _first(self, args: dict[str, Json], key: str) -> tuple[Any, _Why | None]:
        """The result of the first tool, or why it certainly did nothing."""
        tool = self.tool
        reads = tool.effect not in EFFECTFUL
        timeout = tool.attempts.timeout if reads and stoppable(tool.call) else math.inf
        value: Any = None
        try:
            with anyio.move_on_after(timeout) as scope:
                value = await _called(tool, args, key)
        except ToolError as error:
            return None, _Why(message_of(error), error.trusted)
        except Exception as error:
            if not reads:
                raise
            return None, _Why(described(error))
        if scope.cancelled_caught:
            return None, _Why(f"it did not end in {timeout:g} s", trusted=True)
        if not isinstance(value, Observation) or value.ok or value.code in _TOLD:
            return value, None
        failed = value.text and (reads or value.outcome == "not_done")
        return value, _Why(value.text, value.trust == "trusted") if failed else None

    async def _second(self, args: dict[str, Json], key: str, first: _Why) -> Any:
        """The result of the second tool, with a note. Raises what that tool raises."""
        other, mapped, why = self.other, renamed(args, self.names), first.text
        if wrong := problems(other.parameters, mapped):
            raise ToolError(f"{why}. {other.name} cannot be called instead: {'; '.join(wrong)}")
        await self._hand_on(key)
        failed = f"{why}. {other.name}, called instead, did not do it either: "
        try:
            value = await _called(other, mapped, key)
        except ToolError as error:
            raise ToolError(f"{failed}{message_of(error)}") from error
        except Exception as error:
            if other.effect in EFFECTFUL:
                raise
            raise ToolError(f"{failed}{described(error)}") from error
        if isinstance(value, Verdict):
            raise ToolError(f"{failed}it asks a person: call {other.name} itself")
        if isinstance(value, Observation) and not value.ok and value.outcome == "not_done":
            raise ToolError(f"{failed}{value.text}")
        seen = _noted(value, other, f"{other.name} answered, since {why}")
        return seen if first.trusted else msgspec.structs.replace(seen, trust="untrusted")

    async def _hand_on(self, key: str) -> None:
        """Record an attempt of the second tool before its effect; it sees only its own task."""
        if (made := CALL.get()) is None:
            return
        begun = partial(made.begun, by=self.other.name)
        task = made.task if self._was_handed_on(key) else ""
        if self.other.effect in EFFECTFUL and not task:
            await begun("")
        CALL.set(replace(made, task=task, answer=None, begun=begun))

    async def probe(self, args: dict[str, Json], key: str) -> Any:
        """The result of the call by the tools' probes; None if neither did it."""
        for tool, own in ((self.tool, args), (self.other, renamed(args, self.names))):
            if tool.effect in EFFECTFUL and tool.attempts.probe is not None:
                probed = await tool.attempts.probe(copied(own), key)
                if probed is not None:
                    return probed
        return None

    async def judge(self, call: Call, trajectory: Trajectory) -> Verdict | None:
        """The verdict of both tools' guards: each may refuse, and the first may also amend."""
        first = await _judged(self.tool.guard, call, trajectory)
        amended = None if first is None or first.kind != "amend" else first.args
        args = call.args if amended is None else amended
        instead = Call(call.key, Action(self.other.name, renamed(args, self.names)))
        second = await _judged(self.other.guard, instead, trajectory)
        if first is not None and first.kind in _REFUSING:
            return first
        if second is not None and second.kind in _REFUSING:
            return second
        if second is not None and second.kind == "amend":
            reason = f"{self.other.name} is not called with these arguments: {second.reason}"
            return Verdict("deny", reason, code=second.code)
        return first or second


def _approval(tool: Tool, other: Tool, names: Names) -> Approve:
    """Which calls a person approves: those of either tool."""
    for rule in (tool.approve, other.approve):
        if rule and not callable(rule):
            return rule
    if not other.approve:
        return tool.approve
    return _EitherRule(tool.approve, other.approve, names)


@dataclass(frozen=True)
class _EitherRule:
    """Asks the rules of both tools; the other's about the arguments as that one receives them."""

    first: Approve
    other: Approve
    names: Names

    def __repr__(self) -> str:
        """As the record names it."""
        rules = [stable_name(rule) for rule in (self.first, self.other) if rule]
        return " or ".join(rules)

    async def __call__(self, args: dict[str, Json], ctx: RunContext[Any]) -> bool | str | None:
        """The first reason to ask."""
        for rule, own in ((self.first, args), (self.other, renamed(args, self.names))):
            judged: Any = rule
            if callable(rule):
                asked: Any = rule
                context = (ctx,) if rule_takes_context(asked) else ()
                judged = asked(copied(own), *context)
            answer: bool | str | None = (
                await cast("Any", judged) if isinstance(judged, Awaitable) else judged
            )
            if answer:
                return answer
        return None


def _names(tool: ToolSpec) -> set[str]:
    """The names of the tools that a call may reach."""
    if not isinstance(tool, FallbackTool):
        return {tool.name}
    return _names(tool.first) | _names(tool.other)


async def _judged(guard: Guard | None, call: Call, trajectory: Trajectory) -> Verdict | None:
    if guard is None:
        return None
    verdict = guard_with_context(guard)(call, trajectory)
    return await verdict if isinstance(verdict, Awaitable) else verdict


async def _called(tool: Tool, args: dict[str, Json], key: str) -> Any:
    """The tool's result, checked against its schema."""
    value: Any = tool.call(copied(args), key)
    if hasattr(value, "__await__"):
        value = await value
    if tool.result is None or isinstance(value, Verdict) or has_attachments(value):
        return value
    if isinstance(value, Observation) and not value.ok:
        return value
    try:
        content = plain(value.content if isinstance(value, Observation) else value)
    except ValueError:
        return value  # what JSON cannot carry is told where it is recorded
    if wrong := problems(tool.result, content):
        text = f"ERROR: bad_output: {tool.name} returned what it must not: {'; '.join(wrong)}"
        return Observation(content=text, ok=False, code="bad_output")
    return value


def _noted(value: Any, tool: Tool, note: str) -> Observation:
    """The result of the second tool, with a note for the model and people."""
    if isinstance(value, Observation):
        observation = value
    else:
        content, attachments = taken_out(value)
        observation = Observation(content=content, attachments=attachments, trust=tool.trust)
    fields: Json = {"note": note, "result": observation.content}
    if isinstance(observation.content, str):
        fields = f"[{note}]\n{observation.content}" if observation.ok else observation.content
    detail = f"{note}\n{observation.detail}" if observation.detail else note
    return msgspec.structs.replace(observation, content=fields, detail=detail)


# ------------------------------------------------------------------------------- do they fit?


def _misfits(first: Parameters, second: Parameters, names: Names) -> Iterator[str]:
    """Why valid calls of one schema would be invalid in the other."""
    has, takes = _properties(first), _properties(second)
    for name in names.keys() - has.keys():
        yield f"the arguments name {name!r}, which is no parameter"
    for name, schema in has.items():
        if (called := names.get(name, name)) is None:
            continue
        if called not in takes:
            if second.get("additionalProperties", True) is False:
                yield f"it takes no {called!r} (rename it in the arguments, or leave it out: None)"
            continue
        mine, theirs = _types(schema), _types(takes[called])
        if mine and theirs and not mine <= theirs:
            yield f"{called!r} is {'/'.join(sorted(mine))}, and it takes {'/'.join(sorted(theirs))}"
    sure = {names.get(name, name) for name in cast("Iterable[str]", first.get("required", ()))}
    for name in cast("Iterable[str]", second.get("required", ())):
        if name not in sure:
            yield f"it needs {name!r}, which a call may lack"


def _properties(schema: Parameters) -> dict[str, Json]:
    return cast("dict[str, Json]", schema.get("properties", {}))


def _types(schema: Json) -> set[str]:
    """The JSON types that a schema names; empty if it names none."""
    named = cast("Parameters", schema).get("type") if isinstance(schema, dict) else None
    types = {named} if isinstance(named, str) else {*cast("list[str]", named or [])}
    return types | {"integer"} if "number" in types else types
