"""The agent of the command line: made from options, and made again from a record's origin."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

import anyio.lowlevel
import msgspec

from clew import Agent, ConfigError, ModelError, ModelSettings, Trajectory
from clew.agent_files import (
    SCREENS,
    Spec,
    explained,
    make_agent,
    make_library,
    read_agent_file,
    refuse_foreign,
    spec_of,
    with_model,
)
from clew.cli.screen import RunScreen, tell_model
from clew.interfaces import AgentSpec, Json, ModelInfo, OnText, Prompt, Reply
from clew.support.wings import MCP, require
from clew.toolbox.docs import Library

VOTES: Final = "votes"
"""Key of what a vote is made of, in `Started.origin`."""

KEYS: Final[Mapping[str, str]] = {
    "steps": "limits.steps",
    "tokens": "limits.tokens",
    "cost": "limits.cost",
    "seconds": "limits.seconds",
    "unknown": "limits.unknown",
    "window": "compaction.window",
    **{name: f"settings.{name}" for name in ModelSettings.HELP},
}
"""Options by the keys of agent files that they set, where those stand in a table."""

LISTS: Final = ("tools", "screens", "guards", "bounds", "checks", "provenance.exempt")
"""Keys whose value is several names, which a command line writes between commas."""


def options(arguments: Mapping[str, Json]) -> Spec:
    """What the options say, over the agent file that they name; None is an option left out.

    Raises `ConfigError` where they or the file do not fit.
    """
    return changed(option_keys(arguments), Spec(screens=SCREENS), "an option")


def option_keys(arguments: Mapping[str, Json]) -> dict[str, Json]:
    """What the options say, by the keys of agent files."""
    return {KEYS.get(name, name): value for name, value in arguments.items() if value is not None}


def changed(keys: Mapping[str, Json], before: Spec, source: str = "--set") -> Spec:
    """The spec with other values, by the dotted keys of agent files; None takes one away.

    The key `agent` names a file whose agent takes the place of it all. Raises `ConfigError`.
    """
    values = dict(keys)
    file = values.pop("agent", None)
    for name in LISTS:
        if isinstance(names := values.get(name), str):
            values[name] = [one.strip() for one in names.split(",") if one.strip()]
    for name in ("docs", "memory", "workspace", "workspace.root"):
        if isinstance(path := values.get(name), str) and path:
            values[name] = str(Path(path).absolute())
    if lines := cast("list[Json]", values.get("mcp")):
        of_line = require(MCP, "server", "--mcp")
        values["mcp"] = [of_line(line) if isinstance(line, str) else line for line in lines]
    spec = read_agent_file(file) if file else before
    try:
        return spec.replace(values)
    except msgspec.ValidationError as error:
        message = f"{source} does not fit an agent: {explained(str(error))}"
        raise ConfigError(message) from error


def agent_store(keys: Mapping[str, Json]) -> str | None:
    """The place for records that the agent file named here asks for, if one does."""
    file = keys.get("agent")
    return (read_agent_file(file).store or None) if file else None


def recorded(
    record: Trajectory,
    keys: Mapping[str, Json],
    *,
    harmless: bool = False,
) -> Spec:
    """The spec a run was begun, or last changed, with; over it what is said now.

    Raises `ConfigError` where neither says what the agent is made of, and where somebody else says
    it: unless nothing is made of it that could do harm.
    """
    before = spec_of(record)
    if before is None and not keys:
        message = (
            f"run {record.run_id} was begun by a program, not by `clew ask`, and its record does "
            "not say what its agent is made of: do this in that program, or say what it is made of "
            "here (--set agent=FILE, --set model=NAME, …)"
        )
        raise ConfigError(message)
    replaced = keys.get("agent") and VOTES not in record.started.origin
    if before is not None and not harmless and not replaced:
        refuse_foreign(record, before)
    return changed(keys, before or Spec(screens=SCREENS))


@dataclass(frozen=True)
class Assembled:
    """An agent with the documents that it searches, and why it has this model if nobody said."""

    spec: Spec
    agent: Agent[Any]
    docs: Library | None
    why: str


async def assemble(spec: Spec, screen: RunScreen) -> Assembled:
    """Make the agent; the screen hears which model was chosen, and what is seldom wise."""
    spec, why = await with_model(spec)
    tell_model(spec, why)
    docs = make_library(spec, screen.indexing)
    agent = make_agent(spec, docs)
    screen.warn(agent)
    await anyio.lowlevel.checkpoint()  # nothing is recorded after a Ctrl-C while parts are imported
    return Assembled(spec, agent, docs, why)


@dataclass(frozen=True)
class ReplayModel:
    """The model of a replay: it has the recorded name and parameters, and is never asked."""

    info: ModelInfo

    def with_settings(self, settings: ModelSettings) -> "ReplayModel":
        """Itself: the settings that count are those of the record."""
        del settings
        return self

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        """Nobody asks: the recorded replies are used."""
        del prompt, on_text
        message = f"{self.info.name} is only replayed here"
        raise ModelError(message)


def stand_in(spec: AgentSpec) -> ReplayModel:
    """What the record says of its model."""
    return ReplayModel(ModelInfo(spec.model, spec.params, priced=spec.priced, wait=spec.wait))
