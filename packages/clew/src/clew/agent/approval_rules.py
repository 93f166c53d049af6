"""Approval declared at a tool (`@tool(approve=…)`): one guard asks for all tools that want it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from clew.core.tools import Approve
from clew.core.trajectory import Call, Trajectory
from clew.core.values import Json
from clew.core.verdicts import Verdict
from clew.deps.parameters import rule_takes_context
from clew.deps.run_context import part_context
from clew.support.errors import ConfigError, PartError
from clew.support.json_arguments import unfit
from clew.support.parts import Patience, ask, copied, short_repr, stable_name

_USUAL: Final = "{tool} needs approval"
_WANTED: Final = "give True, a reason, or a function of the arguments that returns one of these"


@dataclass(frozen=True)
class Approvals:
    """A guard: holds calls of tools that say that a person must approve them, by their `rules`.

    A rule that fails holds the call too: nothing is made because a check was broken.
    """

    rules: Mapping[str, Approve] = field(repr=False)
    patience: Patience = field(repr=False)

    def __repr__(self) -> str:
        """As the record names it."""
        return "approve"

    @property
    def tools(self) -> frozenset[str]:
        """The names of the tools whose calls it judges."""
        return frozenset(self.rules)

    async def __call__(self, call: Call, trajectory: Trajectory) -> Verdict | None:
        """Hold the call with the reason that its rule gives."""
        reason = await self._reason(call, trajectory)
        return Verdict("hold", reason) if reason else None

    async def _reason(self, call: Call, trajectory: Trajectory) -> str:
        """Why a person must see the call; "" where nobody must."""
        tool = call.action.name
        rule: object = self.rules[tool]
        who = f"the approval rule of {tool}"
        if callable(rule):
            arguments: list[Any] = [copied(call.args)]
            if rule_takes_context(rule):
                arguments.append(part_context(trajectory, call.key))
            try:
                rule = await ask(who, self.patience, rule, *arguments)
            except PartError as error:
                return f"{_USUAL.format(tool=tool)}: {error}"
        if isinstance(rule, str) and not unfit(rule):
            return rule.strip()
        if rule is None or isinstance(rule, bool):
            return _USUAL.format(tool=tool) if rule else ""
        return f"{_USUAL.format(tool=tool)}: {who} gave {short_repr(rule)}: mend it"


def as_recorded(rule: Approve) -> Json:
    """A rule as the settings of a run name it: a function by its name."""
    return {"by": stable_name(rule)} if callable(rule) else rule


def check_rule(tool: str, rule: object) -> None:
    """Raise `ConfigError` for what is no rule."""
    if isinstance(rule, type) or not (isinstance(rule, bool | str) or callable(rule)):
        raise ConfigError(f"tool {tool}: approve is {short_repr(rule)}: {_WANTED}", field="approve")
    if isinstance(rule, str) and not rule.strip():
        raise ConfigError(f"tool {tool}: approve is an empty reason: {_WANTED}", field="approve")
