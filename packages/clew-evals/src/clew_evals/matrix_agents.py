"""The agents of a matrix, made before anything is spent; what cannot be made has its line told."""

from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, cast

import msgspec

from clew import Agent, ConfigError
from clew.agent_files import DOCS, AgentPartError, Spec, make_agent, make_library, make_model
from clew.agent_files.read import misfit, with_absolute_paths
from clew.agent_files.spec import FileTable, ModelConnection, PriceTable, part, put
from clew.agent_files.toml_positions import Path as TomlPath
from clew.agent_files.toml_positions import line_of
from clew.interfaces import Json, Model, encode
from clew.models import OFFLINE, Price, price
from clew.models.prices import FREE
from clew.toolbox.docs import Library
from clew_evals.judge import Judge, judging
from clew_evals.plan import Configuration
from clew_evals.simulated import simulated
from clew_evals.table import SIMULATED
from clew_evals.world import World, quiet
from clew_strategies import Verifier, verifying

CLI: Final = "cli"
VOTES: Final = "votes"
"""Where in the origin of a record the command line looks for the spec, and for a vote's."""

STRATEGY: Final = "strategy"
"""The key of an agent that an axis of the matrix sets."""

_ELSEWHERE: Final[Mapping[str, str]] = {
    "model": "models are named in `models`, of the matrix or of the configuration",
    "store": "records lie in the results",
    "file": "the file is known",
}
"""Keys of an agent that no configuration sets, and why."""


class Varied(FileTable, frozen=True):
    """A configuration: what is changed in the agent, what it lacks, and whether it votes.

    `models` are those that it is tried with, where it does not fit all of the matrix.
    """

    name: str
    models: tuple[str, ...] = ()
    set: dict[str, Json] = msgspec.field(default_factory=dict[str, Json])
    leave_out: tuple[str, ...] = ()
    votes: int = 1
    verifier: str = ""


class JudgeTable(FileTable, frozen=True):
    """The table `judge`: the model, the score from which an answer passes, and its server."""

    model: str
    min_grade: int = 4
    settings: dict[str, Json] = msgspec.field(default_factory=dict[str, Json])
    prices: dict[str, PriceTable] = msgspec.field(default_factory=dict[str, PriceTable])
    connection: ModelConnection = ModelConnection()


@dataclass(frozen=True)
class MatrixSource:
    """Where a matrix is written down; without a file nothing has a line."""

    text: str
    file: Path | None = None

    @property
    def path(self) -> Path:
        """The file, or one that might lie in the working folder."""
        return self.file or Path.cwd() / "matrix"

    @property
    def folder(self) -> Path:
        """What places are relative to."""
        return self.path.parent

    def wrong(self, path: TomlPath, why: str) -> ConfigError:
        """The error that says where something does not fit."""
        where = "" if self.file is None else f"{self.file}, line {line_of(self.text, path)}: "
        placed = self.file is not None
        return ConfigError(where + why.removeprefix(f"{self.file}: "), placed=placed)

    @contextmanager
    def at(self, *path: str | int) -> Generator[None]:
        """Whatever does not fit in here is told with this place, unless it has one of its own."""
        try:
            yield
        except ConfigError as error:
            if error.placed:
                raise
            raise self.wrong(path, str(error)) from error


