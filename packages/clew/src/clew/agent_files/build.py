"""From a `Spec` to an agent. What cannot be made is told with the part that asked for it."""

import os
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias, cast

import msgspec

from clew.agent.agent import Agent
from clew.agent.declared_answer import decoded_fallback
from clew.agent.harmful_requests import HarmfulRequests
from clew.agent.reply_parser import with_parser
from clew.agent.validate import check_cost, check_screens, check_tool_names
from clew.agent_files.connection import model_beside, model_settings
from clew.agent_files.contexts import context_of
from clew.agent_files.fallbacks import with_fallbacks
from clew.agent_files.imports import imported, imported_function, imported_tools
from clew.agent_files.read import described, read_agent_file
from clew.agent_files.spec import (
    AgentPartError,
    ModelConnection,
    PromptTable,
    SettingsTable,
    Spec,
    part,
)
from clew.agent_files.strategies import with_strategy
from clew.agent_files.tool_labels import with_approvals, with_labels
from clew.agent_files.tool_tables import (
    command_tool,
    external_tool,
    other_agent,
    process_tool_of,
    wing_tools,
)
from clew.codecs import by_name
from clew.context import PROMPT, Instructions
from clew.context.instructions import instructions
from clew.context.variants import matching
from clew.core.codec import Codec
from clew.core.codes import RUN_CODE
from clew.core.judging import Check, Guard
from clew.core.models import Model
from clew.core.prompts import Part, Prompt
from clew.core.tools import AnyTool, Tool
from clew.guards.limits import Limits
from clew.models.resolve import OFFLINE, default_model, resolve
from clew.models.settings import configured
from clew.support.arguments import check_argument
from clew.support.error_text import message_of
from clew.support.errors import ConfigError
from clew.support.extras import install
from clew.support.model_settings import NOTHING_SET, ModelSettings
from clew.support.nearest_name import did_you_mean
from clew.support.street import SHIPPED
from clew.support.wings import (
    CHECKS,
    DOCUMENTS,
    GUARDS,
    SCREENS,
    TOOLS,
    find,
    names,
    require,
)
from clew.tools.finish import answer_schema
from clew.tools.schema import checked

DOCS: Final = "docs"
Where: TypeAlias = tuple[str | int, ...]
"""A place in a spec, as `part` takes it."""
Placed: TypeAlias = tuple[Where, list[AnyTool]]

GROUNDED: Final = "grounded"


class Loaded(NamedTuple):
    """The content of an agent file: the agent, and where its records are kept ("" if not said)."""

    agent: Agent[Any]
    store: str


def load_agent(path: str | Path, **changes: Any) -> Loaded:
    """The agent that a TOML file describes, and its store.

    `changes` are fields of `Agent` that override those of the file. Raises `ConfigError` with file
    and line.
    """
    check_argument("path", path, (str, os.PathLike), "the path of an agent file")
    spec = read_agent_file(path)
    model = changes.pop("model", None)
    if isinstance(model, str):
        spec, model = spec.replace({"model": model}), None
    changes.setdefault("store", spec.store or None)
    return Loaded(make_agent(spec, model=model).replace(**changes), spec.store)


def make_agent(spec: Spec, docs: object | None = None, model: Model | None = None) -> Agent[Any]:
    """Make the agent; `docs` and `model` override those of the spec.

    Raises `ConfigError` if the spec does not fit, or names something that is missing.
    """
    with _with_line(spec):
        return _agent(spec, docs, model)


@contextmanager
def _with_line(spec: Spec) -> Generator[None]:
    """Say of a part that cannot be made where it is described, if that is in the spec's file."""
    try:
        yield
    except AgentPartError as error:
        if (where := described(spec, error.path)) is None:
            raise
        placed = where != spec.file  # else it names the file alone
        raise ConfigError(f"{where}: {error}", placed=placed) from error


def _configured(model: Model, spec: Spec) -> tuple[Model, ModelSettings]:
    """The model with the settings of the file; what it has none of is told with its line."""
    settings = spec.settings.settings
    with part("settings"):
        return configured(model, settings), settings


