"""A Python function in a process of its own: a tool that can really be ended at its deadline.

The function is named `module:function`, the arguments go in and the result comes out as JSON; no
code and no class name travels. What the function prints is kept for people and for timeouts.
"""

import functools
import importlib
import inspect
import json
import os
import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, Unpack, overload

import msgspec

from clew.core.codes import EFFECTFUL, Code, Effect, Outcome
from clew.core.contents import Observation
from clew.core.tools import Tool
from clew.core.values import Json, encode
from clew.deps.run_context import call_context
from clew.support.errors import ConfigError, ToolError
from clew.support.settings import check_options
from clew.tools.function import F, FunctionTool, ToolOptions, settings
from clew.tools.run_process import SLACK, check_variables, environment, run_process
from clew.tools.schema import checked
from clew.tools.signature import asked_again, read

LIMIT: Final = 16 * 1024 * 1024
"""Most bytes a result may have, and most that are kept of what was printed."""

_SECONDS: Final = 30.0
_PRINTED: Final = 2_000
_HELD: Final = {"cpu": ("linux", "darwin"), "memory": ("linux",)}
_START: Final = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from clew.tools.process_child import main; main()"
)


class ChildTask(msgspec.Struct, frozen=True):
    """What the child is told: function and arguments, the call's key, its limits, whose it is.

    `labels` and `owner` are those of the run.
    """

    target: str
    args: dict[str, Json]
    key: str
    seconds: float
    worker: int
    cpu: int = 0
    memory: int = 0
    labels: dict[str, str] = {}
    owner: str = ""


class ChildReply(msgspec.Struct, frozen=True):
    """What the child says: a value, an observation's fields, or how the function failed."""

    kind: Literal["value", "observation", "refused", "memory", "crashed"]
    body: Json = None
    detail: str = ""


class Last(msgspec.Struct, frozen=True):
    """What the child says last: the function's exit code (below 0, a signal), its CPU seconds."""

    code: int
    cpu: float


class ProcessOptions(ToolOptions, total=False):
    """What may be said of a tool in a process: `ToolOptions`, and its limits.

    `env` names variables of the environment that it gets. `cpu` is in whole seconds. `memory` is in
    bytes, beyond what the process has before it loads the
    function's module.
    """

    env: Sequence[str]
    cpu: int
    memory: int


@dataclass(frozen=True, slots=True)
class ProcessPoolCall:
    """What calls a function in another process, where it is found by its name `target`."""

    target: str
    name: str
    effect: Effect
    seconds: float
    cpu: int
    memory: int
    function: Callable[..., Any] = field(repr=False)
    variables: tuple[str, ...] = field(default=(), repr=False)

    async def __call__(self, args: dict[str, Json], key: str) -> Any:
        worker = os.getpid()
        here = call_context(key)
        asked = ChildTask(
            self.target, args, key, self.seconds, worker, self.cpu, self.memory,
            dict(here.labels), here.owner,
        )  # fmt: skip
        ran = await run_process(
            [sys.executable, "-P", "-c", _START, json.dumps(sys.path)],
            seconds=self.seconds,
            limit=LIMIT,
            stdin=encode(asked),
            env=environment(self.variables, python=True),
        )
        printed = ran.stderr.decode(errors="replace")
        if ran.code is None:
            return self._late(f"did not end in {self.seconds:g} s", printed)
        if ran.cut:
            text = f"{self.name} returned more than {LIMIT} bytes: return less"
            return self._failed("bad_output", text, printed)
        body, last = _parted(ran.stdout, ran.code)
        if self._spent(last):
            return self._late(f"used up the {self.cpu} s of CPU time it may have", printed)
        try:
            answer = msgspec.json.decode(body, type=ChildReply)
        except msgspec.DecodeError:
            text = f"{self.name}: its process ended with {_exit_text(last.code)} and gave no result"
            if self.memory:
                text += f"; it may have {self.memory} bytes of memory"
            return self._failed("crashed", text, printed)
        return self._returned(answer, key)

    def _spent(self, last: Last) -> bool:
        """Whether the limit of CPU time ended it: with its own signal, or a second later for good.

        The system counts less exactly when it limits than when it tells what was used.
        """
        if not self.cpu:
            return False
        return _exit_text(last.code) == "signal SIGXCPU" or (last.code < 0 and last.cpu >= self.cpu)

    def _returned(self, reply: ChildReply, key: str) -> Any:
        match reply.kind:
            case "value":
                return reply.body
            case "observation":
                observation = msgspec.convert(reply.body, Observation)
                refused = (observation.code, observation.outcome) == (
                    "invalid_arguments",
                    "not_done",
                )
                return asked_again(observation, key) if refused else observation
            case "refused":
                raise ToolError(str(reply.body))
            case "memory":
                text = f"{self.name} wanted more than the {self.memory} bytes of memory it may have"
                return self._failed("crashed", text + self._doubt(), reply.detail)
            case _:
                return self._failed("crashed", f"{self.name}: {reply.body}", reply.detail)

    def _late(self, why: str, printed: str) -> Observation:
        output = printed[-_PRINTED:] or "nothing"
        text = f"{self.name} {why} and was stopped with its children{self._doubt()}. "
        return self._failed("timeout", f"{text}It had printed: {output}", printed)

    def _doubt(self) -> str:
        if self.effect not in EFFECTFUL:
            return ""
        return "; part of its work may be done: check that before anything else"

    def _failed(self, code: Code, text: str, detail: str) -> Observation:
        """A failure; whether an effect happened is not known."""
        outcome: Outcome = "unknown" if self.effect in EFFECTFUL else "not_done"
        return Observation(
            content=f"ERROR: {code}: {text}",
            ok=False,
            code=code,
            outcome="done" if code == "bad_output" else outcome,
            detail=detail,
        )


