"""The command line: `clew`."""

from typing import Final

import click

from clew import __version__
from clew.cli.errors import Shell
from clew.cli.groups import Entry, Program
from clew.cli.places import read_env
from clew.cli.stderr_log import speak

__all__ = ["main"]

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
        Entry(
            "eval",
            "Evaluate agents on a dataset.",
            commands=(
                Entry("run", "Run every case with every configuration.", "eval_run"),
                Entry("report", "Show the results of an evaluation.", "eval_report"),
            ),
        ),
    ),
    "Set up": (
        Entry(
            "doctor",
            "Check the installation; list models and tools.",
            commands=(
                Entry("check", "Versions, store, extras, providers, servers.", "doctor"),
                Entry("models", "List models."),
                Entry("tools", "List tools."),
            ),
            default="check",
        ),
        Entry("completion", "Print a shell completion script."),
    ),
}
"""All commands, in the order in which somebody new wants them; each is imported when it is used."""


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