def _as_the_file_says(spec: Spec, tools: list[AnyTool]) -> list[AnyTool]:
    """The tools with the labels, approvals and fallbacks that the file gives them."""
    tools = with_labels(spec, tools) if spec.labels else tools
    tools = with_approvals(spec, tools) if spec.approve else tools
    return with_fallbacks(spec, tools) if spec.fallbacks else tools


def _agent(spec: Spec, docs: object | None, model: Model | None) -> Agent[Any]:
    thinker = make_model(spec) if model is None else model
    usual = spec.settings == SettingsTable()
    thinker, settings = (thinker, NOTHING_SET) if usual else _configured(thinker, spec)
    placed = list(_placed(spec, make_library(spec) if docs is None else docs, thinker))
    listed = [tool for _, tools in placed for tool in tools]
    if spec.labels or spec.approve or spec.fallbacks:
        listed = _as_the_file_says(spec, listed)
    fields: dict[str, Any] = {
        "model": thinker,
        "settings": settings,
        "tools": listed,
        "codec": spec.codec or None,
        "screens": _screens(spec, thinker),
        "guards": _guards(spec),
        "bounds": [_function(spec, "bounds", name) for name in spec.bounds],
        "checks": [_check(spec, name) for name in spec.checks],
        "deps": _deps(spec) if spec.deps else None,
    }
    if spec.retrieval or spec.compaction or spec.rewinds:
        fields["context"] = context_of(spec, listed)
    for name, number in msgspec.to_builtins(spec.limits).items():
        with part("limits", name):
            Limits(**{name: number})
    fields["limits"] = spec.limits.limits.among(())
    if spec.prompt is not None:
        fields["prompt"] = _prompt(spec.prompt)
    if spec.grounded and GROUNDED not in spec.checks:
        with part(GROUNDED):
            raise ConfigError(f"these are settings of a check: add {GROUNDED!r} to checks")
    if spec.answer or spec.checks or (spec.tries, spec.fallback) != (None, None):
        fields |= _answering(spec)
    try:
        agent = Agent(**fields)
    except ConfigError as error:
        _find_fault(spec, thinker, placed, fields)
        raise AgentPartError((), str(error)) from error
    agent, planned = _with_caps(agent, spec), spec.planned
    if examples := spec.examples:
        with part("prompt", "examples"):
            agent = with_examples(agent, examples)
    if spec.parser:
        with part("parser"):
            agent = with_parser(agent, model_beside(spec, spec.parser))
    return agent if planned is None else with_strategy(spec, planned, agent, make_agent)


def _answering(spec: Spec) -> dict[str, Any]:
    """What an agent answers, how often a check may send that back, and what then stands in."""
    fields: dict[str, Any] = {} if spec.tries is None else {"tries": spec.tries}
    if spec.answer:
        with part("answer"):
            fields["answer"] = imported(spec.answer, "type", spec.folder)
            answer_schema(fields["answer"])
    if spec.fallback is not None:
        with part("fallback"):
            fields["fallback"] = decoded_fallback(fields.get("answer", str), spec.fallback)
    elif GROUNDED in spec.checks and not spec.answer:
        fields["fallback"] = require(CHECKS, GROUNDED).fallback
    return fields


def _find_fault(
    spec: Spec, model: Model, placed: Iterable[Placed], fields: Mapping[str, Any]
) -> None:
    """Why no agent could be made: raised with the place in the spec, if one alone is the reason."""
    _check_names(placed)
    with part("screens"):
        check_screens(fields["screens"])
    with part("limits", "cost"):
        check_cost(spec.limits.cost, (), priced=model.info.priced)
    with part("provenance", "exempt"):
        names = [tool.name for _, tools in placed for tool in tools]
        check_tool_names("provenance: exempt", spec.judges.exempt, names)
    with part("codec"):
        codec = _codec(spec, model, instructions(fields.get("prompt", PROMPT)))
    if codec.native:
        _check_taken(model, placed)


def _with_caps(agent: Agent[Any], spec: Spec) -> Agent[Any]:
    """The agent with limits on its tools; those of a strategy may name tools of others too."""
    if not spec.limits.calls_per_tool:
        return agent
    limits = spec.limits.limits
    with part("limits", "calls_per_tool"):
        return agent.replace(limits=limits.among(agent.parts.countable) if spec.planned else limits)


