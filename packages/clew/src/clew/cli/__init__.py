"""The command line: `clew`."""

import contextlib
import logging
from typing import Final

import click

from clew import __version__
from clew.cli.env_file import read_env
from clew.cli.errors import Shell
from clew.cli.groups import CommandEntry, CommandLine
from clew.cli.safe_text import say
from clew.support.printable import inert

__all__ = ["main"]

LOG: Final = logging.getLogger("clew")

EPILOG = """\b
Examples:
  clew ask "What is 17 * 23?"
  clew ask "Who keeps the lighthouse?" --docs ~/notes
  clew show last
  clew resume last --say "And in which year?"

\b
Keys come from the environment or a .env file; `clew doctor` says what is
usable.
"""


COMMANDS: Final[dict[str, tuple[CommandEntry, ...]]] = {
    "Ask": (
        CommandEntry("ask", "Answer a question."),
        CommandEntry("chat", "Ask questions and follow-ups in one run."),
        CommandEntry("resume", "Continue a run."),
        CommandEntry("fork", "Start a new run from another's first steps."),
        CommandEntry("init", "Write a starter agent file."),
    ),
    "Inspect": (
        CommandEntry("runs", "List runs."),
        CommandEntry("show", "Show a run: as text, JSON or Markdown."),
        CommandEntry("follow", "Follow a run as it happens."),
        CommandEntry("why", "Say where a call's arguments come from, and why it was held."),
        CommandEntry("diff", "Compare two runs."),
        CommandEntry("replay", "Run a record again without making any call."),
    ),
    "Run in the background": (
        CommandEntry("submit", "Leave a question to a worker."),
        CommandEntry("worker", "Execute submitted runs."),
        CommandEntry("serve", "Serve agents and their runs over HTTP.", package="clew-serve"),
        CommandEntry("view", "Look at runs in a browser.", package="clew-serve"),
        CommandEntry("acp", "Let an editor drive an agent.", package="clew-acp"),
    ),
    "Manage": (
        CommandEntry("approvals", "List what waits for approval; with -i, decide on each."),
        CommandEntry("approve", "Allow a held call, and go on."),
        CommandEntry("reject", "Refuse a held call, and go on.", "approve"),
        CommandEntry("answer", "Give the result of a call that you performed.", "settle"),
        CommandEntry("settle", "Say whether a call of unknown outcome was done."),
        CommandEntry(
            "records",
            "Export, import, verify and delete runs.",
            commands=(
                CommandEntry("export", "Write runs to an archive, or send one as spans."),
                CommandEntry("import", "Import the runs of an archive.", "importer"),
                CommandEntry("verify", "Check that records are intact."),
                CommandEntry("gc", "Delete old runs."),
                CommandEntry("batches", "List batches out at providers; cancel or forget one."),
            ),
        ),
        CommandEntry(
            "mcp", "MCP: tools of servers, pins; serve agents as tools.", package="clew-mcp"
        ),
        CommandEntry(
            "tools",
            "List tools; say what those of MCP servers do.",
            commands=(
                CommandEntry("list", "List tools.", "tools"),
                CommandEntry(
                    "classify",
                    "Say what a tool does to the world.",
                    "tools.classify",
                    package="clew-mcp",
                ),
            ),
            default="list",
        ),
        CommandEntry(
            "memory",
            "Remember, correct and forget facts.",
            commands=(
                CommandEntry("add", "Remember a fact or a preference.", "memory"),
                CommandEntry("list", "List all memories.", "memory"),
                CommandEntry("search", "Search memories.", "memory"),
                CommandEntry("correct", "Put a text in the place of a memory.", "memory"),
                CommandEntry("forget", "Forget a memory for good.", "memory"),
            ),
            default="list",
        ),
        CommandEntry("eval", "Evaluate agents on a dataset.", package="clew-evals"),
    ),
    "Set up": (
        CommandEntry(
            "doctor",
            "Check the installation; list models.",
            commands=(
                CommandEntry("check", "Versions, store, extras, providers, servers.", "doctor"),
                CommandEntry("models", "List models."),
                CommandEntry("completion", "Print a shell completion script."),
            ),
            default="check",
        ),
    ),
}
"""All commands, in the order in which somebody new wants them; each is imported when it is used."""


class StderrWarnings(logging.Handler):
    """Says warnings on stderr (that a provider makes everybody wait …); with --debug the rest."""

    def __init__(self, shell: Shell) -> None:
        super().__init__()
        self._shell = shell

    def emit(self, record: logging.LogRecord) -> None:
        """Say it, if anybody is there to read it."""
        if record.levelno >= logging.WARNING or self._shell.debug:
            with contextlib.suppress(OSError):
                say(f"clew: {inert(record.getMessage())}", err=True)


def speak(shell: Shell) -> None:
    """Let the loggers of clew be heard, by one handler."""
    for handler in [one for one in LOG.handlers if isinstance(one, StderrWarnings)]:
        LOG.removeHandler(handler)
    LOG.addHandler(StderrWarnings(shell))
    LOG.setLevel(logging.INFO)


@click.group(
    cls=CommandLine,
    sections=COMMANDS,
    epilog=EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="clew", message="%(prog)s %(version)s")
@click.pass_obj
def main(shell: Shell) -> None:
    """Answer questions with a model that thinks and calls tools.

    Every run is recorded: resume it, show it, replay it, fork it.
    """
    speak(shell)
    shell.env_file = read_env()
