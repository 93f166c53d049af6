"""Tools over a database, judged by what it has become: tasks in the manner of τ-bench.

A task says what a person wants, which actions lead there, and what the answer has to tell. It is
solved if the data are those that the expected actions make, by whatever way, and the answer tells
all of it. No person is simulated: the task's words are the question, and nobody answers questions.
"""

import hashlib
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import msgspec

from clew import ConfigError, Observation, ReplayError, Tool, ToolError, Trajectory
from clew.agent_files.imports import imported
from clew.interfaces import CALL, EFFECTFUL, Guard, Json, encode
from clew.tools import Attempts
from clew.tools.schema import checked
from clew_evals.case import Case
from clew_evals.environments.data_tools import Data, DataFunction, all_over
from clew_evals.environments.entries import FileEntry, chosen, entries, read
from clew_evals.world import Episode, World

_sorted: Final = msgspec.json.Encoder(order="sorted")


class DatabaseOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a matrix file may say of this world.

    `tools` names a list of functions, `module:name`; `data` a JSON file beside the tasks, or a
    function `module:name` that gives the data. `reads` and `idempotent` are names of tools, or
    patterns such as `get_*`; all others are unsafe. `policy` is a text file that is put before each
    task. `tasks` names a list in a module, where there is no file of tasks. A call may take
    `timeout` seconds; one that a crash left in doubt is settled when they have passed.
    """

    tools: str
    data: str
    reads: tuple[str, ...] = ()
    idempotent: tuple[str, ...] = ()
    policy: str = ""
    tasks: str = ""
    timeout: float = 5.0
    take: int = 0


OPTIONS: Final = DatabaseOptions
"""What `clew_evals.environments` reads the settings of a matrix file into."""


class ExpectedAction(msgspec.Struct, frozen=True):
    """An action that is expected."""

    name: str
    kwargs: dict[str, Json] = {}


class Task(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A task as τ-bench writes it, and an id of its own."""

    instruction: str
    actions: tuple[ExpectedAction, ...] = ()
    outputs: tuple[str, ...] = ()
    id: str | int = ""
    user_id: str = ""
    annotator: str | int = ""


def world(path: str | Path, options: DatabaseOptions) -> World:
    """The tasks of a file over data and tools of yours. Raises `ConfigError`."""
    folder = Path(path).resolve().parent if str(path) else Path.cwd()
    policy = (
        _text(folder / options.policy).decode("utf-8", "replace").strip() if options.policy else ""
    )
    if options.tasks:
        listed = _listed(imported(options.tasks, "list of tasks", str(folder)), options.tasks)
        tasks = [_task_of(f"{options.tasks}: entry {n}", one) for n, one in enumerate(listed, 1)]
    else:
        tasks = [(one.where, read(one, Task)) for one in entries(path)]
    tools = _listed(imported(options.tools, "list of tools", str(folder)), options.tools)
    return database_world(
        Path(str(path)).stem or options.tasks,
        tasks,
        _data(options.data, folder),
        all_over(tools, options.reads, options.idempotent),
        policy=policy,
        timeout=options.timeout,
        take=options.take,
    )


def database_world(
    name: str,
    tasks: Sequence[tuple[str, Task]],
    data: bytes,
    tools: dict[str, DataFunction],
    *,
    policy: str = "",
    timeout: float = 5.0,
    take: int = 0,
) -> World:
    """A world of tasks, each with its place for messages, over JSON data.

    The expected actions are tried out now. Raises `ConfigError` where one cannot be taken.
    """
    cases = chosen(
        name,
        (
            (where, _case(where, number, task, data, tools, policy))
            for number, (where, task) in enumerate(tasks, start=1)
        ),
        take,
    )

    @asynccontextmanager
    async def enter(case: Case) -> AsyncGenerator[Episode]:
        yield Books(case, data, tools, timeout)

    return World(name, cases, enter)


