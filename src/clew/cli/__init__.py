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
        Entry("ask", "Answer a question, on record."),
        Entry("chat", "Ask, and ask on in the same record."),
        Entry("resume", "Go on with a run."),
        Entry("fork", "Begin a new run with another's first steps."),
        Entry("init", "Write an agent file to begin with."),
    ),
    "Read what happened": (
        Entry("runs", "List the runs."),
        Entry("show", "Show a record: readable, JSON, Markdown."),
        Entry("diff", "Say where two runs part, and how they differ."),
        Entry("replay", "Run a record again without a single call."),
    ),
    "Leave it to workers": (
        Entry("submit", "Leave a question to a worker."),
        Entry("worker", "Work on submitted runs."),
    ),
    "Keep and check": (
        Entry(
            "approvals",
            "Allow or refuse what waits for a person.",
            commands=(
                Entry(
                    "list", "List what waits; with -i, rule on one after the other.", "approvals"
                ),
                Entry("allow", "Allow a held call.", "rulings"),
                Entry("reject", "Refuse a held call.", "rulings"),
            ),
            default="list",
        ),
        Entry(
            "records",
            "Export, import, verify and forget runs.",
            commands=(
                Entry("export", "Write runs into an archive, or send one as spans."),
                Entry("import", "Bring in the runs of an archive.", "importer"),
                Entry("verify", "Say whether records are what was written."),
                Entry("gc", "Forget old runs."),
            ),
        ),
        Entry(
            "eval",
            "Evaluate agents on a dataset.",
            commands=(
                Entry("run", "Answer every case with every configuration.", "eval_run"),
                Entry("report", "Show what an evaluation came to.", "eval_report"),
            ),
        ),
    ),
    "See what is here": (
        Entry(
            "doctor",
            "Say what is usable here; list models and tools.",
            commands=(
                Entry("check", "Versions, store, extras, providers, servers.", "doctor"),
                Entry("models", "List the models."),
                Entry("tools", "List the tools."),
            ),
            default="check",
        ),
        Entry("completion", "Print what makes the shell complete."),
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
    """Answer questions by thinking, acting with tools and reading what they return.

    Everything that happens is on record: resume it, show it, replay it, fork it.
    """
    speak(shell)
    shell.env_file = read_env()
