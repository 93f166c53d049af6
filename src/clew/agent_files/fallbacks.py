"""The table `fallbacks` of an agent file: which tool is called when another fails."""

from collections.abc import Sequence

from clew.agent_files.spec import FallbackTable, Spec, part
from clew.core.errors import ConfigError
from clew.core.interfaces import AnyTool
from clew.tools.fallback import with_fallback


def with_fallbacks(spec: Spec, tools: Sequence[AnyTool]) -> list[AnyTool]:
    """The tools, those with a fallback with it. Raises `ConfigError` with the place in the file."""
    by_name = {tool.name: tool for tool in tools}
    for name in spec.fallbacks:
        with part("fallbacks", name):
            _known(by_name, name)
    return [_resolved(spec, by_name, tool.name, ()) for tool in tools]


def _resolved(
    spec: Spec, by_name: dict[str, AnyTool], name: str, above: tuple[str, ...]
) -> AnyTool:
    """A tool with its fallback, which may have one too."""
    if name not in spec.fallbacks:
        return by_name[name]
    said = spec.fallbacks[name]
    said = FallbackTable(tool=said) if isinstance(said, str) else said
    with part("fallbacks", name):
        _known(by_name, said.tool)
        if said.tool in (*above, name):
            way = " → ".join((*above, name, said.tool))
            raise ConfigError(f"{said.tool} would be its own fallback: {way}")
    other = _resolved(spec, by_name, said.tool, (*above, name))
    names = {here: there or None for here, there in said.arguments.items()}
    with part("fallbacks", name):
        return with_fallback(by_name[name], other, names)


def _known(by_name: dict[str, AnyTool], name: str) -> None:
    if name not in by_name:
        raise ConfigError(f"the agent has no tool {name!r}: add it to tools, or leave it out")
