"""The tables `labels` of an agent file: what a person knows of a tool that it does not say."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import msgspec

from clew.agent_files.spec import LabelsTable, Spec, part
from clew.core.interfaces import AnyTool
from clew.support.errors import ConfigError
from clew.support.nearest_name import did_you_mean
from clew.tools.schema import checked


def with_labels(spec: Spec, tools: Sequence[AnyTool]) -> list[AnyTool]:
    """The tools with these labels. Raises `ConfigError` with the place in the file."""
    names = [tool.name for tool in tools]
    for name in spec.labels:
        if name not in names:
            hint = did_you_mean(name, names, f"it has {', '.join(names) or 'none'}")
            with part("labels", name):
                raise ConfigError(f"the agent has no tool {name!r}: {hint}")
    return [labelled(spec.labels, tool) for tool in tools]


def labelled(tables: Mapping[str, LabelsTable], tool: AnyTool) -> AnyTool:
    """The tool with what its table says; what that leaves out is as the tool says it itself."""
    if tool.name not in tables:
        return tool
    fields = msgspec.structs.asdict(tables[tool.name])
    labels = replace(tool.labels, **{key: it for key, it in fields.items() if it is not None})
    with part("labels", tool.name):
        return checked(replace(tool, labels=labels))