@dataclass
class Books:
    """One episode: a copy of the data, and what was done to it."""

    case: Case
    fresh: bytes
    over: dict[str, DataFunction]
    timeout: float
    guards: Sequence[Guard] = ()
    run_id: str = ""
    _done: dict[str, tuple[str, dict[str, Json]]] = field(
        default_factory=dict[str, tuple[str, dict[str, Json]]]
    )
    _read: int = 0
    """How many entries of the record these data know."""
    _answers: dict[str, Any] = field(default_factory=dict[str, Any])

    def __post_init__(self) -> None:
        """Begin with fresh data."""
        self.data = _loaded(self.fresh)

    @property
    def tools(self) -> Sequence[Tool]:
        """A tool for each function."""
        return [self._tool(one) for one in self.over.values()]

    async def catch_up(self, trajectory: Trajectory) -> None:
        """Take the recorded effects again. Raises `ReplayError` where one comes out otherwise."""
        if trajectory.run_id != self.run_id:
            self.run_id, self._read = trajectory.run_id, 0
        for entry in trajectory.entries[self._read :]:  # in the order in which they were had
            self._read = max(self._read, entry.seq)
            if not isinstance(was := entry.event, Observation) or was.outcome != "done":
                continue
            call = trajectory.call(was.call)
            tool = self.over.get(call.action.name)
            if tool is None or tool.effect not in EFFECTFUL:
                continue
            step, where = int(call.key.partition(".")[0]), f"observation of {call.key}"
            try:
                now = self._apply(tool, call.args, f"{self.run_id}:{call.key}")
            except ToolError as error:
                raise ReplayError(step, where, f"{tool.name} fails now: {error}") from error
            if was.ok and _content(now) != was.content:
                message = f"{tool.name} gives something else now: see that it is deterministic"
                raise ReplayError(step, where, message)

    async def reward(self, trajectory: Trajectory) -> float | None:
        """1 if the data are those that were expected and the answer tells what it has to."""
        await self.catch_up(trajectory)
        answer = trajectory.stop.answer if trajectory.stop is not None else None
        told = (answer if isinstance(answer, str) else _sorted.encode(answer).decode()).casefold()
        outputs = msgspec.convert(self.case.extra["outputs"], list[str])
        all_outputs = all(one.casefold() in told.replace(",", "") for one in outputs)
        return float(all_outputs and _hash(self.data) == self.case.extra["final"])

    def _tool(self, tool: DataFunction) -> Tool:
        async def call(args: dict[str, Json], key: str) -> Any:
            run_id = key.rpartition(":")[0]
            self.run_id = self.run_id or run_id
            if run_id != self.run_id:
                message = f"this episode is that of run {self.run_id}: enter another for {run_id}"
                raise ToolError(message)
            if (made := CALL.get()) is not None:
                try:
                    await self.catch_up(made.record)
                except ReplayError as error:
                    raise ToolError(str(error)) from error
            return self._apply(tool, args, key)

        async def probe(args: dict[str, Json], key: str) -> Any:
            return self._answers.get(key)

        return checked(
            Tool(
                name=tool.name,
                description=tool.description,
                parameters=tool.parameters,
                call=call,
                effect=tool.effect,
                attempts=Attempts(
                    timeout=self.timeout, probe=probe if tool.effect in EFFECTFUL else None
                ),
            )
        )

    def _apply(self, tool: DataFunction, args: dict[str, Json], key: str) -> Any:
        """Apply a function once for its key. Where it fails, the data are as before."""
        if tool.effect not in EFFECTFUL:
            return tool(self.data, args, key)
        if key not in self._answers:
            try:
                self._answers[key] = tool(self.data, args, key)
            except ToolError:
                self._rebuild()
                raise
            self._done[key] = (tool.name, args)
        return self._answers[key]

    def _rebuild(self) -> None:
        """Make the data anew: a function that failed may have changed half of them."""
        self.data = _loaded(self.fresh)
        for key, (name, args) in self._done.items():
            self.over[name](self.data, args, key)


def _case(
    where: str, number: int, task: Task, data: bytes, tools: dict[str, DataFunction], policy: str
) -> Case:
    if not task.instruction.strip():
        message = f"{where}: it has no instruction"
        raise ConfigError(message)
    final = _loaded(data)
    for action_number, step in enumerate(task.actions, start=1):
        tool = tools.get(step.name)
        what = f"{where}: expected action {action_number} ({step.name})"
        if tool is None:
            message = f"{what}: there is no such tool; there are {', '.join(tools)}"
            raise ConfigError(message)
        if wrong := tool.problems(step.kwargs):
            message = f"{what}: {wrong[0]}"
            raise ConfigError(message)
        try:
            tool(final, step.kwargs, f"expected:{action_number}")
        except ToolError as error:
            message = f"{what} fails: {error}"
            raise ConfigError(message) from error
    return Case(
        str(task.id) or f"task-{number}",
        f"{policy}\n\n{task.instruction.strip()}".strip(),
        {"reward": 1.0},
        tests="whether the right things were done, and nothing else",
        extra={"outputs": list(task.outputs), "final": _hash(final)},
    )


def _task_of(where: str, entry: object) -> tuple[str, Task]:
    """A task of a module: a mapping, or an object with its fields."""
    names = Task.__struct_fields__
    try:
        if isinstance(entry, dict):
            return where, msgspec.convert(entry, Task)
        fields = {name: getattr(entry, name) for name in names if hasattr(entry, name)}
        return where, msgspec.convert(fields, Task, from_attributes=True)
    except msgspec.ValidationError as error:
        message = f"{where}: {error}"
        raise ConfigError(message) from error


def _listed(entries: object, name: str) -> list[Any]:
    if not isinstance(entries, list | tuple):
        message = f"{name} is of type {type(entries).__name__}: name a list"
        raise ConfigError(message)
    return msgspec.convert(entries, list[Any])


def _data(source: str, folder: Path) -> bytes:
    """The data as JSON: of a file, or of what a function gives."""
    file = folder / source
    if ":" not in source or file.is_file():
        text = _text(file)
        try:
            _loaded(text)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            message = f"{file}: {error}"
            raise ConfigError(message) from error
        return text
    data = imported(source, "data", str(folder))
    try:
        return encode(data() if callable(data) else data)  # in its own order, as tools see it
    except Exception as error:
        message = f"the data {source!r} cannot be had as JSON: {type(error).__name__}: {error}"
        raise ConfigError(message) from error


def _text(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        message = f"{file}: cannot be read: {error.strerror or error}"
        raise ConfigError(message) from error


def _loaded(data: bytes) -> Data:
    return msgspec.json.decode(data, type=dict[str, Any])


def _hash(data: Data) -> str:
    return hashlib.sha256(_sorted.encode(data)).hexdigest()


def _content(value: Any) -> Json:
    """A result as an observation has it."""
    return value.content if isinstance(value, Observation) else value


__all__ = [
    "Books",
    "DatabaseOptions",
    "ExpectedAction",
    "FileEntry",
    "Task",
    "database_world",
    "world",
]
