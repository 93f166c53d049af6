"""The agent of the command line: made from options, and made again from a record's origin."""

import difflib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

import msgspec

from clew.agent import Agent
from clew.bounds import Limits
from clew.cli.own_tools import imported
from clew.codecs import by_name
from clew.errors import ConfigError, ModelError
from clew.events import Changed, Json, Reply, Setting
from clew.models.resolve import OFFLINE, default, resolve
from clew.protocols import Guard, Model, OnText, Prompt, Tool
from clew.tools.calc import calc
from clew.tools.docs import Library, OnProgress, docs_tools
from clew.tools.person import ASK, HoldQuestions, ask_person
from clew.tools.planner import planner
from clew.trajectory import Trajectory

ORIGIN: Final = "cli"
"""Key of the options in `Started.origin`."""

DOCS: Final = "docs"
SHIPPED: Final = ("calc", "planner", DOCS, ASK)
USUAL: Final = ("calc", "planner")


class Options(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What an agent of the command line is made of; written as JSON into the record's origin.

    `docs` is the absolute path of a folder, or empty. `tools` are names of `SHIPPED` and
    `module:name` of a user's own; with `docs` its tools are added. Limits and the format left out
    are the usual.
    """

    model: str = ""
    docs: str = ""
    tools: tuple[str, ...] = USUAL
    format: str = ""
    max_steps: int | None = None
    max_tokens: int | None = None
    max_cost: float | None = None
    max_seconds: float | None = None
    temperature: float | None = None
    unknown: Literal["tell", "hold"] = "tell"

    @property
    def origin(self) -> dict[str, Json]:
        """As it stands in the record."""
        return {ORIGIN: msgspec.to_builtins(self)}

    @property
    def limits(self) -> Limits:
        """The usual limits, but for those that were given."""
        usual = Limits()
        return Limits(
            steps=usual.steps if self.max_steps is None else self.max_steps,
            tokens=usual.tokens if self.max_tokens is None else self.max_tokens,
            seconds=usual.seconds if self.max_seconds is None else self.max_seconds,
            cost=self.max_cost,
        )


def options(given: Mapping[str, Json]) -> Options:
    """Options from what the command line says; None means that it says nothing."""
    said = {name: value for name, value in given.items() if value is not None}
    if isinstance(tools := said.get("tools"), str):
        said["tools"] = [name.strip() for name in tools.split(",") if name.strip()]
    if docs := said.get("docs"):
        said["docs"] = str(Path(docs).absolute())
    return msgspec.convert(said, Options)


def recorded(record: Trajectory, given: Mapping[str, Json]) -> Options:
    """The options a run was begun, or last changed, with; over them what is said now.

    Raises `ConfigError` where neither says what the agent is made of.
    """
    now = options(given)
    changed = [e.event.origin for e in record.entries if isinstance(e.event, Changed)]
    origins = [o[ORIGIN] for o in (record.started.origin, *changed) if ORIGIN in o]
    if not origins:
        if now == Options():
            message = (
                f"run {record.run_id} was begun by a program, not by `clew ask`: resume it there, "
                "or say what its agent is made of (--model, --tools, …)"
            )
            raise ConfigError(message)
        return now
    try:
        before = msgspec.to_builtins(msgspec.convert(origins[-1], Options))
        return msgspec.convert({**before, **msgspec.to_builtins(now)}, Options)
    except msgspec.ValidationError as error:
        message = f"run {record.run_id} was begun with options this clew does not know: {error}"
        raise ConfigError(message) from error


async def with_model(wanted: Options) -> tuple[Options, str]:
    """The options with a model, and why that one; the reason is empty where it was given."""
    if wanted.model:
        return wanted, ""
    model, why = await default(os.environ)
    return msgspec.structs.replace(wanted, model=model), why


def library(wanted: Options, on_progress: OnProgress | None = None) -> Library | None:
    """The documents, not yet read; None where no folder was given. Raises `ConfigError`."""
    return Library(wanted.docs, on_progress=on_progress) if wanted.docs else None


def make_agent(wanted: Options, docs: Library | None = None, model: Model | None = None) -> Agent:
    """The agent; `docs` and `model` take the place of those that the options name.

    Raises `ConfigError` where the options do not fit or name what is not there.
    """
    return Agent(
        model=make_model(wanted) if model is None else model,
        tools=tools(wanted, library(wanted) if docs is None else docs),
        codec=wanted.format or None,
        limits=wanted.limits,
        guards=guards(wanted),
        unknown=wanted.unknown,
    )


def make_model(wanted: Options) -> Model:
    """The model by its name. Raises `ConfigError`."""
    if wanted.model == OFFLINE and wanted.format and not by_name(wanted.format).native:
        message = "the offline rules act in the native format only: leave --format out"
        raise ConfigError(message)
    if wanted.temperature is None:
        return resolve(wanted.model)
    if wanted.model == OFFLINE:
        message = "the offline rules have no temperature: leave it out, or name another model"
        raise ConfigError(message)
    return resolve(wanted.model, params={"temperature": wanted.temperature})


def guards(wanted: Options) -> tuple[Guard, ...]:
    """What the tools need judged: questions to a person are held until they are answered."""
    return (HoldQuestions(),) if ASK in wanted.tools else ()


def tools(wanted: Options, docs: Library | None) -> list[Tool]:
    """The tools by their names, each once, in the order given; those of the documents last."""
    found: list[Tool] = []
    for name in dict.fromkeys(wanted.tools):
        if name == DOCS:
            if docs is None:
                message = "the tool docs needs a folder to search: add --docs FOLDER"
                raise ConfigError(message)
        else:
            found += shipped(name) if ":" not in name else imported(name)
    return [*found, *(docs_tools(docs) if docs is not None else ())]


def shipped(name: str) -> list[Tool]:
    """The shipped tool of that name. Raises `ConfigError` with the nearest one."""
    match name:
        case "calc":
            return [calc()]
        case "planner":
            return [planner()]
        case _ if name == ASK:
            return [ask_person()]
        case _:
            near = difflib.get_close_matches(name, SHIPPED, n=1)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(SHIPPED)}"
            message = f"there is no tool {name!r}: {hint} (one of your own is module:name)"
            raise ConfigError(message)


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


def stand_in(setting: Setting) -> StandIn:
    """What the record says of its model; that it was priced shows in the bound on its cost."""
    bounds: list[str] = setting.parts.get("bounds", [])
    priced = any(bound.startswith("Cost(") for bound in bounds)
    return StandIn(setting.model, priced, setting.params)
