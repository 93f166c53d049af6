"""`clew show --html`: one run as a file for a browser, as another package writes it."""

import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from pathlib import Path
from typing import BinaryIO

import click

from clew.cli.errors import ANSWERED
from clew.cli.progress import size
from clew.cli.safe_text import say
from clew.cli.store_option import existing, find_run
from clew.interfaces import Store
from clew.support.printable import inert
from clew.support.private_files import new_file
from clew.support.wings import EXPORTS, require

Export = Callable[[Store, str], AsyncGenerator[bytes]]


async def write_html(run: str, path: str, store: str | None) -> int:
    """Write the run to a new file, or to stdout (`-`). Raises `ConfigError`."""
    export: Export = require(EXPORTS, "html", "--html")
    if path == "-" and sys.stdout.isatty():
        raise click.UsageError("HTML is not for a terminal: name a file, or send it to a pipe.")
    async with existing(store) as opened:
        run_id = await find_run(opened, run)
        if path == "-":
            await _written(export(opened, run_id), sys.stdout.buffer)
            return ANSWERED
        with new_file(Path(path)) as file:
            count = await _written(export(opened, run_id), file)
    say(f"{inert(path)} has run {inert(run_id)}, {size(count)}")
    return ANSWERED


async def _written(pieces: AsyncGenerator[bytes], file: BinaryIO) -> int:
    """How many bytes were written."""
    count = 0
    async with aclosing(pieces):
        async for piece in pieces:
            count += file.write(piece)
    return count
