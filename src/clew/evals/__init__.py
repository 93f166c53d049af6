"""Evaluation: cases, scorers, matrices of configurations, and reports."""

from clew.evals.case import Case
from clew.evals.dataset import read_dataset
from clew.evals.estimate import Estimate
from clew.evals.judge import Judge, judging
from clew.evals.matrix import plan_of, read_matrix
from clew.evals.outcome import About, Counted, Judgement, Mark, Outcome
from clew.evals.plan import Configuration, Plan, Trial
from clew.evals.results import Results
from clew.evals.runner import Evaluation, Progress, evaluate, evaluate_sync, foreseen, foreseen_sync
from clew.evals.world import Episode, World

__all__ = [
    "About",
    "Case",
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
    "Trial",
    "World",
    "evaluate",
    "evaluate_sync",
    "foreseen",
    "foreseen_sync",
    "judging",
    "plan_of",
    "read_dataset",
    "read_matrix",
]
