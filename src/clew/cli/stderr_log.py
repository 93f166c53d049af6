"""What the loggers of clew say, for a person at the command line."""

import contextlib
import logging
from collections.abc import Generator
from typing import Final

import click

from clew.cli.errors import Shell
from clew.cli.safe_text import inert

LOG: Final = logging.getLogger("clew")


class StderrWarnings(logging.Handler):
    """Says warnings on stderr (that a provider makes everybody wait …); with --debug the rest."""

    def __init__(self, shell: Shell) -> None:
        super().__init__()
        self._shell = shell

    def emit(self, record: logging.LogRecord) -> None:
        """Say it, if anybody is there to read it."""
        if record.levelno >= logging.WARNING or self._shell.debug:
            with contextlib.suppress(OSError):
                click.echo(f"clew: {inert(record.getMessage())}", err=True)


def speak(shell: Shell) -> None:
    """Let them be heard, by one handler."""
    for handler in [one for one in LOG.handlers if isinstance(one, StderrWarnings)]:
        LOG.removeHandler(handler)
    LOG.addHandler(StderrWarnings(shell))
    LOG.setLevel(logging.INFO)


@contextlib.contextmanager
def of_many() -> Generator[None]:
    """While many runs go on, only what concerns all of them is said (that a provider makes them
    wait …): what each does is on its record.
    """
    models = logging.getLogger(f"{LOG.name}.models")
    before = LOG.level, models.level
    LOG.setLevel(logging.ERROR)
    models.setLevel(logging.INFO)
    try:
        yield
    finally:
        LOG.setLevel(before[0])
        models.setLevel(before[1])
