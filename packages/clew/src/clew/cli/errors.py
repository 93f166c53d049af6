"""The one place where what went wrong becomes a line on stderr and an exit code."""

import io
import os
import sys
import threading
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Never

import click

from clew import ClewError, ConfigError, ModelError, StoreError
from clew.cli.safe_stream import SafeStream
from clew.cli.safe_text import say
from clew.concurrency.threads import threads_at_work
from clew.support.error_text import described
from clew.support.short_text import one_line

ANSWERED: Final = 0
USAGE: Final = 2
FAILED: Final = 5
DECLINED: Final = 7
CONTRADICTED: Final = 8
"""Answered, and the record is against what the model says came of the task."""
INTERRUPTED: Final = 130

PROGRAM: Final = "clew"

COMPLETE: Final = "_CLEW_COMPLETE"
"""The variable in which a shell says that it completes a line."""

REPLACED: Final = "backslashreplace"
KEPT: Final = "surrogateescape"

EXITS: Final[Mapping[str, int]] = {
    "answered": ANSWERED,
    "declined": DECLINED,
    "bound": 3,
    "held": 4,
    "failed": FAILED,
    "refused": 6,
    "interrupted": INTERRUPTED,
}


@dataclass(frozen=True, slots=True)
class EnvFile:
    """A `.env` that was read: its path, or "" for none, and what became of each of its lines.

    `taken` are the names that it set, `known` those that the environment had before, `passed` the
    settings that no folder gives.
    """

    path: str = ""
    taken: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    passed: tuple[str, ...] = ()

    def gives(self, name: str) -> str:
        """The path, if this file set the variable; else ""."""
        return self.path if name in self.taken else ""


@dataclass
class Shell:
    """What commands and their group tell each other.

    `debug` asks for tracebacks; `env_file` is the `.env` of the folder.
    """

    debug: bool = False
    env_file: EnvFile = EnvFile()


def env_file() -> EnvFile:
    """The `.env` that the command that runs was begun with."""
    context = click.get_current_context(silent=True)
    shell = None if context is None else context.find_object(Shell)
    return EnvFile() if shell is None else shell.env_file


def debugging() -> bool:
    """Whether the command that runs was given --debug."""
    shell = click.get_current_context().find_object(Shell)
    return shell is not None and shell.debug


def explain(error: BaseException) -> tuple[str, int]:
    """One line that says what happened and what to do, the error's notes below, and the code.

    What others wrote may have more lines: those are indented, and pass for none of clew.
    """
    told = (_line(error), *getattr(error, "__notes__", ()))
    return "\n".join(str(each).replace("\n", "\n  ") for each in told), _code(error)


def _line(error: BaseException) -> str:
    match error:
        case click.UsageError():
            command = error.ctx.command_path if error.ctx is not None else "clew"
            message = one_line(_fault(error))  # click lists choices on further lines
            return f"{_ended(message)} Try: {command} --help"
        case click.ClickException():
            return error.format_message()
        case ClewError():
            return str(error)
        case KeyboardInterrupt() | click.Abort() | EOFError():
            return "interrupted"
        case FileNotFoundError() if error.filename is None:
            return "the working folder is not there any more: cd to one that is"
        case OSError() if error.strerror:
            path = error.filename or "what there is to say cannot be written"
            return f"{path}: {error.strerror}"
        case _:
            return f"this should not have happened: {described(error)} (--debug shows where)"


def _fault(error: click.UsageError) -> str:
    """What click says of a wrong command line; of the options like a wrong one, the nearest."""
    if isinstance(error, click.NoSuchOption) and error.possibilities:
        near = error.possibilities[0]  # the best match is the first
        return f"No such option {error.option_name!r}: did you mean {near}?"
    return error.format_message()


def _code(error: BaseException) -> int:
    match error:
        case ConfigError():
            return USAGE
        case ModelError() | StoreError():
            return FAILED
        case click.ClickException():
            return error.exit_code
        case KeyboardInterrupt() | click.Abort() | EOFError():
            return INTERRUPTED
        case _:
            return FAILED


def _ended(sentence: str) -> str:
    return sentence if sentence.endswith((".", "?", "!")) else f"{sentence}."


def report_error(error: BaseException, *, debug: bool) -> int:
    """Write the error to stderr, with its traceback under --debug; return the exit code."""
    if debug:
        say("".join(traceback.format_exception(error)), err=True, nl=False)
    text, code = explain(error)
    say(f"clew: {text}", err=True)
    return code


def tolerate_any_text() -> None:
    """Let no character end a command or act on the terminal: it is shown as its code.

    Bytes on stdin that are not UTF-8 arrive as surrogates and are refused where they matter. A
    stream that was closed (`>&-`) leads nowhere.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode))  # noqa: SIM115 - open to the end
    for stream, errors in ((sys.stdout, REPLACED), (sys.stderr, REPLACED), (sys.stdin, KEPT)):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=errors)
    sys.stdout, sys.stderr = SafeStream.over(sys.stdout), SafeStream.over(sys.stderr)


def leave(code: int) -> Never:
    """Leave with the code, now: a tool's thread that is past its deadline is not waited for."""
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except BrokenPipeError:
        reader_left()
    except OSError as error:  # such as a full disk; the run's own end was told already
        reader_left()
        code = code or report_error(error, debug=False)
    mine = threading.main_thread()
    if threads_at_work() or any(not t.daemon for t in threading.enumerate() if t is not mine):
        os._exit(code)
    sys.exit(code)


def reader_left() -> None:
    """Whoever read our output (`| head`) has left: no more is written, and nobody is blamed."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