def _codec(spec: Spec, model: Model, prompt: Instructions) -> Codec:
    """The format that the agent will have."""
    if spec.codec:
        return by_name(spec.codec)
    variant = matching(prompt.variants, model.info, native=None)
    named = "native" if variant is None else variant.codec or "native"
    return by_name(named) if isinstance(named, str) else named


def with_examples(agent: Agent[Any], number: int | None) -> Agent[Any]:
    """The agent with so many of the worked examples that fit. Raises `ConfigError`."""
    if not number:
        return agent
    return agent.replace(prompt=agent.parts.instructions.replace(examples=number))


def make_library(spec: Spec, on_progress: Callable[[int, int, str], None] | None = None) -> Any:
    """The documents as a `clew.toolbox.docs.Library`, not yet read; None without a folder.

    Raises `ConfigError`.
    """
    with _with_line(spec), part("docs"):
        return require(DOCUMENTS, DOCS)(spec.docs, on_progress=on_progress) if spec.docs else None


async def with_model(wanted: Spec) -> tuple[Spec, str]:
    """The spec with a model, and why that one was chosen; the reason is empty if it was given."""
    if wanted.model:
        return wanted, ""
    model, why = await default_model(os.environ)
    return msgspec.structs.replace(wanted, model=model), why


def make_model(spec: Spec) -> Model:
    """The model of that name. Raises `ConfigError`."""
    with _with_line(spec):
        reached = spec.prices or spec.connection != ModelConnection()
        settings = model_settings(spec) if reached else {}
        if spec.model == OFFLINE:
            _check_offline(spec, settings)
        with part("model"):
            if not spec.model:
                message = f'no model is named: add model = "provider:model", or "{OFFLINE}"'
                raise ConfigError(message)
            return resolve(spec.model, **settings)


def _check_offline(spec: Spec, settings: Mapping[str, Any]) -> None:
    if spec.codec:
        with part("codec"):
            if not by_name(spec.codec).native:
                message = (
                    "the offline rules act with the native codec only: leave the codec out, or "
                    "name a language model (`clew doctor models local`: one for this machine)"
                )
                raise ConfigError(message)
    if settings:
        with part("connection"):
            word = next(iter(settings))
            message = f"the offline rules have no {word}: leave it out, or name another model"
            raise ConfigError(message, field=word)


def make_tools(spec: Spec, docs: object | None) -> list[AnyTool]:
    """The tools of these names, each once, in order; those of the documents last."""
    with _with_line(spec):
        listed = [tool for _, tools in _placed(spec, docs) for tool in tools]
        return with_fallbacks(spec, with_approvals(spec, with_labels(spec, listed)))


def _placed(spec: Spec, docs: object | None, model: Model | None = None) -> Iterator[Placed]:
    """The tools, with the places in the spec that ask for them."""
    runs = (RUN_CODE,) if spec.codec == "code" else ()  # what that format is for
    for name in dict.fromkeys((*spec.named_tools, *runs)):
        with part("tools", name):
            if name == DOCS:
                if docs is None:
                    message = "the tool docs needs a folder to search: add --docs FOLDER"
                    raise ConfigError(message)
                continue
            tools: list[AnyTool] = (
                imported_tools(name, spec.folder) if ":" in name else [shipped(name)]
            )
        yield ("tools", name), tools
    for index, each in enumerate(spec.programs):
        with part("programs", index):
            tools = [command_tool(each)]
        yield ("programs", index), tools
    for index, function in enumerate(spec.processes):
        with part("processes", index):
            tools = [process_tool_of(function, spec.folder)]
        yield ("processes", index), tools
    for index, waiting in enumerate(spec.external):
        with part("external", index):
            tools = [external_tool(waiting)]
        yield ("external", index), tools
    for index, other in enumerate(spec.agents):
        with part("agents", index):
            tools = [other_agent(other, spec, make_agent)]
        yield ("agents", index), tools
    if spec.memory or spec.mcp or spec.workspace:
        yield from wing_tools(spec, model)
    if docs is not None:
        yield ("docs",), [*require(DOCUMENTS, "docs_tools")(docs)]


def _check_names(placed: Iterable[Placed]) -> None:
    """Find the tool that no agent can have, or whose name is taken: it is told with its place."""
    seen: set[str] = set()
    for path, tools in placed:
        for tool in tools:
            with part(*path):
                checked(tool)
                if tool.name in seen:
                    message = f"two tools are called {tool.name}: rename one"
                    raise ConfigError(message)
            seen.add(tool.name)


