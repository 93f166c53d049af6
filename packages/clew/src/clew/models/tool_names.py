"""A prompt's tools as a provider takes them: names made legal and mapped back, encoded once."""

import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from clew.core.tools import ToolSpec
from clew.core.values import Json, encode
from clew.models.tool_schema import LEVELS, reduced

BOXES: Final = 64
"""How many sets of tools are kept encoded."""


@dataclass(frozen=True)
class NameRules:
    """Which names a provider takes: at most `longest` signs, none of them in `illegal`.

    `first` is what a name may begin with. Both are regular expressions for one sign.
    """

    illegal: str = r"[^a-zA-Z0-9_-]"
    longest: int = 64
    first: str = r"."

    def legal(self, name: str) -> str:
        """The name with what the provider refuses replaced by `_`, and not too long."""
        mended = re.sub(self.illegal, "_", name)
        if not re.match(self.first, mended):
            mended = f"_{mended}"
        return mended[: self.longest]


@dataclass(frozen=True)
class Ids:
    """Which ids of calls a provider takes: those that `taken`, a regular expression, matches whole.

    The calls of a record may come from another provider. Others become a digest of `length` signs,
    the same in a call and in its result.
    """

    taken: str
    length: int

    def legal(self, call_id: str) -> str:
        """The id as the provider takes it."""
        if re.fullmatch(self.taken, call_id):
            return call_id
        return hashlib.sha256(call_id.encode()).hexdigest()[: self.length]


@dataclass(frozen=True)
class Toolbox:
    """The tools of a prompt as a provider takes them.

    `declared` is the encoded array (empty without tools). `aliases` maps the names that had to be
    changed to what they became, and `names` back. `clash` is not empty where two names became one
    and were told apart: then the encoding of a part depends on the tools beside it. `tools` keeps
    the tools alive, so that their identity names this box.
    """

    tools: tuple[ToolSpec, ...]
    declared: bytes
    aliases: Mapping[str, str]
    names: Mapping[str, str]
    clash: str
    rule: NameRules

    def alias(self, name: str) -> str:
        """The name under which the provider knows the tool, which need not be in the box."""
        return self.aliases.get(name) or self.rule.legal(name)

    def name(self, alias: str) -> str:
        """The tool's own name."""
        return self.names.get(alias, alias)


def toolbox(
    tools: tuple[ToolSpec, ...], rule: NameRules, declare: Callable[[ToolSpec, str], Json]
) -> Toolbox:
    """Encode the tools, each as `declare(tool, alias)` says.

    Legal names are kept; others are made legal and unlike all before.
    """
    taken = {tool.name for tool in tools if rule.legal(tool.name) == tool.name}
    aliases: dict[str, str] = {}
    clash: list[str] = []
    for name in (tool.name for tool in tools if tool.name not in taken):
        alias, number = rule.legal(name), 2
        while alias in taken:
            short = rule.legal(name)[: rule.longest - 1 - len(str(number))]
            alias = f"{short}_{number}"
            number += 1
        if number > 2:
            clash.append(f"{name}={alias}")
        taken.add(alias)
        aliases[name] = alias
    declared = encode([declare(tool, aliases.get(tool.name, tool.name)) for tool in tools])
    names = {alias: name for name, alias in aliases.items()}
    return Toolbox(tools, declared if tools else b"", aliases, names, ",".join(clash), rule)


def described(tool: ToolSpec) -> str:
    """The tool's description with its examples, for providers that have no place for them."""
    examples = [encode(example).decode() for example in tool.examples]
    return "\n".join([tool.description, *(f"Example arguments: {line}" for line in examples)])


def arguments(tool: ToolSpec) -> Json:
    """The schema of the tool's arguments, which are an object also where it does not say so."""
    return tool.parameters if "type" in tool.parameters else {"type": "object"} | tool.parameters


@dataclass
class ToolNameMap:
    """The tool boxes of one model, made once for each set of tools."""

    rule: NameRules
    declare: Callable[[ToolSpec, str], Json]
    _made: dict[tuple[object, ...], Toolbox] = field(
        default_factory=dict[tuple[object, ...], Toolbox]
    )

    def of(self, tools: tuple[ToolSpec, ...], repairs: frozenset[str] = frozenset()) -> Toolbox:
        """The box of these tools, their schemas as far as `repairs` leave them."""
        levels = repairs & LEVELS if tools else repairs & frozenset()
        key = (*map(id, tools), *sorted(levels))
        if (box := self._made.get(key)) is None:
            declare = self.declare
            if len(self._made) >= BOXES:
                self._made.clear()
            box = toolbox(tools, self.rule, lambda tool, name: declare(reduced(tool, levels), name))
            self._made[key] = box
        return box
