"""Make a record's agent for a replay, without importing or calling anything that the record names.

A replay takes results from the record, so stand-ins suffice: tools with the recorded schemas;
guards, checks and screens by name.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Self

import msgspec

from clew.agent.agent import Agent
from clew.agent.reply_parser import with_parser
from clew.agent.subagents import delegation_spec
from clew.agent_files.build import with_examples
from clew.agent_files.fallbacks import knowing_fallbacks
from clew.agent_files.provenance import spec_of
from clew.agent_files.recorded_provenance import recorded_provenance
from clew.agent_files.spec import Spec
from clew.agent_files.strategies import recorded_strategy
from clew.agent_files.tool_labels import labelled
from clew.context.prompt_spec import recorded_prompt_spec
from clew.core.codec import PromptSpec
from clew.core.contents import Grant, Observation, Reply
from clew.core.events import Attempt, Judged, Landing, Stop
from clew.core.judging import Guard
from clew.core.models import ModelInfo, OnText
from clew.core.prompts import Prompt
from clew.core.specs import AgentSpec
from clew.core.tools import (
    AgentTool,
    AnyTool,
    Approve,
    Attempts,
    External,
    Parameters,
    Retry,
    Tool,
    ToolSpec,
)  # fmt: skip
from clew.core.trajectory import Trajectory
from clew.core.values import Json
from clew.support.errors import ConfigError, ModelError
from clew.support.parts import PASSED, short_repr
from clew.tools.retrieval import Retrieval

_NAMED: Final = {"context": "retrieval"}
"""Fields of an agent whose part has another name in the record."""

"""What may stand behind a bound's reason in the stop of a run that it ended."""


def stand_ins(
    spec: Spec, record: Trajectory, body: bytes | None, make: Callable[[Spec], Agent[Any]]
) -> tuple[Agent[Any], frozenset[str]]:
    """The agent that `spec`, the record's own, describes; and which parts only stand in for others.

    `body` is the blob of what the record's prompts are made of (`AgentSpec.prompt_blob`), and
    `make` makes an agent of what ships with clew. Raises `ConfigError` where the record does not
    hold what stands in, or its origin does not fit its spec.
    """
    try:
        return _stand_ins(spec, record, body, make)
    except PASSED:
        raise
    except Exception as error:  # whoever wrote the record: the two may differ in any way
        message = (
            f"the origin of run {record.run_id} does not fit the agent that it was recorded with "
            f"({short_repr(error)}): say with --set agent=FILE what its agent is made of"
        )
        raise ConfigError(message) from error


def _stand_ins(
    spec: Spec, record: Trajectory, body: bytes | None, make: Callable[[Spec], Agent[Any]]
) -> tuple[Agent[Any], frozenset[str]]:
    prompt_spec = None if body is None else recorded_prompt_spec(body)[0]
    recorded = record.spec or record.started.spec
    agent = _with_parser(make(_shipped(spec, spec_of(record) or Spec())), recorded)
    if (planned := spec.planned) is not None:
        spec, agent = _complete(spec), recorded_strategy(planned, agent, recorded)
        agent = agent.replace(tries=int(recorded.parts["tries"]))
    tools_by_name: dict[str, AnyTool] = {
        tool.name: labelled(spec.labels, tool) for tool in agent.tools
    }
    tools_by_name |= {tool.name: tool for tool in _agent_tools(spec, recorded)}
    tools_by_name = {
        name: tool for name, tool in tools_by_name.items() if name not in spec.fallbacks
    }
    lacking = (
        [name for name in recorded.tools if name not in tools_by_name] if _has_own(spec) else []
    )
    if lacking and prompt_spec is None:
        message = (
            f"the record of run {record.run_id} does not hold the schema of {lacking[0]}: "
            "say with --set agent=FILE what its agent is made of"
        )
        raise ConfigError(message)
    if prompt_spec is not None:
        brought = _guards_of_tools(spec, recorded, record, agent, lacking)
        tools_by_name |= {
            name: _tool(name, recorded, prompt_spec, record, brought.get(name)) for name in lacking
        }
    tools_by_name = knowing_fallbacks(spec, tools_by_name)
    order = [*recorded.tools, *tools_by_name]
    parts = _parts(spec, recorded, agent)
    bounds = recorded.parts["bounds"][-len(spec.bounds) :] if spec.bounds else ()
    if planned is not None:
        parts["guards"] = _strategy_guards(spec, recorded, agent)
        bounds = recorded.parts["bounds"][len(agent.replace(bounds=()).parts.bounds) :]
    apart = {f"tools.{name}" for name in lacking}
    apart |= {"parts.rewinds"} if _has_critic(spec) else set()
    apart |= {f"parts.{_NAMED.get(field, field)}" for field in parts}
    parts["tools"] = _approved(recorded, sorted(tools_by_name.values(), key=_by_name(order)))
    own = [_Bound(name, record) for name in bounds]
    guards = parts.get("guards", agent.guards)
    parts["guards"] = recorded_provenance(recorded.parts, guards, _NamedPart if lacking else None)
    apart |= {"parts.guards", "parts.provenance"} if lacking else set()
    agent = with_examples(agent.replace(bounds=own, **parts), spec.examples)
    caps = spec.limits.limits.calls_per_tool
    limits = replace(agent.limits, calls_per_tool=caps).among(agent.parts.countable)
    apart |= {"parts.limits"} if len(limits.calls_per_tool) < len(caps) else set()
    return agent.replace(limits=limits) if caps else agent, frozenset(apart)