@dataclass
class AgentFactory:
    """Makes what a matrix names. Agents with one folder search it together, and those with one
    model keep its pace together.
    """

    source: MatrixSource
    world: World
    libraries: dict[str, Library] = field(default_factory=dict[str, Library])
    _models: dict[bytes, Model] = field(default_factory=dict[bytes, Model])

    def configuration(self, varied: Varied, index: int, base: Spec, model: str) -> Configuration:
        """One configuration with one model."""
        spec = self._spec(varied, index, base, model)
        spec, rest = without_tools(spec, varied.leave_out)
        later, caps, bare = 0, dict[str, int](), spec
        if self.world.open is not quiet:
            later, caps = spec.examples or 0, spec.limits.calls_per_tool or {}
        if later:
            bare = bare.replace({"prompt.examples": 0})
        if caps:  # they name what the world brings
            bare = bare.replace({"limits.calls_per_tool": None})
        with self.source.at("configurations", index):
            try:
                agent = make_agent(bare, self._library(spec), self._model(spec))
            except AgentPartError as error:
                where = _where(varied, index, base, model, error)
                raise self.source.wrong(where, str(error)) from error
        agent, rest = without(agent, rest)
        if rest and self.world.open is quiet:
            has = ", ".join(tool.name for tool in agent.tools) or "none"
            message = f"there is no tool {rest[0]!r} to leave out: the agent's are {has}"
            raise self.source.wrong(("configurations", index, "leave_out", rest[0]), message)
        with self.source.at("configurations", index, "votes"):
            return Configuration(
                name=varied.name,
                agent=agent,
                model=model,
                votes=varied.votes,
                verifier=self._verifier(varied, index, spec),
                leave_out=tuple(rest),
                examples=later,
                calls_per_tool=caps,
                price=_price(agent, spec),
                origin={} if rest else self._origin(spec, varied),
            )

    def judge(self, judged: JudgeTable | None) -> Judge | None:
        """The judge that the matrix names."""
        if judged is None:
            return None
        spec = Spec(
            model=judged.model,
            tools=(),
            prices=judged.prices,
            connection=judged.connection,
            file=str(self.source.path),
        )
        try:
            spec = spec.replace({"settings": judged.settings} if judged.settings else {})
        except msgspec.ValidationError as error:
            where, why = misfit(error)
            raise self.source.wrong(("judge", *where), why) from error
        try:
            agent = judging(self._model(spec))
            with part("settings"):
                agent = agent.replace(settings=spec.settings.settings)
        except AgentPartError as error:
            raise self.source.wrong(("judge", *error.path), str(error)) from error
        with self.source.at("judge", "min_grade"):
            return Judge(agent, judged.min_grade, _price(agent, spec))

    def _spec(self, varied: Varied, index: int, base: Spec, model: str) -> Spec:
        """What the agent of a configuration is made of."""
        fields: dict[str, Any] = msgspec.to_builtins(base)
        fields["model"] = model
        for path, value in values_in(varied.set):
            if (why := _ELSEWHERE.get(str(path[0]))) is not None:
                message = f"{path[0]} is not set here: {why}"
                raise self.source.wrong(("configurations", index, "set", *path), message)
            put(fields, path, value)
        try:
            spec = msgspec.convert(fields, Spec)
        except msgspec.ValidationError as error:
            where, why = misfit(error)
            raise self.source.wrong(("configurations", index, "set", *where), why) from error
        here = with_absolute_paths(
            spec, self.source.path, screened=True
        )  # places that are named here
        known = {path[0] for path, _ in values_in(varied.set)}
        list_names = ("docs", "programs")
        changed: dict[str, Any] = {
            name: getattr(here, name) for name in list_names if name in known
        }
        if spec.tools is None and self.world.open is not quiet:
            changed["tools"] = ()  # what can be done there is what the world lets be done
        return msgspec.structs.replace(spec, **changed)

    def _library(self, spec: Spec) -> Library | None:
        if spec.docs and spec.docs not in self.libraries:
            made = make_library(spec)
            if made is not None:
                self.libraries[spec.docs] = made
        return self.libraries.get(spec.docs)

    def _model(self, spec: Spec) -> Model:
        """The model that a spec names; simulated ones know the scripts of the cases."""
        name = spec.model
        if name.startswith(SIMULATED):
            with part("model", name):
                made: Model = simulated(name.removeprefix(SIMULATED), self.world.cases)
        else:
            made = make_model(spec)  # which looks at all that is said of it, whether new or not
        key = encode([name, spec.prices, spec.connection])
        return self._models.setdefault(key, made)

    def _verifier(self, varied: Varied, index: int, spec: Spec) -> Verifier | None:
        """An agent that verifies; a model of the same provider is reached in the same way."""
        if not varied.verifier:
            return None
        near = _provider(varied.verifier) == _provider(spec.model)
        reached = spec.connection if near else ModelConnection()
        asked = Spec(
            model=varied.verifier,
            tools=(),
            prices=spec.prices,
            connection=reached,
            file=str(self.source.path),
        )
        with self.source.at("configurations", index, "verifier"):
            return verifying(self._model(asked))

    def _origin(self, spec: Spec, varied: Varied) -> dict[str, Json]:
        """What the command line makes the agent of again, to show, replay or fork a trial."""
        if self.world.open is not quiet:
            return {}
        fields: dict[str, Json] = {CLI: msgspec.to_builtins(spec)}
        if varied.votes > 1:
            fields[VOTES] = {"k": varied.votes, "verifier": varied.verifier}
        return fields


def _where(varied: Varied, index: int, base: Spec, model: str, error: AgentPartError) -> TomlPath:
    """Where the part that cannot be made is described."""
    if error.path[:1] == ("model",):
        return ("agent", "model") if base.model == model else ("models", model)
    if error.path and error.path[0] in {path[0] for path, _ in values_in(varied.set)}:
        return ("configurations", index, "set", *error.path)
    return ("agent", *error.path)


def _provider(model: str) -> str:
    """The provider of a model's name, be it asked in batches."""
    return model.removeprefix("batch:").partition(":")[0]


def _price(agent: Agent[Any], spec: Spec) -> Price | None:
    """What the model really costs, as the spec or the table has it."""
    named = agent.engine.model.info.name if spec.planned is None else spec.model
    if named == OFFLINE or named.startswith(SIMULATED):
        return FREE
    prices = {name: Price(one.input, one.output, one.cached) for name, one in spec.prices.items()}
    provider, _, name = named.partition(":")
    return price(provider, name, prices)


def values_in(table: Mapping[str, Json], before: TomlPath = ()) -> Iterator[tuple[TomlPath, Json]]:
    """The values in tables, with their keys from the outside in; "limits.steps" are two keys."""
    for name, value in table.items():
        path = (*before, *(name.split(".") if not before else (name,)))
        if isinstance(value, dict) and value:
            yield from values_in(cast("dict[str, Json]", value), path)
        else:
            yield path, value


def without_tools(spec: Spec, names: Iterable[str]) -> tuple[Spec, list[str]]:
    """The spec without these tools, and the names that are none of its own."""
    rest: list[str] = []
    for name in names:
        programs = tuple(each for each in spec.programs if each.name != name)
        processes = tuple(each for each in spec.processes if each.called != name)
        tools = spec.tools
        if name in spec.named_tools:
            tools = tuple(each for each in spec.named_tools if each != name)
        docs = "" if name == DOCS else spec.docs
        changed = msgspec.structs.replace(
            spec, programs=programs, processes=processes, tools=tools, docs=docs
        )
        if changed == spec:
            rest.append(name)
        spec = changed
    return spec, rest


def without(agent: Agent[Any], names: Iterable[str]) -> tuple[Agent[Any], list[str]]:
    """The agent without these tools, and the names of those it never had."""
    has = {tool.name for tool in agent.tools}
    mine = [name for name in names if name in has]
    if mine:
        agent = agent.replace(tools=[tool for tool in agent.tools if tool.name not in mine])
    return agent, [name for name in names if name not in has]