def _check_taken(model: Model, placed: Iterable[Placed]) -> None:
    """Find the tool that the model cannot be asked with, so as to say where it is named."""
    for path, tools in placed:
        with part(*path):
            model.info.validate(Prompt((Part("user", "?"),), (), tools=tuple(tools)))


def tool_names() -> tuple[str, ...]:
    """The names that `tools` may contain: shipped tools, and those of other packages."""
    own = ("calc", "planner", "backtrack", DOCS)  # these first, as in the manual
    return tuple(dict.fromkeys((*own, *names(TOOLS))))


def shipped(name: str) -> Tool:
    """The shipped tool of that name, or one of another package.

    Raises `ConfigError` with the nearest one, and for whatever a function of somebody else raises.
    """
    if (make := find(TOOLS, name)) is None:
        known = tool_names()
        if name in known:
            message = f"clew was installed before it had the entry point {name}: run {install('')}"
            raise ConfigError(message)
        hint = did_you_mean(name, known, f"there are {', '.join(known)}")
        message = f"there is no tool {name!r}: {hint} (one of your own is module:name)"
        raise ConfigError(message)
    try:
        tool: Tool = make()
        if make.__module__.partition(".")[0] not in SHIPPED:
            checked(tool)
    except ConfigError:
        raise
    except Exception as error:
        raise _unmade(f"the tool {name}", error) from error
    return tool


def _unmade(what: str, error: Exception) -> ConfigError:
    """What cannot be made, whatever a function of somebody else raised."""
    return ConfigError(f"{what} cannot be made: {type(error).__name__}: {message_of(error)}")


def _named(spec: Spec, kind: str, group: str, name: str) -> Any:
    """A screen or check by name: one of the table of wings, or a user's own."""
    if ":" in name:
        return _function(spec, kind, name)
    with part(kind, name):
        if (entry := find(group, name)) is None:
            known = ", ".join(names(group))
            message = f"there is no {kind[:-1]} {name!r}: there are {known}, and module:name"
            raise ConfigError(message)
    return entry


def _screens(spec: Spec, thinker: Model) -> list[Any]:
    """The screens by name; last the one for harmful requests. Raises `AgentPartError`."""
    screens = [_named(spec, "screens", SCREENS, name) for name in spec.screens]
    if spec.harmful and (table := spec.screening) is not None:
        with part("harmful", "model"):
            model = model_beside(spec, table.model) if table.model else thinker
            screens.append(HarmfulRequests(model, table.then, table.unjudged))
    return screens


def _guards(spec: Spec) -> list[Guard]:
    """The user's own, and those without which a named tool does not work."""
    guards = [_function(spec, "guards", name) for name in spec.guards]
    if spec.provenance != "standard":
        guards.append(spec.judges.guard)
    for name in sorted({*spec.named_tools}.intersection(names(GUARDS))):
        with part("tools", name):
            make = require(GUARDS, name)
            try:
                guards.append(make())
            except Exception as error:
                raise _unmade(f"the guard of the tool {name}", error) from error
    return guards


def _check(spec: Spec, name: str) -> Check:
    """A check by name; one of the table of wings is made, `grounded` with its settings."""
    check: Any = _named(spec, "checks", CHECKS, name)
    if ":" in name:
        return cast("Check", check)
    with part(name):
        settings = spec.grounded if name == GROUNDED else None
        return cast("Check", check(**msgspec.structs.asdict(settings)) if settings else check())


def _deps(spec: Spec) -> Any:
    with part("deps"):
        return imported_function(spec.deps, "factory of deps", spec.folder)


def _function(spec: Spec, kind: str, name: str) -> Any:
    with part(kind, name):
        return imported_function(name, kind.removesuffix("s"), spec.folder)


def _prompt(words: str | PromptTable) -> str | Instructions:
    if isinstance(words, str):
        return words
    fields: dict[str, Any] = msgspec.structs.asdict(words)
    fields["examples"] = fields["examples"] and 0  # they are found once the tools are there
    if not fields.pop("variants"):
        fields["variants"] = ()
    return Instructions(**fields)
