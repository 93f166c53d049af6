"""The command line: `clew`."""

from typing import Final

import click

from clew import __version__
from clew.cli.errors import Entry, Shell, Told
from clew.cli.logs import speak
from clew.cli.places import read_env

__all__ = ["main"]

EPILOG = """\b
Examples:
  clew ask "What is 17 * 23?"
  clew ask "Who keeps the lighthouse?" --docs ~/notes
  clew show last
  clew resume last --say "And in which year?"
\b
Keys come from the environment or a .env file; `clew doctor` says what is usable.
"""


GROUPS: Final[dict[str, tuple[Entry, ...]]] = {
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
    "Rule on what waits": (
        Entry("approvals", "List what waits for a person."),
        Entry("approve", "Allow a held call."),
        Entry("reject", "Refuse a held call.", module="approve"),
    ),
    "Keep records": (
        Entry("export", "Write runs into an archive, or send one as spans."),
        Entry("import", "Bring in the runs of an archive.", module="import_"),
        Entry("verify", "Say whether records are what was written."),
        Entry("gc", "Forget old runs."),
    ),
    "Evaluate": (
        Entry("eval", "Evaluate agents on a dataset."),
        Entry("report", "Show what an evaluation came to."),
    ),
    "See what is here": (
        Entry("doctor", "Say what is usable here."),
        Entry("models", "List the models."),
        Entry("tools", "List the tools."),
        Entry("completion", "Print what makes the shell complete."),
    ),
}
"""All commands, in the order in which somebody new wants them; each is imported when it is used."""


@click.group(
    cls=Told,
    groups=GROUPS,
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
