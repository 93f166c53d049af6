"""`clew eval`: the commands of evaluation."""

from typing import Final

from clew.cli.groups import CommandEntry, CommandGroup

EVAL: Final = CommandGroup(
    "eval",
    help="Evaluate agents on a dataset.",
    sections={
        "Commands": (
            CommandEntry(
                "run", "Run every case with every configuration.", "clew_evals.cli.eval_run"
            ),
            CommandEntry(
                "report", "Show the results of an evaluation.", "clew_evals.cli.eval_report"
            ),
        )
    },
)
