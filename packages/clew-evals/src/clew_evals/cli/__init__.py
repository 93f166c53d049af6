"""`clew eval`: the commands of evaluation."""

from typing import Final

from clew.cli.groups import CommandGroup, Entry

EVAL: Final = CommandGroup(
    "eval",
    help="Evaluate agents on a dataset.",
    sections={
        "Commands": (
            Entry("run", "Run every case with every configuration.", "clew_evals.cli.eval_run"),
            Entry("report", "Show the results of an evaluation.", "clew_evals.cli.eval_report"),
        )
    },
)
