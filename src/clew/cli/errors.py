"""The one place where what went wrong becomes a line on stderr and an exit code."""

import importlib
import io
import os
import sys
import threading
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Final, Never

import click
from typing_extensions import override

from clew.concurrency.threads import THREADS
from clew.core.errors import ClewError, ConfigError, ModelError, StoreError
from clew.core.events import Status
from clew.support.wings import COMMANDS, find, names

ANSWERED: Final = 0
USAGE: Final = 2
FAILED: Final = 5
DECLINED: Final = 7
INTERRUPTED: Final = 130

COMPLETE: Final = "_CLEW_COMPLETE"
"""The variable in which a shell says that it completes a line."""

GAP: Final = 2  # columns between a command and what it does

REPLACED: Final = "backslashreplace"
KEPT: Final = "surrogateescape"

EXITS: Final[dict[Status, int]] = {
    "answered": ANSWERED,
    "declined": DECLINED,
    "bound": 3,
    "held": 4,
    "failed": FAILED,
    "refused": 6,
    "interrupted": INTERRUPTED,
}


@dataclass
class Shell:
    """What commands and their group tell each other.

    `debug` asks for tracebacks; `env_file` is the `.env` that was read, if any.
    """

    debug: bool = False
    env_file: str = ""


def explain(error: BaseException) -> tuple[str, int]:
    """One line that says what happened and what to do, the error's notes below, and the code."""
    return "\n".join((_line(error), *getattr(error, "__notes__", ()))), _code(error)


def _line(error: BaseException) -> str:
    match error:
        case click.UsageError():
            command = error.ctx.command_path if error.ctx is not None else "clew"
            said = " ".join(error.format_message().split())  # click lists choices on further lines
            return f"{_ended(said)} Try: {command} --help"
        case click.ClickException():
            return error.format_message()
        case ClewError():
            return str(error)
        case KeyboardInterrupt() | click.Abort() | EOFError():
            return "interrupted"
        case OSError() if error.strerror:
            place = error.filename or "what there is to say cannot be written"
            return f"{place}: {error.strerror}"
        case _:
            what = " ".join(f"{type(error).__name__}: {error}".split())
            return f"this should not have happened: {what} (--debug shows where)"


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


@dataclass(frozen=True)
class Entry:
    """A command as the overview names it; its module of `clew.cli` is imported when it is used."""

    name: str
    about: str
    module: str = ""

    def load(self) -> click.Command:
        """The command itself: the one in its module that has this name."""
        module = importlib.import_module(f"clew.cli.{self.module or self.name}")
        found = (each for each in vars(module).values() if isinstance(each, click.Command))
        return next(each for each in found if each.name == self.name)


def _about(name: str) -> str:
    """What a command of another package says of itself, or why it cannot be used."""
    try:
        added: click.Command = find(COMMANDS, name)
    except ConfigError as error:
        return str(error)
    return added.get_short_help_str()


class Told(click.Group):
    """A group of commands whose errors are told in a line; a command returns its exit code.

    `groups` are all of them, under the headings that its help shows them by.
    """

    def __init__(self, *args: Any, groups: Mapping[str, Sequence[Entry]], **extra: Any) -> None:
        super().__init__(*args, **extra)
        self.groups = groups
        self._entries = {each.name: each for each in chain.from_iterable(groups.values())}

    @override
    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted({*self._entries, *names(COMMANDS)})

    @override
    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        entry = self._entries.get(cmd_name)
        if entry is not None:
            return entry.load()
        added: click.Command | None = find(COMMANDS, cmd_name)
        return added

    @override
    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write each group under its heading, all of them in the same columns."""
        added = tuple(Entry(name, _about(name)) for name in names(COMMANDS))
        groups = {**self.groups, "From other packages": added} if added else self.groups
        width = max(len(entry.name) for group in groups.values() for entry in group)
        for heading, group in groups.items():
            with formatter.section(heading):
                rows = [(f"{entry.name:<{width}}", entry.about) for entry in group]
                formatter.write_dl(rows, col_spacing=GAP)

    def main(self, *args: Any, **extra: Any) -> Never:
        """Run the command line and leave the process."""
        tolerate_any_text()
        shell = Shell()
        code: int
        try:
            self._import_wanted([*map(str, args[0])] if args else sys.argv[1:])
            code = super().main(*args, **{**extra, "obj": shell, "standalone_mode": False}) or 0
        except click.exceptions.NoArgsIsHelpError as error:
            click.echo(error.ctx.get_help() if error.ctx else str(error), err=True)
            code = USAGE
        except BaseException as error:  # noqa: BLE001 - told here, whatever it is
            code = tell(
                error.__cause__ if isinstance(error, click.Abort) and error.__cause__ else error,
                debug=shell.debug,
            )
        leave(code)

    def _import_wanted(self, words: Sequence[str]) -> None:
        """Import the command that is asked for, before click runs: it tells a Ctrl-C its own way.

        For a shell that completes, import what knows the shells.
        """
        wanted = "completion" if COMPLETE in os.environ else next(iter(words), "")
        if (entry := self._entries.get(wanted)) is not None:
            entry.load()

    def invoke(self, ctx: click.Context) -> object:
        """Run the command; that nobody reads on (`| head`) is no failure, as click takes it for."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            nobody_reads()
            return ANSWERED


def tell(error: BaseException, *, debug: bool) -> int:
    """Write the error to stderr, with its traceback under --debug; return the exit code."""
    if debug:
        click.echo("".join(traceback.format_exception(error)), err=True, nl=False)
    text, code = explain(error)
    click.echo(f"clew: {text}", err=True)
    return code


def tolerate_any_text() -> None:
    """Let no character end a command: what the terminal cannot show is shown as its code.

    Bytes on stdin that are not UTF-8 arrive as surrogates and are refused where they matter. A
    stream that was closed (`>&-`) leads nowhere.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode))  # noqa: SIM115 - open to the end
    for stream, said in ((sys.stdout, REPLACED), (sys.stderr, REPLACED), (sys.stdin, KEPT)):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=said)


def leave(code: int) -> Never:
    """Leave with the code, now: a tool's thread that is past its deadline is not waited for."""
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except BrokenPipeError:
        nobody_reads()
    except OSError as error:  # such as a full disk; the run's own end was told already
        nobody_reads()
        code = code or tell(error, debug=False)
    mine = threading.main_thread()
    if THREADS.at_work or any(not t.daemon for t in threading.enumerate() if t is not mine):
        os._exit(code)
    sys.exit(code)


def nobody_reads() -> None:
    """Whoever read our output (`| head`) has left: no more is written, and nobody is blamed."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
