"""The table `fallbacks` of an agent file: which tool is called when another fails."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields

import msgspec

from clew.agent_files.spec import FallbackTable, Spec, part
from clew.core.tools import AnyTool, FallbackTool, Tool
from clew.support.errors import ConfigError
from clew.tools.fallback import with_fallback

Names = Mapping[str, str | None]


def with_fallbacks(spec: Spec, tools: Sequence[AnyTool]) -> list[AnyTool]:
    """The tools, those with a fallback with it. Raises `ConfigError` with the place in the file."""
    by_name = {tool.name: tool for tool in tools}
    for name in spec.fallbacks:
        with part("fallbacks", name):
            _known(by_name, name)
    return [_resolved(spec, by_name, tool.name, (), with_fallback) for tool in tools]


def knowing_fallbacks(spec: Spec, tools: Mapping[str, AnyTool]) -> dict[str, AnyTool]:
    """Tools by name that only stand in for those of a record, with what these could be handed to.

    They are never called: what the record's agent took for a repetition depends on it.
    """
    both = {
        name: value
        for name, value in spec.fallbacks.items()
        if {name, _table(value).tool} <= {*tools}
    }
    spec = msgspec.structs.replace(spec, fallbacks=both)
    return {name: _resolved(spec, tools, name, (), _knowing) for name in tools}


def _knowing(tool: AnyTool, other: AnyTool, names: Names) -> AnyTool:
    if not isinstance(tool, Tool) or not isinstance(other, Tool):
        return tool  # what works in a sub-run has none
    shared = {each.name: getattr(tool, each.name) for each in fields(Tool)}  # a kind has more
    return FallbackTool(**shared, first=tool, other=other, names=names)


def _table(value: str | FallbackTable) -> FallbackTable:
    return FallbackTable(tool=value) if isinstance(value, str) else value


def _resolved(
    spec: Spec,
    by_name: Mapping[str, AnyTool],
    name: str,
    above: tuple[str, ...],
    join: Callable[[AnyTool, AnyTool, Names], AnyTool],
) -> AnyTool:
    """A tool with its fallback, which may have one too."""
    if name not in spec.fallbacks:
        return by_name[name]
    table = _table(spec.fallbacks[name])
    with part("fallbacks", name):
        _known(by_name, table.tool)
        if table.tool in (*above, name):
            way = " → ".join((*above, name, table.tool))
            raise ConfigError(f"{table.tool} would be its own fallback: {way}")
    other = _resolved(spec, by_name, table.tool, (*above, name), join)
    names = {here: there or None for here, there in table.arguments.items()}
    with part("fallbacks", name):
        return join(by_name[name], other, names)


def _known(by_name: Mapping[str, AnyTool], name: str) -> None:
    if name not in by_name:
        raise ConfigError(f"the agent has no tool {name!r}: add it to tools, or leave it out")
