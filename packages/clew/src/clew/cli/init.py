"""`clew init`: an agent file to begin with."""

from pathlib import Path
from typing import Final

import click

from clew import ConfigError
from clew.agent_files import TEMPLATE
from clew.cli.errors import ANSWERED
from clew.cli.options import DEBUG
from clew.cli.safe_text import say

STARTER: Final = """\
# An agent of clew. Ask it:  clew ask "What is 17 * 23?" --agent agent.toml
# All keys: `clew init --all FILE`, or docs/command-line.md. Paths are relative to this file.

# provider:model (`clew doctor models` lists some), or "offline": rules, which need no key.
model = "offline"

# Tools that ship (`clew tools list`), and your own as module:name, from files beside this one.
tools = ["calc", "planner"]

# docs = "notes"            # a folder of text, Markdown, HTML and PDF to search and cite
# workspace = "project"     # a folder to work in: files, programs in a sandbox, git
# memory = "memory.sqlite"  # facts that outlive a run
# store = "runs.sqlite"     # the records; left out: a file in your data folder

# prompt = "Answer in one sentence."
# checks = ["grounded"]     # facts of an answer must stand in the passages that it cites
# guards = ["my_guards:ask_first"]

[limits]
steps = 15
# cost = 1.0                # US dollars
# seconds = 600

# [[mcp]]                   # tools of a server of the Model Context Protocol
# name = "files"
# command = "npx"
# args = ["-y", "@modelcontextprotocol/server-filesystem", "."]
"""
IGNORED: Final = """\
# What clew keeps beside an agent: records with their locks and logs, indices, keys.
*.sqlite
*.sqlite-*
*.sqlite.*
.env
"""


@click.command()
@click.argument("file", default="agent.toml", type=click.Path())
@click.option("--all", "every", is_flag=True, help="With every key, as comments.")
@DEBUG
def init(file: str, *, every: bool) -> int:
    """Write an agent file to FILE (default: agent.toml), which must not exist yet.

    It works as it is, and names the keys that most agents need. A FILE without `.toml` is a new
    folder: it gets agent.toml, and a .gitignore for records and keys.
    """
    path = Path(file)
    try:
        if path.suffix != ".toml":
            path.mkdir()
            (path / ".gitignore").write_text(IGNORED, encoding="utf-8")
            path /= "agent.toml"
        with path.open("x", encoding="utf-8") as opened:
            opened.write(TEMPLATE if every else STARTER)
    except FileExistsError as error:
        message = f"{file} is there already: name another file, or move it away"
        raise ConfigError(message) from error
    except OSError as error:
        message = f"{file} cannot be written ({error.strerror}): name a file in a folder of yours"
        raise ConfigError(message) from error
    say(f'wrote {path}; try:  clew ask "What is 17 * 23?" --agent {path}')
    return ANSWERED
