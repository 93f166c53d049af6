"""The other side of `process_tool`: reads a call, makes it, says what came of it, ends."""

import functools
import inspect
import os
import sys
import traceback
from typing import Any

import anyio
import msgspec

from clew.errors import ToolError
from clew.events import Observation, encode
from clew.tools.process import Asked, Said, load
from clew.tools.signature import read, returned, unfit


def main() -> None:
    """Make the one call that stands on standard input.

    The result goes to what was standard output; everything the function and its children write
    there goes to standard error instead.
    """
    with os.fdopen(os.dup(1), "wb") as out:
        os.dup2(2, 1)
        asked = msgspec.json.decode(sys.stdin.buffer.read(), type=Asked)
        out.write(encode(_answer(asked)))


def _answer(asked: Asked) -> Said:
    try:
        value = _call(asked)
    except ToolError as error:
        return Said("refused", " ".join(str(error).split()))
    except BaseException as error:  # noqa: BLE001 - whatever ends the function is data here
        line = " ".join(f"{type(error).__name__}: {error}".split())
        return Said("crashed", line, traceback.format_exc())
    if isinstance(value, Observation):
        return Said("observation", msgspec.to_builtins(value))
    return Said("value", value)


def _call(asked: Asked) -> Any:
    function = load(asked.target)
    signature = read(function)
    try:
        given = signature.arguments(asked.args, asked.key)
    except ValueError as error:
        return unfit(signature.name, error)
    made = functools.partial(function, **given)
    value = anyio.run(made) if inspect.iscoroutinefunction(function) else made()
    return returned(signature.name, value)