@dataclass(frozen=True)
class _Parser:
    """The second model of a record: nobody asks it, for what it said is recorded."""

    info: ModelInfo

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        del prompt, on_text
        raise ModelError(f"{self.info.name} is only replayed here")


def _with_parser(agent: Agent[Any], spec: AgentSpec) -> Agent[Any]:
    """The agent with the parser that the record names, whose model is not opened."""
    name = spec.params.get("parser")
    if not isinstance(name, str) or "parser" in agent.engine.model.info.params:
        return agent
    return with_parser(agent, _Parser(ModelInfo(name, priced=spec.priced)))


def _agent_tools(spec: Spec, recorded: AgentSpec) -> Iterator[AnyTool]:
    """The tools that hand on to agents of other files: as the record names them."""
    for each in spec.agents:
        if (recorded_tool := recorded.tools.get(each.name)) is not None:
            tool = delegation_spec(each.name, each.description)
            yield replace(
                tool,
                version=recorded_tool.version,
                effect=recorded_tool.effect,
                grant=_recorded_grant(recorded, each.name),
            )


def _recorded_grant(spec: AgentSpec, name: str) -> Grant | None:
    granted = msgspec.convert(spec.parts.get("granted", {}), dict[str, Grant])
    return granted.get(name)


def _shipped(spec: Spec, recorded: Spec) -> Spec:
    """The spec without what the record names outside of clew; no document is read either."""
    theirs = recorded.named_tools
    return msgspec.structs.replace(
        spec.replace({"prompt.examples": 0}) if spec.examples else spec,
        tools=tuple(one for one in spec.named_tools if ":" not in one or one not in theirs),
        screens=tuple(name for name in spec.screens if ":" not in name), harmful="",
        docs=str(Path.cwd()) if spec.docs else "",
        programs=(), processes=(), external=(), agents=(), mcp=(), guards=(), bounds=(),
        checks=tuple(name for name in spec.checks if ":" not in name),
        provenance="off", answer="", fallback=None if spec.answer else spec.fallback,
        retrieval=None, memory="", workspace="", strategy=None,
        limits=msgspec.structs.replace(spec.limits, calls_per_tool=None),
        fallbacks={}, labels={}, approve={},
        parser="" if spec.parser == recorded.parser else spec.parser,
        file="" if spec.file == recorded.file else spec.file,
        rewinds=None if _has_critic(spec) else spec.rewinds,
    )  # fmt: skip


def _complete(spec: Spec) -> Spec:
    """What of the spec holds for a strategy's own record: the rest is its agents'."""
    return spec.replace({
        "guards": (), "retrieval": None, "rewinds": None, "compaction": None,
        "agents": (), "programs": (), "processes": (), "external": (), "prompt": None,
    })  # fmt: skip


def _has_critic(spec: Spec) -> bool:
    """Whether rewinds ask a model, which a replay may have no key for: it is fed what it said."""
    return spec.rewinds is not None and bool(spec.rewinds.critic)


def _has_own(spec: Spec) -> bool:
    own = any(":" in name for name in spec.named_tools)
    tables = spec.programs or spec.processes or spec.external or spec.mcp or spec.strategy
    return bool(own or tables or spec.fallbacks or spec.memory or spec.workspace)


