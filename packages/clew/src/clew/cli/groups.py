"""Commands in groups; each command is imported when it is used."""

import importlib
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from types import ModuleType
from typing import Any, Final, Never

import click
from click.shell_completion import get_completion_class, shell_complete
from typing_extensions import override

from clew import ConfigError
from clew.cli.errors import (
    ANSWERED,
    COMPLETE,
    PROGRAM,
    USAGE,
    Shell,
    leave,
    reader_left,
    report_error,
    tolerate_any_text,
)
from clew.cli.safe_text import say
from clew.support.extras import install
from clew.support.nearest_name import nearest
from clew.support.wings import COMMANDS, missing_package, names, require

GAP: Final = 2  # columns between a command and what it does
HELP: Final = ("-h", "--help")


def import_extra(module: str, extra: str, package: str = "clew") -> ModuleType:
    """A module that stands on an optional extra. Raises `ConfigError` where that is missing."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        missing = missing_package(error)
        if not missing:
            raise ConfigError(f"{module} cannot be imported: {error}") from error
        message = f"{missing} is not installed: run {install(extra, package)}"
        raise ConfigError(message) from error


@dataclass(frozen=True)
class CommandEntry:
    """A command as its group's help names it, or a group of `commands`.

    A command is the one of its name in its module, one of `clew.cli` unless it has dots; or what
    the entry point of its name loads, where it is that of another `package`. `default` is the
    command that a group runs when none is named.
    """

    name: str
    about: str
    module: str = ""
    commands: tuple["CommandEntry", ...] = ()
    default: str = ""
    package: str = ""

    def load(self) -> click.Command:
        """The command itself, imported; or the group.

        Raises `ConfigError` where its package is not installed.
        """
        if self.package:
            return _command(self.module or self.name)
        if self.commands:
            sections = {"Commands": self.commands}
            return CommandGroup(self.name, help=self.about, sections=sections, default=self.default)
        name = self.module or self.name
        module = importlib.import_module(name if "." in name else f"clew.cli.{name}")
        commands = (each for each in vars(module).values() if isinstance(each, click.Command))
        return next(each for each in commands if each.name == self.name)


class CommandGroup(click.Group):
    """A group of commands, shown by its help in `sections`, each under a heading."""

    def __init__(
        self,
        name: str | None = None,
        *,
        sections: Mapping[str, Sequence[CommandEntry]],
        default: str = "",
        **extra: Any,
    ) -> None:
        super().__init__(name, **extra)
        self.sections = sections
        self._entries = {each.name: each for each in chain.from_iterable(sections.values())}
        self._default = default
        self.no_args_is_help = not default

    @override
    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(self._entries)

    @override
    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        entry = self._entries.get(cmd_name)
        try:
            return None if entry is None else entry.load()
        except ConfigError:
            if ctx.resilient_parsing:  # a shell completes a line, which is no place for errors
                return None
            raise

    @override
    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Without a command it is the default one; a shell that completes wants the others too."""
        first = args[0] if args else "-"
        if self._default and not ctx.resilient_parsing and first[0:1] == "-" and first not in HELP:
            args = [self._default, *args]
        return super().parse_args(ctx, args)

    @override
    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if ctx.resilient_parsing:
            return super().resolve_command(ctx, args)
        name, *rest = args
        if (command := self.get_command(ctx, name)) is None:
            ctx.fail(f"No such command {name!r}: {self._hint(ctx.command_path, name)}")
        return name, command, rest

    def _hint(self, path: str, name: str) -> str:
        """The command that may be meant, which may stand in a group of this one."""
        inner = {
            each.name: group.name for group in self._entries.values() for each in group.commands
        }
        near = nearest(name, [*self._entries, *inner])
        if near is None:
            return f"there are {', '.join(self._entries)}."
        words = [path, near] if near in self._entries else [path, inner[near], near]
        return f"did you mean `{' '.join(words)}`?"

    @override
    def invoke(self, ctx: click.Context) -> object:
        """Run the command; click's parser does not say whose options a fault is of: we do."""
        try:
            return super().invoke(ctx)
        except click.UsageError as error:
            command = self.get_command(ctx, ctx.invoked_subcommand or "")
            if error.ctx is None and command is not None:
                error.ctx = click.Context(command, parent=ctx, info_name=command.name)
            raise

    @override
    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write each section under its heading, all of them in the same columns."""
        width = max(map(len, self._entries))
        for heading, entries in self.sections.items():
            with formatter.section(heading):
                rows = [(f"{entry.name:<{width}}", self._about(entry)) for entry in entries]
                formatter.write_dl(rows, col_spacing=GAP)

    def _about(self, entry: CommandEntry) -> str:
        if entry.package and (entry.module or entry.name) not in names(COMMANDS):
            return f"{entry.about}  [needs {entry.package}]"
        return f"{entry.about}  [default]" if entry.name == self._default else entry.about

    def preload(self, words: Sequence[str]) -> None:
        """Import the command that these words ask for."""
        entry = self._entries.get(words[0] if words else "", self._entries.get(self._default))
        if entry is not None and isinstance(command := entry.load(), CommandGroup):
            command.preload(words[1:])


def _added() -> list[str]:
    """The commands on top of other packages."""
    return [name for name in names(COMMANDS) if "." not in name]


def _command(name: str) -> click.Command:
    """A command of another package. Raises `ConfigError` where it cannot be used."""
    command = require(COMMANDS, name)
    if not isinstance(command, click.Command):
        message = f"{name}, which a package adds to {COMMANDS}, is no click.Command: {command!r}"
        raise ConfigError(message)
    return command


def _about(name: str) -> str:
    """What a command of another package says of itself, or why it cannot be used."""
    try:
        return _command(name).get_short_help_str()
    except ConfigError as error:
        return str(error)


_WORDS_OF_SHELLS: Final = frozenset({"COMP_WORDS", "COMP_LINE"})


class CommandLine(CommandGroup):
    """The whole command line: each error becomes a line, and each end an exit code.

    Other packages add commands, by entry points.
    """

    @override
    def list_commands(self, ctx: click.Context) -> list[str]:
        own = {name for name, entry in self._entries.items() if not entry.package}
        return sorted({*own, *_added()})

    @override
    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        command = super().get_command(ctx, cmd_name)
        if command is not None or cmd_name not in _added():
            return command
        try:
            return _command(cmd_name)
        except ConfigError:
            if ctx.resilient_parsing:
                return None
            raise

    @override
    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_commands(ctx, formatter)
        if added := [name for name in _added() if name not in self._entries]:
            with formatter.section("From other packages"):
                formatter.write_dl([(name, _about(name)) for name in added], col_spacing=GAP)

    def main(self, *args: Any, **extra: Any) -> Never:
        """Run the command line and leave the process."""
        tolerate_any_text()
        shell = Shell()
        code: int
        try:
            # Before click runs, which tells a Ctrl-C its own way. Completing needs the shells.
            words = [*map(str, args[0])] if args else sys.argv[1:]
            self.preload(["doctor", "completion"] if COMPLETE in os.environ else words)
            if instruction := os.environ.get(COMPLETE):
                code = self._complete(instruction, shell)
            else:
                code = super().main(*args, **{**extra, "obj": shell, "standalone_mode": False}) or 0
        except click.exceptions.NoArgsIsHelpError as error:
            say(error.ctx.get_help() if error.ctx else str(error), err=True)
            code = USAGE
        except BaseException as error:  # noqa: BLE001 - told here, whatever it is
            code = report_error(
                error.__cause__ if isinstance(error, click.Abort) and error.__cause__ else error,
                debug=shell.debug,
            )
        leave(code)

    def _complete(self, instruction: str, shared: Shell) -> int:
        """Answer the shell that completes a line; its exit code."""
        shell, _, what = instruction.partition("_")
        asked = what == "source" or (
            what == "complete" and not _WORDS_OF_SHELLS.isdisjoint(os.environ)
        )
        if not asked or get_completion_class(shell) is None:
            message = (
                f"{COMPLETE} is {instruction!r}, which no shell sets to complete a line: unset it; "
                "`clew doctor completion` prints the script for your shell."
            )
            raise click.UsageError(message)
        return shell_complete(self, {"obj": shared}, PROGRAM, COMPLETE, instruction)

    def invoke(self, ctx: click.Context) -> object:
        """Run the command; that nobody reads on (`| head`) is no failure, as click takes it for."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            reader_left()
            return ANSWERED
