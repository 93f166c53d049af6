"""The command line: `clew`."""

from typing import Final

import click

from clew import __version__
from clew.cli.approvals import approvals
from clew.cli.approve import approve, reject
from clew.cli.ask import ask
from clew.cli.chat import chat
from clew.cli.completion import completion
from clew.cli.diff import diff_runs
from clew.cli.doctor import doctor
from clew.cli.errors import Shell, Told
from clew.cli.eval import evaluate
from clew.cli.export import export
from clew.cli.fork import fork
from clew.cli.gc import gc
from clew.cli.import_ import import_command
from clew.cli.init import init
from clew.cli.logs import speak
from clew.cli.models import models
from clew.cli.places import read_env
from clew.cli.replay import replay
from clew.cli.report import report
from clew.cli.resume import resume
from clew.cli.runs import runs
from clew.cli.show import show
from clew.cli.submit import submit_command
from clew.cli.tools import tools
from clew.cli.verify import verify
from clew.cli.worker import worker

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


GROUPS: Final[dict[str, tuple[click.Command, ...]]] = {
    "Ask": (ask, chat, resume, fork, init),
    "Read what happened": (runs, show, diff_runs, replay),
    "Leave it to workers": (submit_command, worker),
    "Rule on what waits": (approvals, approve, reject),
    "Keep records": (export, import_command, verify, gc),
    "Evaluate": (evaluate, report),
    "See what is here": (doctor, models, tools, completion),
}
"""All commands, in the order in which somebody new wants them."""


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
