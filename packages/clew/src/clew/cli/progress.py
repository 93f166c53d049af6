"""What is said of long work while it goes on, to a person at a terminal."""

import logging
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Final

from clew.cli.safe_text import say_over
from clew.support.printable import inert

LOG: Final = logging.getLogger("clew")


@contextmanager
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


@contextmanager
def progress(doing: str) -> Generator[Callable[[int, int, str], None]]:
    """What shows it: told how much is done, of how much (0 where nobody knows), and of which run.

    One line on stderr that is written over, and nothing where that is no terminal.
    """
    visible = sys.stderr.isatty()
    drawn = False

    def show(done: int, total: int, run_id: str) -> None:
        nonlocal drawn
        if visible:
            of = f" of {total:,}" if total else ""
            say_over(f"{doing} {done:,}{of}: {inert(run_id)}")
            drawn = True

    try:
        yield show
    finally:
        if drawn:
            say_over()


def count(number: int, word: str) -> str:
    """A number of things, in words."""
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def size(number: int) -> str:
    """A number of bytes, in words."""
    for unit, factor in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if number >= factor:
            return f"{number / factor:.1f} {unit}"
    return count(number, "byte")
