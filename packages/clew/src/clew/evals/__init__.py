"""Evaluation: cases, scorers, matrices of configurations, and reports.

The tables that compare configurations need the extra `eval`: `clew.evals.tables`.
"""

from clew.evals.agreement import Agreement, agreement
from clew.evals.case import Case
from clew.evals.clusters import Cluster, clusters, example_runs
from clew.evals.dataset import read_dataset
from clew.evals.estimate import Estimate
from clew.evals.export import report_document, table_csv, trials_csv
from clew.evals.golds import check_gold
from clew.evals.judge import Judge, judge_prompt, judging
from clew.evals.matrix import GOLD, SHIPPED, plan_of, read_matrix
from clew.evals.measures import counted, paired
from clew.evals.outcome import About, Counted, Judgement, Mark, Outcome
from clew.evals.overview import overview
from clew.evals.plan import Configuration, Plan, Trial
from clew.evals.results import Results
from clew.evals.runner import Evaluation, Progress, evaluate, evaluate_sync, foreseen, foreseen_sync
from clew.evals.scoring import Seen, mean, right, score
from clew.evals.statistics import Share, accuracy, pass_all, pass_at, wilson
from clew.evals.table import Column, Table
from clew.evals.world import Episode, World

__all__ = [
    "GOLD",
    "SHIPPED",
    "About",
    "Agreement",
    "Case",
    "Cluster",
    "Column",
    "Configuration",
    "Counted",
    "Episode",
    "Estimate",
    "Evaluation",
    "Judge",
    "Judgement",
    "Mark",
    "Outcome",
    "Plan",
    "Progress",
    "Results",
    "Seen",
    "Share",
    "Table",
    "Trial",
    "World",
    "accuracy",
    "agreement",
    "check_gold",
    "clusters",
    "counted",
    "evaluate",
    "evaluate_sync",
    "example_runs",
    "foreseen",
    "foreseen_sync",
    "judge_prompt",
    "judging",
    "mean",
    "overview",
    "paired",
    "pass_all",
    "pass_at",
    "plan_of",
    "read_dataset",
    "read_matrix",
    "report_document",
    "right",
    "score",
    "table_csv",
    "trials_csv",
    "wilson",
]
