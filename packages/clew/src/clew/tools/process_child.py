"""The other side of `process_tool`: reads a call, makes it, says what came of it, ends."""

import functools
import inspect
import os
import sys
import traceback
from typing import Any, BinaryIO

import anyio
import msgspec

from clew.core.contents import Observation
from clew.core.values import encode
from clew.deps.run_context import RunContext
from clew.support.error_text import described, message_of
from clew.support.errors import ConfigError, ToolError
from clew.tools.process import ChildReply, ChildTask, Last, load
from clew.tools.signature import arguments_refused, read, returned

if sys.platform != "win32":  # pragma: no branch - as below
    from clew.tools.watchdog import limit, take_reserve, watch


def main() -> None:
    """Make the one call that stands on standard input.

    The result goes to what was standard output, and after it how the work ended; everything the
    function and its children write there goes to standard error instead.
    """
    with os.fdopen(os.dup(1), "wb") as out:
        os.dup2(2, 1)
        asked = msgspec.json.decode(sys.stdin.buffer.read(), type=ChildTask)
        work = functools.partial(_work, asked, out)
        if sys.platform == "win32":  # pragma: no cover - nothing there to fork or to limit
            work()
        elif ended := watch(work, seconds=asked.seconds, worker=asked.worker):
            out.write(b"\n" + encode(Last(ended.code, ended.cpu)))


def _work(asked: ChildTask, out: BinaryIO) -> None:
    if sys.platform != "win32":  # pragma: no branch - where nothing can be limited
        limit(asked.cpu, asked.memory)
    out.write(encode(_answer(asked)))


def _answer(asked: ChildTask) -> ChildReply:
    try:
        value = _call(asked)
    except ToolError as error:
        return ChildReply("refused", message_of(error))
    except MemoryError:
        if asked.memory and sys.platform != "win32":
            take_reserve()
            return ChildReply("memory", None, traceback.format_exc())
        return ChildReply("crashed", "MemoryError", traceback.format_exc())
    except BaseException as error:  # noqa: BLE001 - whatever ends the function is data here
        return ChildReply("crashed", described(error), traceback.format_exc())
    if isinstance(value, Observation):
        return ChildReply("observation", msgspec.to_builtins(value))
    return ChildReply("value", value)


def _call(asked: ChildTask) -> Any:
    try:
        function = load(asked.target)
    except ConfigError as error:  # nothing was called
        raise ToolError(str(error)) from error
    signature = read(function)
    try:
        arguments = signature.arguments(asked.args, asked.key, _context(asked))
    except ValueError as error:
        return arguments_refused(signature.name, error)
    made = functools.partial(function, **arguments)
    value = anyio.run(made) if inspect.iscoroutinefunction(function) else made()
    return returned(signature.name, value, signature.tuples, fills=signature.fills)


def _context(asked: ChildTask) -> RunContext:
    """What the function is told of its run, as far as that is known here."""
    run_id, _, call = asked.key.rpartition(":")
    return RunContext(None, run_id=run_id, call=call, labels=asked.labels, owner=asked.owner)
