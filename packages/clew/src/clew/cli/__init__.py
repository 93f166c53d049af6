"""The command line: `clew`."""

import contextlib
import logging
from typing import Final

import click

from clew import __version__
from clew.cli.env_file import read_env
from clew.cli.errors import Shell
from clew.cli.groups import Entry, Program
from clew.cli.safe_text import inert, say

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


COMMANDS: Final[dict[str, tuple[Entry, ...]]] = {
    "Ask": (
        Entry("ask", "Answer a question."),
        Entry("chat", "Ask questions and follow-ups in one run."),
        Entry("resume", "Continue a run."),
        Entry("fork", "Start a new run from another's first steps."),
        Entry("init", "Write a starter agent file."),
    ),
    "Inspect": (
        Entry("runs", "List runs."),
        Entry("show", "Show a run: as text, JSON or Markdown."),
        Entry("diff", "Compare two runs."),
        Entry("replay", "Run a record again without making any call."),
    ),
    "Run in the background": (
        Entry("submit", "Leave a question to a worker."),
        Entry("worker", "Execute submitted runs."),
        Entry("serve-mcp", "Serve agents as MCP tools and tasks.", package="clew-mcp"),
    ),
    "Manage": (
        Entry(
            "approvals",
            "Allow or reject calls that wait for a person.",
            commands=(
                Entry(
                    "list", "List what waits for approval; with -i, decide on each.", "approvals"
                ),
                Entry("allow", "Allow a held call.", "rulings"),
                Entry("reject", "Reject a held call.", "rulings"),
            ),
            default="list",
        ),
        Entry(
            "records",
            "Export, import, verify and delete runs.",
            commands=(
                Entry("export", "Write runs to an archive, or send one as spans."),
                Entry("import", "Import the runs of an archive.", "importer"),
                Entry("verify", "Check that records are intact."),
                Entry("gc", "Delete old runs."),
            ),
        ),
        Entry("mcp", "MCP servers: their tools, and what is pinned of them.", package="clew-mcp"),
        Entry(
            "tools",
            "List tools; say what those of MCP servers do.",
            commands=(
                Entry("list", "List tools.", "tools"),
                Entry(
                    "classify",
                    "Say what a tool does to the world.",
                    "tools.classify",
                    package="clew-mcp",
                ),
            ),
            default="list",
        ),
        Entry(
            "memory",
            "Remember, correct and forget facts.",
            commands=(
                Entry("add", "Remember a fact or a preference.", "memory"),
                Entry("list", "List all memories.", "memory"),
                Entry("search", "Search memories.", "memory"),
                Entry("correct", "Put a text in the place of a memory.", "memory"),
                Entry("forget", "Forget a memory for good.", "memory"),
            ),
            default="list",
        ),
        Entry("eval", "Evaluate agents on a dataset.", package="clew-evals"),
    ),
    "Set up": (
        Entry(
            "doctor",
            "Check the installation; list models.",
            commands=(
                Entry("check", "Versions, store, extras, providers, servers.", "doctor"),
                Entry("models", "List models."),
                Entry("completion", "Print a shell completion script."),
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
    cls=Program,
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
