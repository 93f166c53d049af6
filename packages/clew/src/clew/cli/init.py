"""`clew init`: an agent file to begin with."""

from pathlib import Path

import click

from clew import ConfigError
from clew.agent_files import TEMPLATE
from clew.cli.errors import ANSWERED
from clew.cli.options import DEBUG
from clew.cli.safe_text import say


@click.command()
@click.argument("file", default="agent.toml", type=click.Path())
@DEBUG
def init(file: str) -> int:
    """Write a commented agent file to FILE (default: agent.toml), which must not exist yet.

    The file works as it is, and lists all other keys as comments.
    """
    try:
        with Path(file).open("x", encoding="utf-8") as opened:
            opened.write(TEMPLATE)
    except FileExistsError as error:
        message = f"{file} is there already: name another file, or move it away"
        raise ConfigError(message) from error
    except OSError as error:
        message = f"{file} cannot be written ({error.strerror}): name a file in a folder of yours"
        raise ConfigError(message) from error
    say(f'wrote {file}; try:  clew ask "What is 17 * 23?" --agent {file}')
    return ANSWERED