def _parts(spec: Spec, recorded_spec: AgentSpec, agent: Agent[Any]) -> dict[str, Any]:
    """The parts of an agent, by its fields, that stand in for those of the user's own."""
    parts: dict[str, Any] = {}
    recorded_parts = recorded_spec.parts
    if spec.guards:
        own = [_NamedPart(name) for name in recorded_parts["guards"][: len(spec.guards)]]
        parts["guards"] = [*own, *agent.guards]
    if any(":" in name for name in spec.checks):
        shipped = iter(agent.checks)
        parts["checks"] = [
            _NamedPart(recorded) if ":" in name else next(shipped)
            for name, recorded in zip(spec.checks, recorded_parts["checks"], strict=True)
        ]
    if spec.harmful or any(":" in name for name in spec.screens):
        parts["screens"] = [_NamedPart(name) for name in recorded_parts["screens"]]
    if spec.answer:
        kind = _answer(recorded_parts["answer"])
        parts["answer"] = kind
        if (fallback := recorded_parts["fallback"]) is not None:
            parts["fallback"] = kind(fallback)
    if (finding := spec.retrieval) is not None:
        retrieval = Retrieval(
            k=finding.k,
            always=finding.always,
            max_tools=finding.max_tools,
            per_server=finding.per_server,
        )
        parts["context"] = agent.context.replace(retrieval=retrieval)
    return parts


def _strategy_guards(spec: Spec, recorded: AgentSpec, agent: Agent[Any]) -> list[Guard]:
    """What a strategy's record names beside the guards that every agent and each tool has.

    Which of them there are depends on the tools that the strategy called, as records tell.
    """
    usual = {guard.name for guard in agent.replace(guards=()).engine.guards}
    usual |= {repr(guard) for guard in _server_guards(spec).values()}
    return [_NamedPart(name) for name in recorded.parts["guards"] if name not in usual]


def _guards_of_tools(
    spec: Spec, recorded: AgentSpec, record: Trajectory, agent: Agent[Any], tools: Sequence[str]
) -> dict[str, Guard]:
    """The guards that these tools brought, by the names of the tools.

    A record names the guards, in the order of their tools, and what each said of a call; it does
    not say whose a silent one was. It stands beside every tool that can have brought it: where a
    replay asks it of a call of another tool, it says nothing there either.
    """
    servers = _server_guards(spec)
    by_tool: dict[str, Guard] = {}
    for name in tools:
        for begin, guard in servers.items():
            if name.startswith(begin):
                by_tool.setdefault(name, guard)
    usual = {guard.name for guard in agent.engine.guards} | {repr(one) for one in servers.values()}
    named = recorded.parts["guards"][len(spec.guards) :]
    brought = {name: _NamedPart(name) for name in named if name not in usual}
    heard, waiting = _heard(record, brought), [*brought.values()]
    last: Guard | None = None
    for name in (name for name in tools if name not in by_tool):
        last = brought.get(heard.get(name, ""), waiting[0] if waiting else last)
        waiting = [one for one in waiting if one is not last]
        if last is not None:
            by_tool[name] = last
    return by_tool


def _heard(record: Trajectory, guards: Collection[str]) -> dict[str, str]:
    """Which of these guards spoke of calls of each tool, as far as one did."""
    names = {call.key: call.action.name for call in record.calls}
    judged = (entry.event for entry in record.entries if isinstance(entry.event, Judged))
    heard = (event for event in judged if event.call in names and event.by in guards)
    return {names[event.call]: event.by for event in heard}


def _server_guards(spec: Spec) -> dict[str, Guard]:
    """The guards of the tools of MCP servers, by how the names of their tools begin."""
    return {f"{each.name}_": _NamedPart(f"mcp_pins({each.name})") for each in spec.mcp}


def _tool(
    name: str,
    recorded_spec: AgentSpec,
    prompt_spec: PromptSpec,
    record: Trajectory,
    guard: Guard | None,
) -> AnyTool:
    """A tool as far as the record tells: of a hidden one it holds no schema."""
    recorded = recorded_spec.tools[name]
    specs = {tool.name: tool for tool in (*prompt_spec.tools, *prompt_spec.more)}
    bare = specs.get(name) or ToolSpec(name, name, {"type": "object"}, hidden=True)
    events = [entry.event for entry in record.entries]
    keys = {call.key for call in record.calls if call.action.name == name}
    tried = [event for event in events if isinstance(event, Attempt) and event.call in keys]
    fields: dict[str, Any] = {
        **vars(bare), "version": recorded.version, "effect": recorded.effect,
        "repair": _repair(name, record, keys),
        "guard": guard,
    }  # fmt: skip
    if any(one.child for one in tried) or _recorded_grant(recorded_spec, name) is not None:
        return AgentTool(**fields, run=_uncalled, grant=_recorded_grant(recorded_spec, name))
    return Tool(
        **fields,
        call=_uncalled,
        attempts=Attempts(retry=Retry(_times(record, keys, tried)), probe=_uncalled),
    )


