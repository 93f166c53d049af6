"""The agent of the command line: made from options, and made again from a record's origin."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from clew.agent_files import (
    SCREENS,
    Spec,
    origin,
    read_agent_file,
    refuse_foreign,
    spec_of,
    with_model,
)
from clew.core.errors import ConfigError, ModelError
from clew.core.events import AgentSpec, Json, Reply
from clew.core.interfaces import OnText, Prompt
from clew.core.trajectory import Trajectory

__all__ = [
    "NAMES", "VOTES", "StandIn", "agent_store", "options", "origin", "recorded", "stand_in",
    "with_model",
]  # fmt: skip

VOTES: Final = "votes"
"""Key of what a vote is made of, in `Started.origin`."""

NAMES: Final[Mapping[str, str]] = {
    "max_steps": "limits.steps",
    "max_tokens": "limits.tokens",
    "max_cost": "limits.cost",
    "max_seconds": "limits.seconds",
    "temperature": "params.temperature",
}
"""Options that are called otherwise in a spec."""


def options(given: Mapping[str, Json], before: Spec | None = None) -> Spec:
    """What the command line says, over the agent file that it names, over `before`.

    None means that it says nothing. Raises `ConfigError` where the agent file does not fit.
    """
    said: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    file = said.pop("agent", None)
    if said.pop("no_screen", None):
        said["screens"] = ()
    if isinstance(tools := said.get("tools"), str):
        said["tools"] = [name.strip() for name in tools.split(",") if name.strip()]
    if docs := said.get("docs"):
        said["docs"] = str(Path(docs).absolute())
    spec = read_agent_file(file) if file else before or Spec(screens=SCREENS)
    return spec.replace({NAMES.get(name, name): value for name, value in said.items()})


def agent_store(given: Mapping[str, Json]) -> str | None:
    """The place for records that the agent file named here asks for, if one does."""
    file = given.get("agent")
    return (read_agent_file(file).store or None) if file else None


def recorded(
    record: Trajectory,
    given: Mapping[str, Json],
    *,
    of: Trajectory | None = None,
    trusted: bool = False,
    harmless: bool = False,
) -> Spec:
    """The spec a run was begun, or last changed, with; over it what is said now.

    Raises `ConfigError` where neither says what the agent is made of, and where somebody else began
    the run: unless that is `trusted`, or nothing is made of it that could do harm. The record may
    be the beginning `of` another.
    """
    before = spec_of(record)
    if before is None and not any(value is not None for value in given.values()):
        message = (
            f"run {record.run_id} was begun by a program, not by `clew ask`: resume it there, "
            "or say what its agent is made of (--agent, --model, --tools, …)"
        )
        raise ConfigError(message)
    replaced = given.get("agent") and VOTES not in record.started.origin
    if before is not None and not harmless and not replaced:
        parents = (fork.parent for fork in of.forks) if of is not None else ()
        refuse_foreign(record, before, *parents, trusted=trusted)
    return options(given, before)


@dataclass(frozen=True)
class StandIn:
    """The model of a replay: it has the recorded name and parameters, and is never asked."""

    name: str
    priced: bool
    params: Mapping[str, Json] = field(default_factory=dict[str, Json])

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        """Nobody asks: the recorded replies are used."""
        del prompt, on_text
        message = f"{self.name} is only replayed here"
        raise ModelError(message)


def stand_in(setting: AgentSpec) -> StandIn:
    """What the record says of its model; that it was priced shows in the bound on its cost."""
    bounds: list[str] = setting.parts.get("bounds", [])
    priced = any(bound.startswith("Cost(") for bound in bounds)
    return StandIn(setting.model, priced, setting.params)
