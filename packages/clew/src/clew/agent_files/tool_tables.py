"""The tools that keys of an agent file describe: programs, processes, other agents, wings."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import msgspec

from clew.agent.agent import Agent
from clew.agent.subagents import delegate
from clew.agent_files.imports import imported_function
from clew.agent_files.read import read_agent_file
from clew.agent_files.spec import (
    AgentTable,
    ExternalTable,
    ModelConnection,
    ProcessTable,
    ProgramTool,
    Spec,
    WorkspaceTable,
    origin,
    part,
)
from clew.core.models import Model
from clew.core.tools import AgentTool, AnyTool, Parameters, Tool
from clew.support.errors import ConfigError
from clew.support.wings import MCP, MEMORY, PROGRAMS, WORKSPACE, require
from clew.tools.external import external
from clew.tools.process import process_tool

TomlPath: TypeAlias = tuple[str | int, ...]
"""A place in a spec, as `part` takes it."""


def command_tool(each: ProgramTool) -> Tool:
    """The tool that runs a program."""
    made: Tool = require(PROGRAMS, "tool", "the key programs")(
        each.name,
        each.argv,
        each.description,
        parameters=each.parameters,
        dashes=each.dashes,
        effect=each.effect,
        timeout=each.timeout,
        cwd=each.cwd or None,
        env=each.env,
        limit=each.limit,
    )
    return made


def external_tool(each: ExternalTable) -> Tool:
    """The tool that somebody else performs."""
    schema: Parameters = {
        "type": "object",
        "properties": dict(each.parameters),
        "required": [*each.parameters],
        "additionalProperties": False,
    }
    return external(
        each.name, each.description, schema, result=each.result, timeout=each.timeout or None,
        fallback=each.fallback, effect=each.effect, trust=each.trust,
    )  # fmt: skip


def process_tool_of(each: ProcessTable, folder: str) -> Tool:
    """The tool that calls a function in a process of its own."""
    try:
        imported_function(each.function, "function", folder)
    except ConfigError as error:
        raise ConfigError(str(error), field="function") from error
    fields = msgspec.structs.asdict(each)
    return process_tool(fields.pop("function"), **{name: it for name, it in fields.items() if it})


def other_agent(each: AgentTable, spec: Spec, make: Callable[[Spec], Agent[Any]]) -> AgentTool:
    """The tool that hands on to the agent of another file; without a model that has this one's.

    Raises `ConfigError` where the files lead round in a circle.
    """
    inner = inner_spec(each.name, each.file, spec)
    return delegate(
        make(inner), name=each.name, description=each.description, origin=origin(inner),
        attachments=each.attachments,
    )  # fmt: skip


def _server_tools(spec: Spec, model: Model | None) -> Iterator[tuple[TomlPath, list[AnyTool]]]:
    """The tools of each MCP server, with its place in the spec; `model` answers its questions.

    They are made from what is pinned beside the agent file. Raises `PartError`.
    """
    if not spec.mcp:
        return
    with part("mcp", 0):
        tools_of = require(MCP, "tools", _asked("mcp", spec))
    for index, each in enumerate(spec.mcp):  # before any of them is asked for its tools
        if each.name in {other.name for other in spec.mcp[:index]}:
            with part("mcp", index):
                raise ConfigError(f"two MCP servers are called {each.name}: rename one (NAME=…)")
    for index, each in enumerate(spec.mcp):
        with part("mcp", index):
            _check_only(each.only)
            tools: list[AnyTool] = tools_of(msgspec.to_builtins(each), spec.file, model)
        yield ("mcp", index), tools


def wing_tools(spec: Spec, model: Model | None) -> Iterator[tuple[TomlPath, list[AnyTool]]]:
    """The tools of servers, of a file of memories and of a folder, with their places in the spec.

    `model` answers what servers ask. Raises `PartError`.
    """
    yield from _server_tools(spec, model)
    if spec.memory:
        with part("memory"):
            tools: list[AnyTool] = [*require(MEMORY, "tools")(spec.memory)]
        yield ("memory",), tools
    if spec.workspace:
        workspace = spec.workspace
        table = WorkspaceTable(root=workspace) if isinstance(workspace, str) else workspace
        fields: dict[str, Any] = {k: it for k, it in msgspec.structs.asdict(table).items() if it}
        fields["protected"] = [*table.protected, *_own_files(spec)]
        with part("workspace"):
            _check_only(table.only)
            tools = [*require(WORKSPACE, "tools", _asked("workspace", spec))(**fields)]
        yield ("workspace",), tools


def _asked(key: str, spec: Spec) -> str:
    """A key as whoever asks for it wrote it: in an agent file, or as an option."""
    return f"the key {key}" if spec.file else f"--{key}"


def _check_only(names: tuple[str, ...] | None) -> None:
    """Refuse a list that leaves no tool."""
    if names == ():
        raise ConfigError("only names no tool: name some, or leave it out to have all")


def _own_files(spec: Spec) -> list[str]:
    """The file of the agent and the modules beside it that it names, which say what it may do."""
    named = [*(spec.tools or ()), *spec.guards, *spec.checks, *spec.screens]
    modules = {name.partition(":")[0].replace(".", "/") for name in named if ":" in name}
    beside = [str(Path(spec.folder, f"{name}.py")) for name in sorted(modules)]
    return [str(Path(one).absolute()) for one in (*filter(None, [spec.file]), *beside)]


def inner_spec(name: str, file: str, spec: Spec) -> Spec:
    """What another file says of an agent, with the model of this one where it names none.

    That model is reached as this file says, unless the other one says it too.

    Raises `ConfigError` where the files lead round in a circle.
    """
    _check_circle(name, file, (spec.file,))
    inner = read_agent_file(file)
    if inner.model:
        return inner
    reached = spec.connection if inner.connection == ModelConnection() else inner.connection
    inner = msgspec.structs.replace(inner, connection=reached, prices=inner.prices or spec.prices)
    return inner.replace({"model": spec.model})


def _check_circle(name: str, file: str, above: tuple[str, ...]) -> None:
    """Raise where a file is among those that lead to it."""
    inner = read_agent_file(file)
    if inner.file in above:
        message = f"{name} leads back to {inner.file}: no agent can hand on to itself for ever"
        raise ConfigError(message)
    further = {each.name: each.file for each in inner.agents}
    further |= {} if inner.planned is None else inner.planned.files
    for other, position in further.items():
        _check_circle(other, position, (*above, inner.file))
