"""Matrix files: an evaluation as a TOML file. What is wrong in one is told with its line."""

from pathlib import Path
from typing import Any, Final

import msgspec

from clew.agent_files import Spec, read_agent_file
from clew.agent_files.imports import imported_function
from clew.agent_files.read import misfit, read_toml, with_absolute_paths
from clew.agent_files.spec import FileTable
from clew.agent_files.strategies import strategy_named
from clew.interfaces import Json, encode
from clew_evals.dataset import read_dataset
from clew_evals.environments import world
from clew_evals.gold import FOREIGN, NOTES, foreign, gold
from clew_evals.matrix_agents import STRATEGY, AgentFactory, JudgeTable, MatrixSource, Varied
from clew_evals.plan import APART, Plan, wrong_seed
from clew_evals.world import World, quiet
from clew_strategies import REACT

GOLD: Final = "gold"
"""The default dataset."""

SHIPPED: Final = {GOLD: (gold, NOTES), "foreign": (foreign, FOREIGN)}
"""The datasets that ship, with the notes for their agents."""

ALONE: Final = "agent"
"""The name of the configuration where a file names none."""


class Matrix(FileTable, frozen=True):
    """What a matrix file may say.

    `agent` is what all configurations begin with: the keys of an agent file, or the place of one.
    `world` says how the file `dataset` is read where it is no dataset of clew's, `options` are
    that world's own. Each configuration is tried with each of `strategies`, of which "react" is
    the agent by itself.
    """

    dataset: str
    name: str = ""
    world: str = ""
    options: dict[str, Json] = msgspec.field(default_factory=dict[str, Json])
    models: tuple[str, ...] = ()
    strategies: tuple[str, ...] = ()
    seeds: tuple[int, ...] = (0,)
    repetitions: int = 1
    agent: str | Spec = Spec()
    configurations: tuple[Varied, ...] = (Varied(name=ALONE),)
    judge: JudgeTable | None = None


def read_matrix(path: str | Path) -> Plan:
    """The evaluation that a file describes, with all its agents made.

    Raises `ConfigError` with file and line for whatever does not fit.
    """
    file = Path(path).expanduser().absolute()
    text, toml_text = read_toml(file, f"the matrix file {path}", "name a TOML file")
    source = MatrixSource(text, file)
    try:
        matrix = msgspec.convert(toml_text, Matrix)
    except msgspec.ValidationError as error:
        raise source.wrong(*misfit(error, Matrix)) from error
    agent: Any = toml_text.get("agent", {})
    return _plan(matrix, _base(matrix, source, screened="screens" in agent), source)


def plan_of(spec: Spec, dataset: str = GOLD, *, name: str = "", judge: str = "") -> Plan:
    """The evaluation of one agent on a dataset: "gold", "foreign", or the path of a JSONL file.

    Raises `ConfigError` for whatever does not fit.
    """
    matrix = Matrix(
        dataset=dataset,
        name=name or (dataset if dataset in SHIPPED else Path(dataset).stem),
        judge=JudgeTable(model=judge) if judge else None,
    )
    text = msgspec.json.format(encode({"dataset": dataset, "agent": spec})).decode()
    return _plan(matrix, spec, MatrixSource(text))


def _base(matrix: Matrix, source: MatrixSource, *, screened: bool) -> Spec:
    """The agent that all configurations begin with."""
    if isinstance(matrix.agent, str):
        with source.at("agent"):
            return read_agent_file(source.folder / Path(matrix.agent).expanduser())
    spec = matrix.agent
    if spec.file:
        raise source.wrong(("agent", "file"), "unknown key 'file' in agent: the file is known")
    if spec.store:
        raise source.wrong(("agent", "store"), "records lie in the results: leave the store out")
    if spec.model and matrix.models:
        message = "the model is named here and in models: leave it out in one of them"
        raise source.wrong(("agent", "model"), message)
    return with_absolute_paths(spec, source.path, screened=screened)


