"""The command line: `clew`."""

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


@click.group(
    cls=Told,
    epilog=EPILOG,
    commands=[
        ask,
        chat,
        init,
        resume,
        submit_command,
        worker,
        fork,
        approvals,
        approve,
        reject,
        runs,
        show,
        diff_runs,
        replay,
        evaluate,
        report,
        export,
        import_command,
        verify,
        gc,
        models,
        tools,
        doctor,
        completion,
    ],
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
