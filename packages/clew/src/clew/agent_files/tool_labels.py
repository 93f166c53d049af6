"""The tables `labels` and `approve` of an agent file: what a person says of its tools."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final, cast

import msgspec

from clew.agent.approval_rules import check_rule
from clew.agent_files.imports import imported_function
from clew.agent_files.spec import LabelsTable, Spec, part
from clew.core.tools import AnyTool, Approve
from clew.support.errors import ConfigError
from clew.support.nearest_name import did_you_mean
from clew.tools.schema import checked

_FUNCTION: Final = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")
"""What names a function; a reason that is shown to a person has spaces."""


def with_labels(spec: Spec, tools: Sequence[AnyTool]) -> list[AnyTool]:
    """The tools with these labels. Raises `ConfigError` with the place in the file."""
    _check_names("labels", spec.labels, tools)
    return [labelled(spec.labels, tool) for tool in tools]


def with_approvals(spec: Spec, tools: Sequence[AnyTool]) -> list[AnyTool]:
    """The tools with what the table `approve` says of them. Raises `ConfigError` with the place."""
    _check_names("approve", spec.approve, tools)
    return [
        replace(tool, approve=_rule(spec, tool.name)) if tool.name in spec.approve else tool
        for tool in tools
    ]


def _rule(spec: Spec, name: str) -> Approve:
    """Which calls of a tool a person approves."""
    rule: Approve = spec.approve[name]
    with part("approve", name):
        check_rule(name, rule)
        if isinstance(rule, str) and names_function(rule):
            rule = cast("Approve", imported_function(rule, "approve", spec.folder))
    return rule


def names_function(rule: str) -> bool:
    """Whether a rule of the table is `module:name`."""
    return _FUNCTION.fullmatch(rule) is not None


def _check_names(table: str, named: Iterable[str], tools: Sequence[AnyTool]) -> None:
    """Raise `ConfigError` for a name that is no tool's."""
    names = [tool.name for tool in tools]
    for name in named:
        if name not in names:
            hint = did_you_mean(name, names, f"it has {', '.join(names) or 'none'}")
            with part(table, name):
                raise ConfigError(f"the agent has no tool {name!r}: {hint}")


def labelled(tables: Mapping[str, LabelsTable], tool: AnyTool) -> AnyTool:
    """The tool with what its table says; what that leaves out is as the tool says it itself."""
    if tool.name not in tables:
        return tool
    fields = msgspec.structs.asdict(tables[tool.name])
    labels = replace(tool.labels, **{key: it for key, it in fields.items() if it is not None})
    with part("labels", tool.name):
        return checked(replace(tool, labels=labels))
