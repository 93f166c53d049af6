"""A Python function in a process of its own: a tool that can really be ended at its deadline.

The function is named `module:function`, the arguments go in and the result comes out as JSON; no
code and no class name travels. What the function prints is kept for people and for timeouts.
"""

import functools
import importlib
import json
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final, Literal, Unpack

import msgspec

from clew.errors import ConfigError, ToolError
from clew.events import EFFECTFUL, Code, Effect, Json, Observation, Outcome, encode
from clew.protocols import Tool
from clew.tools.function import Options, settings
from clew.tools.running import SLACK, run_process
from clew.tools.schema import checked
from clew.tools.signature import read

LIMIT: Final = 16 * 1024 * 1024
"""Most bytes a result may have, and most that are kept of what was printed."""

_SECONDS: Final = 30.0
_PRINTED: Final = 2_000
_START: Final = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from clew.tools.child import main; main()"
)


class Asked(msgspec.Struct, frozen=True):
    """What the child is told: the function `module:function`, its arguments, the call's key."""

    target: str
    args: dict[str, Json]
    key: str


class Said(msgspec.Struct, frozen=True):
    """What the child says: a value, an observation's fields, or how the function failed."""

    kind: Literal["value", "observation", "refused", "crashed"]
    body: Json = None
    detail: str = ""


def process_tool(target: str | Callable[..., Any], **options: Unpack[Options]) -> Tool:
    """Make a tool of a module's function that runs in a process of its own, anew for every call.

    Options are those of `@tool`. `timeout` (30 s) counts from the start of the process, which takes
    some tenths of a second; then it is ended with its children. (`Tool.timeout` is a few seconds
    more, to end it in.) The process inherits environment, folder and `sys.path`. Raises
    `ConfigError` for what has no name in a module (a lambda, a function in a function, a bound
    method, anything in `__main__`), and where `@tool` would.
    """
    if "inline" in options:
        message = "a process_tool runs in a process of its own: leave inline out"
        raise ConfigError(message)
    named = target if isinstance(target, str) else _named(target)
    signature = read(load(named))
    said = settings(signature, options)
    name, effect = said["name"], said.get("effect", "unsafe")
    seconds = said.get("timeout", _SECONDS)

    async def call(args: dict[str, Json], key: str) -> Any:
        ran = await run_process(
            [sys.executable, "-P", "-c", _START, json.dumps(sys.path)],
            seconds=seconds,
            limit=LIMIT,
            stdin=encode(Asked(named, args, key)),
        )
        printed = ran.stderr.decode(errors="replace")
        if ran.code is None:
            return _late(name, effect, seconds, printed)
        if ran.cut:
            text = f"{name} returned more than {LIMIT} bytes: return less"
            return _failed("bad_output", effect, text, printed)
        try:
            answer = msgspec.json.decode(ran.stdout, type=Said)
        except msgspec.DecodeError:
            text = f"{name}: its process ended with exit code {ran.code} and gave no result"
            return _failed("crashed", effect, text, printed)
        return _returned(name, effect, answer)

    return replace(checked(Tool(call=call, **said)), timeout=seconds + SLACK)


def load(target: str) -> Callable[..., Any]:
    """The function called `module:function`. Raises `ConfigError` where there is none."""
    module, _, path = target.partition(":")
    try:
        place: object = importlib.import_module(module)
        found: Any = functools.reduce(getattr, path.split("."), place)
    except (ImportError, AttributeError, TypeError, ValueError) as error:
        message = f"there is no function {target!r} (write module:function): {error}"
        raise ConfigError(message) from error
    if isinstance(found, Tool):
        message = f"{target} is a tool already: name a plain function"
        raise ConfigError(message)
    function: Callable[..., Any] = found
    return function


def _named(function: Callable[..., Any]) -> str:
    """The name a function can be found by from another process."""
    name = getattr(function, "__qualname__", "")
    module = getattr(function, "__module__", "")
    target = f"{module}:{name}"
    if module == "__main__" or "<" in name or not name or load(target) is not function:
        message = (
            f"{function!r} cannot be found from another process: "
            "use a function that stands in a module under its own name"
        )
        raise ConfigError(message)
    return target


def _returned(name: str, effect: Effect, said: Said) -> Any:
    match said.kind:
        case "value":
            return said.body
        case "observation":
            return msgspec.convert(said.body, Observation)
        case "refused":
            raise ToolError(str(said.body))
        case _:
            return _failed("crashed", effect, f"{name}: {said.body}", said.detail)


def _late(name: str, effect: Effect, seconds: float, printed: str) -> Observation:
    doubt = ""
    if effect in EFFECTFUL:
        doubt = "; part of its work may be done: check that before anything else"
    shown = printed[-_PRINTED:] or "nothing"
    text = (
        f"{name} did not end in {seconds:g} s and was stopped with its children{doubt}. "
        f"It had printed: {shown}"
    )
    return _failed("timeout", effect, text, printed)


def _failed(code: Code, effect: Effect, text: str, detail: str) -> Observation:
    """A failure; whether an effect happened is not known."""
    outcome: Outcome = "unknown" if effect in EFFECTFUL else "not_done"
    return Observation(
        content=f"ERROR: {code}: {text}",
        ok=False,
        code=code,
        outcome="done" if code == "bad_output" else outcome,
        detail=detail,
    )
