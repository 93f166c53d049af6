"""Strategies: use several runs for one task."""

from clew_strategies.branches import Branches, BranchResult
from clew_strategies.chaining import Chaining
from clew_strategies.choice import GOOD_FOR, REACT, Auto, Chosen, choose
from clew_strategies.default_roles import AnswerVerdict
from clew_strategies.evaluator_optimizer import EvaluatorOptimizer
from clew_strategies.interface import NoAnswerError, Request, RoleResult, Runs, Strategy
from clew_strategies.orchestrator import Orchestrator, SubTask, Subtasks
from clew_strategies.plan_and_solve import PlanAndSolve, StepPlan
from clew_strategies.policy import strategy_agent
from clew_strategies.reflexion import Reflexion
from clew_strategies.rewoo import CallPlan, Planned, ReWOO
from clew_strategies.roles import Reader, Role
from clew_strategies.routing import RoutedAgent, Routing
from clew_strategies.tree_search import Score, TreeSearch
from clew_strategies.voting.decision import (
    Ballot,
    Count,
    Decision,
    How,
    VerifierChoice,
    certain,
    decide,
)
from clew_strategies.voting.normalise import normalise
from clew_strategies.voting.verifier import Verifier, Verify, verifying
from clew_strategies.voting.vote import (
    Vote,
    agent_of,
    vote,
    vote_status,
    vote_status_sync,
    vote_sync,
)

__all__ = [
    "GOOD_FOR",
    "REACT",
    "AnswerVerdict",
    "Auto",
    "Ballot",
    "BranchResult",
    "Branches",
    "CallPlan",
    "Chaining",
    "Chosen",
    "Count",
    "Decision",
    "EvaluatorOptimizer",
    "How",
    "NoAnswerError",
    "Orchestrator",
    "PlanAndSolve",
    "Planned",
    "ReWOO",
    "Reader",
    "Reflexion",
    "Request",
    "Role",
    "RoleResult",
    "RoutedAgent",
    "Routing",
    "Runs",
    "Score",
    "StepPlan",
    "Strategy",
    "SubTask",
    "Subtasks",
    "TreeSearch",
    "Verifier",
    "VerifierChoice",
    "Verify",
    "Vote",
    "agent_of",
    "certain",
    "choose",
    "decide",
    "normalise",
    "strategy_agent",
    "verifying",
    "vote",
    "vote_status",
    "vote_status_sync",
    "vote_sync",
]