@overload
def process_tool(target: str, /, **options: Unpack[ProcessOptions]) -> FunctionTool: ...
@overload
def process_tool(target: F, /, **options: Unpack[ProcessOptions]) -> FunctionTool[F]: ...
@overload
def process_tool(**options: Unpack[ProcessOptions]) -> Callable[[F], FunctionTool[F]]: ...
def process_tool(
    target: str | Callable[..., Any] | None = None, /, **options: Unpack[ProcessOptions]
) -> FunctionTool[Any] | Callable[[Any], FunctionTool[Any]]:
    """Make a tool of a module's function that runs in a new process for every call.

    `@process_tool(timeout=5)` on a function of a module, or `process_tool("module:function")`.
    Options are those of `@tool`, `cpu` and `memory`. `timeout` (30 s) counts from the start of the
    process, which takes some tenths of a second. After it, or when a limit is exceeded or the
    worker dies, the process is ended with its children. (`Attempts.timeout` is a few seconds
    longer, to end it in.) The process inherits folder and `sys.path`, and of the environment only
    what Python needs (`running.ENVIRONMENT`) and the variables named in `env`. A `RunContext` has
    the key, the labels and the owner there, no deps, and nobody to tell of progress. Raises
    `ConfigError` for what has no name in a module (a lambda, a nested function, a bound method,
    anything in `__main__`), for limits that this system cannot enforce, and where `@tool` would.
    """
    if target is None:
        return functools.partial(_make_tool, options)
    return _make_tool(options, target)


def _make_tool(options: ProcessOptions, target: str | Callable[..., Any]) -> FunctionTool[Any]:
    for name in ("inline", "external"):
        if name in options:
            message = f"a process_tool runs in a process of its own: leave {name} out"
            raise ConfigError(message)
    check_options("a tool in a process", options, ProcessOptions.__annotations__)
    named = target if isinstance(target, str) else _named(target)
    function = load(target) if isinstance(target, str) else target
    cpu = _limit(named, "cpu", options.get("cpu", 0))
    memory = _limit(named, "memory", options.get("memory", 0))
    if (signature := read(function)).deps is not None:
        message = (
            f"function {signature.name} runs in a process of its own, where no deps are: annotate "
            f"{signature.context} as RunContext alone, and go by its labels"
        )
        raise ConfigError(message)
    tool_options = settings(signature, options)
    variables = check_variables(options.get("env", ()))
    tool_options = {
        name: value for name, value in tool_options.items() if name not in {"cpu", "memory", "env"}
    }
    name, effect, seconds = (
        tool_options["name"],
        tool_options.get("effect", "unsafe"),
        options.get("timeout", _SECONDS),
    )
    call = ProcessPoolCall(named, name, effect, seconds, cpu, memory, function, variables)
    made = checked(FunctionTool(call=call, function=function, **tool_options))
    return replace(made, attempts=replace(made.attempts, timeout=seconds + SLACK))


def load(target: str) -> Callable[..., Any]:
    """The function called `module:function`. Raises `ConfigError` where there is none."""
    resolved = _resolve_target(target)
    if isinstance(resolved, Tool) and isinstance(resolved.call, ProcessPoolCall):
        return resolved.call.function  # it was decorated
    if isinstance(resolved, Tool):
        message = f"{target} is a tool already: name a plain function"
        raise ConfigError(message)
    function: Callable[..., Any] = resolved
    return function


def _resolve_target(target: str) -> Any:
    module, _, path = target.partition(":")
    try:
        value: object = importlib.import_module(module)
        return functools.reduce(getattr, path.split("."), value)
    except (ImportError, AttributeError, TypeError, ValueError) as error:
        message = f"there is no function {target!r} (write module:function): {error}"
        raise ConfigError(message) from error


def _named(function: Callable[..., Any]) -> str:
    """The name a function can be found by from another process."""
    name = getattr(function, "__qualname__", "")
    module = getattr(function, "__module__", "")
    if (
        module == "__main__"
        or "<" in name
        or not name
        or not _importable_as(f"{module}:{name}", function)
    ):
        message = (
            f"{function!r} cannot be found from another process: "
            "use a function that stands in a module under its own name"
        )
        raise ConfigError(message)
    return f"{module}:{name}"


def _importable_as(target: str, function: Callable[..., Any]) -> bool:
    """Whether it is found by that name, or will be, once it is decorated."""
    try:
        resolved = _resolve_target(target)
    except ConfigError:
        return not inspect.ismethod(function)
    return resolved is function or isinstance(resolved, Tool)


def _limit(target: str, name: Literal["cpu", "memory"], value: Any) -> int:
    """A limit that can be held to; 0 is none. Raises `ConfigError`."""
    if not isinstance(value, int) or value < 0:
        unit = "seconds of CPU time" if name == "cpu" else "bytes"
        message = f"{target}: {name} is {value!r}: give whole {unit}, or 0 for no limit"
        raise ConfigError(message, field=name)
    if value and sys.platform not in _HELD[name]:
        message = f"{target}: {sys.platform} holds no process to a limit of {name}: leave it out"
        raise ConfigError(message, field=name)
    return value


def _parted(stdout: bytes, code: int) -> tuple[bytes, Last]:
    """What the function said, and how it ended; where only its process ended, how that did."""
    body, _, last = stdout.rpartition(b"\n")
    try:
        return body, msgspec.json.decode(last, type=Last)
    except msgspec.DecodeError:
        return stdout, Last(code, 0.0)


def _exit_text(code: int) -> str:
    """An exit code in words."""
    if code >= 0:
        return f"exit code {code}"
    known = {one.value: one.name for one in signal.Signals}
    return f"signal {known.get(-code, -code)}"