def _plan(matrix: Matrix, base: Spec, source: MatrixSource) -> Plan:
    _check(matrix, base, source)
    there = _world(matrix, source)
    if matrix.strategies and there.open is not quiet:
        message = "strategies: in this world an agent gets its tools there, and works alone"
        raise source.wrong(("strategies",), message)
    if matrix.dataset in SHIPPED and not base.docs:
        base = msgspec.structs.replace(base, docs=str(SHIPPED[matrix.dataset][1]))
    maker = AgentFactory(source, there)
    configurations = [
        maker.configuration(_with(varied, strategy), index, base, model)
        for index, varied in enumerate(matrix.configurations)
        for strategy in matrix.strategies or ("",)
        for model in varied.models or matrix.models or (base.model,)
    ]
    judge = maker.judge(matrix.judge)
    with source.at("dataset"):
        return Plan(
            name=matrix.name or source.path.stem,
            world=there,
            configurations=configurations,
            seeds=matrix.seeds,
            repetitions=matrix.repetitions,
            judge=judge,
            matrix=source.text,
            libraries=tuple(maker.libraries.values()),
        )


def _with(varied: Varied, strategy: str) -> Varied:
    """The configuration with a strategy of the matrix; without one as it is."""
    if not strategy:
        return varied
    name = strategy if varied.name == ALONE else f"{varied.name}, {strategy}"
    strategy_name = "" if strategy == REACT else strategy
    return msgspec.structs.replace(varied, name=name, set={**varied.set, STRATEGY: strategy_name})


def _world(matrix: Matrix, source: MatrixSource) -> World:
    """The cases, and where they are worked on."""
    if matrix.options and not matrix.world:
        raise source.wrong(("options",), "options are those of a world: name it, or leave them out")
    if matrix.dataset in SHIPPED and not matrix.world:
        return SHIPPED[matrix.dataset][0]()
    dataset = source.folder / Path(matrix.dataset).expanduser() if matrix.dataset else ""
    with source.at("world" if matrix.world else "dataset"):
        if not matrix.world:
            cases = tuple(read_dataset(dataset))
            return World(Path(matrix.dataset).stem, cases, folder=Path(dataset).parent)
        if ":" in matrix.world:  # a module of one's own lies beside the file
            imported_function(matrix.world, "world", str(source.folder))
        return world(matrix.world, dataset, **matrix.options)


def _check(matrix: Matrix, base: Spec, source: MatrixSource) -> None:
    """Look for what is missing or twice there."""
    axes = {"models": matrix.models, "strategies": matrix.strategies, "seeds": matrix.seeds}
    for what, there in axes.items():
        if twice := [one for index, one in enumerate(there) if one in there[:index]]:
            raise source.wrong((what, str(twice[0])), f"{twice[0]} is there twice: leave one out")
    for name in matrix.strategies:
        with source.at("strategies", name):
            if name != REACT:
                strategy_named(name, str(source.folder))
    _check_configurations(matrix, source)
    if not (matrix.models or (base.model,))[0]:
        message = 'no model is named: add models = ["provider:model"], or ["offline"]'
        raise source.wrong(("models",), message)
    if not matrix.seeds:
        raise source.wrong(("seeds",), "there is no seed: give one or more, or leave seeds out")
    for seed in matrix.seeds:
        if why := wrong_seed(seed):
            raise source.wrong(("seeds", str(seed)), why)
    if not 1 <= matrix.repetitions <= APART:
        raise source.wrong(("repetitions",), f"repetitions: give 1 to {APART}")


def _check_configurations(matrix: Matrix, source: MatrixSource) -> None:
    names = tuple(varied.name for varied in matrix.configurations)
    if not names:
        message = "there is no configuration: give one or more, or leave configurations out"
        raise source.wrong(("configurations",), message)
    for index, name in enumerate(names):
        where = ("configurations", index, "name")
        if not name.strip():
            raise source.wrong(where, "a configuration has no name: give it one")
        for model in matrix.configurations[index].models:
            if model not in matrix.models:
                known = ", ".join(matrix.models) or "none"
                message = f"{model} is none of the models of the matrix: those are {known}"
                raise source.wrong(("configurations", index, "models", model), message)
        if name in names[:index]:
            raise source.wrong(where, f"two configurations are called {name!r}: rename one")