async def _uncalled(*args: Any) -> Any:
    """Stands where a replay takes what came of a call from the record."""
    raise ConfigError(f"a tool that only stands in for another was called with {args}")


def _times(record: Trajectory, keys: set[str], tried: Sequence[Attempt]) -> int:
    """How often the tool was tried again at most: where it was given up, or as far as it came."""
    attempts = [
        call.attempts[-1].number if call.attempts else 1
        for call in record.calls
        if call.key in keys and _failed_for_good(call.observation)
    ]
    return min(attempts, default=max((one.number for one in tried), default=1)) - 1


def _failed_for_good(seen: Observation | None) -> bool:
    return seen is not None and seen.made and not seen.ok and seen.code != "bad_output"


def _repair(
    name: str, record: Trajectory, keys: set[str]
) -> Callable[[dict[str, Json]], tuple[dict[str, Json], str] | None]:
    """What mended the arguments of its calls, as it did then."""
    mended = {
        event.call: event.verdict
        for event in (entry.event for entry in record.entries)
        if isinstance(event, Judged) and event.call in keys and event.by == f"{name}.repair"
    }

    def repair(args: dict[str, Json]) -> tuple[dict[str, Json], str] | None:
        for key, verdict in mended.items():
            if record.call(key).action.args == args and verdict.args is not None:
                return verdict.args, verdict.reason
        return None

    return repair


def _by_name(order: Sequence[str]) -> Callable[[AnyTool], int]:
    """Where a tool stands in the order of these names."""
    return lambda tool: order.index(tool.name)


def _approved(recorded: AgentSpec, tools: Sequence[AnyTool]) -> list[AnyTool]:
    """The tools as the record says that a person approves their calls, or performs them."""
    recorded_rules, waiting = recorded.parts.get("approve", {}), recorded.parts.get("external", {})
    rules = msgspec.convert(recorded_rules, dict[str, bool | str | dict[str, str]])
    elsewhere = msgspec.convert(waiting, dict[str, External])
    by_name: dict[str, Approve] = {
        name: _NamedPart(rule["by"]) if isinstance(rule, dict) else rule
        for name, rule in rules.items()
    }
    approved = [replace(tool, approve=by_name.get(tool.name, False)) for tool in tools]
    return [
        replace(
            tool,
            external=elsewhere.get(tool.name),
            attempts=Attempts() if tool.name in elsewhere else tool.attempts,
        )
        if isinstance(tool, Tool)
        else tool
        for tool in approved
    ]


@dataclass(frozen=True)
class _NamedPart:
    """A guard, check or screen that only has the name that the record knows it by."""

    name: str

    def __repr__(self) -> str:
        return self.name

    async def __call__(self, *args: Any) -> None:
        """It says nothing: what it said then stands in the record."""


@dataclass(frozen=True)
class _Bound:
    """A bound of the user's own: reached where the record says that a bound was."""

    name: str
    record: Trajectory

    def __repr__(self) -> str:
        return self.name

    def __call__(self, trajectory: Trajectory) -> str | None:
        """The reason of the next entry, if that ends or lands the run."""
        position = len(trajectory)
        match self.record.entries[position].event if position < len(self.record) else None:
            case Landing(bound=bound, detail=detail, code="own"):
                return f"{bound}: {detail}" if detail else bound
            case Stop(status="bound", detail=detail, code="own"):
                return detail
            case _:
                return None


def _answer(schema: Parameters) -> Callable[[Json], Any]:
    """A type of answers that is known by its schema alone; what its own code said is recorded."""

    class Recorded:
        """An answer as it stands in the record."""

        def __init__(self, recorded: Json) -> None:
            self._recorded = recorded

        @classmethod
        def model_json_schema(cls, **_: object) -> Parameters:
            """Give the schema, as pydantic's models do."""
            return msgspec.json.decode(msgspec.json.encode(schema), type=dict[str, Json])

        @classmethod
        def model_validate_json(cls, body: bytes, *, strict: bool) -> Self:
            """Take any answer that met the schema."""
            _ = strict
            return cls(msgspec.json.decode(body))

        def model_dump(self, **_: object) -> Json:
            """Give the answer back."""
            return self._recorded

    return Recorded
