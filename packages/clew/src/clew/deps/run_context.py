"""What a part of an agent is told of the run that calls it: its deps, its key, what is left."""

import logging
from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from functools import partial
from typing import Any, Final, Generic, NamedTuple

from typing_extensions import TypeVar

from clew.core.bounds import Left
from clew.core.call_context import CALL
from clew.core.trajectory import Trajectory
from clew.core.values import Json
from clew.deps.run_identity import MakeDeps
from clew.support.errors import ConfigError, ToolError

D_co = TypeVar("D_co", covariant=True, default=None)

LOG: Final = logging.getLogger("clew.run")


class Running(NamedTuple):
    """What is at work: the deps of the run (None for none), what counts what it may spend, and
    the factory of its agent.
    """

    deps: Any = None
    left: Callable[[Trajectory], Left] | None = None
    make: MakeDeps[Any] | None = None


RUNNING: Final[ContextVar[Running]] = ContextVar("clew.running", default=Running())  # noqa: B039 - it is immutable


class RunContext(Generic[D_co]):
    """A parameter of this type is filled by clew; a model neither sees nor fills it.

    `deps` are those of the run. `call` is the call's place (`step.index`), "" where no call is
    judged or made, and `step` the number of the last step. `labels` and `owner` are the recorded
    ones, and `record` is the run so far: look at it, and do not keep it. `answer` is a person's, to
    what the call asked. `task` is what an earlier attempt of the call began and nobody saw the end
    of: ask for that. Make a context yourself to call such a function in a test.
    """

    __slots__ = (
        "_begun",
        "_left",
        "_progress",
        "answer",
        "call",
        "deps",
        "labels",
        "owner",
        "record",
        "run_id",
        "step",
        "task",
    )

    def __init__(
        self,
        deps: D_co,
        *,
        run_id: str = "",
        step: int | None = None,
        call: str = "",
        labels: Mapping[str, str] | None = None,
        owner: str = "",
        record: Trajectory | None = None,
        left: Left | Callable[[], Left] | None = None,
        progress: Callable[[str], None] | None = None,
        answer: Json = None,
        task: str = "",
        begun: Callable[[str], Awaitable[None]] | None = None,
    ) -> None:
        self.deps: Final = deps
        self.run_id: Final = run_id
        self.step: Final = int(call.partition(".")[0] or 1) if step is None else step
        self.call: Final = call
        self.labels: Final = labels or {}
        self.owner: Final = owner
        self.record: Final = Trajectory(run_id) if record is None else record
        self.answer: Final = answer
        self.task: Final = task
        self._left = left
        self._progress = progress
        self._begun = begun

    def __repr__(self) -> str:
        """Which call it is for; never the deps, which may hold secrets."""
        return f"<RunContext {self.run_id}:{self.call or self.step}>"

    @property
    def key(self) -> str:
        """The call's key (`run_id:step.index`), the same in every attempt and every process.

        Hand it to a service as the idempotency key of an effect. Raises `ConfigError` where no call
        is made or judged.
        """
        if not self.call:
            raise ConfigError("ctx.key is the key of a call, and none is made here")
        return f"{self.run_id}:{self.call}"

    @property
    def left(self) -> Left:
        """What the run may still spend. Raises `ConfigError` where nobody counts."""
        if self._left is None:
            raise ConfigError("ctx.left is not known here: make the context with left=Left(…)")
        return self._left if isinstance(self._left, Left) else self._left()

    def log(self, message: str, *args: object, level: int = logging.INFO) -> None:
        """Log to the logger "clew.run", with `run` and `call` as fields of the log record."""
        where = {"run": self.run_id, "call": self.call}
        LOG.log(level, message, *args, extra=where, stacklevel=2)

    def progress(self, text: str) -> None:
        """Tell whoever watches the run how far the call is; never recorded."""
        if self._progress is not None:
            self._progress(text)

    async def begun(self, task: str) -> None:
        """Put the id of a task on disk before it is waited for: a service that works on has it.

        After a crash the call is made again, and its `task` is that.
        """
        if self._begun is not None:
            await self._begun(task)


def call_context(key: str, wanted: Any = None) -> RunContext[Any]:
    """The context of the call with this key, which is being made.

    Raises `ToolError` where there are no deps and some are `wanted`: nothing was done.
    """
    deps = RUNNING.get().deps
    if wanted is not None and deps is None:
        raise ToolError(f"{key} has no deps: give them where its run is begun")
    run_id, _, call = key.rpartition(":")
    if (made := CALL.get()) is None:  # outside of any run
        return RunContext(deps, run_id=run_id, call=call)
    started = made.record.started
    return RunContext(
        deps, run_id=run_id, call=call, labels=started.labels, owner=started.owner,
        record=made.record, left=made.left, progress=made.progress,
        answer=made.answer, task=made.task, begun=made.begun,
    )  # fmt: skip


def part_context(record: Trajectory, call: str = "", left: Left | None = None) -> RunContext[Any]:
    """The context of a guard, a check, an approval rule or a tail; `call` is the one it judges."""
    running, started = RUNNING.get(), record.started
    count = None if running.left is None else partial(running.left, record)
    return RunContext(
        running.deps, run_id=record.run_id, call=call,
        step=None if call else len(record.steps),
        labels=started.labels, owner=started.owner, record=record, left=left or count,
    )  # fmt: skip
