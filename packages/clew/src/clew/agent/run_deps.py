"""The deps of a run: handed in, made by the agent's factory, or those of the run that it serves."""

from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, NamedTuple, Protocol, cast

from clew.core.tools import AgentTool, AnyTool, FallbackTool
from clew.deps.parameters import context_parameter, fits, made_kind, may_be
from clew.deps.run_context import RUNNING
from clew.deps.run_identity import MakeDeps, RunIdentity
from clew.support.error_text import described
from clew.support.errors import ConfigError, PartError
from clew.support.parts import Patience, ask, short_repr


class Wanted(NamedTuple):
    """A part of an agent that takes a `RunContext` with deps of a type."""

    part: str
    kind: Any

    def __str__(self) -> str:
        """As it is told."""
        kind = getattr(self.kind, "__name__", None) or str(self.kind)
        return f"{self.part} takes RunContext[{kind}]"


class HasDeps(Protocol):
    """What deps are asked of: an agent."""

    deps_wanted: ClassVar[tuple[Wanted, ...]]

    @property
    def deps(self) -> MakeDeps[Any] | None: ...


def wanted_by(agent: Any) -> tuple[Wanted, ...]:
    """The parts of an agent that want deps; of agents below it, those without deps of their own."""
    return tuple(_wanted(agent))


def _wanted(agent: Any) -> Iterator[Wanted]:
    for tool in agent.tools:
        yield from _of_tool(tool)
    for kind in ("guard", "check"):
        for part in getattr(agent, f"{kind}s"):
            yield from _of_part(kind, part)
    if (tail := getattr(agent.prompt, "tail", None)) is not None:
        yield from _of_part("tail", tail)


def _of_tool(tool: AnyTool) -> Iterator[Wanted]:
    if (kind := getattr(tool, "deps", None)) is not None:
        yield Wanted(f"the tool {tool.name}", kind)
    yield from getattr(tool, "deps_wanted", ())  # of the agent whose runs it works on
    if tool.guard is not None:
        yield from _of_part("guard", tool.guard)
    if callable(tool.approve):
        yield from _of_part("approval rule", tool.approve)
    if isinstance(tool, FallbackTool):
        yield from _of_tool(tool.first)
        yield from _of_tool(tool.other)
    elif isinstance(tool, AgentTool):
        below = cast("HasDeps | None", getattr(tool.run, "agent", None))
        if below is not None and below.deps is None:
            yield from below.deps_wanted


def _of_part(what: str, part: Any) -> Iterator[Wanted]:
    part = getattr(part, "guard", part)  # one around it is asked about some tools only
    parameter = context_parameter(part)
    if parameter is not None and parameter.kind is not None:
        yield Wanted(f"the {what} {getattr(part, '__name__', type(part).__name__)}", parameter.kind)


async def deps_for(
    agent: HasDeps, run: RunIdentity, deps: object, patience: Patience, *, serves: bool
) -> Any:
    """The deps of a run that is to be worked on: handed in, or made of what is recorded.

    A run that `serves` another has the deps of that where its agent makes none of its own. Raises
    `ConfigError` where they are missing, of another type than a part wants, or cannot be made.
    """
    outer, make = RUNNING.get(), agent.deps
    if deps is None and serves and (make is None or make is outer.make):
        deps = outer.deps
    elif deps is None and make is not None:
        deps = await _made(make, run, patience)
    _check(agent.deps_wanted, run, deps)
    return deps


async def deps_for_replay(agent: Any, run: RunIdentity, deps: object, patience: Patience) -> Any:
    """The deps of a run that is replayed: of its parts only the prompt's tail is called again."""
    tail = getattr(agent.prompt, "tail", None)
    if tail is None or context_parameter(tail) is None:
        return deps
    if deps is None and agent.deps is not None:
        deps = await _made(agent.deps, run, patience)
    _check(_of_part("tail", tail), run, deps)
    return deps


def _check(wanted: Iterable[Wanted], run: RunIdentity, deps: object) -> None:
    """Raise `ConfigError` where deps are missing, or of another type than a part wants."""
    for each in wanted:
        if deps is None:
            message = (
                f"run {run.run_id} needs deps ({each}): give deps=…, or Agent(deps=make), a "
                "function of the run, so that any process can go on with it"
            )
            raise ConfigError(message, field="deps")
        if not fits(deps, each.kind):
            message = f"{each}, and the deps of run {run.run_id} are {short_repr(deps)}"
            raise ConfigError(message, field="deps")


async def _made(make: MakeDeps[Any], run: RunIdentity, patience: Patience) -> Any:
    who = f"what makes the deps of run {run.run_id}"
    try:
        return await ask(who, patience, make, run)
    except PartError as error:
        reason = described(error.__cause__) if error.__cause__ is not None else str(error)
        message = f"{who} failed, and nothing was begun: {reason}"
        raise ConfigError(message, field="deps") from error


def check_made(make: MakeDeps[Any], wanted: Iterable[Wanted]) -> None:
    """Raise `ConfigError` where a factory says that it makes what a part plainly does not take."""
    made = made_kind(make)
    for each in wanted:
        if made is not None and not may_be(made, each.kind):
            name = getattr(made, "__name__", None) or str(made)
            message = f"{each}, and the agent's deps are said to make {name}: make what it takes"
            raise ConfigError(message, field="deps")


def check_factory(make: object) -> None:
    """Raise `ConfigError` for what cannot be called with a run."""
    if not callable(make):
        message = (
            f"deps is {short_repr(make)}: give a function of the run (deps=lambda run: …); a value "
            "is given where a run begins, as run(agent, goal, deps=…)"
        )
        raise ConfigError(message, field="deps")
