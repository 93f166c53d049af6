"""Evaluation: cases, scorers, matrices of configurations, and reports.

The tables that compare configurations need the extra `reports`: `clew_evals.tables`.
"""

from clew_evals.agreement import Agreement, agreement
from clew_evals.case import Case
from clew_evals.clusters import Cluster, clusters, example_runs
from clew_evals.dataset import read_dataset
from clew_evals.estimate import Estimate
from clew_evals.expected import check_gold
from clew_evals.export import report_document, table_csv, trial_rows, trials_csv
from clew_evals.judge import Judge, judge_prompt, judging
from clew_evals.matrix import GOLD, SHIPPED, plan_of, read_matrix
from clew_evals.measures import counted, paired
from clew_evals.outcome import About, Counted, GoldScore, Judgement, Outcome
from clew_evals.overview import overview
from clew_evals.plan import Configuration, Plan, Trial
from clew_evals.results import Results
from clew_evals.runner import (
    Evaluation,
    EvaluationProgress,
    evaluate,
    evaluate_sync,
    foreseen,
    foreseen_sync,
)
from clew_evals.scoring import ScoreInput, Scorer, mean, right, score
from clew_evals.statistics import Share, accuracy, pass_all, pass_at, wilson
from clew_evals.table import Column, Table
from clew_evals.world import Episode, World

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
    "EvaluationProgress",
    "GoldScore",
    "Judge",
    "Judgement",
    "Outcome",
    "Plan",
    "Results",
    "ScoreInput",
    "Scorer",
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
    "trial_rows",
    "trials_csv",
    "wilson",
]
