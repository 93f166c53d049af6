"""The process that runs programs in the sandbox: it needs Python alone, and is given as text, with
that of what it imports from clew.

It reads lines of JSON, programs and results of calls, and answers each with one line: a call that
the program waits for, its end, or its error; what was printed goes along. Whatever a program makes
of this process, it can send no more than that.
"""

import ast
import builtins
import io
import json
import linecache
import os
import random
import signal
import sys
import threading
import traceback
from typing import Any

from clew.support.json_arguments import refused, unfit

NAME = "main.py"
LONGEST = 1_000_000
"""Characters of the arguments of a call."""

LONGEST_ERROR = 4_000
STACK = 1_000_000
"""Bytes of a thread's stack: all of it counts as memory, whether it is used or not."""

AGAIN = 0.2
"""Seconds of CPU after which a program that caught the end of its time is told again."""


class Programs:
    """The variables of the programs, and the one that runs."""

    def __init__(self, wanted: dict[str, Any], incoming: int, outgoing: int) -> None:
        self.incoming, self.outgoing = os.fdopen(incoming, "r"), os.fdopen(outgoing, "w")
        self.output, self.stretch, self.seconds = (
            wanted["output"], wanted["stretch"], wanted["seconds"],
        )  # fmt: skip
        self.printed_chars = self.seconds_left = 0.0
        self.asking = threading.Lock()
        self.names: dict[str, Any] = {"__name__": "__main__", "__builtins__": builtins}
        self.functions = {name: self.function(name) for name in wanted["functions"]}
        self.names |= self.functions
        random.seed(wanted["seed"])

    def function(self, name: str) -> Any:
        """What stands for a tool in programs."""

        def call(*args: Any, **named: Any) -> Any:
            return self.ask(name, args, named)

        call.__name__ = call.__qualname__ = name
        return call

    def ask(self, name: str, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """Ask for a call, and wait for what it gives."""
        if problem := refused(name, args, named, _problem):
            raise TypeError(problem)
        text = _bounded({"ask": name, "args": args, "named": named})
        with self.asking:
            self.stop_clock()
            self.send(text)
            result = json.loads(self.incoming.readline())
            self.start_clock()
        if "value" in result:
            return result["value"]
        kind = getattr(builtins, result["kind"], RuntimeError)
        raise kind(result["text"])

    def send(self, text: str) -> None:
        """One line: a message, and what was printed since the last one."""
        room = int(max(0, self.output - self.printed_chars))
        printed = os.pread(1, 4 * room + 4, 0).decode(errors="replace")
        left_out = len(printed) > room or os.fstat(1).st_size > 4 * room + 4
        self.printed_chars += len(printed)
        os.ftruncate(1, 0)
        summary = json.dumps({"printed": printed[:room], "left_out": left_out})
        self.outgoing.write(f"{text[:-1]}, {summary[1:]}\n")
        self.outgoing.flush()

    def start_clock(self) -> None:
        """Let the clock of the program run."""
        signal.setitimer(signal.ITIMER_PROF, max(0.01, min(self.stretch, self.seconds_left)), AGAIN)

    def stop_clock(self) -> None:
        """Stop the clock."""
        remaining, _ = signal.setitimer(signal.ITIMER_PROF, 0)
        self.seconds_left -= max(0.0, min(self.stretch, self.seconds_left) - remaining)

    def run(self, program: str) -> str:
        """Run a program to its end; returns what is said of it."""
        self.printed_chars, self.seconds_left = 0, self.seconds
        sys.stdout, sys.stderr = _stream(1), _stream(2)
        self.names |= {name: self.names.get(name, one) for name, one in self.functions.items()}
        linecache.cache[NAME] = (len(program), None, program.splitlines(keepends=True), NAME)
        try:
            code, last = _compiled(program)
            self.start_clock()
            try:
                exec(code, self.names)  # noqa: S102 - what this process is for
                value = None if last is None else eval(last, self.names)  # noqa: S307 - as above
                text = "" if value is None else repr(value)
            finally:
                self.stop_clock()
            return _bounded({"value": text})
        except BaseException as error:  # noqa: BLE001 - a program may end with anything
            self.stop_clock()
            return json.dumps({"error": _without_addresses(error)})

    def serve(self) -> None:
        """Run what comes, to the end of input."""
        self.send('{"ready": true}')
        for line in self.incoming:
            self.send(self.run(json.loads(line)["program"]))


def _compiled(program: str) -> tuple[Any, Any]:
    """The code of a program, and that of the expression it ends with."""
    tree, last = ast.parse(program, NAME), None
    if tree.body and isinstance(end := tree.body[-1], ast.Expr):
        last = compile(ast.Expression(end.value), NAME, "eval")
        tree.body.pop()
    return compile(tree, NAME, "exec"), last


class _TooLongError(ValueError):
    """A message would be longer than may be sent."""


def _problem(value: Any) -> str:
    """What of an argument JSON cannot carry; "" where it can carry all of it.

    It is written first, which ends early: a value can hold itself, and many times over.
    """
    try:
        _bounded(value)
    except _TooLongError:
        raise
    except RecursionError:
        return "what is nested too deeply"
    except ValueError as error:
        return str(error)
    except TypeError as error:
        return unfit(value) or str(error)
    return unfit(value)


def _bounded(message: Any) -> str:
    """JSON, unless it is too long: a value can hold itself many times over."""
    parts: list[str] = []
    size = 0
    for part in json.JSONEncoder().iterencode(message):
        parts.append(part)
        size += len(part)
        if size > LONGEST:
            raise _TooLongError(f"a value has over {LONGEST:,} characters as JSON")
    return "".join(parts)


def _without_addresses(error: BaseException) -> str:
    """The error and its lines of the program, as Python shows them."""
    try:
        lines = traceback.TracebackException.from_exception(error, limit=-20)
        lines.stack[:] = [frame for frame in lines.stack if frame.filename == NAME]
        text = "".join(lines.format()).strip()
    except BaseException:  # noqa: BLE001 - its text is made by the program
        text = type(error).__name__
    text = text.encode(errors="replace").decode()
    half = LONGEST_ERROR // 2
    return text if len(text) <= LONGEST_ERROR else f"{text[:half]}\n[…]\n{text[-half:]}"


def _stream(index: int) -> io.TextIOWrapper:
    """Standard output or error, of which nothing waits to be written."""
    raw: Any = io.FileIO(index, "w", closefd=False)
    return io.TextIOWrapper(raw, encoding="utf-8", errors="replace", write_through=True)


def _time_is_up(_signal: int, _frame: Any) -> None:
    raise TimeoutError("time limit exceeded")


def main() -> None:
    """Take the ends of the conversation away from programs, then serve."""
    wanted: dict[str, Any] = json.loads(sys.argv.pop(1))
    incoming, outgoing = os.dup(0), os.dup(1)
    printed_file = os.open(os.environ["TMPDIR"], os.O_TMPFILE | os.O_RDWR | os.O_APPEND, 0o600)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(printed_file, 1)
    os.dup2(printed_file, 2)
    signal.signal(signal.SIGPROF, _time_is_up)
    threading.stack_size(STACK)
    Programs(wanted, incoming, outgoing).serve()


if __name__ == "__main__":
    main()
